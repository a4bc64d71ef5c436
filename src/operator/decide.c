/* Answers to requests: which one is meant, and with which words. */
#include "desk.h"

#include "command.h"
#include "decision.h"
#include "err.h"
#include "json.h"
#include "seen.h"
#include "sha256.h"
#include "sql/agent_turn.h"
#include "sql/operator.h"
#include "sql/steering.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the id and the words refer to. */
enum target {
	TARGET_FAILED = -1,
	TARGET_TOLD = 0, /* as desk_tell: the person has been told why nothing is done */
	TARGET_QUESTION,
	TARGET_SESSION, /* of `stop` and `resume`: no request accepts it */
	TARGET_TURN, /* an agent has ended its turn: the words are its next prompt */
	TARGET_NOTHING, /* it is not an id */
};

enum { VALUE_DIGITS = 8 }; /* fewer are a number, so many the first part of an id */

/* ---- finding it ---- */

static int several(struct desk *d, const char *what, const struct found *f)
{
	return desk_tell(d, SAID_UNCLEAR, "several %s; name one, `%s <id>`:%s", what,
	                 d->w->verb->word, str_text(&f->list));
}

/* No request has this id: lists what waits, and keeps the refusal as a row. */
static int no_such_id(struct desk *d, const char *id, struct err *e)
{
	const struct verb *v = d->w->verb;
	const struct decision row = { .request_id = id,
		                      .verdict = v->means[0],
		                      .operator_id = d->who->operator_id,
		                      .source = d->who->source,
		                      .key = d->who->key };
	OWNED(decision_result) struct decision_result r = { 0 };
	OWNED(found) struct found all = { 0 };
	int count = find_questions(d->st, &d->who->place, v, NULL, &all, e);

	if (count < 0 || decision_insert(d->st, &row, &r, e))
		return TARGET_FAILED;
	(void)desk_tell(d, SAID_REFUSED,
	                "not found: no question has an id that begins with '%.40s'%s%s", id,
	                count ? "; waiting for this:" : "", str_text(&all.list));
	if (count && !d->w->id && v->text == TEXT_MUST)
		str_addf(&d->out->text, "\nIf that is your answer: `%s <id> %.40s`", v->word, id);
	return TARGET_TOLD;
}

/* What these verbs say to a session whose agent has ended a turn is its next prompt. */
static const char *const PROMPTS[] = { "continue", "resume", "refine", NULL };

/* Whether what the verb says to this session is its next prompt: its agent has ended a turn, and
 * asks nothing. A "yes" is not: it may be meant for a question that has gone. TARGET_TURN,
 * TARGET_NOTHING, TARGET_FAILED. */
static int ended_turn(struct desk *d, const struct found *f, struct err *e)
{
	int waits;

	if (!texts_name(PROMPTS, d->w->verb->word) || f->count != 1 || !f->started ||
	    f->status != SESSION_STATUS_ACTIVE)
		return TARGET_NOTHING;
	waits = sql_agent_turn_waits(d->st, f->seq, e);
	return waits < 0 ? TARGET_FAILED : waits ? TARGET_TURN : TARGET_NOTHING;
}

/* A part of an id that questions and sessions share does not say which list it was read off. */
static int both(struct desk *d, const struct found *questions, const struct found *sessions)
{
	return desk_tell(d, SAID_UNCLEAR,
	                 "sessions and questions have an id that begins with this; name one, "
	                 "`%s <id>`:\nsessions:%s\nquestions:%s",
	                 d->w->verb->word, str_text(&sessions->list), str_text(&questions->list));
}

/* The session with this id, if the verb may be about it: TARGET_TURN or TARGET_SESSION; of a
 * `resume` its agent on standby. f: the questions with this id that the verb answers. */
static int session_by_id(struct desk *d, const char *id, struct found *f, struct err *e)
{
	const struct verb *v = d->w->verb;
	const struct place *where = &d->who->place;
	OWNED(found) struct found s = { 0 };
	int count, target;

	if (!v->or_session && !texts_name(PROMPTS, v->word))
		return TARGET_NOTHING;
	count = find_sessions(d->st, where, SESSION_STATUS_NONE, id, &s, e);
	target = count < 0 ? TARGET_FAILED : ended_turn(d, &s, e);
	if (target == TARGET_NOTHING && count > 0 && v->or_session)
		target = TARGET_SESSION;
	if (count <= 0 || target == TARGET_FAILED || (count == 1 && target == TARGET_NOTHING))
		return target;
	/* Lists show what the verb does not answer, too. */
	if (f->count == 0 && find_question(d->st, v, id, f, e) < 0)
		return TARGET_FAILED;
	if (f->count)
		return both(d, f, &s);
	if (count > 1)
		return several(d, "sessions have an id that begins with this", &s);
	count = find_questions(d->st, where, v, s.id, f, e);
	if (count > 1)
		return several(d, "questions wait for this", f);
	if (count != 0)
		return count < 0 ? TARGET_FAILED : TARGET_QUESTION;
	*f = s;
	s = (struct found){ 0 };
	return target;
}

/* Of a question, or of its session. */
static bool is_whole(const char *id, const struct found *f)
{
	return strcasecmp(id, f->id) == 0 || strcasecmp(id, f->session_id) == 0;
}

/* certain: the word can only be an id. */
static int by_id(struct desk *d, const char *id, bool certain, struct found *f, struct err *e)
{
	const struct verb *v = d->w->verb;
	size_t n = strlen(id);
	int count, target;

	if (n < FIND_LEAST && certain)
		return desk_tell_short(d, id);
	count = find_questions(d->st, &d->who->place, v, id, f, e);
	if (count == 0 || (count > 0 && !is_whole(id, f))) {
		target = session_by_id(d, id, f, e);
		if (target != TARGET_NOTHING)
			return target;
	}
	if (count == 0)
		count = find_question(d->st, v, id, f, e);
	if (count < 0)
		return TARGET_FAILED;
	if (count > 1 && f->verdict == REQUEST_VERDICT_NONE)
		return desk_tell(d, SAID_UNCLEAR,
		                 "no question with an id that begins with this takes `%s`:%s",
		                 v->word, str_text(&f->list));
	if (count > 1)
		return several(d, "questions have an id that begins with this", f);
	if (count == 1)
		return TARGET_QUESTION;
	return certain ? no_such_id(d, id, e) : TARGET_NOTHING;
}

/* Nothing waits for it: in a thread, says what it would have been about, and what waits there
 * instead. */
static int nothing_waits(struct desk *d, bool words, struct err *e)
{
	int64_t session = d->who->place.session_seq;
	OWNED(found) struct found last = { 0 };
	OWNED(str) struct str text = { 0 }, hint = { 0 }, local = { 0 };
	bool stands_by;
	int turn;

	if (session && (find_last_question(d->st, session, d->w->verb, &last, e) < 0 ||
	                operator_hint(d->st, d->who, session, &hint, &stands_by, e) < 0))
		return TARGET_FAILED;
	turn = session ? sql_agent_turn_waits(d->st, session, e) : 0;
	if (turn < 0 || desk_add_local(d, !d->w->verb->or_session, &local, e) < 0)
		return TARGET_FAILED;
	str_addf(&text, "nothing waits for `%s`", d->w->verb->word);
	if (last.story.length)
		str_addf(&text, ": %s %s", str_text(&last.name), str_text(&last.story));
	if (hint.length)
		str_addf(&text, ". What waits here takes %s", str_text(&hint));
	if (local.length)
		str_addf(&text, " that Slack may answer. %s", local.bytes);
	if (turn)
		str_add(&text, ". The agent has ended its turn: `continue` lets it go on");
	if (last.expired)
		str_add(&text, ". To have it asked again, tell its agent: `steer <text>`");
	else if ((words && !local.length) || turn)
		str_add(&text, ". To tell the agent something: `steer <text>`");
	return desk_tell(d, SAID_UNCLEAR, "%s", str_text(&text));
}

/* "stop frontend-agent": no request accepts it, and no session has that id. */
static int no_such_session(struct desk *d, const char *text, struct err *e)
{
	OWNED(found) struct found all = { 0 };
	OWNED(command_result) struct command_result r = { 0 };
	const struct place here = { .channel = d->who->place.channel };
	char id[ID_BYTES];
	const struct command order = { .verb = "stop",
		                       .session_id = id,
		                       .operator_id = d->who->operator_id,
		                       .source = d->who->source };

	(void)snprintf(id, sizeof(id), "%.*s", (int)strcspn(text, " \t\r\n"), text);
	if (command_insert(d->st, &order, &r, e)) /* which records who tried it */
		return TARGET_FAILED;
	if (find_sessions(d->st, &here, SESSION_STATUS_NONE, NULL, &all, e) < 0)
		return TARGET_FAILED;
	return desk_tell(d, SAID_UNCLEAR,
	                 "nothing waits for `%s`, and no session has an id that begins with "
	                 "'%.*s'%s%s",
	                 d->w->verb->word, (int)strcspn(text, " \t\r\n"), text,
	                 all.count ? "; live are:" : "", str_text(&all.list));
}

/* Of a "resume", bare or with words that no question takes: the one session that is paused here. */
static int paused_session(struct desk *d, struct found *f, struct err *e)
{
	int count = find_sessions(d->st, &d->who->place, SESSION_STATUS_PAUSED, NULL, f, e);

	if (count > 1)
		return several(d, "sessions are paused", f);
	if (count == 1 && f->status == SESSION_STATUS_PAUSED)
		return TARGET_SESSION;
	found_clear(f);
	return count < 0 ? TARGET_FAILED : TARGET_NOTHING;
}

/* The session of a thread where no request waits: its agent has ended a turn; resumes: a bare
 * "resume" of one that was interrupted, or is parked. */
static int session_of_thread(struct desk *d, bool resumes, struct found *f, struct err *e)
{
	int target;

	if (!d->who->place.session_id)
		return TARGET_NOTHING;
	if (find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, NULL, f, e) < 0)
		return TARGET_FAILED;
	if (resumes && f->count == 1 && f->started &&
	    (f->status == SESSION_STATUS_INTERRUPTED || f->status == SESSION_STATUS_PARKED))
		return TARGET_SESSION; /* of one whose question is open, the rules say so */
	target = ended_turn(d, f, e);
	if (target != TARGET_TURN)
		found_clear(f);
	return target;
}

static int session_to_stop(struct desk *d, const char *text, struct found *f, struct err *e)
{
	int count;

	if (*text)
		return d->who->place.session_seq ? nothing_waits(d, true, e)
		                                 : no_such_session(d, text, e);
	count = find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, NULL, f, e);
	if (count < 0)
		return TARGET_FAILED;
	if (count > 1)
		return several(d, "sessions are live here", f);
	return count == 1 ? TARGET_SESSION : nothing_waits(d, false, e);
}

/* A question of a session whose mode shuts out who speaks is not shown to them, and naming it does
 * not help. */
static int tell_shut(struct desk *d, const struct found *f, struct err *e)
{
	OWNED(operator_shut_row) struct operator_shut_row shut = { 0 };
	int got = sql_operator_shut(d->st, d->who->source, d->who->place.session_seq, &shut, e);

	if (got <= 0)
		return got < 0 ? TARGET_FAILED : TARGET_QUESTION;
	return desk_tell(d, SAID_REFUSED,
	                 "nothing was done: the session of %s is in %s mode: answer %s, or switch "
	                 "with `mode hybrid %.*s` first",
	                 str_text(&f->name), session_mode_name(shut.mode),
	                 shut.mode == SESSION_MODE_LOCAL ? "at its machine" : "in Slack",
	                 FIND_SHORT, f->session_id);
}

/* The verdict that the verb means for this request, with these words. */
static enum request_verdict verdict_of(const struct verb *v, const struct found *f,
                                       const char *text)
{
	enum request_verdict verdict = f->verdict ? f->verdict : request_verdict_of(v->means[0]);

	return verdict == REQUEST_VERDICT_CONTINUE && *text ? REQUEST_VERDICT_REFINE : verdict;
}

/* 1 all of it is shown to them; 0 it is not, and they are told so; -1. */
static int is_seen(struct desk *d, const struct request *r, struct err *e)
{
	OWNED(str) struct str why = { 0 };
	int got = d->who->has_seen ? d->who->has_seen(d->st, r, &why, e) : 1;

	if (got == 0)
		(void)desk_tell(d, SAID_REFUSED, "not approved: %s", str_text(&why));
	return got;
}

static bool approves(const struct desk *d, const struct found *f)
{
	return verdict_of(d->w->verb, f, "") == REQUEST_VERDICT_APPROVE;
}

/* 1 the verb counts once it names the question; 0 not even then, and they are told so; -1. */
static int is_enough_to_name(struct desk *d, const struct found *f, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	int got;

	if (!approves(d, f))
		return 1;
	got = request_read(d->st, f->seq, &r, e);
	return got > 0 ? is_seen(d, &r, e) : got < 0 ? -1 : 1;
}

/* The only one that waits, unless it was asked after the words: then they meant something else. */
static int if_asked(struct desk *d, const struct found *f, struct err *e)
{
	OWNED(str) struct str why = { 0 };
	int target = f->count && !f->story.length ? tell_shut(d, f, e) : TARGET_QUESTION;
	int was = 1, named;

	if (target != TARGET_QUESTION)
		return target;
	if (d->who->was_asked && f->count && !f->story.length)
		was = d->who->was_asked(d->st, d->who->said_ts, f->seq, approves(d, f), &why, e);
	if (was)
		return was < 0 ? TARGET_FAILED : TARGET_QUESTION;
	named = is_enough_to_name(d, f, e);
	if (named <= 0)
		return named < 0 ? TARGET_FAILED : TARGET_TOLD;
	return desk_tell(d, SAID_UNCLEAR, "nothing was done: %s %s, or name it: `%s %.*s`",
	                 str_text(&f->name), str_text(&why), d->w->verb->word, FIND_SHORT, f->id);
}

/* Without an id: the request whose thread this is, or else the only one that waits here. */
static int by_place(struct desk *d, const char *text, struct found *f, struct err *e)
{
	const struct verb *v = d->w->verb;
	const struct place *where = &d->who->place;
	bool is_resume = strcmp(v->word, "resume") == 0, resumes = is_resume && !*text;
	int count, target;

	if (where->request_id)
		return find_question(d->st, v, where->request_id, f, e) < 0 ? TARGET_FAILED
		                                                            : if_asked(d, f, e);
	if (resumes && v->or_session) {
		target = paused_session(d, f, e);
		if (target != TARGET_NOTHING)
			return target;
	}
	count = find_questions(d->st, where, v, NULL, f, e);
	if (count < 0)
		return TARGET_FAILED;
	if (count > 1)
		return several(d, "questions wait for this", f);
	if (count == 1)
		return if_asked(d, f, e);
	target = is_resume && !resumes ? paused_session(d, f, e) : TARGET_NOTHING;
	if (target == TARGET_NOTHING)
		target = session_of_thread(d, resumes, f, e);
	if (target != TARGET_NOTHING)
		return target;
	return strcmp(v->word, "stop") == 0 ? session_to_stop(d, text, f, e)
	                                    : nothing_waits(d, *text != '\0', e);
}

/* Where answers have numbers, it may be meant as one of these. */
static int too_short(struct desk *d, const char *line, struct err *e)
{
	int64_t session = d->who->place.session_seq;
	long number = strtol(line, NULL, 10);
	struct waiting w = { .clearances = 0 };

	(void)desk_tell_short(d, line);
	if (session && desk_look(d->st, session, &w, e) < 0)
		return TARGET_FAILED;
	if (w.offers && number > 0)
		str_addf(&d->out->text, ". To choose an answer by its number: `choose %ld`",
		         number);
	return TARGET_TOLD;
}

/* "refine 8080": a number that begins no id is a value, unless it may be a mistyped id: those are
 * longer, or begin with 0. */
static bool is_value(const struct verb *v, const char *word, size_t length)
{
	return v->text == TEXT_MUST && length < VALUE_DIGITS && *word != '0' &&
	       strspn(word, "0123456789") == length;
}

/* Finds what is meant; *ret_text: the remaining words, "" if there are none. */
static int find_target(struct desk *d, const char **ret_text, struct found *f, struct err *e)
{
	const struct words *w = d->w;
	const char *line = verb_skip_blanks(w->line ? w->line : "");
	size_t length = verb_id_length(line);
	char id[ID_BYTES];
	int target = TARGET_NOTHING;

	*ret_text = w->text ? w->text : line;
	if (w->id)
		return by_id(d, w->id, true, f, e);
	if (verb_is_too_short(w->verb, line))
		return too_short(d, line, e);
	if (length) {
		(void)snprintf(id, sizeof(id), "%.*s", (int)length, line);
		target = by_id(d, id, verb_is_only_an_id(line) && !is_value(w->verb, line, length),
		               f, e);
		if (target != TARGET_NOTHING) {
			*ret_text = verb_skip_blanks(line + length);
			return target;
		}
	}
	return by_place(d, *ret_text, f, e);
}

/* ---- deciding ---- */

static const char *past(enum request_verdict verdict)
{
	switch (verdict) {
	case REQUEST_VERDICT_APPROVE:
		return "Approved";
	case REQUEST_VERDICT_REJECT:
		return "Rejected";
	case REQUEST_VERDICT_CONTINUE:
		return "Continued";
	case REQUEST_VERDICT_REFINE:
		return "Refined";
	case REQUEST_VERDICT_STOP:
		return "Stopped";
	case REQUEST_VERDICT_RESUME:
		return "Resumed";
	case REQUEST_VERDICT_TIMEOUT:
	case REQUEST_VERDICT_NONE:
		break;
	}
	return "Done";
}

/* {"request_id", "status", "decision"}; of a standby {"session_id", "status": "resumed"}. */
static void add_members(struct desk *d, enum request_verdict verdict, const struct found *f,
                        enum request_state state)
{
	if (verdict == REQUEST_VERDICT_RESUME) {
		desk_add(d, "session_id", f->session_id);
		desk_add(d, "status", "resumed");
		return;
	}
	desk_add(d, "request_id", f->id);
	desk_add(d, "status", request_state_name(state));
	if (f->chosen.length)
		desk_add(d, "chosen", f->chosen.bytes);
	if (state == REQUEST_STATE_ANSWERED)
		desk_add(d, "decision", request_verdict_name(verdict));
}

/* Words with an approval go with its result, and are also sent as steering. */
static int tell_note(struct desk *d, const struct found *f, const char *note, struct err *e)
{
	const struct steering_insert_args s = { .kind = "steer",
		                                .session_id = f->session_id,
		                                .text = note,
		                                .operator_id = d->who->operator_id,
		                                .source = d->who->source };

	return sql_steering_insert(d->st, &s, e) < 0 ? -1 : 0;
}

enum { DIGEST_LEAST = 8, NAME_MOST = 1500, COMMAND_MOST = 500, TITLE_MOST = 80 };

/* The name of a question, in which all but its id is the agent's. */
static void name_as_foreign(const struct desk *d, struct found *f)
{
	OWNED(str) struct str name = { 0 };
	size_t ours = FIND_SHORT + strlen(": ");

	if (f->name.length <= ours)
		return;
	str_move(&name, &f->name);
	str_add_bytes(&f->name, str_text(&name), ours);
	desk_add_foreign(d, &f->name, str_text(&name) + ours, SIZE_MAX);
}

/* Names what is approved as it was shown: what happens to which files; a command. */
static void name_in_full(const struct desk *d, struct found *f, const struct request *r)
{
	OWNED(str) struct str what = { 0 };

	if (r->row.kind == REQUEST_KIND_PERMISSION && r->row.file_path && !request_is_change(r))
		return; /* an edit, which an agent shows as a diff: its name says which */
	if (seen_is_described(r))
		return; /* its name says what it is, and is shorter */
	seen_add(&what, r);
	if (!what.length || (request_is_change(r) && what.length > NAME_MOST))
		return;
	str_reset(&f->name);
	str_addf(&f->name, "%.*s: ", FIND_SHORT, f->id);
	if (r->row.kind == REQUEST_KIND_CLEARANCE) {
		desk_add_foreign(d, &f->name, r->row.title, TITLE_MOST);
		str_add(&f->name, " (");
		desk_add_foreign(d, &f->name, what.bytes, SIZE_MAX);
		str_add_char(&f->name, ')');
	} else {
		desk_add_foreign(d, &f->name, what.bytes, COMMAND_MOST);
	}
}

/* 1 it may be approved, with *ret_digest of what they saw (NULL: the current one); 0 they have not
 * been shown all of it, and are told so; -1. */
static int look(struct desk *d, struct request *r, struct found *f, const char **ret_digest,
                struct err *e)
{
	const char *given = d->w->digest;
	int got = request_read(d->st, f->seq, r, e);

	if (got <= 0)
		return got < 0 ? -1 : 1;
	name_in_full(d, f, r);
	*ret_digest = given;
	if (given && strlen(given) >= DIGEST_LEAST &&
	    strncmp(given, r->row.digest, strlen(given)) == 0)
		*ret_digest = r->row.digest;
	return given || d->w->edited || f->story.length ? 1 : is_seen(d, r, e);
}

/* Whether what is to be approved instead is what was asked. */
static bool is_as_asked(const struct request *r, const char *edited)
{
	size_t length = strlen(edited);

	if (r->row.editable == REQUEST_EDITABLE_CONTENT)
		return r->file_count == 1 &&
		       strcmp(r->files[0].result_hash, sha256_of(edited, length).text) == 0;
	return r->body.length == length && memcmp(str_text(&r->body), edited, length) == 0;
}

/* What is approved instead of what was asked; *ret NULL: nothing else. 1; 0 the person has been
 * told that it cannot be; -1. */
static int read_edited(struct desk *d, const struct request *r, const char **ret)
{
	const char *edited = d->w->edited;

	*ret = edited;
	if (!edited)
		return 1;
	if (!*verb_skip_blanks(edited))
		return desk_tell(d, SAID_UNCLEAR,
		                 "nothing was approved: the text is empty; `reject` refuses it");
	if (strlen(edited) > OPERATOR_EDITED_BYTES || !utf8_valid(edited, strlen(edited)))
		return desk_tell(d, SAID_UNCLEAR,
		                 "nothing was approved: the text must be UTF-8 of %d bytes at most",
		                 OPERATOR_EDITED_BYTES);
	if (is_as_asked(r, edited))
		*ret = NULL;
	return 1;
}

/* Whether an answer is for an agent that is not there to hear it. */
static bool is_unheard(const struct found *f)
{
	return !f->listening && f->kind != REQUEST_KIND_RESTORE && f->kind != REQUEST_KIND_TRUST;
}

/* What comes of an answer that no caller is waiting for. */
static const char *what_follows(const struct found *f, enum request_verdict verdict)
{
	bool yes = verdict == REQUEST_VERDICT_APPROVE;

	if (f->kind == REQUEST_KIND_RESTORE)
		return yes ? ". It is put back unless what it would write or remove has changed "
		             "since then: then it is asked again. Agents that were started "
		             "there are stopped first, and every agent there is told"
		           : ". Nothing was changed";
	if (f->kind == REQUEST_KIND_TRUST)
		return yes ? ". It applies from now on" : "";
	if (f->is_held)
		return "\nIts session is paused: the agent gets it after `session-resume`.";
	return is_unheard(f)
	           ? "\nThe agent is not waiting at the moment; it gets this when it is back."
	           : "";
}

/* Whether they speak in the thread of another session than the one that asked. */
static bool is_elsewhere(const struct desk *d, const struct found *f)
{
	const char *here = d->who->place.session_id;

	return here && strcmp(here, f->session_id) != 0;
}

static const char *note_told(const struct found *f)
{
	return f->is_driven ? ". The agent gets your words when its turn ends, at the latest"
	                    : ", and told the agent";
}

/* Why an answer does not count, or which it could be instead. */
static int tell_refused(struct desk *d, const struct found *f, enum decision_outcome outcome,
                        const struct err *why, struct err *e)
{
	int must = outcome == DECISION_OUTCOME_WRONG_VERB ? desk_must_choose(d, f, e) : 0;

	if (must)
		return must < 0 ? -1 : 0;
	return d->who->place.channel
	           ? desk_tell(d, SAID_REFUSED, "%s: %s", str_text(&f->name), why->text)
	           : desk_refuse(d, why);
}

/* What the agent calls the yes that it is given, if it offers one of its own. */
static void add_yes(const struct desk *d, const struct request *r, struct str *out)
{
	OWNED(cJSON_ptr) cJSON *options = cJSON_Parse(r->row.options ? r->row.options : "");
	const cJSON *option;

	cJSON_ArrayForEach (option, options) {
		if (!json_says(option, "kind", "allow_once") || !json_text(option, "name"))
			continue;
		str_add(out, "\nThe agent is answered: ");
		desk_add_foreign(d, out, json_text(option, "name"), FIND_OPTION);
	}
}

/* choice: as in struct decision. */
static int insert(struct desk *d, enum request_verdict verdict, const char *text,
                  const char *choice, struct found *f, struct err *e)
{
	OWNED(request) struct request shown = { 0 };
	OWNED(str) struct str did = { 0 };
	const char *digest = d->w->digest, *edited = d->w->edited;
	int may = verdict == REQUEST_VERDICT_APPROVE ? look(d, &shown, f, &digest, e) : 1;

	if (may > 0 && verdict == REQUEST_VERDICT_APPROVE)
		may = read_edited(d, &shown, &edited);
	bool why = verdict == REQUEST_VERDICT_REJECT || verdict == REQUEST_VERDICT_STOP;
	bool rejects = verdict == REQUEST_VERDICT_REJECT && f->kind == REQUEST_KIND_CLEARANCE;
	/* A driven agent is told what the operator says as its next prompt. */
	const char *no_reason = rejects && !f->is_driven && !d->w->text ? d->who->no_reason : NULL;
	const char *said = *verb_skip_blanks(text) ? text : no_reason;
	const struct decision row = { .request_id = f->id,
		                      .verdict = request_verdict_name(verdict),
		                      .reason = why ? said : NULL,
		                      .instruction = why ? NULL : said,
		                      .choice = choice,
		                      .edited = edited,
		                      .digest = digest,
		                      .operator_id = d->who->operator_id,
		                      .source = d->who->source,
		                      .key = d->who->key };
	OWNED(decision_result) struct decision_result r = { 0 };
	struct err refused = { 0 };

	if (may <= 0)
		return may;
	if (decision_insert(d->st, &row, &r, e))
		return -1;
	if (is_elsewhere(d, f))
		str_addf(&f->name, ", %s", str_text(&f->whose));
	if (decision_check(&r, &refused))
		return tell_refused(d, f, r.is.outcome, &refused, e);
	bool has_note = verdict == REQUEST_VERDICT_APPROVE && said;

	if (!choice)
		add_yes(d, &shown, &f->filled);

	/* A driven agent gets it from its runner, once. */
	if (has_note && !f->is_driven && tell_note(d, f, said, e))
		return -1;
	add_members(d, verdict, f, r.request.state);
	if (edited)
		desk_add(d, "edited_hash", sha256_of(edited, strlen(edited)).text);
	if (f->chosen.length) {
		str_addf(&did, "Chosen: %d. ", f->chosen_number);
		desk_add_foreign(d, &did, f->chosen.bytes, SIZE_MAX);
		str_add(&did, ", for");
	} else if (edited) {
		str_add(&did, "Approved with a change:");
	} else {
		str_add(&did, past(verdict));
	}
	d->out->unheard = is_unheard(f) || f->is_held;
	return desk_tell(d, SAID_DONE, "%s %s%s%s%s", did.bytes, str_text(&f->name),
	                 has_note ? note_told(f) : "", str_text(&f->filled),
	                 what_follows(f, verdict));
}

/* "approve but rename it" does not approve the proposal as it is: asks back. */
static int ask_back(struct desk *d, struct found *f, const char *text, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	int must = desk_must_choose(d, f, e);

	if (must)
		return must < 0 ? -1 : 0;
	if (request_read(d->st, f->seq, &r, e) < 0)
		return -1;
	name_in_full(d, f, &r);
	str_add(&d->out->note, text);
	return desk_tell(d, SAID_ASKED,
	                 "Shall %s be approved as it is%s, and the agent be told “%s”?",
	                 str_text(&f->name),
	                 f->kind == REQUEST_KIND_RESTORE
	                     ? " (every file of the list is put back, whatever the words say)"
	                     : "",
	                 text);
}

/* For a session that is stopped, the words are the reason; for one that continues, they go to its
 * agent. */
static int order_session(struct desk *d, const struct found *f, const char *text, struct err *e)
{
	const char *verb = verb_find(d->w->verb->or_session)->means[0];
	bool stops = strcmp(verb, "stop") == 0;
	OWNED(str) struct str told = { 0 };

	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f->session_id);
	if (desk_order_session(d, verb, f->session_id, str_text(&f->name), stops ? text : NULL, e))
		return -1;
	if (stops || !*text || d->out->outcome != SAID_DONE)
		return 0;
	str_add(&told, str_text(&d->out->text));
	if (desk_put(d, "steer", f->session_id, text, NULL, e))
		return -1;
	str_addf(&told, "\n%s", str_text(&d->out->text));
	return desk_tell(d, d->out->outcome, "%s", str_text(&told));
}

/* The same with one of the answers that the agent offers. */
static int decide_choice(struct desk *d, const char *option, const char *text, struct found *f,
                         struct err *e)
{
	OWNED(str) struct str choice = { 0 }, name = { 0 };
	enum request_verdict verdict;
	int got = desk_choose(d, f, option, &verdict, &choice, e);

	if (got <= 0)
		return got;
	desk_add_foreign(d, &name, str_text(&f->chosen), SIZE_MAX);
	if (d->w->option && verdict != request_verdict_of(d->w->verb->means[0]))
		return desk_tell(
		    d, SAID_REFUSED, "nothing was done: %d. %s %s; to choose it: `choose %.*s %d.`",
		    f->chosen_number, str_text(&name),
		    verdict == REQUEST_VERDICT_REJECT ? "is a rejection" : "does not reject",
		    FIND_SHORT, f->id, f->chosen_number);
	return insert(d, verdict, text, str_text(&choice), f, e);
}

/* An answer to a prompt, which may be a form. */
static int decide_prompt(struct desk *d, enum request_verdict verdict, const char *text,
                         struct found *f, struct err *e)
{
	OWNED(str) struct str content = { 0 }, said = { 0 };
	int got = 1;

	if (verdict == REQUEST_VERDICT_REFINE)
		got = desk_fill(d, f, text, &content, &said, e);
	if (got <= 0)
		return got;
	return insert(d, verdict, content.length ? str_text(&said) : text, content.bytes, f, e);
}

/* As the button *Resume* does where there are no words. */
static int prompt(struct desk *d, const struct found *f, const char *text, struct err *e)
{
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f->session_id);
	return desk_put(d, "steer", f->session_id, *text ? text : OPERATOR_CONTINUE, NULL, e);
}

int desk_decide(struct desk *d, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	enum request_verdict verdict;
	const char *text;
	int target = find_target(d, &text, &f, e);

	if (target == TARGET_FAILED || target == TARGET_TOLD)
		return target;
	if (target == TARGET_SESSION)
		return order_session(d, &f, text, e);
	if (target == TARGET_TURN)
		return prompt(d, &f, text, e);
	(void)snprintf(d->out->request_id, ID_BYTES, "%s", f.id);
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	name_as_foreign(d, &f);
	verdict = verdict_of(d->w->verb, &f, text);
	if (f.kind == REQUEST_KIND_PROMPT)
		return decide_prompt(d, verdict, text, &f, e);
	if (d->w->option)
		return decide_choice(d, d->w->option, text, &f, e);
	if (strcmp(d->w->verb->word, "choose") == 0)
		return decide_choice(d, text, "", &f, e);
	if (*text && verdict == REQUEST_VERDICT_APPROVE && !d->w->certain && !f.story.length)
		return ask_back(d, &f, text, e);
	return insert(d, verdict, text, NULL, &f, e);
}
