/* agent-intercom: the subcommands that administer the system. Without one it runs the system
 * (workers/supervisor).
 *
 * main.c       the table of subcommands
 * where.c      where the files of the system are
 * agents.c     the profiles of agents (agents_probe.c: whether one can be talked to)
 * policy.c     what a workspace's policy file allows (policy_trust_command.c: consent to it)
 * backup.c     backup and restore
 * retention.c  a purge now
 * audit.c      the sealed timeline: export and verify
 * hook.c       finds the system for the program hook
 * install.c    entries in the configuration of agents' hosts (see install.h)
 * The doctor is a program of its own (ctl/doctor); what it shares with these is in ctl/shared. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "cli.h"
#include "supervisor.h"

#include <stdbool.h>

/* ---- subcommands; they return the exit status ---- */

/* argv[0] is the word where. */
int intercom_where(const struct config_source *source, int argc, char **argv);
/* Adds to out the URL at which the running system serves this user over HTTP. 1; 0: none runs; -1:
 * it serves no HTTP, or not at the port that is configured. */
int where_http(const struct config_source *source, struct str *out, struct err *e);
/* Becomes the program hook; argv[0] is the word hook. Returns only if that fails. */
int intercom_hook(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word agents. */
int intercom_agents(const struct config_source *source, int argc, char **argv);
/* argv[0] is the word install or uninstall. */
int intercom_install(const struct config_source *source, int argc, char **argv);
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

#endif
