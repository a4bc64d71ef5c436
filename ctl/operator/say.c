/* Turns arguments into words for the operator's desk, and prints the answer. */
#include "ctl.h"

#include "clock.h"
#include "machine.h"
#include "seen.h"
#include "sql/gate_call.h"
#include "sql/worker.h"
#include "via_desk.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	BUSY_TRY_MS = 2000, /* then the person is told that we wait */
	BUSY_TRIES = 30, /* a minute in all */
	BUSY_PAUSE_MS = 50,
	LOOK_MS = 30,
	TELL_MS = 5000, /* then a person is told that we wait, and for whom in vain */
	WITHHELD_MS = 2000, /* for the hook to be told */
};

int ctl_check_files(const struct ctl *c, struct err *e)
{
	if (instance_is_same(c->paths.database, &c->opened))
		return 0;
	return err_set(e, ERR_AGAIN,
	               "database %s: it, its -wal or its -shm was removed or replaced since this "
	               "command began; nothing was done: try again",
	               c->paths.database);
}

/* What a person orders is not lost because others write: we wait, and say so. */
static int begin(struct ctl *c, struct err *e)
{
	if (ctl_check_files(c, e))
		return -1;
	for (int i = 1;; i++) {
		struct err why = { 0 };

		if (store_begin_within(&c->store, BUSY_TRY_MS, &why) == 0)
			return 0;
		if (why.kind != ERR_AGAIN || i >= BUSY_TRIES)
			return err_set(e, why.kind, "%s; nothing was done", why.text);
		if (i == 1)
			(void)fprintf(stderr, "note: the database is busy; waiting\n");
		(void)poll(NULL, 0, BUSY_PAUSE_MS);
	}
}

static struct speaker speaker(void)
{
	return (struct speaker){ .operator_id = via_desk_operator(),
		                 .source = "ctl",
		                 .has_seen = seen_in_inbox,
		                 .no_reason = "rejected via local CLI" };
}

int ctl_say(struct ctl *c, const struct words *w, struct said *out, struct err *e)
{
	const struct speaker here = speaker();

	if (begin(c, e) || store_end(&c->store, operator_say(&c->store, &here, w, out, e), e))
		return -1;
	return out->outcome == SAID_DONE ? 0 : err_set(e, ERR_INPUT, "%s", str_text(&out->text));
}

int ctl_find_checkpoint(struct ctl *c, const char *name, const char *root, char id[ID_BYTES],
                        struct err *e)
{
	const struct words w = {
		.verb = verb_find("diff"), .id = c->session, .text = name, .workspace = root
	};
	const struct speaker here = speaker();
	OWNED(said) struct said out = { 0 };
	int got;

	if (begin(c, e))
		return -1;
	got = operator_checkpoint(&c->store, &here, &w, &out, id, e);
	if (store_end(&c->store, got < 0, e))
		return -1;
	return got > 0 ? 0 : err_set(e, ERR_INPUT, "%s", str_text(&out.text));
}

void ctl_reply_clear(struct ctl_reply *r)
{
	cJSON_Delete(r->json);
	*r = (struct ctl_reply){ 0 };
}

void ctl_print_reply(const struct ctl *c, struct ctl_reply *r)
{
	json_print(c, r->json);
	r->json = NULL;
}

static void tell_waiting(struct ctl *c)
{
	OWNED(worker_absent_row) struct worker_absent_row absent = { 0 };
	char machine[MACHINE_BYTES];
	struct err e = { 0 };

	machine_name(machine);
	if (sql_worker_absent(&c->store, machine, &absent, &e) > 0 && absent.names)
		(void)fprintf(stderr, "does not run: %s; agent-intercom doctor says more\n",
		              absent.names);
	if (isatty(STDERR_FILENO))
		(void)fputs("still waiting; Ctrl-C ends the waiting, not the order\n", stderr);
}

/* Until it has an outcome; none on return means that time ran out. */
static int await(struct ctl *c, int64_t seq, int ms, struct command_result *result, struct err *e)
{
	int64_t until_ms = clock_monotonic_ms() + ms;
	int64_t tell_ms = until_ms - ms + TELL_MS;

	for (;;) {
		if (command_read(&c->store, seq, result, e))
			return -1;
		if (result->is.outcome || clock_monotonic_ms() >= until_ms)
			return command_check(result, e);
		command_result_clear(result);
		if (clock_monotonic_ms() >= tell_ms) {
			tell_waiting(c);
			tell_ms = INT64_MAX;
		}
		(void)poll(NULL, 0, LOOK_MS);
	}
}

int ctl_order(struct ctl *c, const struct words *w, int ms, const char *late,
              struct ctl_reply *reply, struct err *e)
{
	OWNED(said) struct said said = { 0 };
	OWNED(command_result) struct command_result result = { 0 };

	if (ctl_say(c, w, &said, e) || await(c, said.seq, ms, &result, e))
		return -1;
	if (!result.is.outcome)
		return err_set(e, ERR_AGAIN, "%s", late);
	reply->seq = said.seq;
	reply->json = cJSON_Parse(result.is.reply ? result.is.reply : "");
	return reply->json ? 0 : err_set(e, ERR_BUG, "the reply to the order is not JSON");
}

void ctl_add_withheld(struct ctl *c, struct said *s)
{
	int64_t until_ms = clock_monotonic_ms() + WITHHELD_MS;
	OWNED(request) struct request r = { 0 };
	struct err unknown = { 0 }; /* it is approved all the same */

	if (find_request(c, s->request_id, &r, &unknown))
		return;
	while (sql_gate_call_awaits(&c->store, r.row.seq, &unknown) > 0 &&
	       clock_monotonic_ms() < until_ms)
		(void)poll(NULL, 0, LOOK_MS);
	request_clear(&r);
	if (find_request(c, s->request_id, &r, &unknown) || !r.outcome.withheld)
		return;
	str_addf(&s->text, "\nbut not done: %s", r.outcome.withheld);
	json_add_text(s->json, "withheld", r.outcome.withheld);
}

void print_said(const struct ctl *c, struct said *s)
{
	OWNED(str) struct str text = { 0 };

	if (c->json) {
		json_print(c, s->json ? s->json : cJSON_CreateObject());
		s->json = NULL;
		return;
	}
	add_visible(&text, str_text(&s->text), s->text.length, true);
	(void)puts(str_text(&text));
}

int ctl_say_and_print(struct ctl *c, const struct words *w, struct err *e)
{
	OWNED(said) struct said said = { 0 };

	if (ctl_say(c, w, &said, e))
		return -1;
	print_said(c, &said);
	return 0;
}

/* The command is the word; the first argument is an id, the rest are the text. */
static int run_word(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *rest = join_arguments(c, 1);
	const struct words w = { .verb = verb_find(c->command->name),
		                 .id = c->argv[0],
		                 .text = *rest ? rest : c->reason,
		                 .option = c->option,
		                 .digest = c->digest,
		                 .certain = true };

	return ctl_say_and_print(c, &w, e);
}

static int run_resume(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *line = join_arguments(c, 0);
	const struct words w = { .verb = verb_find("resume"), .line = line, .no_options = true };

	return ctl_say_and_print(c, &w, e);
}

static int run_task(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *text = join_arguments(c, 0);
	const struct words w = { .verb = verb_find("task"), .text = text };

	return ctl_say_and_print(c, &w, e);
}

/* What follows `session`: an order, and what it takes. */
static const struct session_word {
	const char *word;
	bool takes_id, takes_text, starts; /* starts: it takes --agent, too */
} SESSION_WORDS[] = {
	{ "start", false, true, true },     { "pause", true, false, false },
	{ "resume", true, false, false },   { "stop", true, false, false },
	{ "clear", true, false, false },    { "restart", true, true, true },
	{ "cleanup", false, false, false },
};

static const struct session_word *find_session_word(const char *word)
{
	for (size_t i = 0; i < COUNT(SESSION_WORDS); i++)
		if (strcmp(SESSION_WORDS[i].word, word) == 0)
			return &SESSION_WORDS[i];
	return NULL;
}

static int session_text_from(char *word)
{
	const struct session_word *w = find_session_word(word);

	return w && w->takes_text ? 2 + w->takes_id : 0;
}

static int check_session(const struct ctl *c, struct err *e)
{
	const struct session_word *w = find_session_word(c->argv[0]);
	int used = w ? 1 + w->takes_id : 0;

	if (!w)
		return err_set(e, ERR_INPUT,
		               "session takes start, pause, resume, clear, restart or cleanup, "
		               "not '%.40s'",
		               c->argv[0]);
	if (c->argc > used && !w->takes_text)
		return err_set(e, ERR_INPUT, "too many arguments for 'session %s': '%.40s'",
		               w->word, c->argv[used]);
	if (c->argc == used && !w->takes_id && w->takes_text)
		return err_set(e, ERR_INPUT, "session %s needs a prompt", w->word);
	if ((c->agent || c->workspace || c->park) && !w->starts)
		return err_set(e, ERR_INPUT,
		               "session %s does not take --agent, --workspace or --park", w->word);
	if (c->workspace && w->takes_id)
		return err_set(e, ERR_INPUT,
		               "session %s does not take --workspace: the new "
		               "session works where the old one did",
		               w->word);
	return 0;
}

static int run_session(struct ctl *c, struct err *e)
{
	const struct session_word *known = find_session_word(c->argv[0]);
	OWNED(str) struct str word = { 0 };
	OWNED(char_ptr) char *text = NULL;
	struct words w = { .agent = c->agent, .workspace = c->workspace, .park = c->park };

	str_addf(&word, "session-%s", known->word);
	text = join_arguments(c, 1 + known->takes_id);
	w.verb = verb_find(str_text(&word));
	w.id = known->takes_id ? c->argv[1] : NULL;
	w.text = *text ? text : NULL;
	return ctl_say_and_print(c, &w, e);
}

const struct command_spec cmd_reject = {
	"reject",
	HELP("ID [--option OPTION] [--reason TEXT]", "reject a proposed change",
	     "OPTION is the number or the name of one of the agent's own answers that rejects; "
	     "choose takes\n"
	     "any.\n"),
	ARGUMENTS(1, 1, TAKES_REASON | TAKES_OPTION), .run = run_word
};
const struct command_spec cmd_choose = {
	"choose",
	HELP("ID OPTION...", "answer with one of the options that an agent offers",
	     "OPTION is its number, as `show` lists it, or its name.\n"),
	ARGUMENTS(2, -1, TAKES_DIGEST), .run = run_word
};
const struct command_spec cmd_continue = { "continue", HELP("ID", "let an agent continue", NULL),
	                                   ARGUMENTS(1, 1, 0), .run = run_word };
const struct command_spec cmd_refine = {
	"refine", HELP("ID TEXT...", "let it continue with new instructions", NULL),
	ARGUMENTS(2, -1, 0), .run = run_word, .text_from = 2
};
const struct command_spec cmd_stop = {
	"stop",
	HELP("ID [--reason TEXT]", "stop an agent that asks or is on standby",
	     "ID is that of a question, or of a session, which it ends.\n"),
	ARGUMENTS(1, 1, TAKES_REASON), .run = run_word
};
const struct command_spec cmd_resume = {
	"resume",
	HELP("[ID] [TEXT...]", "give an agent on standby its next task",
	     "ID is the id of the request or of the session, or the beginning of either. Without "
	     "ID, the\n"
	     "only waiting agent is meant. A first word that is no id belongs to the text.\n"),
	ARGUMENTS(0, -1, 0), .run = run_resume, .text_from = 2
};
const struct command_spec cmd_steer = {
	"steer",
	HELP("SESSION TEXT...", "tell an agent something, with the result of its next call", NULL),
	ARGUMENTS(2, -1, 0), .run = run_word, .text_from = 2
};
const struct command_spec cmd_task = { "task",
	                               HELP("TEXT...", "leave a task for the next agent", NULL),
	                               ARGUMENTS(1, -1, 0), .run = run_task, .text_from = 1 };
const struct command_spec cmd_session = {
	"session",
	HELP(
	    "WORD [SESSION] [PROMPT...]", "starts an agent; pauses, resumes or ends a session",
	    "  start [--agent NAME] [--workspace ID] [--park SECONDS] PROMPT...   an agent starts "
	    "here\n"
	    "  pause SESSION     its next calls wait; over ACP, also answers to its questions\n"
	    "  resume SESSION    it goes on; an agent that we started and lost is started again\n"
	    "  clear SESSION     what it asks is answered with stop or reject, its later calls get "
	    "an\n"
	    "                    error, and the agent that we started is ended (stop is the same)\n"
	    "  restart SESSION [--agent NAME] [PROMPT...]   ended, and begun afresh in its thread\n"
	    "  cleanup           ends interrupted sessions whose agent we started\n"
	    "Without SESSION, the only one to which it can be done is meant.\n"),
	ARGUMENTS(1, -1, TAKES_AGENT),
	.run = run_session,
	.text_from_of = session_text_from,
	.check = check_session
};
const struct command_spec cmd_nudge = {
	"nudge", HELP("SESSION [TEXT...]", "tell a silent agent to continue", NULL),
	ARGUMENTS(1, -1, 0), .run = run_word, .text_from = 2
};
