/* `agent-intercom policy trust`: shows what a workspace's policy file newly allows, and trusts that
 * version of it if the operator agrees. */
#include "system.h"

#include "machine.h"
#include "policy_trust.h"
#include "store.h"
#include "visible.h"
#include "yes_no.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { DECLINED = 1 };

struct trust {
	struct store store;
	struct config config;
	struct policy_files files;
	struct policy_file *file;
	char machine[MACHINE_BYTES];
	cJSON *commands, *always_ask; /* as in struct policy_question */
};

static void trust_clear(struct trust *t)
{
	policy_files_clear(&t->files);
	cJSON_Delete(t->commands);
	cJSON_Delete(t->always_ask);
	store_clear(&t->store);
	config_clear(&t->config);
}

static int help(void)
{
	(void)puts("usage: agent-intercom policy trust [WORKSPACE] [--yes]\n\n"
	           "Shows what " POLICY_FILE " of WORKSPACE (default: the working directory)\n"
	           "newly allows, tries that on what was decided there, and asks whether this\n"
	           "version may count. The open question about it is answered with that.\n\n"
	           "  --yes              does not ask\n"
	           "  --config FILE, --db PATH\n\n"
	           "Exit status: 0 it is trusted; 1 it is not; 78 the file cannot be used.");
	return EX_OK;
}

static void take_setting(const char *name, const char *value, const char *source, void *arg)
{
	struct trust *t = arg;

	(void)source;
	if (strcmp(name, "commands") == 0 && t->config.policy.require_global_allowlist)
		t->commands = cJSON_Parse(value);
	else if (strcmp(name, "policy.always_ask") == 0)
		t->always_ask = cJSON_Parse(value);
}

static int find_file(struct trust *t, const char *workspace, struct err *e)
{
	char root[PATH_MAX];

	if (!realpath(workspace, root))
		return err_errno(e, ERR_INPUT, "the workspace %s", workspace);
	t->file = policy_file_of(&t->files, root);
	if (!t->file->exists)
		return err_set(e, ERR_INPUT, "there is no %s/" POLICY_FILE ": everything is asked",
		               root);
	if (t->file->why[0])
		return err_set(e, ERR_INPUT, "%s/" POLICY_FILE " allows nothing: %s", root,
		               t->file->why);
	return 0;
}

static int open_all(struct trust *t, const struct cli_arguments *a, struct err *e)
{
	machine_name(t->machine);
	if (config_load(&a->source, &t->config, e) ||
	    find_file(t, a->operand ? a->operand : ".", e))
		return -1;
	config_settings(&t->config, take_setting, t);
	if (access(t->config.database.path, F_OK) != 0)
		return err_set(e, ERR_INPUT, "there is no database %s; start agent-intercom first",
		               t->config.database.path);
	return err_if(store_open_own(&t->store, t->config.database.path, NULL, e) ||
	              policy_trust_load(&t->store, t->machine, t->file, e));
}

static int say_in_transaction(struct trust *t, bool trusted, struct err *e)
{
	if (store_begin(&t->store, e))
		return -1;
	return store_end(
	    &t->store,
	    (trusted ? policy_trust_give : policy_trust_deny)(&t->store, t->machine, t->file, e),
	    e);
}

/* Returns the exit status, -1 on error. */
static int run(struct trust *t, bool yes, struct err *e)
{
	OWNED(str) struct str text = { 0 }, shown = { 0 };
	enum yes_no answer = YES_NO_YES;
	bool fits;

	if (strcmp(t->file->hash, t->file->trusted_hash) == 0) {
		visible_add(&shown, t->file->workspace_root, strlen(t->file->workspace_root),
		            false);
		(void)printf("%s/" POLICY_FILE " is trusted as it is\n", str_text(&shown));
		return EX_OK;
	}
	if (policy_trust_describe(&t->store, t->file, t->commands, t->always_ask, &text, &fits, e))
		return -1;
	visible_add(&shown, text.bytes, text.length, true);
	(void)puts(str_text(&shown));
	if (!yes)
		answer = yes_no_ask("Trust this policy?");
	if (answer == YES_NO_NEITHER) {
		(void)puts("Nothing is changed.");
		return DECLINED;
	}
	if (say_in_transaction(t, answer == YES_NO_YES, e))
		return -1;
	(void)puts(answer == YES_NO_YES ? "trusted" : "not trusted");
	return answer == YES_NO_YES ? EX_OK : DECLINED;
}

int intercom_policy_trust(const struct config_source *source, int argc, char **argv)
{
	struct cli_arguments a = { .source = *source };
	struct trust t = { .store = STORE_INIT };
	struct err e = { 0 };
	int status = -1;
	int parsed = cli_parse(&a, "yes", argc, argv);

	if (parsed != 0)
		return parsed > 0 ? help() : EX_USAGE;
	if (open_all(&t, &a, &e) == 0)
		status = run(&t, a.flag, &e);
	trust_clear(&t);
	return status < 0 ? cli_say(&e) : status;
}
