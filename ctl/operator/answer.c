/* approve, reject, continue, refine, stop, resume: answers to what waits. */
#include "ctl.h"

#include "decision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char DEFAULT_REASON[] = "rejected via local CLI";

int decide(struct ctl *c, const struct request *r, const char *verdict, const char *reason,
           const char *instruction, struct err *e)
{
	OWNED(decision_result) struct decision_result result = DECISION_RESULT_INIT;
	const struct decision d = {
		.request_id = r->id,
		.verdict = verdict,
		.reason = reason,
		.instruction = instruction,
		.digest = r->digest,
		.source = "ctl",
	};

	if (store_begin(&c->store, e))
		return -1;
	if (decision_insert(&c->store, &d, &result, e)) {
		store_rollback(&c->store);
		return -1;
	}
	if (store_commit(&c->store, e))
		return -1;
	return decision_check(&result, e);
}

/* Tells what was done, after it was committed. listeners: of before. */
static void report(const struct ctl *c, const struct request *r, const char *status,
                   const char *decision, int64_t listeners)
{
	if (c->json) {
		cJSON *o = cJSON_CreateObject();

		json_add_text(o, "request_id", r->id);
		json_add_text(o, "status", status);
		if (decision)
			json_add_text(o, "decision", decision);
		json_print(c, o);
		return;
	}
	(void)printf("%s %s  ", decision ? decision : status, r->id);
	print_visible(r->title);
	(void)putchar('\n');
	if (listeners == 0)
		(void)puts("nobody listens at the moment; the agent gets it when it is back");
}

static int answer(struct ctl *c, const char *verdict, const char *status, const char *reason,
                  const char *instruction, struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	int64_t listeners;

	if (find_request(c, c->argv[0], &r, e))
		return -1;
	listeners = request_listeners(c, r.seq, e);
	if (listeners < 0 || decide(c, &r, verdict, reason, instruction, e))
		return -1;
	report(c, &r, status, strcmp(status, "answered") == 0 ? verdict : NULL, listeners);
	return 0;
}

static int run_approve(struct ctl *c, struct err *e)
{
	return answer(c, "approve", "approved", NULL, NULL, e);
}

static int run_reject(struct ctl *c, struct err *e)
{
	return answer(c, "reject", "rejected", c->reason ? c->reason : DEFAULT_REASON, NULL, e);
}

static int run_continue(struct ctl *c, struct err *e)
{
	return answer(c, "continue", "answered", NULL, NULL, e);
}

static int run_refine(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *text = join_arguments(c, 1);

	return answer(c, "refine", "answered", NULL, text, e);
}

static int run_stop(struct ctl *c, struct err *e)
{
	return answer(c, "stop", "answered", c->reason, NULL, e);
}

/* ---- resume ---- */

struct choice {
	int64_t seq; /* of the last standby that fits */
	int count;
	struct str list; /* what fits, for the error */
};

static bool begins(const char *id, const char *prefix)
{
	return strncmp(id, prefix, strlen(prefix)) == 0;
}

/* The waiting standbys whose id, or whose session's id, begins with prefix. */
static int choose(struct ctl *c, const char *prefix, struct choice *choice, struct err *e)
{
	stmt *s = store_stmt(&c->store, SQL_STANDBY_LIST);
	int got;

	bind_int(s, ":after", 0);
	while ((got = stmt_row(s, e)) > 0) {
		const char *id = col_text(s, STANDBY_LIST_ID);

		if (!begins(id, prefix) && !begins(col_text(s, STANDBY_LIST_SESSION_ID), prefix))
			continue;
		choice->seq = col_int(s, STANDBY_LIST_SEQ);
		choice->count++;
		str_addf(&choice->list, "\n  %s  %s", id, col_text(s, STANDBY_LIST_WORKSPACE_ROOT));
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

/* Whether a first word can only be an id: a whole one, or 8 hex digits and more with a decimal
 * digit among them. Such a word that fits nothing is a mistake, not an instruction. */
static bool only_an_id(const char *word)
{
	size_t n = strspn(word, "0123456789abcdefABCDEF-");

	return n >= 8 && word[n] == '\0' && strpbrk(word, "0123456789") != NULL;
}

static bool maybe_an_id(const char *word)
{
	size_t n = strspn(word, "0123456789abcdef-");

	return n >= 4 && word[n] == '\0';
}

/* Why a word that can only be an id names no standby that waits. */
static int not_waiting(struct ctl *c, const char *word, const char *instruction, struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	OWNED(char_ptr) char *session = NULL;
	int64_t seq = 0;
	int got = request_find(&c->store, word, &seq, e);

	if (got > 0)
		got = request_read(&c->store, seq, &r, e);
	if (got < 0)
		return -1;
	if (got > 0) /* an answered standby, or something else: the rules say what is wrong */
		return decide(c, &r, "resume", NULL, instruction, e);
	if (find_session(c, word, &session, NULL) == 0)
		return err_set(e, ERR_INPUT, "session %s is not waiting for instructions", session);
	return err_set(e, ERR_INPUT,
	               "not found: no waiting agent has an id that begins with '%.40s'", word);
}

static int resume_one(struct ctl *c, int64_t seq, const char *instruction, struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	int got = request_read(&c->store, seq, &r, e);

	if (got == 0)
		return err_set(e, ERR_AGAIN, "the waiting agent is gone");
	if (got < 0 || decide(c, &r, "resume", NULL, *instruction ? instruction : NULL, e))
		return -1;
	if (c->json) {
		cJSON *o = cJSON_CreateObject();

		json_add_text(o, "session_id", r.session_id);
		json_add_text(o, "status", "resumed");
		json_print(c, o);
		return 0;
	}
	(void)printf("resumed %s in ", r.session_id);
	print_visible(r.workspace_root);
	(void)putchar('\n');
	return 0;
}

static int too_many(const struct choice *choice, struct err *e)
{
	return err_set(e, ERR_INPUT, "%d agents wait for instructions; name one of them:%.900s",
	               choice->count, str_text(&choice->list));
}

static int resume_with(struct ctl *c, struct choice *choice, struct err *e)
{
	const char *first = c->argc > 0 ? c->argv[0] : "";
	OWNED(char_ptr) char *rest = join_arguments(c, 1);
	OWNED(char_ptr) char *all = join_arguments(c, 0);

	if (maybe_an_id(first) && choose(c, first, choice, e))
		return -1;
	if (choice->count == 1)
		return resume_one(c, choice->seq, rest, e);
	if (choice->count > 1)
		return too_many(choice, e);
	if (only_an_id(first))
		return not_waiting(c, first, rest, e);
	if (choose(c, "", choice, e))
		return -1;
	if (choice->count == 0)
		return err_set(e, ERR_INPUT,
		               "no agent is waiting for instructions; what waits for you: "
		               "`agent-intercom-ctl inbox`");
	return choice->count > 1 ? too_many(choice, e) : resume_one(c, choice->seq, all, e);
}

static int run_resume(struct ctl *c, struct err *e)
{
	struct choice choice = { 0 };
	int status = resume_with(c, &choice, e);

	str_clear(&choice.list);
	return status;
}

const struct command_spec cmd_approve = { "approve", "ID",       "approve a proposed change",
	                                  NULL,      1,          1,
	                                  0,         run_approve };
const struct command_spec cmd_reject = {
	"reject",  "ID [--reason TEXT]", "reject a proposed change", NULL, 1, 1, TAKES_REASON,
	run_reject
};
const struct command_spec cmd_continue = { "continue", "ID",        "let an agent that asks go on",
	                                   NULL,       1,           1,
	                                   0,          run_continue };
const struct command_spec cmd_refine = {
	"refine", "ID TEXT...", "let it go on with new instructions", NULL, 2, -1, 0, run_refine
};
const struct command_spec cmd_stop = { "stop",
	                               "ID [--reason TEXT]",
	                               "stop an agent that asks or stands by",
	                               NULL,
	                               1,
	                               1,
	                               TAKES_REASON,
	                               run_stop };
const struct command_spec cmd_resume = {
	"resume",
	"[ID] [TEXT...]",
	"wake an agent that stands by, with what to do next",
	"ID is the id of the request or of the session, or the beginning of either. Without ID, "
	"the\n"
	"only waiting agent is meant. A first word that is no id belongs to the text.\n",
	0,
	-1,
	0,
	run_resume
};
