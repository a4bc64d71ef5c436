#include "cli.h"

#include "locate.h"
#include "options.h"
#include "reach.h"
#include "visible.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static const char PROGRAM[] = "agent-intercom";

int cli_read(struct cli_arguments *a, const char *flag, int argc, char **argv)
{
	bool help = false;
	const struct options_row rows[] = {
		{ "config", .text = &a->source.config },
		{ "db", .text = &a->source.database },
		{ "workspace", .text = &a->source.workspace },
		{ "help", .flag = &help, .ends = true },
		{ flag, .flag = &a->flag },
		{ NULL },
	};

	optind = 0; /* getopt_long has already run over the words before */
	if (options_read(rows, "", NULL, argc, argv, NULL))
		return -1;
	if (help)
		return 1;
	if (argc - optind > 1) {
		(void)fprintf(stderr, "%s: unexpected argument '%.40s'\n", PROGRAM,
		              argv[optind + 1]);
		return -1;
	}
	a->operand = argv[optind];
	return 0;
}

int cli_parse(struct cli_arguments *a, const char *flag, int argc, char **argv)
{
	int read = cli_read(a, flag, argc, argv);

	return read ? read : cli_find(&a->source);
}

int cli_find(struct config_source *source)
{
	static struct located found; /* source points into it */
	OWNED(str) struct str note = { 0 };
	struct err e = { 0 };
	int runs;

	runs = locate_usual(source, &found, &note, &e);
	if (runs < 0) {
		(void)cli_say(&e);
		return -1;
	}
	if (runs == 0)
		return 0;
	if (note.length)
		(void)fprintf(stderr, "%s: note: %s\n", PROGRAM, str_text(&note));
	source->config = *found.config ? found.config : NULL;
	source->database = found.paths.database;
	return 0;
}

int cli_find_database(const struct config_source *source, const struct config *config,
                      struct paths *ret, struct err *e)
{
	const char *path = config->database.path;

	if (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
		return paths_open(path, false, ret, e);
	if (locate_is_named(source) || (!reach_shared_serves() && !reach_shared_excludes()))
		return err_set(e, ERR_INPUT,
		               "there is no database at %s; name another one with --config or --db",
		               path);
	return err_set(e, ERR_INPUT,
	               "you run no system of your own: there is no database at %s. For the system "
	               "of this machine (%s), an administrator must run this as its user",
	               path, reach_shared_directory());
}

bool cli_has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

int cli_say(const struct err *e)
{
	OWNED(str) struct str shown = { 0 };

	visible_add(&shown, e->text, strlen(e->text), false); /* it may quote a foreign file */
	(void)fprintf(stderr, "%s: %s\n", PROGRAM, str_text(&shown));
	return err_exit(e);
}

void cli_become(const char *name, char **argv, struct err *e)
{
	OWNED(str) struct str path = { 0 };

	if (paths_program(name, &path, e))
		return;
	argv[0] = path.bytes;
	(void)execv(path.bytes, argv);
	(void)err_errno(e, ERR_INPUT, "cannot run %s", path.bytes);
}

int cli_end(const char *program, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	(void)fprintf(stderr, "%s: the output could not be written\n", program);
	return status == EX_OK ? EX_IOERR : status;
}
