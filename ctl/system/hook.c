/* hook: finds the system that a hook is to ask, as the relay does, and becomes the small program
 * hook. Hosts start that program itself; it comes here if only a configuration tells which system
 * is meant. */
#include "system.h"

#include "locate.h"
#include "reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever happens before a tool, this status keeps it closed. */
enum { STATUS_DENY = 2 };

/* The value of an option, as getopt_long takes it: "--db X" or "--db=X". NULL: not at i. */
static const char *option(int argc, char **argv, int i, const char *name)
{
	size_t length = strlen(name);

	if (!argv[i] || strncmp(argv[i], name, length) != 0)
		return NULL;
	if (argv[i][length] == '=')
		return argv[i] + length + 1;
	return argv[i][length] == '\0' && i + 1 < argc ? argv[i + 1] : NULL;
}

/* What the arguments say of the system; false: they name its run directory. */
static bool read_source(int argc, char **argv, struct config_source *source)
{
	for (int i = 0; i < argc; i++) {
		const char *config = option(argc, argv, i, "--config");
		const char *database = option(argc, argv, i, "--db");

		if (option(argc, argv, i, "--run"))
			return false;
		if (config)
			source->config = config;
		if (database)
			source->database = database;
	}
	return true;
}

/* Whether it is the system of the machine, for several users: the hook finds that by itself. */
static bool is_shared(const struct config_source *source)
{
	OWNED(located) struct located own = { 0 };
	OWNED(str) struct str note = { 0 };

	return !locate_is_named(source) && reach_shared_is_open(REACH_AGENTS) &&
	       locate_usual(source, &own, &note, NULL) == 0;
}

/* The run directory of the system that runs, else of the one that would be started. */
static int find_run(const struct config_source *source, struct str *run, struct err *e)
{
	OWNED(located) struct located system = { 0 };
	OWNED(str) struct str note = { 0 };

	if (locate_meant(source, false, &system, &note, e))
		return -1;
	str_add(run, system.paths.run);
	return 0;
}

int intercom_hook(const struct config_source *given, int argc, char **argv)
{
	static char run_option[] = "--run", unknown[] = "--unknown";
	struct config_source source = *given;
	OWNED(str) struct str run = { 0 };
	char **all = xcalloc((size_t)argc + 3, sizeof(*all));
	int count = argc;
	struct err e = { 0 };

	memcpy(all, argv, (size_t)argc * sizeof(*all));
	if (read_source(argc, argv, &source) && !is_shared(&source)) {
		bool found = find_run(&source, &run, &e) == 0;

		all[count++] = found ? run_option : unknown;
		all[count++] = found ? run.bytes : e.text;
	}
	cli_become("hook", all, &e);
	free(all);
	(void)fprintf(stderr, "agent-intercom: %s\n", e.text);
	return STATUS_DENY;
}
