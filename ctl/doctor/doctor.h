/* doctor (`agent-intercom doctor`): what its parts share.
 *
 * main.c           its arguments
 * doctor.c         what is in order and what is not
 * doctor_slack.c   the same, of Slack
 * doctor_port.c    the same, of the port of HTTP
 * doctor_gate.c    the hooks of agents' hosts, which it starts with canary.c */
#ifndef INTERCOM_DOCTOR_H
#define INTERCOM_DOCTOR_H

#include "cli.h"
#include "supervisor.h"

struct doctor {
	struct config config;
	struct paths paths;
	struct store store;
	char *dir; /* of the database, or its nearest ancestor that exists */
	bool dir_exists; /* that of the database; dir is it, unless it may not be looked at */
	pid_t pid; /* of the running supervisor, 0: none */
	char *address; /* of the running mcp-front, NULL: none */
	int failures;
};

enum verdict { OK, WARN, FAIL };

/* Frees what it owns. */
void doctor_clear(struct doctor *d);

/* Both return the exit status. */
int doctor_look(const struct config_source *source);
/* Looks at the gate of a host, NULL: of each that has one, and tries it. */
int doctor_look_at_gate(const struct config_source *source, const char *host);

/* ---- doctor_tell.c ---- */

/* Prints a line, and counts failures. */
void doctor_tell(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- doctor_gate.c ---- */

/* Looks at the files that hold hooks of ours, and starts no host. Says nothing of hosts without. */
void doctor_check_hooks(struct doctor *d);

/* ---- doctor_gate_workspace.c ---- */

/* Looks where the user is, and in each workspace with an open session, for files that keep the
 * host's hooks from running, and tries each with the host. managed: its gate is that of all users.
 */
void doctor_check_workspaces(struct doctor *d, const char *host, bool managed);
/* Looks whether the user's own settings, or our environment, keep them from running. managed: only
 * what keeps those of all users from it. closed: the host was seen to heed its hooks all the same.
 */
void doctor_check_own(struct doctor *d, const char *host, bool managed, bool closed);

/* ---- doctor_gate_hand.c ---- */

struct canary;

/* Fills in what the last trial by hand of a host that takes no model of ours says, if there was
 * one: state, version, detail. */
void doctor_judge_by_hand(struct doctor *d, struct canary *c);

/* ---- doctor_port.c ---- */

/* Checks the port of HTTP, after what runs. shared: the system serves several users. */
void doctor_check_port(struct doctor *d, bool shared);

/* ---- doctor_slack.c ---- */

/* Checks what a start from this shell would find about Slack, and asks Slack itself. */
void doctor_check_slack(struct doctor *d);

#endif
