/* users: a system that serves several users, each under a uid of its own: the service, whose the
 * system is, an agent of its group, an operator of theirs, a stranger in neither, another agent,
 * and as-owner. Only root can play them all. */
#ifndef USERS_H
#define USERS_H

#include "relay.h"
#include "str.h"

#include <stdbool.h>
#include <sys/types.h>

enum user { SERVICE, AGENT, OPERATOR, STRANGER, OTHER_AGENT, HELPER, USERS };
extern const uid_t USER_IDS[USERS]; /* and their own groups */

struct users {
	char base[60]; /* everything is in this folder, also state (of the service), home-<uid> */
	char shared[80]; /* shared.directory */
	char project[80]; /* a folder of the agent's */
	char database[120];
	char owner_socket[80]; /* of as-owner, which need not run */
	int port;
	pid_t pid; /* of the supervisor, 0 while it does not run */
	pid_t owner_pid; /* of as-owner */
	char start_socket[80]; /* shared.start_socket: of the as-owner that starts agents, */
	pid_t starter_pid; /* if it was started */
};

/* Makes the folders; more: lines of the service's config.toml. */
struct users users_make(const char *more);
/* From here on this process, and what it starts, knows these users by name (t-agent, ...), with
 * their homes and groups. False: nothing can be mounted here. */
bool users_have_accounts(const struct users *u);
/* The same once more, as files that have replaced those of before: this one has left the group of
 * the agents, or of the operators. Its processes have the group as before. */
void users_leave(const struct users *u, enum user who);
/* The same, and it has no account any longer. */
void users_delete(const struct users *u, enum user who);
/* Starts as-owner with its two capabilities, as its unit does. */
void users_start_owner(struct users *u);
/* SIGTERM; its exit status. */
int users_stop_owner(struct users *u);
/* The same of the as-owner that starts agents and commands. */
void users_start_starter(struct users *u);
int users_stop_starter(struct users *u);
/* Writes its whole config.toml, but for http_port, which is as it was. */
void users_configure(const struct users *u, const char *lines);
/* Starts the system, and waits until it is ready. */
void users_start(struct users *u);
/* Waits until the system has said this in its log. */
void users_await_log(const struct users *u, const char *text);
/* SIGTERM; its exit status. */
int users_stop(struct users *u);
/* SIGKILL to the supervisor, and waits for the end of its workers. */
void users_kill(struct users *u);
/* Removes everything. The system has ended. */
void users_remove(struct users *u);

/* Runs a shell script as this user, in the project, with no more of an environment than HOME, PATH
 * and where the shared system is; said (may be NULL): its output, also of errors. Returns its exit
 * status. */
int users_run(const struct users *u, enum user who, struct str *said, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* agent-intercom of this user, agent-intercom-ctl; the exit status. */
int users_intercom(const struct users *u, enum user who, struct str *said, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int users_ctl(const struct users *u, enum user who, struct str *said, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The operator's agent-intercom-ctl ends with this status, and what it says has the answer in it.
 */
void users_operator_sees(const struct users *u, const char *arguments, int status,
                         const char *answer);
/* The answer to a query, by the service's agent-intercom-ctl; the next call overwrites it. */
const char *users_sql(const struct users *u, const char *query);
/* Waits until the rows of a query are these, as those of db.h. */
void users_expect_soon(const struct users *u, const char *query, const char *answer);
/* `agent-intercom mcp` of this user in the project, initialized. */
struct relay users_relay(const struct users *u, enum user who);
/* The same in another folder, which only the user need be able to enter. */
struct relay users_relay_in(const struct users *u, enum user who, const char *folder);

/* Asks to write a file in the project. The request's id, valid until the next call. */
const char *users_ask(const struct users *u, struct relay *r, const char *path,
                      const char *content);
/* That was approved: it is told so, has the file written, and it is there. */
void users_is_written(const struct users *u, struct relay *r, const char *id, const char *path,
                      const char *content);

#endif
