#include "install.h"

#include "gate_hooks.h"
#include "machine.h"
#include "paths.h"
#include "sql/gate_lapse.h"
#include "store.h"

#include <unistd.h>

static int forget(struct store *st, const char *host, const char *path, struct err *e)
{
	char machine[MACHINE_BYTES];

	machine_name(machine);
	if (store_begin(st, e))
		return -1;
	if (sql_gate_install_delete(st, machine, host, path, e) < 0 || store_commit(st, e)) {
		store_rollback(st);
		return -1;
	}
	return 0;
}

int install_forget_gate(const struct config_source *source, const struct wish *w, struct err *e)
{
	OWNED(str) struct str path = { 0 };
	OWNED(config) struct config config = { 0 };
	OWNED(paths) struct paths paths = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	struct err ignored = { 0 };

	if (w->root[0] || !gate_hooks_exist(w->host->name, w->managed) ||
	    config_load(source, &config, &ignored) ||
	    paths_open(config.database.path, false, &paths, &ignored) ||
	    access(paths.database, F_OK) != 0)
		return 0;
	return gate_hooks_path(w->host->name, w->managed, w->root, &path, e) ||
	               store_open(&st, paths.database, NULL, e) ||
	               forget(&st, w->host->name, str_text(&path), e)
	           ? -1
	           : 0;
}
