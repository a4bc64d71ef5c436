/* owner_case: what the programs test_owner_*.c share. */
#ifndef OWNER_CASE_H
#define OWNER_CASE_H

#include "agent.h"
#include "process.h"
#include "users.h"

#define NEEDS_ACCOUNTS() NEEDS_ACCOUNTS_WITH("")
#define NEEDS_ACCOUNTS_WITH(shared)                                                                \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "root, who can become several users");                 \
		users = users_make(shared);                                                        \
		SKIP_UNLESS(users_have_accounts(&users), "mount namespaces");                      \
		users_start_owner(&users);                                                         \
		users_start(&users);                                                               \
	} while (0)

extern struct users users;

/* Ends the system and as-owner, and removes everything. */
void users_end(void);

/* Its project from here on: in its home, which is its own (0700). */
void work_in_home(enum user who);

/* That is its file, of the project. */
void belongs_to(enum user who, const char *path);

/* The operator approves. */
void approve(const char *id);

/* Files of its own; and a session, by which the system learns whose the folder is. To the script
 * $OWNER is as-owner: other tests run with the same users, and who shares a session with a process
 * may let it continue (kill(2)), whoever it belongs to. */
struct relay work_there(const char *script);

/* users_operator_sees of these users. */
void looks(const char *arguments, int status, const char *answer);

#endif
