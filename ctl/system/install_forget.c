#include "install.h"

#include "gate_hooks.h"
#include "machine.h"
#include "paths.h"
#include "sql/gate_lapse.h"
#include "sql/session.h"
#include "store.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int forget(struct store *st, const char *host, const char *path, struct err *e)
{
	char machine[MACHINE_BYTES];

	machine_name(machine);
	if (store_begin(st, e))
		return -1;
	return store_end(st, sql_gate_install_delete(st, machine, host, path, e) < 0, e);
}

/* Opens the configured database: 1, 0 if there is none, or -1. */
static int open_configured(const struct config_source *source, struct store *st, struct err *e)
{
	OWNED(config) struct config config = { 0 };
	OWNED(paths) struct paths paths = { 0 };

	if (config_load(source, &config, NULL) ||
	    paths_open(config.database.path, false, &paths, NULL) ||
	    access(paths.database, F_OK) != 0)
		return 0;
	return paths_check_right(paths.database, e) || store_open(st, paths.database, NULL, e) ? -1
	                                                                                       : 1;
}

int install_forget_gate(const struct config_source *source, const struct wish *w, struct err *e)
{
	OWNED(str) struct str path = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	int there = 0;

	if (!w->root[0] && gate_hooks_exist(w->host->name, w->managed))
		there = open_configured(source, &st, e);
	if (there <= 0)
		return there;
	return err_if(gate_hooks_path(w->host->name, w->managed, w->root, &path, e) ||
	              forget(&st, w->host->name, str_text(&path), e));
}

/* Whether the lines for the agent are in the folder's usual file; prints which. */
static bool tell_lines(const struct wish *w, const char *folder)
{
	OWNED(str) struct str path = { 0 }, text = { 0 };

	str_addf(&path, "%s/%s", folder, w->host->instructions);
	if (textfile_look(str_text(&path), TEXTFILE_BYTES_MAX, &text) <= 0 ||
	    !strstr(str_text(&text), INSTRUCTIONS_BEGIN))
		return false;
	(void)printf("%s still tells its agent to ask: run uninstall %s there, too\n",
	             str_text(&path), w->host->name);
	return true;
}

void install_tell_lines(const struct config_source *source, const struct wish *w)
{
	OWNED(session_folders_row) struct session_folders_row row = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	char machine[MACHINE_BYTES], here[PATH_MAX];
	bool any = false;

	if (open_configured(source, &st, NULL) > 0) {
		machine_name(machine);
		sql_session_folders(&st, machine, &row);
		while (row_next(&row.row, NULL) > 0)
			if (!getcwd(here, sizeof(here)) || strcmp(here, row.workspace_root) != 0)
				any |= tell_lines(w, row.workspace_root);
	}
	if (!any)
		(void)printf("Lines that make the agent ask stay in the %s of other projects: run "
		             "uninstall %s there, too\n",
		             w->host->instructions, w->host->name);
}
