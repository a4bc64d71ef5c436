/* transcript: a whole session from rows: orders, prompts, what the agent said and did, what it
 * asked with the answers and who gave them, the operator's words, ends of turns, exits. */
#include "transcript.h"

#include "diff.h"
#include "json.h"
#include "sql/session.h"
#include "sql/transcript.h"

#include <stdio.h>
#include <string.h>

/* An entry while it is put together. */
struct making {
	struct ctl *c;
	const struct transcript_row *row;
	const cJSON *detail; /* of the row, or NULL */
	struct entry *entry;
	struct str *head;
	struct request *request; /* of a question */
};

static const char *or_none(const char *text, const char *none)
{
	return text && *text ? text : none;
}

static void set_block(struct entry *entry, size_t i, const char *bytes, size_t length, bool is_diff)
{
	entry->blocks[i] = (struct block){ .bytes = bytes, .length = length, .is_diff = is_diff };
}

/* ---- heads ---- */

static void make_session(struct making *m)
{
	str_addf(m->head, "session %s begins", or_none(json_text(m->detail, "id"), "?"));
	if (m->row->title)
		str_addf(m->head, ": %s", m->row->title);
	str_addf(m->head, " in %s, %s mode", or_none(json_text(m->detail, "workspace"), "?"),
	         or_none(json_text(m->detail, "mode"), "?"));
	if (json_text(m->detail, "restart_of"))
		str_addf(m->head, ", restart of %s", json_text(m->detail, "restart_of"));
}

static void make_run(struct making *m)
{
	const cJSON *generation = cJSON_GetObjectItemCaseSensitive(m->detail, "generation");
	int number = cJSON_IsNumber(generation) ? generation->valueint : 1;

	str_addf(m->head, "agent %s %s", m->row->title, number > 1 ? "is resumed" : "starts");
	if (number > 1)
		str_addf(m->head, ", run %d", number);
}

static void make_prompt(struct making *m)
{
	str_add(m->head, m->row->text ? "prompt" : "the agent begins a turn by itself");
	if (m->row->title)
		str_addf(m->head, " by %s", m->row->title);
}

static void make_said(struct making *m)
{
	str_add(m->head, strcmp(m->row->what, "note") == 0 ? "note" : "agent");
	if (strcmp(m->row->what, "status") == 0)
		str_add(m->head, ", status");
}

static void make_tool(struct making *m)
{
	str_addf(m->head, "tool: %s (%s, %s)", or_none(m->row->text, "?"),
	         or_none(json_text(m->detail, "kind"), "other"),
	         or_none(json_text(m->detail, "status"), "pending"));
	if (json_text(m->detail, "path"))
		str_addf(m->head, " %s", json_text(m->detail, "path"));
	set_block(m->entry, 0, NULL, 0, false);
}

static void make_plan(struct making *m)
{
	const cJSON *step;

	str_add(m->head, "plan:");
	cJSON_ArrayForEach (step, m->detail) {
		const char *status = or_none(json_text(step, "status"), "");

		str_addf(m->head, " [%c] %s",
		         strcmp(status, "done") == 0          ? 'x'
		         : strcmp(status, "in_progress") == 0 ? '>'
		                                              : ' ',
		         or_none(json_text(step, "label"), "?"));
	}
}

static void make_turn(struct making *m)
{
	str_addf(m->head, "turn ended: %s", or_none(json_text(m->detail, "stop"), "?"));
}

static void make_call(struct making *m)
{
	str_addf(m->head, "calls %s", m->row->title);
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(m->detail, "failed")) ||
	    cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(m->detail, "failed")) > 0)
		str_add(m->head, ", which failed");
}

static int make_question(struct making *m, struct err *e)
{
	const struct str *body;
	int got = request_read(&m->c->store, m->row->ref, m->request, e);

	if (got < 0)
		return -1;
	body = m->request->effect.length ? &m->request->effect : &m->request->body;
	str_addf(m->head, "asks: %s [%s", m->row->title,
	         or_none(request_kind_name(m->request->row.kind), "?"));
	if (m->request->row.risk_level)
		str_addf(m->head, ", %s risk", request_risk_level_name(m->request->row.risk_level));
	str_addf(m->head, ", %s] %s", or_none(request_state_name(m->request->row.state), "?"),
	         or_none(m->request->row.id, ""));
	if (m->request->description)
		set_block(m->entry, 0, m->request->description, strlen(m->request->description),
		          false);
	if (body->length)
		set_block(m->entry, 1, body->bytes, body->length,
		          diff_looks_like(body->bytes, body->length));
	return 0;
}

static void make_answer(struct making *m)
{
	str_addf(m->head, "answer: %s", or_none(m->row->title, "?"));
	if (json_text(m->detail, "question"))
		str_addf(m->head, " to %s", json_text(m->detail, "question"));
}

static void make_words(struct making *m)
{
	const char *told = json_text(m->detail, "told");

	str_addf(m->head, "said by %s", or_none(m->row->title, "?"));
	if (told)
		str_addf(m->head, ", told at %s", told);
	else if (json_text(m->detail, "ended"))
		str_add(m->head, ", never told: the session ended");
	else
		str_add(m->head, ", not told yet");
}

static void make_event(struct making *m)
{
	static const char *const NAMES[] = { "verb", "argument", "from", "to", "error", "why" };

	str_add(m->head, m->row->title);
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (json_text(m->detail, NAMES[i]))
			str_addf(m->head, " %s: %s", NAMES[i], json_text(m->detail, NAMES[i]));
}

static void make_exit(struct making *m)
{
	const cJSON *code = cJSON_GetObjectItemCaseSensitive(m->detail, "code");
	const cJSON *signal = cJSON_GetObjectItemCaseSensitive(m->detail, "signal");

	str_addf(m->head, "agent ended: %s", or_none(m->row->title, "?"));
	if (cJSON_IsNumber(signal))
		str_addf(m->head, ", signal %d", signal->valueint);
	else if (cJSON_IsNumber(code))
		str_addf(m->head, ", exit code %d", code->valueint);
	if (json_text(m->detail, "why"))
		str_addf(m->head, ": %s", json_text(m->detail, "why"));
}

/* Kinds of lines that are not here are shown by their name. */
static void make_other(struct making *m)
{
	str_add(m->head, m->row->what);
	if (m->row->detail)
		str_addf(m->head, " %s", m->row->detail);
}

static const struct maker {
	const char *what;
	void (*make)(struct making *m);
} MAKERS[] = {
	{ "session", make_session }, { "run", make_run },       { "prompt", make_prompt },
	{ "text", make_said },       { "status", make_said },   { "note", make_said },
	{ "tool", make_tool },       { "plan", make_plan },     { "turn", make_turn },
	{ "call", make_call },       { "answer", make_answer }, { "words", make_words },
	{ "event", make_event },     { "exit", make_exit },
};

static int make(struct making *m, struct err *e)
{
	const struct transcript_row *row = m->row;
	void (*make_one)(struct making * m) = make_other;

	m->entry->at = row->at;
	m->entry->what = row->what;
	m->entry->who = row->who;
	if (row->text)
		set_block(m->entry, 0, row->text, strlen(row->text), false);
	if (strcmp(row->what, "question") == 0)
		return make_question(m, e);
	for (size_t i = 0; i < COUNT(MAKERS); i++)
		if (strcmp(MAKERS[i].what, row->what) == 0)
			make_one = MAKERS[i].make;
	make_one(m);
	return 0;
}

/* ---- forms ---- */

static void print_text(const struct ctl *c, const struct entry *entry)
{
	print_look(c, LOOK_DIM);
	(void)printf("%s  ", entry->at);
	print_look(c, LOOK_PLAIN);
	print_visible(entry->head);
	print_between(", ", entry->who, "");
	(void)putchar('\n');
	for (size_t i = 0; i < ENTRY_BLOCKS; i++)
		if (entry->blocks[i].bytes && entry->blocks[i].length)
			print_block(c, entry->blocks[i].bytes, entry->blocks[i].length,
			            entry->blocks[i].is_diff);
}

static void print_json(const struct transcript_row *row, const struct entry *entry)
{
	cJSON *o = cJSON_CreateObject(), *texts;

	json_add_text(o, "at", entry->at);
	json_add_text(o, "what", entry->what);
	json_add_text(o, "who", entry->who);
	json_add_text(o, "head", entry->head);
	texts = cJSON_AddArrayToObject(o, "texts");
	for (size_t i = 0; i < ENTRY_BLOCKS; i++)
		if (entry->blocks[i].bytes)
			(void)cJSON_AddItemToArray(texts, json_string(entry->blocks[i].bytes));
	json_raw(o, "detail", row->detail);
	json_print_line(o);
}

static void print_html(const struct entry *entry)
{
	OWNED(str) struct str html = { 0 };

	transcript_html_add(&html, entry);
	(void)fputs(str_text(&html), stdout);
}

static int print_entry(struct ctl *c, const struct transcript_row *row, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *detail = row->detail ? cJSON_Parse(row->detail) : NULL;
	OWNED(request) struct request request = { 0 };
	OWNED(str) struct str head = { 0 };
	struct entry entry = { .at = NULL };
	struct making m = { .c = c,
		            .row = row,
		            .detail = detail,
		            .entry = &entry,
		            .head = &head,
		            .request = &request };

	if (make(&m, e))
		return -1;
	entry.head = str_text(&head);
	if (c->html)
		print_html(&entry);
	else if (c->json)
		print_json(row, &entry);
	else
		print_text(c, &entry);
	return 0;
}

static int print_entries(struct ctl *c, int64_t session, struct err *e)
{
	OWNED(transcript_row) struct transcript_row row = { 0 };
	int got;

	sql_transcript(&c->store, session, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (print_entry(c, &row, e))
			return -1;
	return got;
}

static int run_transcript(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(session_row) struct session_row session = { 0 };
	OWNED(str) struct str page = { 0 };
	int got;

	if (find_any_session(c, c->argv[0], &id, e))
		return -1;
	got = sql_session_by_id(&c->store, id, &session, e);
	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_INPUT, "session %s is gone", id);
	if (!c->html)
		return print_entries(c, session.seq, e);
	str_addf(&page, "Session %s", id);
	{
		OWNED(str) struct str html = { 0 };

		transcript_html_begin(&html, str_text(&page));
		(void)fputs(str_text(&html), stdout);
	}
	if (print_entries(c, session.seq, e))
		return -1;
	str_reset(&page);
	transcript_html_end(&page);
	(void)fputs(str_text(&page), stdout);
	return 0;
}

const struct command_spec cmd_transcript = {
	"transcript",
	HELP("ID [--html]", "a whole session, from its first order to its end",
	     "What the agent was told, said, did and asked, the answers and who gave them, its "
	     "exits.\n"
	     "  --html   one page for a browser, with nothing from elsewhere\n"
	     "As JSON, one object a line.\n"),
	ARGUMENTS(1, 1, TAKES_HTML), .run = run_transcript
};
