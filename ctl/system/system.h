/* agent-intercom: the subcommands that administer the system. Without one it runs the system
 * (workers/supervisor).
 *
 * main.c       the table of subcommands
 * where.c      where the files of the system are
 * doctor.c     what is in order and what is not (for Slack: doctor_slack.c; for the hooks of
 *              agents' hosts: doctor_gate.c, which starts them with canary.c)
 * agents.c     the profiles of agents (agents_probe.c: whether one can be talked to)
 * policy.c     what a workspace's policy file allows (policy_trust_command.c: consent to it)
 * backup.c     backup and restore
 * retention.c  a purge now
 * audit.c      the sealed timeline: export and verify
 * hook.c       finds the system for the program hook
 * install.c    entries in the configuration of agents' hosts (see install.h)
 * cli.c        what subcommands share of the command line and the terminal */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "supervisor.h"

#include <stdbool.h>

/* ---- subcommands; they return the exit status ---- */

int intercom_doctor(const struct config_source *source);
/* Looks at the gate of a host, or of each that has one, and tries it. */
int intercom_doctor_gate(const struct config_source *source, const char *host);
/* argv[0] is the word where. */
int intercom_where(const struct config_source *source, int argc, char **argv);
/* Becomes the program hook; argv[0] is the word hook. Returns only if that fails. */
int intercom_hook(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word agents. */
int intercom_agents(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word install or uninstall. */
int intercom_install(bool remove, const struct config_source *source, int argc, char **argv);
/* argv[0] is the word policy. */
int intercom_policy(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word trust. */
int intercom_policy_trust(const struct config_source *source, int argc, char **argv);
extern const char POLICY_SCHEMA[]; /* src/policy/settings.schema.json */

int intercom_backup(const struct config_source *source, const char *file);
/* argv[0] is the word retention. */
int intercom_retention(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word audit. */
int intercom_audit(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word restore. */
int intercom_restore(const struct config_source *source, int argc, char **argv);

/* ---- cli.c ---- */

/* Parses the arguments of a subcommand with at most one flag and one operand of its own, and
 * --config, --db and --help. Returns 0, 1 after --help, -1 if they are wrong (and says so). */
struct cli_arguments {
	struct config_source source;
	bool flag;
	const char *operand; /* NULL: none given */
};
int cli_read(struct cli_arguments *a, const char *flag, int argc, char **argv);
/* The same, and then cli_find. */
int cli_parse(struct cli_arguments *a, const char *flag, int argc, char **argv);
/* If source names no system and exactly one runs, sets source to its configuration and database.
 * Returns 0; -1 if several could be meant (and says so). */
int cli_find(struct config_source *source);
bool cli_has_terminal(void);
/* Prints the error on stderr; returns the matching exit status. */
int cli_say(const struct err *e);

#endif
