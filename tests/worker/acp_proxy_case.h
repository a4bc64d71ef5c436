/* acp_proxy: `agent-intercom acp` between an editor, an agent and a front that are all the test:
 * real pipes and sockets, every byte its own. */
#ifndef ACP_PROXY_CASE_H
#define ACP_PROXY_CASE_H

#include "agent.h"
#include "harness.h"
#include "process.h"
#include "site.h"

#include <sys/types.h>

/* What one party writes and reads. */
struct party {
	int in, out; /* what it writes goes to in; -1: closed */
	struct str bytes; /* read, and not yet taken */
};

struct trio {
	pid_t pid; /* of the proxy */
	char folder[200]; /* where the agent works */
	char database[300], run[300];
	struct party editor, agent;
	int err; /* the proxy's stderr */
	int listener; /* of the front; -1: it is away */
};

/* Starts the proxy in a folder, on the front of a database ("": the usual one); option: as below.
 */
struct trio trio_start(const char *folder, const char *database, const char *option);
/* Starts the proxy; option: one more argument with its value ("--when-down=deny"), or NULL. */
struct trio given_trio_without_session(const char *option);
/* The same, and the editor opens the session s1 in its folder. */
struct trio given_trio(const char *option);
/* Starts it where no system runs, and systemd, which is the test, holds the socket for one. */
struct trio given_activated_trio(void);
/* The same where no front listens and none is started. */
void front_leaves(struct trio *a);
void front_returns(struct trio *a);

/* A line with its newline. */
void party_say(struct party *p, const char *line);
/* The next line, without its newline, NULL at the end; the caller frees it. */
char *party_hear(struct party *p);
/* Says all of it to one party and reads as much from the other: it must be the same. */
void passes(struct party *from, const char *bytes, size_t length, struct party *to);
/* The next line must be this, or contain it. */
void hears(struct party *p, const char *line);
void hears_part(struct party *p, const char *part);
/* Nothing has come: what both sides are told next comes first. */
void hears_nothing_but_marks(struct trio *a);
void party_close(struct party *p);

/* The editor opens a session in a folder, and the agent answers with this. */
void editor_opens(struct trio *a, const char *folder, const char *answer);
/* The same, and the agent calls it so. */
void opened(struct trio *a, const char *folder, const char *session);

/* ---- the front ---- */

/* A question as the front gets it. */
struct asked {
	int fd;
	struct str bytes;
	char *params; /* of intercom/hook */
};

struct asked front_hears(struct trio *a);
/* A person is asked; editor: the editor may show it, too. */
void front_asks(struct asked *q, bool editor);
void front_decides(struct asked *q, const char *decision, const char *reason);
/* This instead, in one line. */
void front_says(struct asked *q, const char *line);
/* The next verdict of the editor; answers it with this outcome. */
void front_takes(struct asked *q, const char *verdict, const char *outcome);
/* The proxy has given the question up. */
void front_sees_it_closed(struct asked *q);
void asked_clear(struct asked *q);
/* A permission for COMMAND that waits, shown by both. */
struct asked given_permission(struct trio *a, const char *id);
/* The front says yes to q, but asks again: the editor hears the line with the second yes. */
void is_asked_once_more(struct trio *a, struct asked *q, const char *line);

/* ---- a whole system in place of the front ---- */

struct trio given_trio_on(const struct site *s);
/* So many questions wait. */
void waits(int count);
/* COMMAND waits, in the editor, too. */
void given_command_that_waits(struct trio *a);

/* ---- messages; valid until the eighth call after ---- */

extern const char COMMAND[]; /* a call that runs `npm test` */

const char *permission(const char *id, const char *tool_call);
const char *write_of(const struct trio *a, const char *id, const char *name, const char *content);
/* terminal/create with these params beside the session. */
const char *terminal(const char *id, const char *rest);
const char *chosen(const char *id, const char *option);
const char *path_in(const struct trio *a, const char *name);

/* Ends it by closing the editor's side; it must exit with this status. */
void trio_ends(struct trio *a, int status);

#endif
