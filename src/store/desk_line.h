/* desk_line: how agent-intercom-ctl of an operator and the worker desk talk, over a Unix socket
 * with messages (SOCK_SEQPACKET):
 *   ctl -> desk  DESK_LINE_VERSION, "plain" or "", and its arguments, each ended by a NUL byte;
 *                with them its stdin, stdout and stderr (SCM_RIGHTS)
 *   ctl -> desk  afterwards one byte for each signal that it gets: the signal's number
 *   desk -> ctl  DESK_LINE_EXIT and the exit status, a byte each; or DESK_LINE_REFUSED and a text
 * The desk runs agent-intercom-ctl with those arguments as the system's user, and closes the
 * connection. */
#ifndef DESK_LINE_H
#define DESK_LINE_H

enum {
	DESK_LINE_FILES = 3,
	DESK_LINE_BYTES = 128 << 10, /* of a message */
	DESK_LINE_ARGUMENTS = 1000,
	DESK_LINE_EXIT = 'x',
	DESK_LINE_REFUSED = 'r',
};

#define DESK_LINE_VERSION "agent-intercom-ctl 1"
#define DESK_LINE_PLAIN "plain" /* no colours */

/* What the desk tells the agent-intercom-ctl that it runs, in its environment: whose it is
 * (operator.id), and the database. */
#define DESK_LINE_OPERATOR "INTERCOM_DESK_OPERATOR"
#define DESK_LINE_DATABASE "INTERCOM_DESK_DATABASE"

#endif
