/* said: an agent's turns, and the lines of what it says and does in them, as rows. Slack, watch and
 * transcript show those. */
#ifndef SAID_H
#define SAID_H

#include "events.h"
#include "sql/sets.h"
#include "store.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a run stands. All zero: before its first turn. */
struct said {
	int64_t run; /* agent_run.seq */
	int64_t turn; /* agent_turn.seq, 0: none yet */
	bool is_open; /* the turn has not ended */
	bool has_more; /* it did something since its activity was last to be shown */
	int64_t shown_ms; /* monotonic: when that was */
};

enum said_what {
	SAID_NOTHING,
	SAID_LINE, /* of kind: text, detail */
	SAID_ONGOING, /* the same, which changes: key */
	SAID_TURN_BEGAN,
	SAID_TURN_ENDED, /* stop; text: of an error */
};

/* Something for one row; all texts are owned. */
struct said_line {
	enum said_what what;
	enum agent_line_kind kind;
	char *key, *text, *detail;
	enum acp_stop stop;
	bool is_over; /* it does not change any more */
};

/* What an event says; false: it is not for a line. */
bool said_read(const struct acp_event *event, struct said_line *out);
/* The same of a line of ours about the agent. */
void said_note(const char *text, struct said_line *out);
void said_line_clear(struct said_line *line);

/* The agent is told this, agent_input.seq. In the transaction after whose commit it is sent. */
int said_begin(struct said *s, struct store *st, int64_t input, struct err *e);
/* Writes a line, in a transaction; where that is rolled back, *s has to be as it was. gone: the
 * agent says nothing more, or is being ended. */
int said_write(struct said *s, struct store *st, const struct said_line *line, bool gone,
               struct err *e);
/* Has the activity of the turn shown if that is due: not for each call of a tool. */
int said_show(struct said *s, struct store *st, int64_t now_ms, struct err *e);
/* When that is due, monotonic ms; INT64_MAX: there is nothing to show. */
int64_t said_due_ms(const struct said *s);

#endif
