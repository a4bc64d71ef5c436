#include "policy_trust.h"

#include "clock.h"
#include "content.h"
#include "decision.h"
#include "policy_history.h"
#include "request.h"
#include "setting.h"
#include "sql/policy.h"
#include "sql/slack_outbox.h"
#include "visible.h"

#include <stdio.h>
#include <string.h>

enum policy_trust policy_trust_read(struct store *st)
{
	static const char *const NAMES[] = {
		[POLICY_TRUST_LISTED] = "listed",
		[POLICY_TRUST_ASK] = "ask",
		[POLICY_TRUST_OFF] = "off",
	};
	OWNED(str) struct str text = { 0 };

	if (setting_get(st, "policy.trust", &text, NULL) > 0)
		for (size_t i = 0; i < COUNT(NAMES); i++)
			if (strcmp(NAMES[i], text.bytes) == 0)
				return (enum policy_trust)i;
	return POLICY_TRUST_LISTED;
}

/* ---- the trusted version ---- */

/* What was trusted before its rules were refused allows nothing any more. */
static int take_trusted(struct store *st, struct policy_file *f,
                        const struct policy_trusted_row *row, struct err *e)
{
	OWNED(str) struct str bytes = { 0 };
	struct policy *p = NULL;

	if (content_get(st, row->content_seq, &bytes, e))
		return -1;
	(void)policy_parse(str_text(&bytes), bytes.length, &p, NULL);
	policy_free(f->trusted);
	f->trusted = p;
	f->widening_hash[0] = '\0';
	(void)snprintf(f->trusted_hash, sizeof(f->trusted_hash), "%s", row->hash);
	return 0;
}

int policy_trust_load(struct store *st, const char *machine, struct policy_file *f, struct err *e)
{
	OWNED(policy_trusted_row) struct policy_trusted_row row = { 0 };
	int got = sql_policy_trusted(st, f->workspace_root, machine, &row, e);

	if (got <= 0 || strcmp(row.hash, f->trusted_hash) == 0)
		return got < 0 ? -1 : 0;
	return take_trusted(st, f, &row, e);
}

/* ---- what it newly allows ---- */

struct trial {
	const struct policy_file *f;
	const cJSON *known, *always_ask;
	int64_t until_ms; /* monotonic */
	int tried, approved, rejected; /* of those that it newly allows */
};

static bool allows(const struct policy *p, const struct policy_question *q)
{
	OWNED(policy_answer) struct policy_answer a = { 0 };

	policy_judge(p, q, &a);
	return a.approved;
}

static bool try_one(const struct policy_past *past, void *arg)
{
	struct trial *t = arg;
	struct policy_question q = past->question;

	q.root = t->f->workspace_root;
	q.known = t->known;
	q.always_ask = t->always_ask;
	t->tried++;
	if (allows(t->f->policy, &q) && !allows(t->f->trusted, &q))
		*(past->approved ? &t->approved : &t->rejected) += 1;
	return t->tried < POLICY_TRIED_LEAST || clock_monotonic_ms() < t->until_ms;
}

static int try_history(struct store *st, struct trial *t, struct err *e)
{
	int64_t after = sql_policy_history_begin(st, POLICY_TRIED, e);

	return after < 0 ? -1 : policy_history(st, t->f->workspace_root, after, try_one, t, e);
}

/* With the number of its lines, for whoever sees only the last of them. */
static void add_wider(struct str *out, const struct str *wider)
{
	int lines = 0;

	for (size_t i = 0; i < wider->length; i++)
		lines += wider->bytes[i] == '\n';
	if (lines)
		str_addf(out, "would allow from now on, unasked (%d line%s):\n\n%s\n", lines,
		         lines == 1 ? "" : "s", wider->bytes);
	else
		str_add(out, "would allow from now on, unasked:\n\n(nothing new by its rules)\n\n");
}

int policy_trust_describe(struct store *st, const struct policy_file *f, const cJSON *known,
                          const cJSON *always_ask, struct str *out, bool *ret_shown, struct err *e)
{
	struct trial t = { .f = f,
		           .known = known,
		           .always_ask = always_ask,
		           .until_ms = clock_monotonic_ms() + POLICY_TRIED_MS };
	OWNED(str) struct str wider = { 0 };
	size_t begin = out->length;

	policy_widening(f->policy, f->trusted, &wider);
	visible_add(out, f->workspace_root, strlen(f->workspace_root), false);
	*ret_shown = out->length - begin + wider.length <= POLICY_SHOWN_BYTES;
	str_add(out, "/" POLICY_FILE "\n");
	add_wider(out, &wider);
	if (try_history(st, &t, e))
		return -1;
	if (!t.tried)
		str_add(out, "Nobody has answered a question from there yet.");
	else
		str_addf(
		    out,
		    "Of the last %d questions answered there it would have allowed %d: %d that "
		    "were approved, %d that were rejected.",
		    t.tried, t.approved + t.rejected, t.approved, t.rejected);
	return 0;
}

/* ---- the question ---- */

static struct sha256 digest_of(const struct policy_file *f)
{
	static const char KIND[] = "trust";
	struct sha256_state *h = sha256_begin();

	sha256_add(h, KIND, sizeof(KIND));
	sha256_add(h, f->workspace_root, strlen(f->workspace_root) + 1);
	sha256_add(h, f->hash, strlen(f->hash) + 1);
	return sha256_end(h);
}

/* Whether this version has been asked about, or was rejected: 1 and the id of the request, open or
 * not; 0; -1. */
static int find(struct store *st, const char *machine, const struct policy_file *f, struct str *id,
                bool *ret_open, struct err *e)
{
	OWNED(policy_trust_asked_row) struct policy_trust_asked_row asked = { 0 };
	int got =
	    sql_policy_trust_asked(st, digest_of(f).text, machine, f->workspace_root, &asked, e);

	if (got > 0) {
		str_add(id, asked.id);
		*ret_open = asked.state != REQUEST_STATE_REJECTED;
	}
	return got;
}

static int insert_question(struct store *st, const char *machine, int64_t session_seq,
                           const struct policy_file *f, const char *body, size_t length,
                           struct err *e)
{
	OWNED(str) struct str title = { 0 };
	const struct asker who = { .session_seq = session_seq,
		                   .machine = machine,
		                   .workspace_root = f->workspace_root };
	struct sha256 digest = digest_of(f);
	bool open;

	str_addf(&title, "Trust " POLICY_FILE " of %.150s?", f->workspace_root);
	const struct question q = { .kind = REQUEST_KIND_TRUST,
		                    .digest = digest.text,
		                    .title = title.bytes,
		                    .body = body,
		                    .body_length = length,
		                    .original_hash = f->hash,
		                    .elapsed_seconds = -1,
		                    .actions_taken = -1 };
	return request_ask(st, &who, &q, &open, e) < 0 ? -1 : 0;
}

/* What does not fit in a message is not asked in one. */
static int say_too_much(struct store *st, struct policy_file *f, struct err *e)
{
	OWNED(str) struct str text = { 0 };

	if (strcmp(f->said_hash, f->hash) == 0)
		return 0;
	memcpy(f->said_hash, f->hash, sizeof(f->said_hash));
	str_addf(&text,
	         "%s/" POLICY_FILE " newly allows more than fits here and counts for nothing: "
	         "`agent-intercom policy trust %s` shows it and asks.",
	         f->workspace_root, f->workspace_root);
	return sql_slack_say_server(st, text.bytes, "policy", e);
}

/* Approving an older request would revert the version that came later. */
static int settle_outdated(struct store *st, const char *machine, const struct policy_file *f,
                           struct err *e)
{
	int64_t after = 0;

	for (;;) {
		OWNED(policy_trust_outdated_row) struct policy_trust_outdated_row row = { 0 };
		OWNED(decision_result) struct decision_result result = { 0 };
		struct decision d = { .verdict = "reject",
			              .reason = "another version of the file has come",
			              .operator_id = "system:policy",
			              .source = "policy" };
		int got = sql_policy_trust_outdated(st, after, f->hash, machine, f->workspace_root,
		                                    &row, e);

		if (got <= 0)
			return got;
		after = row.seq;
		d.request_id = row.id;
		if (decision_insert(st, &d, &result, e))
			return -1;
	}
}

int policy_trust_look(struct store *st, const char *machine, struct policy_file *f,
                      const cJSON *known, const cJSON *always_ask, struct err *e)
{
	OWNED(str) struct str id = { 0 };
	bool open;
	int asked = find(st, machine, f, &id, &open, e);

	if (asked || strcmp(f->widening_hash, f->hash) == 0)
		return asked < 0 ? -1 : 0;
	str_reset(&f->widening);
	if (policy_trust_describe(st, f, known, always_ask, &f->widening, &f->widening_is_shown, e))
		return -1;
	memcpy(f->widening_hash, f->hash, sizeof(f->widening_hash));
	return 0;
}

int policy_trust_ask(struct store *st, const char *machine, int64_t session_seq,
                     struct policy_file *f, struct err *e)
{
	OWNED(str) struct str id = { 0 };
	bool open;
	int asked = find(st, machine, f, &id, &open, e);
	/* 0: the file's bytes are not stored yet */
	int64_t content = asked == 0 ? sql_policy_content(st, f->hash, e) : 0;

	if (asked < 0 || content < 0 || policy_trust_load(st, machine, f, e))
		return -1;
	if (asked || !content || strcmp(f->widening_hash, f->hash) != 0 ||
	    strcmp(f->trusted_hash, f->hash) == 0)
		return 0;
	f->widening_hash[0] = '\0'; /* what people decide until the next request counts, too */
	if (settle_outdated(st, machine, f, e))
		return -1;
	return f->widening_is_shown ? insert_question(st, machine, session_seq, f,
	                                              f->widening.bytes, f->widening.length, e)
	                            : say_too_much(st, f, e);
}

/* Answers the open request about this version: 1 answered, 0 there is none. */
static int answer(struct store *st, const char *machine, const struct policy_file *f,
                  const char *verdict, struct err *e)
{
	OWNED(str) struct str id = { 0 };
	OWNED(decision_result) struct decision_result result = { 0 };
	struct decision d = { .verdict = verdict, .source = "ctl" };
	bool open = false;

	if (find(st, machine, f, &id, &open, e) < 0)
		return -1;
	if (!open)
		return 0;
	d.request_id = id.bytes;
	return decision_insert(st, &d, &result, e) || decision_check(&result, e) ? -1 : 1;
}

static int insert_trust(struct store *st, const char *machine, const struct policy_file *f,
                        struct err *e)
{
	int64_t content = content_put(st, f->bytes.bytes, f->bytes.length, e);

	return content < 0
	           ? -1
	           : sql_policy_trust_insert(st, machine, f->workspace_root, f->hash, content, e);
}

int policy_trust_give(struct store *st, const char *machine, const struct policy_file *f,
                      struct err *e)
{
	int answered = answer(st, machine, f, "approve", e);

	if (answered < 0 || (!answered && insert_trust(st, machine, f, e)))
		return -1;
	return settle_outdated(st, machine, f, e);
}

int policy_trust_deny(struct store *st, const char *machine, const struct policy_file *f,
                      struct err *e)
{
	return answer(st, machine, f, "reject", e) < 0 ? -1 : 0;
}
