/* ipc_case: what the programs test_ipc_*.c share: a front, questions, and callers of its socket. */
#ifndef IPC_CASE_H
#define IPC_CASE_H

#include "agent.h"

#include <sys/types.h>

#define NEWEST "SELECT id FROM request ORDER BY seq DESC LIMIT 1"

extern char workspace[600];
extern pid_t front;

void given_front(void);
/* A question that waits; columns and values: what its kind has besides. */
void given_question(const char *kind, const char *columns, const char *values);
void given_clearance(void);
void given_prompt(void);
void given_standby(void);
/* The value of a query, without its newline; valid until the fourth call after. */
const char *value(const char *sql);

struct caller {
	int fd;
	struct str in;
};

int connect_in(int dir);
struct caller call_in(void);
void hang_up(struct caller *c);
void send_bytes(const struct caller *c, const char *bytes, size_t length);
void send_line(const struct caller *c, const char *line);
/* The next line, without its end; NULL: the other side has hung up. The caller frees. */
char *next_line(struct caller *c);
/* Sends a line on a connection of its own; the answer, valid until the fourth call after. */
const char *says_back(const char *line);
/* A command about an id, with further members (each with a comma before it) or "". */
const char *order(const char *command, const char *id, const char *more);
void is_done(const char *reply, const char *status);
void is_refused(const char *reply, const char *part);

#endif
