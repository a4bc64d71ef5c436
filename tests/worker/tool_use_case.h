/* tool_use_case: what the programs test_tool_use_*.c share. */
#ifndef TOOL_USE_CASE_H
#define TOOL_USE_CASE_H

#include "agent.h"
#include "gate_client.h"
#include "relay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

extern char workspace[600];
extern pid_t front;

/* A front with a workspace, and the watchdog. */
void given_hooks(void);
/* The same with a setting. */
void given_hooks_with(const char *setting, const char *value);
void restart_front(void);
/* Writes the policy of the workspace. */
void given_policy(const char *json);
/* "Bash" with this command (no quotes in it), "Write" with this content, in the workspace. */
const char *bash(const char *command);
const char *writing(const char *path, const char *content);
/* A call of any tool; %s in its arguments is the workspace. */
const char *calling(const char *tool, const char *arguments);
/* The decision of an answer must be this; its reason must contain part (NULL: any). */
void decides(const char *answer, const char *decision, const char *part);
/* Waits until so many questions are open. */
void asked(int count);

/* The hook of another host than Claude Code, as gate_begin and gate_ask. */
struct gate_client begin_of(const char *host, const char *event, const char *input);
char *ask_of(const char *host, const char *event, const char *input);

/* A tool is about to be used: the only question is about that, is approved, and it is allowed. */
void is_approved(const char *input);
/* The hook of the only question has ended before the answer, which is an approval. */
void approve_parked(struct gate_client *h);

#endif
