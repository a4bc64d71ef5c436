/* slack_notice: messages in Slack other than requests: sessions, writes, silent agents, texts. */
#ifndef SLACK_NOTICE_H
#define SLACK_NOTICE_H

#include "blocks.h"
#include "sql/agent_turn.h"
#include "sql/slack_outbox.h"
#include "sql/stall.h"

enum { SLACK_AUTO_MAX = 20 /* different things that a summary names */ };

/* A session's mode changed. by: the source of the order; present: the mode it is in now. */
struct slack_mode {
	const char *session_id, *by;
	enum session_mode from, to, present;
};

/* A finished write. files: a JSON array of {"path", "action", "bytes"}; a file that differed from
 * what was shown has "overwrote": how many bytes. */
struct slack_write {
	const struct slack_apply_row *apply;
	const cJSON *files;
};

/* A silent agent. progress: JSON array of {"label", "status"}, or NULL. is_call: the second
 * message, which notifies everybody. */
struct slack_stall {
	const struct stall_by_id_row *row;
	const cJSON *progress;
	bool is_call;
};

/* A summary of what a policy allowed. */
struct slack_auto {
	int64_t count; /* of all */
	cJSON *shown; /* array of {"subject", "rule", "times"}, at most SLACK_AUTO_MAX */
};

void slack_notice_session(const struct slack_session_row *s, struct slack_said *out);
/* run: how the agent that we had started ended; NULL: we had not started it. */
void slack_notice_ended(const struct slack_session_row *s, const struct slack_run_row *run,
                        struct slack_said *out);
/* A session that can be resumed, after run. */
void slack_notice_run(const struct slack_session_row *s, const struct slack_run_row *run,
                      struct slack_said *out);
void slack_notice_mode(const struct slack_mode *m, struct slack_said *out);
void slack_notice_auto(const struct slack_auto *a, struct slack_said *out);
void slack_notice_write(const struct slack_write *w, struct slack_said *out);
void slack_notice_stall(const struct slack_stall *s, const char *const *mentions,
                        struct slack_said *out);
/* A plan, or the progress of an agent: JSON array of {"label", "status"}, or NULL. quoted: as what
 * the agent says; a message that has that once keeps some, or Slack takes no edit. */
void slack_notice_add_progress(cJSON *blocks, const cJSON *progress, bool quoted);
/* The watchdog has sent nudge number `nudge`. */
void slack_notice_nudged(const struct slack_stall *s, int64_t nudge, struct slack_said *out);
/* Likewise. level: info, success, warning, error; anything else is info. */
void slack_notice_broadcast(const char *level, const char *message, struct slack_said *out);
/* Above what an agent says in a thread that is not its session's: whose it is. */
void slack_notice_origin(const struct slack_said_elsewhere_row *whose, struct slack_said *out);
/* Our own words: *, _, ~ and backticks format; & < > are escaped here; people whom we name
 * (slack:<team>:<user>) are mentioned, under their names in Slack. */
void slack_notice_text(const char *text, struct slack_said *out);
/* What an agent says: its text unchanged, in a quote, without mentions or notifications. */
void slack_notice_agent(const char *text, struct slack_said *out);
/* What we say about an agent in its thread: our own words, without that quote. */
void slack_notice_note(const struct agent_line_text_row *note, struct slack_said *out);
/* Adds the buttons for a session that its runner has paused. */
void slack_notice_paused(const char *session_id, struct slack_said *out);
/* Words that were asked back, with buttons. answer: their outcome, which removes the buttons; NULL:
 * none yet. id: carried by the buttons. */
void slack_notice_asked(const char *text, const char *answer, const char *id,
                        struct slack_said *out);

#endif
