#include "child.h"

#include "config.h"
#include "environment.h"
#include "fenced.h"
#include "group.h"
#include "locate.h"
#include "program.h"
#include "start.h"
#include "texts.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char EVERYTHING[] = "[\"*\"]";

/* ---- what is started ---- */

static int add_program(struct texts *c, const char *name, struct err *e)
{
	OWNED(str) struct str program = { 0 };

	if (!program_find(name, &program) && !strchr(name, '/'))
		return err_set(e, ERR_INPUT,
		               "cannot find the program %s; install it, or give its path", name);
	texts_add(c, program.length ? program.bytes : name);
	return 0;
}

static int make_command(struct texts *c, char *const *argv, const struct config_agent *profile,
                        struct err *e)
{
	if (add_program(c, profile ? profile->command : argv[0], e))
		return -1;
	for (size_t i = 0; profile && i < profile->args.count; i++)
		texts_add(c, profile->args.items[i]);
	for (size_t i = 1; !profile && argv[i]; i++)
		texts_add(c, argv[i]);
	return 0;
}

static void make_environment(struct environment *out, const char *program,
                             const struct config_agent *profile)
{
	OWNED(str) struct str path = { 0 };

	environment_pass(out, environ, EVERYTHING);
	program_path(program, &path);
	environment_set(out, "PATH", str_text(&path));
	for (size_t i = 0; profile && i < profile->env_set.count; i++)
		environment_set(out, profile->env_set.items[i].name,
		                profile->env_set.items[i].value);
}

int child_start(struct child *c, char *const *argv, const struct config_agent *profile,
                const char *folder, const struct located *ours, struct err *e)
{
	OWNED(fenced) struct fenced fenced = { .paths = { 0 } };
	OWNED(texts) struct texts command = { 0 };
	OWNED(environment) struct environment environment = { 0 };
	char system[PATH_MAX];

	if (make_command(&command, argv, profile, e) || start_program(system, e))
		return -1;
	make_environment(&environment, command.items[0], profile);
	const struct fenced_place place = { .workspace = folder,
		                            .program = command.items[0],
		                            .url = "",
		                            .database = ours->paths.database,
		                            .run_dir = ours->paths.run,
		                            .config = ours->config ? ours->config : "" };
	if (fenced_make(profile ? profile->fence : NULL, &place, &fenced, e))
		return -1;
	const struct launch_plan plan = { .argv = command.items,
		                          .environment = environment.variables,
		                          .directory = folder,
		                          .enter = fenced_enter,
		                          .entering = &fenced,
		                          .talks = true };
	if (group_adopt(system))
		return err_errno(e, ERR_AGAIN, "cannot adopt what the agent leaves behind");
	return launch_hold(&c->process, &plan, e) || launch_go(&c->process, &plan, e) ? -1 : 0;
}

/* ---- its end ---- */

static void reap(struct child *c, int options)
{
	int status;

	if (c->has_ended || waitpid(c->process.pid, &status, options) != c->process.pid)
		return;
	c->has_ended = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_reap(struct child *c)
{
	reap(c, WNOHANG);
}

void child_end(struct child *c)
{
	if (!c->has_ended && c->process.pid && !c->was_told)
		(void)kill(-c->process.pid, SIGTERM);
	c->was_told = true;
}

void child_await(struct child *c, int ms)
{
	struct pollfd ended = { .fd = c->process.ended, .events = POLLIN };

	if (!c->has_ended && c->process.pid && poll(&ended, 1, ms) > 0)
		child_reap(c);
}

void child_clear(struct child *c)
{
	if (c->process.pid && !c->has_ended) {
		(void)kill(-c->process.pid, SIGKILL);
		reap(c, 0);
		c->has_ended = true;
	}
	(void)group_end_adopted(GROUP_END_MS);
	launch_clear(&c->process);
}
