/* What tests of as-owner share. */
#ifndef ATTACK_OWNER_H
#define ATTACK_OWNER_H

#include "agent.h"
#include "owner.h"
#include "process.h"
#include "users.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEEDS_ACCOUNTS()                                                                           \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "root, who can become several users");                 \
		users = users_make("");                                                            \
		SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");                      \
		users_start_owner(&users);                                                         \
	} while (0)

static struct users users;

static void end(void)
{
	ck_assert_int_eq(users_stop_owner(&users), 0);
	users_remove(&users);
}

static void has_status(pid_t pid, const char *name, const char *value)
{
	OWNED(char_ptr) char *found = process_status(pid, name);
	char *end = found + strlen(found);

	while (end > found && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n'))
		*--end = '\0';
	ck_assert_msg(strcmp(found, value) == 0, "%s is '%s', not '%s'", name, found, value);
}

/* The program that it was told to start; until then it is as-owner's. */
static void is_program(pid_t pid, const char *name)
{
	int64_t end_ms = agent_ms() + AGENT_PATIENCE_MS;
	char link[40], target[PROGRAM_BYTES] = "", program[PROGRAM_BYTES];

	test_program(name, program);
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	while (strcmp(target, program) != 0) {
		ssize_t n = readlink(link, target, sizeof(target) - 1);

		ck_assert_msg(agent_ms() < end_ms, "%s is %s", link, target);
		target[n > 0 ? n : 0] = '\0';
		(void)poll(NULL, 0, 10);
	}
}

static void ends(struct owner_process *p)
{
	struct pollfd wait = { .fd = p->pidfd, .events = POLLIN };
	struct err e = { 0 };

	ck_assert_int_eq(poll(&wait, 1, AGENT_PATIENCE_MS), 1);
	wait = (struct pollfd){ .fd = p->fd, .events = POLLIN };
	ck_assert_int_eq(poll(&wait, 1, AGENT_PATIENCE_MS), 1);
	ck_assert_int_eq(owner_hear(p, &e), -1);
	ck_assert_str_eq(e.text, "the process has ended with status 0");
	owner_process_clear(p);
}

#endif
