/* agent-intercom: what the parts of the supervisor share.
 *
 * intercom.c          main and the table of subcommands
 * intercom_run.c      runs the system: start, watch, stop
 * intercom_workers.c  the worker processes: starting, restarting, ending
 * intercom_spawn.c    starting one process with a clean environment
 * intercom_slack.c    tokens and operators of Slack
 * intercom_rows.c     what the supervisor writes: settings at the start, interruptions at the stop
 * intercom_doctor.c   what is in order and what is not (of Slack: intercom_doctor_slack.c)
 * intercom_policy.c   what a workspace's policy file allows
 * intercom_backup.c   backup and restore
 * intercom_retention.c   a purge now
 * intercom_audit.c    the timeline under seal: export and verify
 * intercom_cli.c      what subcommands have of the command line and the terminal
 * intercom_install.c  entries in the configuration of agents' hosts (more in intercom_install.h) */
#ifndef INTERCOM_H
#define INTERCOM_H

#include "config.h"
#include "doorbell.h"
#include "err.h"
#include "paths.h"
#include "store.h"
#include "worker.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the order in which they are started; stopped in another (intercom_workers.c). */
enum {
	CHILD_WATCHDOG,
	CHILD_APPLIER,
	CHILD_RETENTION,
	CHILD_FRONT,
	CHILD_SLACK_POSTER, /* these two only where Slack is configured */
	CHILD_SLACK_LISTENER,
	CHILD_COUNT
};
extern const char *const CHILD_NAMES[CHILD_COUNT];

/* The umask for everything that is ours. */
enum { NOT_FOR_OTHERS = 077 };

struct child {
	pid_t pid; /* 0: does not run */
	bool unwanted; /* it is not started */
	char *path; /* its binary */
	bool ready; /* its row says so */
	bool was_ready; /* once, since we started */
	bool killed;
	int64_t started_ms; /* monotonic, as all below */
	int64_t start_at_ms; /* while it does not run */
	int64_t backoff_ms; /* wait before the next restart */
	int64_t asked_ms; /* when it was asked to leave; 0: it was not */
	struct instant heartbeat; /* as its row had it at the last look */
	int missed; /* looks in a row at which it was the same */
	bool silent; /* killed for that */
};

/* What Slack needs; NULL where it was not given. */
struct slack_secrets {
	char *app, *bot; /* tokens */
	char *team, *members, *api_url;
};

struct supervisor {
	struct config config;
	struct slack_secrets slack;
	struct paths paths;
	struct store store;
	struct doorbell bell;
	char host[HOST_BYTES];
	int instance_fd, run_fd, signal_fd;
	struct child children[CHILD_COUNT];
	char **environment; /* of the workers */
	mode_t umask; /* that we were started with: the applier's, for files of workspaces */
	bool announced; /* everybody was ready once */
	int64_t late_ms; /* when to tell who is not; 0: that is told */
	int64_t beat_ms; /* when heartbeats were looked at, */
	int64_t beat_awake_ms; /* and the same on the machine's own clock */
	bool stopping;
	int64_t stop_ms; /* when the stop began */
	int signals; /* how many times we were asked to stop */
	int64_t signal_ms; /* when the last of them came */
	int status; /* to exit with */
};

#define SUPERVISOR_INIT                                                                            \
	{                                                                                          \
		.config = CONFIG_INIT, .paths = PATHS_INIT, .store = STORE_INIT,                   \
		.bell = DOORBELL_INIT, .instance_fd = -1, .run_fd = -1, .signal_fd = -1            \
	}

/* ---- intercom_run.c, intercom_doctor.c, intercom_install.c: subcommands; they return the exit
 * status ---- */

int intercom_run(const struct config_source *source);
int intercom_doctor(const struct config_source *source);
/* argv[0] is the word install or uninstall. */
int intercom_install(bool remove, const struct config_source *source, int argc, char **argv);
/* argv[0] is the word policy. */
int intercom_policy(const struct config_source *source, int argc, char **argv);
extern const char POLICY_SCHEMA[]; /* src/policy.schema.json */

int intercom_backup(const struct config_source *source, const char *file);
/* argv[0] is the word retention. */
int intercom_retention(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word audit. */
int intercom_audit(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word restore. */
int intercom_restore(const struct config_source *source, int argc, char **argv);

/* ---- intercom_cli.c ---- */

/* Reads the arguments of a subcommand that has one flag and at most one operand of its own, and
 * --config, --db and --help. 0, 1 after --help, -1 they are wrong and it has been said why. */
struct cli_arguments {
	struct config_source source;
	bool flag;
	const char *operand; /* NULL: none was given */
};
int cli_parse(struct cli_arguments *a, const char *flag, int argc, char **argv);
bool cli_has_terminal(void);
/* Whether the answer to a question is yes. */
bool cli_ask(const char *question);
/* Says on stderr what is wrong; the exit status for that. */
int cli_say(const struct err *e);

/* ---- intercom_rows.c ---- */

/* Settings, system rows and operators, in one transaction. slack: whether Slack is configured. */
int rows_at_start(struct supervisor *s, bool slack, struct err *e);
/* The effective mode of new sessions. */
int rows_mode(struct supervisor *s, struct str *out, struct err *e);
/* Queues the word of the stop for Slack, while somebody still sends it; without waiting for another
 * writer. Nothing to tell is no error. */
int rows_tell_stop(struct supervisor *s, struct err *e);
/* No worker runs any more. interrupt: everything that waits is interrupted; logs how much. */
int rows_at_stop(struct supervisor *s, bool interrupt, struct err *e);
/* What a restore makes of the rows of a backup: what waits is interrupted as it was when the system
 * was last heard of, open writes are parked. Nobody else has that database open. */
struct rows_restored {
	int sessions, questions, writes;
	struct instant last_sign; /* of the system that was backed up; "" if there never was one */
};
int rows_at_restore(struct store *st, struct rows_restored *ret, struct err *e);
/* A worker has ended, in the way that detail tells. */
int rows_died(struct supervisor *s, pid_t pid, const char *detail, struct err *e);
/* Takes the heartbeats of the children that are ready out of their rows. */
int rows_heartbeats(struct supervisor *s, struct instant beats[CHILD_COUNT], struct err *e);
/* Sets ready of the children whose row says so. The address of mcp-front goes to address. */
int rows_ready(struct supervisor *s, struct str *address, struct err *e);

/* ---- intercom_slack.c ---- */

/* Looks for all of it, and takes it out of the environment. channel: slack.channel_id. 1: Slack is
 * configured; 0: there are no tokens; -1: something is missing or wrong, and e says what. */
int slack_secrets_load(struct slack_secrets *s, const char *channel, struct err *e);
void slack_secrets_clear(struct slack_secrets *s);
enum { SLACK_MEMBER_BYTES = 24 }; /* of a member id and its NUL */
/* The next id of a list of members, cut to fit; false at its end. *ret_valid: it can be one. */
bool slack_next_member(const char **list, char out[SLACK_MEMBER_BYTES], bool *ret_valid);
/* The environment of a Slack worker: common, its own token, $SLACK_API_URL. */
char **slack_environment(const struct slack_secrets *s, const char *child, char *const *common);
void slack_environment_free(char **environment, char *const *common);
/* Makes the members operators, and those that are none any more inactive. s NULL: all of them.
 * Inside a transaction. */
int slack_operators_put(struct store *st, const struct slack_secrets *s, struct err *e);

/* ---- intercom_workers.c ---- */

/* Finds the binaries. */
int workers_find(struct supervisor *s, struct err *e);
/* Starts those whose time has come. -1: one can never be started. */
int workers_start_due(struct supervisor *s, struct err *e);
/* Collects those that have ended. */
void workers_reap(struct supervisor *s);
/* Asks the next ones to leave, kills those that were asked long ago. */
void workers_stop(struct supervisor *s);
/* Kills who is ready by its row and has not written a heartbeat for long: it hangs, and is started
 * again like whoever ends by itself. */
void workers_look_for_hanging(struct supervisor *s);
/* Milliseconds until the next such look. */
int workers_beat_patience_ms(const struct supervisor *s);
bool workers_are_ready(const struct supervisor *s);
bool workers_are_gone(const struct supervisor *s);
/* Milliseconds until a start is due, -1: none is. */
int workers_patience_ms(const struct supervisor *s);
void workers_clear(struct supervisor *s);

/* ---- intercom_spawn.c ---- */

/* The variables of ours that a worker may see, NULL-terminated; secrets are not among them. The
 * caller frees the array; its texts are those of environ. */
char **spawn_environment(void);
/* Starts argv[0]. ERR_INPUT: it is missing or cannot be run; ERR_AGAIN: the system is short of
 * something. */
int spawn_process(char *const *argv, char *const *environment, pid_t *ret_pid, struct err *e);

/* ---- intercom_run.c ---- */

/* Loads the configuration, finds the places, and takes the instance's lock; no worker of an earlier
 * run is left then. ERR_AGAIN: the system runs. */
int run_take(struct supervisor *s, const struct config_source *source, struct err *e);
void supervisor_clear(struct supervisor *s);
/* Begins the stop; why goes to the log. */
void run_stop(struct supervisor *s, int status, const char *why);

#endif
