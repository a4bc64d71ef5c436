/* fake_slack_case: what the programs test_fake_slack_*.c share. */
#ifndef FAKE_SLACK_CASE_H
#define FAKE_SLACK_CASE_H

#include "agent.h"
#include "harness.h"
#include "rpc.h"
#include "slack_peer.h"
#include "socket_client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, A_MOMENT_MS = 60 };

#define AGENTS "C01AGENTS"

#define TITLE "\"title\":{\"type\":\"plain_text\",\"text\":\"t\"}"

#define MODAL "{\"type\":\"modal\"," TITLE ",\"blocks\":[{\"type\":\"divider\"}]}"

void start(void);

/* Sends one request and reads its answer's body; the caller frees. */
char *exchange(const char *path, const char *token, const char *type, const char *body,
               int *status);

/* Calls a method with a body of JSON and the bot's token; the answer stays for 16 calls. */
const char *call(const char *method, const char *json);

const char *callf(const char *method, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void refused(const char *answer, const char *error);

void taken(const char *answer);

/* Posts a text; its ts stays until the next one. */
const char *post(const char *text);

/* n times x. */
void add_letters(struct str *out, long n);

/* A list of n copies of what stands between from and to; $ in it is 0, 1, 2. */
void add_copies(struct str *out, long n, const char *from, const char *to);

/* Writes text out: @75@ is 75 times x; <<3|...>> is a list of 3 copies; ' is ". */
char *written_out(const char *text);

const char *open_view(const char *trigger, const char *view);

#endif
