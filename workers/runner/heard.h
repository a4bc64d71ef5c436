/* heard: what an agent said, until it is in rows. It is said in the order in which it came, in one
 * transaction; until then nothing of what follows from it is sent. */
#ifndef HEARD_H
#define HEARD_H

#include "asks.h"
#include "said.h"
#include "usage_rows.h"

/* Something that becomes rows. */
struct heard {
	enum acp_event_kind kind;
	char *id, *text;
	struct said_line line;
	struct heard *next;
};

struct heard_list {
	struct heard *first, **end; /* end: where the next one goes, unless there is none */
	struct said said;
	char *tool, *progress; /* of the session, newer than its row; NULL: as it is */
	struct usage_rows usage;
	bool is_alive; /* it said something since its session was touched */
	bool works; /* as the session's row has it */
	int64_t touched_ms; /* monotonic; 0: never */
	int64_t gap_ms; /* between two transactions with nothing but what it says and does */
	size_t waiting; /* bytes in the list that can wait for that */
	bool is_urgent; /* something in the list cannot */
};

/* Takes an event over. */
void heard_add(struct heard_list *h, const struct acp_event *event);
/* The same of a line of ours about the agent. */
void heard_add_line(struct heard_list *h, const char *text);

/* Whether there is something to be written now, and when there is if nothing more comes (monotonic
 * ms, INT64_MAX: never). works: it is the agent's turn; pressed: something waits for it to be in
 * rows. */
bool heard_is_due(const struct heard_list *h, bool works, bool pressed, int64_t now_ms);
int64_t heard_due_ms(const struct heard_list *h);

/* Writes all of it; a: where its questions are found. 0; -1: nothing was written. */
int heard_write(struct heard_list *h, struct asks *asks, struct runner *r,
                const struct agent_talk_row *row, struct acp *a, bool works, struct err *e);

void heard_clear(struct heard_list *h);

#endif
