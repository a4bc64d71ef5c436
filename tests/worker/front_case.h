/* front_case: what the programs test_front_*.c share. */
#ifndef FRONT_CASE_H
#define FRONT_CASE_H

#include "agent.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

extern const char PING[];

extern char workspace[600];

extern pid_t front;

extern int port;

void start_front(void);

/* A front whose workspace is beside the run directory, or that with the database in it. */
void given_front_at(bool beside);

void given_front(void);

struct agent newcomer(void);

/* Sends raw bytes on a connection of their own; the status of the answer, its body in body. */
int raw(const char *bytes, struct str *body);

/* POST of a ping with these headers (whole lines). */
int ping_with(const char *headers);

/* Begins a clearance for a new file and waits until it is asked. The stream is open. */
void ask(struct agent *a, struct wire *w, const char *path, const char *meta);

/* The JSON-RPC message that answers a request. */
void exchange(const struct agent *a, const char *json, struct str *body);

void refused(struct agent *a, const char *path, const char *content, const char *code,
             const char *text);

#endif
