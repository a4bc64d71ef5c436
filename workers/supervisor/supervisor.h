/* supervisor: starts, watches and stops the system. What its parts share.
 *
 * run.c      start, watch, stop
 * runners.c  the runners, one for each agent: starting, adopting, ending
 * workers.c  the worker processes: starting, restarting, ending
 * spawn.c    starting one process with a clean environment
 * secrets.c  tokens and operators of Slack
 * agents.c   the profiles of agents, as rows
 * rows.c     what the supervisor writes: settings at the start, interruptions at the stop */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "config.h"
#include "doorbell.h"
#include "err.h"
#include "instance.h"
#include "paths.h"
#include "store.h"
#include "worker.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the order in which they are started: the watchdog, which records the downtime before a
 * question is revived, and those that callers connect to; the others once these are ready, since
 * each start costs a processor more than 10 ms: what they do waits for them in rows. Stopped in
 * another order (workers.c). */
enum {
	CHILD_WATCHDOG,
	CHILD_FRONT,
	CHILD_DESK, /* only in a system for several users: operators are served there */
	CHILD_SERVING, /* all before it, ready, are a system that serves */
	CHILD_APPLIER = CHILD_SERVING,
	CHILD_READER,
	CHILD_RETENTION,
	CHILD_ARCHIVIST,
	CHILD_COMMANDER,
	CHILD_SENTRY,
	CHILD_SLACK_POSTER, /* these two only where Slack is configured */
	CHILD_SLACK_LISTENER,
	CHILD_COUNT
};
extern const char *const CHILD_NAMES[CHILD_COUNT];

enum {
	NOT_FOR_OTHERS = 077, /* the umask for everything that is ours */
	SUPERVISOR_DETAIL_BYTES = 40, /* of how a process ended, in words */
};

/* Of life, of one worker. */
struct signs {
	struct timespec last; /* as it was at the last look */
	int missed; /* looks in a row at which it was the same */
};

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
	int renewals; /* in a row, each after a short life */
	int64_t asked_ms; /* when it was asked to leave; 0: it was not */
	struct signs signs;
	bool silent; /* killed because there were none */
};

/* The runners of this machine, see runners.c. */
struct runners {
	struct runner_child *items;
	size_t count;
	char *path; /* of the binary */
	int64_t look_ms; /* monotonic: when to look for wanted runs, at the latest */
	int64_t adopted_ms; /* and for the end of those that are not our children */
	int64_t beat_ms; /* when to give the next heartbeat of all */
};

/* What Slack needs; NULL where it was not given. */
struct slack_secrets {
	char *app, *bot; /* tokens */
	char *team, *members, *api_url;
};

/* The programs as they are installed, see installed.c. Marks change with the files. */
struct installed {
	uint64_t mark; /* when their build was known last */
	uint64_t seen; /* at the last look */
	int64_t look_ms, quiet_ms; /* monotonic: of the next look; when a change is complete */
};

/* supervisor_run: another build was installed, and wants to be started in our place. No exit
 * status. */
enum { SUPERVISOR_AGAIN = 256 };

/* What waits, or is interrupted. */
struct rows_tally {
	int sessions, started, clearances, prompts, standbys;
};

struct supervisor {
	struct config config;
	struct slack_secrets slack;
	struct paths paths;
	struct store store;
	struct doorbell bell;
	char machine[MACHINE_BYTES];
	int instance_fd, database_fd, run_fd, signal_fd;
	struct child children[CHILD_COUNT];
	struct runners runners;
	bool starts; /* the row `shared.starts` says true */
	char **environment; /* of the workers */
	int sockets; /* listening sockets from systemd, from descriptor 3 on, for mcp-front */
	int64_t watchdog_ms,
	    watchdog_at_ms; /* how often systemd wants a sign of life, 0: never; when next */
	struct installed installed;
	mode_t umask; /* that we were started with: the applier's, for files of workspaces */
	bool announced; /* it served once: the workers before CHILD_SERVING were ready */
	bool complete; /* all workers were ready once */
	int64_t run_look_ms; /* when the run directory and the database are looked at next */
	int64_t born_ms; /* when supervisor_run began, */
	int64_t begun_ms; /* and when workers were started first */
	int64_t late_ms; /* when to log which are not ready; 0: done */
	int64_t beat_ms; /* when heartbeats were looked at, */
	int64_t beat_awake_ms; /* and the same on the machine's own clock */
	bool stopping;
	bool lost; /* the database: the run directory says so */
	struct instance_files files; /* as we have them open */
	int64_t stop_ms; /* when the stop began, */
	struct rows_tally at_stop; /* and what it was to interrupt; agents that end settle some */
	int signals; /* how many times we were asked to stop */
	int64_t signal_ms; /* when the last of them came */
	int status; /* to exit with */
	/* Stops the system, which cannot work without this worker. */
	void (*give_up)(struct supervisor *s, int status, const char *why);
};

#define SUPERVISOR_INIT                                                                            \
	{                                                                                          \
		.store = STORE_INIT, .bell = DOORBELL_INIT, .instance_fd = -1, .database_fd = -1,  \
		.run_fd = -1, .signal_fd = -1                                                      \
	}

/* Runs the system until it is asked to stop; the exit status, or SUPERVISOR_AGAIN: then signals,
 * umask and environment are as they were. */
int supervisor_run(const struct config_source *source);

/* ---- rows.c ---- */

/* Begins a transaction; a stop waits for whoever holds the database only as long as it may take. */
int rows_begin(struct supervisor *s, struct err *e);
/* Writes down whether agents and commands can be started now, if that has changed. */
int rows_look_at_starts(struct supervisor *s, struct err *e);
/* Settings, system rows and operators, in one transaction. slack: whether Slack is configured.
 * kept: JSON list of the workers that still run. */
int rows_at_start(struct supervisor *s, bool slack, const char *kept, struct err *e);
/* Counts what a wanted stop interrupts, for the log, before the agents that we started end. */
int rows_count_stop(struct supervisor *s, struct err *e);
/* Queues the word of the stop for Slack, while somebody still sends it; without waiting for another
 * writer. Nothing to tell is no error. */
int rows_tell_stop(struct supervisor *s, struct err *e);
/* All workers have ended. interrupt: everything that waits is interrupted; logs how much. */
int rows_at_stop(struct supervisor *s, bool interrupt, struct err *e);
/* What a restore makes of the rows of a backup: what waits is interrupted as it was when the system
 * was last heard of, open writes are parked, unused approvals lapse. Nobody else has that database
 * open. */
struct rows_restored {
	int sessions, questions, writes;
	int approvals; /* that were not used, and have lapsed */
	int words; /* that agents may be told twice */
	int checkpoints;
	struct instant last_sign; /* of the system that was backed up; "" if there never was one */
};
int rows_at_restore(struct store *st, struct rows_restored *ret, struct err *e);
/* A worker has ended, in the way that detail tells. */
int rows_note_death(struct supervisor *s, pid_t pid, const char *detail, struct err *e);
/* Sets ready of the children whose row says so. The address of mcp-front goes to address. */
int rows_read_ready(struct supervisor *s, struct str *address, struct err *e);

/* ---- secrets.c ---- */

/* Looks for all of it, and takes it out of the environment. channel: slack.channel_id. 1: Slack is
 * configured; 0: there are no tokens; -1: something is missing or wrong, and e says what. */
int slack_secrets_load(struct slack_secrets *s, const char *channel, struct err *e);
void slack_secrets_clear(struct slack_secrets *s);
/* Puts them into the environment, for a program that is executed in our place. */
void slack_secrets_give_back(const struct slack_secrets *s);
enum { SLACK_MEMBER_BYTES = 24 }; /* of a member id and its NUL */
/* The next id of a list of members, cut to fit; false at its end. *ret_valid: it can be one. */
bool slack_next_member(const char **list, char out[SLACK_MEMBER_BYTES], bool *ret_valid);
/* The environment of a Slack worker: common, its own token, $SLACK_API_URL. */
char **slack_environment(const struct slack_secrets *s, const char *child, char *const *common);
void slack_environment_free(char **environment, char *const *common);
/* Makes the members operators, and former members inactive. s NULL: all of them.
 * Inside a transaction. */
int slack_operators_put(struct store *st, const struct slack_secrets *s, struct err *e);

/* ---- runners.c ---- */

/* Those of a killed predecessor go on, if we serve and they are of our build; the others end their
 * agents, which takes seconds. Before the rows of any are touched. */
void runners_adopt(struct supervisor *s, bool serve);
/* Kills what is left of agents of this machine whose runners were killed, as the database that will
 * be replaced knows them. Opens it only if runners have left their locks. */
void runners_kill_left(const struct supervisor *s);
/* Interrupts the runs whose runners are gone, and kills what is left of their agents. */
int runners_settle_lost(struct supervisor *s, struct err *e);
/* Appends a JSON list of the names of those that run. */
void runners_add_names(const struct supervisor *s, struct str *out);
/* Starts those that are wanted, once the system serves. rung: rows may have changed. */
void runners_look(struct supervisor *s, bool rung);
/* Collects those that have ended, and settles what they have left. */
void runners_reap(struct supervisor *s);
/* Kills those that hang, at a look of workers_look_for_hanging. */
void runners_look_for_hanging(struct supervisor *s);
/* Asks them to leave, kills those that were asked long ago. */
void runners_stop(struct supervisor *s);
bool runners_are_gone(const struct supervisor *s);
/* Milliseconds until it is looked for wanted runs. */
int runners_patience_ms(const struct supervisor *s);
void runners_clear(struct supervisor *s);

/* ---- agents.c ---- */

/* Replaces the rows of `agent` by the profiles of the configuration. Inside a transaction. */
int agents_put(struct store *st, const struct config_agents *all, struct err *e);

/* ---- workers.c ---- */

/* Finds the binaries. */
int workers_find(struct supervisor *s, struct err *e);
/* Starts those whose time has come. -1: one can never be started. */
int workers_start_due(struct supervisor *s, struct err *e);
/* How a process ended: "exit 1", "signal 9 (KILL)". */
void workers_describe(int status, char out[SUPERVISOR_DETAIL_BYTES]);
/* Collects those that have ended. */
void workers_reap(struct supervisor *s);
/* Asks the next ones to leave, kills those that were asked long ago. */
void workers_stop(struct supervisor *s);
/* Kills a worker that is ready but has long given no sign of life: it hangs, busy or not, and is
 * restarted like one that ended by itself. False: it is not yet time to look. */
bool workers_look_for_hanging(struct supervisor *s);
/* At such a look: whether this worker has given none for long, which is logged. pid 0: it is not
 * ready. */
bool workers_has_hung(const struct supervisor *s, const char *name, pid_t pid, struct signs *signs);
/* Milliseconds until the next such look. */
int workers_beat_patience_ms(const struct supervisor *s);
bool workers_are_serving(const struct supervisor *s); /* those that agents wait for are ready */
bool workers_are_ready(const struct supervisor *s); /* all are */
bool workers_are_gone(const struct supervisor *s);
/* Milliseconds until a start is due, -1: none is. */
int workers_patience_ms(const struct supervisor *s);
void workers_clear(struct supervisor *s);

/* ---- spawn.c ---- */

/* The variables of ours that a worker may see, NULL-terminated; secrets are not among them. The
 * caller frees the array; its texts are those of environ. */
char **spawn_environment(void);
/* The variables of a worker that starts programs which are not ours: those of a worker, and what it
 * may pass on (environment_pass). env_pass: a JSON list of names, beyond what all get. */
struct environment;
void spawn_environment_to_pass(const struct supervisor *s, const char *env_pass,
                               struct environment *out);
/* Starts the worker at path on our database, with two more arguments or NULL. kept: so many
 * descriptors from 3 on stay open in it. ERR_INPUT: it is missing or cannot be run; ERR_AGAIN: the
 * system is short of something. */
int spawn_worker(const struct supervisor *s, char *path, char *const *more,
                 char *const *environment, int kept, pid_t *ret_pid, struct err *e);
/* Runs a program, found in PATH, and ends it when it has said something or ms have passed. Returns
 * how much it said, -1: it cannot be run. is_quiet: what it says on stderr is not seen. */
ssize_t spawn_ask(char *const *argv, bool is_quiet, char *bytes, size_t size, int ms);
/* Reads what a program says until its end, a full buffer, or ms have passed. Returns how much. */
size_t spawn_hear(int fd, char *bytes, size_t size, int ms);

/* ---- systemd.c ---- */

/* Takes the sockets that systemd has opened for us, and learns how often it wants a sign of life.
 */
void systemd_take(struct supervisor *s);
/* Leaves the sockets to the build that is started in this process, as systemd left them to us. */
void systemd_give_back(const struct supervisor *s);
/* The variables of mcp-front: those of a worker, and LISTEN_FDS if there are such sockets. The
 * caller frees the array alone, once the front is started. */
char **systemd_front_environment(const struct supervisor *s);
/* Sends one word, as "READY=1". */
void systemd_notify(const char *text);
/* Gives the sign of life if it is due; milliseconds until the next. */
int systemd_beat(struct supervisor *s);

/* ---- installed.c ---- */

/* Appends the path of agent-intercom as it is installed now. */
int installed_program(struct str *path, struct err *e);
/* From now on a change of the programs counts. */
void installed_remember(struct supervisor *s);
/* Looks every 5 s; true, once: another build has been installed, completely. */
bool installed_is_another(struct supervisor *s);

/* ---- run.c ---- */

/* Loads the configuration, finds the places, and takes the instance's lock; no worker of an earlier
 * run is left then, and unless we serve, no runner. ERR_AGAIN: the system runs. */
int run_take(struct supervisor *s, const struct config_source *source, bool serve, struct err *e);
void supervisor_clear(struct supervisor *s);

#endif
