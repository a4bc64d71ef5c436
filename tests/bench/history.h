/* history: a database with much behind it, and the operations of daily use on it, for the bench and
 * for test_history.c. Everything dies (bench.h) when something does not work. */
#ifndef HISTORY_H
#define HISTORY_H

#include "id.h"
#include "store.h"

#include <stdint.h>

/* A new database with our schema, an operator and nothing else. */
void history_make(const char *path);
/* Fills in what calls number from + 1 to from + count leave behind: the calls and an event with its
 * seal for each, and for every tenth the question that it asked, its file, its answer and the
 * decision; a session and a connection for every thousandth. All of that happened, and the sessions
 * ended, days ago. Returns how many rows that are. Rules are off meanwhile; nobody else has the
 * database open. */
int64_t history_fill(const char *path, int64_t from, int64_t count, int days);

enum history_operation {
	HISTORY_INSERT, /* an agent asks something new: question, file, call, event */
	HISTORY_ATTACH, /* it asks the same again */
	HISTORY_INBOX, /* a person looks what waits, twenty questions */
	HISTORY_DECIDE, /* he approves one */
	HISTORY_CLAIM, /* the applier takes the write */
	HISTORY_EVENTS, /* the timeline behind the last ten events */
	HISTORY_SEAL, /* the new events are sealed */
	HISTORY_OPERATIONS
};

extern const char *const HISTORY_NAMES[HISTORY_OPERATIONS];

struct history {
	struct store store;
	struct id id; /* of the session and the connection */
	int64_t session, connection, number;
	int64_t work_ns[HISTORY_OPERATIONS]; /* of the last turn: the statements */
	int64_t all_ns[HISTORY_OPERATIONS]; /* and with its commit */
};

/* Opens the database and makes a live session with twenty open questions. */
void history_open(struct history *h, const char *path);
/* Each operation once. As many questions as before are open afterwards. */
void history_turn(struct history *h);
/* Stops the session: nothing is open any more. */
void history_close(struct history *h);

#endif
