/* run, run-stop, runs: commands of [commands]. `run` waits for the end, shows the output as it
 * comes, and returns 0 only if the command did. */
#include "ctl.h"

#include "doorbell.h"
#include "io.h"
#include "json.h"
#include "sql/alias_run.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

enum { LOOK_MS = 500 /* a lost bell costs so much */ };

/* ---- waiting ---- */

/* Waits until the run is over: 0, -1. */
static int wait_for(struct ctl *c, int64_t seq, struct err *e)
{
	OWNED(doorbell) struct doorbell bell = DOORBELL_INIT;
	int run_fd = c->paths.run ? open(c->paths.run, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	char name[64];
	int over = 0;

	(void)snprintf(name, sizeof(name), "agent-intercom-ctl-%d", (int)getpid());
	if (run_fd < 0 || doorbell_open(&bell, run_fd, name, NULL))
		(void)0; /* without a bell it is looked at every LOOK_MS */
	while (over == 0) {
		OWNED(alias_run_row) struct alias_run_row run = { 0 };
		struct pollfd fd = { .fd = bell.fd, .events = POLLIN };
		int got = sql_alias_run_read(&c->store, seq, &run, e);

		over = got < 0 ? -1 : got == 0 || run.outcome != ALIAS_RUN_OUTCOME_NONE;
		if (over == 0 && poll(&fd, 1, LOOK_MS) > 0)
			doorbell_drain(&bell);
	}
	io_shut(&run_fd);
	return over < 0 ? -1 : 0;
}

static int show(struct ctl *c, int64_t seq, struct err *e)
{
	OWNED(char_ptr) char *number = NULL;
	OWNED(said) struct said said = { 0 };

	if (asprintf(&number, "%" PRId64, seq) < 0)
		return err_errno(e, ERR_AGAIN, "cannot show the run");
	const struct words w = { .verb = verb_find("runs"), .id = number };
	if (ctl_say(c, &w, &said, e))
		return -1;
	int status = json_says(said.json, "state", "done") ? EX_OK : EXIT_FAILURE;
	print_said(c, &said);
	return status;
}

/* ---- commands ---- */

static int run_run(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *workspace = NULL;
	OWNED(char_ptr) char *line = join_arguments(c, 0);
	OWNED(said) struct said said = { 0 };

	if (ctl_workspace(c, &workspace, e))
		return -1;
	const struct words w = {
		.verb = verb_find("run"), .text = line, .id = c->session, .workspace = workspace
	};
	if (ctl_say(c, &w, &said, e))
		return -1;
	if (!c->json)
		(void)fprintf(stderr, "%s\n", str_text(&said.text));
	int64_t seq = json_integer(said.json, "run");
	return wait_for(c, seq, e) ? -1 : show(c, seq, e);
}

static int run_word(struct ctl *c, struct err *e)
{
	const struct words w = { .verb = verb_find(c->command->name),
		                 .id = c->argc ? c->argv[0] : NULL };

	return ctl_say_and_print(c, &w, e);
}

const struct command_spec cmd_run = {
	"run",
	HELP(
	    "ALIAS [--session ID | --workspace DIR]",
	    "run a command of [commands], and wait for its end",
	    "It runs exactly as configured, in the workspace of the session, in DIR (a folder "
	    "with\n"
	    "a '/', or . or ..; or the id of a [[workspace]]), or in default_workspace_root. Runs\n"
	    "of one session wait for each other. Exit status 0: the command's was 0.\n"),
	ARGUMENTS(1, -1, TAKES_SESSION | TAKES_WORKSPACE), .run = run_run
};
const struct command_spec cmd_run_stop = {
	"run-stop", HELP("[RUN]", "end a command that runs, with all that it started", NULL),
	ARGUMENTS(0, 1, 0), .run = run_word
};
const struct command_spec cmd_runs = {
	"runs", HELP("[RUN]", "the commands that were run, or one with its output", NULL),
	ARGUMENTS(0, 1, 0), .run = run_word
};
