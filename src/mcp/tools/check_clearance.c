/* check_clearance: asks for approval of a change. */
#include "tools.h"

#include "ask.h"
#include "result.h"
#include "sql/request.h"
#include "sql/tool_call.h"

#include <string.h>

enum { AGAIN_CALLS = 6 }; /* so many calls back, one may have asked the same */

/* ---- before the transaction ---- */

static const struct touched *primary(const struct call *c)
{
	return &c->files[c->plan.primary];
}

/* Whether a file is replaced or deleted that has more names (hard links). */
static bool is_unlinked(const struct planned *f)
{
	return f->links && strcmp(f->is.action, "read") != 0;
}

/* Whether a symlink stays of which the file that it leads to is deleted or renamed. */
static bool leaves_link(const struct planned *f)
{
	return f->is_symlink && strcmp(f->is.action, "delete") == 0;
}

static void begin_line(struct str *out)
{
	str_add(out, out->length ? "\n" : "");
}

/* The applier replaces a file and does not write into it, nor does it touch a symlink. What the
 * agent says comes last: Slack shows the beginning. */
static void describe_links(struct call *c)
{
	const char *given = json_text(c->arguments, "description");

	str_reset(&c->links);
	for (size_t i = 0; i < c->plan.count; i++) {
		const struct planned *f = &c->plan.files[i];

		if (is_unlinked(f)) {
			begin_line(&c->links);
			str_addf(&c->links,
			         "%s has %d names (hard links): those not listed here keep the old "
			         "content",
			         f->is.path, f->links);
		}
		if (leaves_link(f)) {
			begin_line(&c->links);
			str_addf(
			    &c->links,
			    "%s is a symlink and stays; it will lead nowhere, as %s is what goes",
			    f->is.path, f->is.target);
		}
	}
	if (c->links.length && given && *given)
		str_addf(&c->links, "\n\n%s", given);
}

static const char *description(const struct call *c)
{
	return c->links.length ? c->links.bytes : json_text(c->arguments, "description");
}

/* The digest of what a person will be shown. */
static struct sha256 digest(const struct call *c)
{
	const struct shown s = { .title = json_text(c->arguments, "title"),
		                 .description = description(c),
		                 .risk_level = json_text(c->arguments, "risk_level"),
		                 .file_path = primary(c)->path,
		                 .body = json_text(c->arguments, "diff"),
		                 .body_length = strlen(json_text(c->arguments, "diff")),
		                 .effect = str_text(&c->effect),
		                 .effect_length = c->effect.length,
		                 .replaces_file = c->plan.replaces_file,
		                 .files = c->files,
		                 .file_count = c->plan.count };

	return proposal_digest(&s);
}

/* The files at the time of the request, and what they would become. */
static void look(struct call *c, const struct call_settings *settings, struct hand_ask *ask)
{
	ask->file_path = json_text(c->arguments, "file_path");
	ask->body = json_text(c->arguments, "diff");
	ask->body_length = strlen(ask->body);
	ask->ours = &settings->ours;
	ask->fuzz = settings->fuzz;
}

static void seen(struct call *c, struct hand_found *found)
{
	const struct refusal *why = &found->why;

	c->plan = found->plan;
	found->plan = (struct plan){ 0 };
	c->effect = found->effect;
	found->effect = (struct str){ 0 };
	c->is_conflict = why->code && strcmp(why->code, "patch_conflict") == 0;
	if (c->is_conflict && c->plan.is_diff) {
		result_refuse(c, why->code, "%s; read the file again and make a new diff",
		              why->text);
		return;
	}
	if (why->code) {
		result_refuse(c, why->code, "%s", why->text);
		return;
	}
	c->files = xmalloc(c->plan.count * sizeof(*c->files));
	for (size_t i = 0; i < c->plan.count; i++)
		c->files[i] = c->plan.files[i].is;
	describe_links(c);
	c->digest = digest(c);
}

/* ---- the question ---- */

/* What becomes of other names of a file a person is told. */
static bool policy(const struct call *c, struct policy_question *q)
{
	q->risk_level = json_text(c->arguments, "risk_level");
	for (size_t i = 0; i < c->plan.count; i++)
		if (c->plan.files[i].is_vast || is_unlinked(&c->plan.files[i]) ||
		    leaves_link(&c->plan.files[i]))
			return false;
	return true;
}

static void question(const struct call *c, const struct call_settings *settings, struct question *q)
{
	q->kind = REQUEST_KIND_CLEARANCE;
	q->title = json_text(c->arguments, "title");
	q->description = description(c);
	q->body = json_text(c->arguments, "diff");
	q->risk_level = json_text(c->arguments, "risk_level");
	q->file_path = primary(c)->path;
	q->original_hash = primary(c)->hash;
	q->files = c->files;
	q->file_count = c->plan.count;
	q->replaces_file = c->plan.replaces_file;
	q->effect = c->effect.length ? c->effect.bytes : NULL;
	q->effect_length = c->effect.length;
	q->timeout_ms = settings->approval_ms;
}

/* Which questions the last calls asked with the same arguments, when the files were others. */
static int others(struct store *st, const struct call *c, const struct peer *p, int64_t *ret,
                  struct err *e)
{
	OWNED(call_before_row) struct call_before_row row = { 0 };
	int got, count = 0;

	sql_call_before(st, c->seq, p->session_seq, AGAIN_CALLS, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (row.is_same && row.request_seq && row.request_seq != c->request_seq)
			ret[count++] = row.request_seq;
	return got < 0 ? -1 : count;
}

/* One question stands for the same arguments, none if they no longer fit the files. */
static int note(struct store *st, const struct call *c, const struct peer *p, struct err *e)
{
	int64_t found[AGAIN_CALLS];
	int count = c->request_seq || c->is_conflict ? others(st, c, p, found, e) : 0;

	for (int i = 0; i < count; i++)
		if (ask_outdate(st, found[i], ASK_CHANGED, e))
			return -1;
	return count < 0 ? -1 : 0;
}

const struct tool TOOL_CHECK_CLEARANCE = {
	.name = "check_clearance",
	.title = "Check clearance",
	.description =
	    "Asks the operator to approve a change BEFORE you make it, and waits for the "
	    "answer. "
	    "The change is one file's, or a unified diff's of many (git style may also rename, "
	    "copy, delete, change modes); it is written whole or not at all. Do not touch the "
	    "file yourself: on status 'approved' call check_diff "
	    "with the request_id and the change is written for you; a note with it is for "
	    "what you do next. 'rejected' comes with a reason. On 'pending' or after a timeout of "
	    "your own, call it again with exactly the same arguments: as long as the files are as "
	    "they were, it goes on waiting for the same question and never asks twice.",
	.input = "{\"type\":\"object\",\"properties\":{"
	         "\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000,"
	         "\"description\":\"the change in one line\"},"
	         "\"description\":{\"type\":\"string\",\"description\":\"why, and what to look "
	         "at\"},"
	         "\"diff\":{\"type\":\"string\",\"description\":\"unified diff of one or many "
	         "files, or the whole new content of file_path\"},"
	         "\"file_path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
	         "\"relative to the workspace; of many files, the main one\"},"
	         "\"risk_level\":{\"type\":\"string\",\"enum\":[\"low\",\"high\",\"critical\"],"
	         "\"default\":\"low\"}},"
	         "\"required\":[\"title\",\"diff\",\"file_path\"]}",
	.output = TOOL_OUTPUT(
	    "\"status\":{\"type\":\"string\",\"enum\":[\"approved\",\"rejected\","
	    "\"timeout\",\"pending\",\"error\"]},"
	    "\"request_id\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},"
	    "\"note\":{\"type\":\"string\",\"description\":\"what the operator says with an "
	    "approval\"}"
	    "," TOOL_MESSAGE_FIELD "," TOOL_ERROR_FIELDS "},\"required\":[\"status\"]}"),
	.read_only = true,
	.idempotent = true,
	.open_world = true,
	.look = look,
	.seen = seen,
	.policy = policy,
	.run = ask_run,
	.question = question,
	.answer = result_add_verdict,
	.note = note,
};
