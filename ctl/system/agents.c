/* `agent-intercom agents`: the profiles by which sessions start agents, and whether their programs
 * are there, and with --probe whether they can be talked to. */
#include "agents.h"
#include "system.h"

#include "json.h"
#include "json_writer.h"
#include "options.h"
#include "program.h"
#include "textfile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static const char PROGRAM[] = "agent-intercom";

enum { MS_PER_S = 1000, NOT_USABLE = 1 };

static const char *const STATES[] = {
	[AGENT_MISSING] = "missing", [AGENT_FOUND] = "found",   [AGENT_READY] = "ready",
	[AGENT_LOGIN] = "login",     [AGENT_FAILED] = "failed",
};

static int help(void)
{
	(void)printf(
	    "usage: %s agents [NAME ...] [--probe] [--json] [OPTIONS]\n\n"
	    "Lists the profiles by which sessions start agents: those of [[agent]], the built-in\n"
	    "ones, and host_cli as 'default'. A star marks the one used when a session names "
	    "none.\n\n"
	    "  --probe   starts each agent that speaks ACP, opens a session without a prompt, and\n"
	    "            ends it: says what is wrong, or which login is missing\n"
	    "  --json    the same as a list of objects\n"
	    "  --config FILE, --db PATH\n\n"
	    "Exit status: 1 if a profile that was named, or the default, cannot be used.\n",
	    PROGRAM);
	return EX_OK;
}

static void agent_look_clear(struct agent_look *look)
{
	str_clear(&look->path);
	str_clear(&look->version);
	str_clear(&look->detail);
}

/* ---- one profile ---- */

/* What npm says of what it has installed: the version of the package that a program is of. */
static void find_version(const char *program, struct str *out)
{
	OWNED(str) struct str file = { 0 };
	char dir[PATH_MAX];
	char *slash;

	if (!realpath(program, dir))
		return;
	while (!out->length && strstr(dir, "/node_modules/") && (slash = strrchr(dir, '/'))) {
		OWNED(textfile) struct textfile package = { 0 };
		OWNED(cJSON_ptr) cJSON *json = NULL;
		const char *version;

		*slash = '\0';
		str_reset(&file);
		str_addf(&file, "%s/package.json", dir);
		if (textfile_read(str_text(&file), &package, NULL) || !package.exists)
			continue;
		json = cJSON_Parse(str_text(&package.bytes));
		version = json_text(json, "version");
		if (version && json_text(json, "name"))
			str_add_shown(out, version, strlen(version), AGENT_VERSION_BYTES);
	}
}

static void look_at(struct agent_look *look, const struct config_agent *a)
{
	*look = (struct agent_look){ .profile = a };
	if (program_find(a->command, &look->path)) {
		look->state = AGENT_FOUND;
		find_version(str_text(&look->path), &look->version);
		return;
	}
	look->state = AGENT_MISSING;
	if (*a->command == '/')
		str_addf(&look->detail, "%s is no program", a->command);
	else
		str_addf(&look->detail, "%s is not installed", a->command);
	if (a->package)
		str_addf(&look->detail, "; npm install -g %s", a->package);
	else
		str_add(&look->detail, "; correct its command");
}

/* ---- all of them ---- */

struct request {
	struct config_source source;
	bool json, probe;
	int count; /* of names; 0: all */
	char **names;
};

static bool is_meant(const struct request *r, const char *name)
{
	for (int i = 0; i < r->count; i++)
		if (strcmp(r->names[i], name) == 0)
			return true;
	return r->count == 0;
}

/* Each name that was given is one of a profile. */
static int check_names(const struct request *r, const struct config_agents *all)
{
	for (int i = 0; i < r->count; i++) {
		bool found = false;

		for (size_t k = 0; k < all->count; k++)
			found = found || strcmp(all->items[k].name, r->names[i]) == 0;
		if (!found) {
			(void)fprintf(stderr,
			              "%s: agents: there is no profile '%.64s'; see %s agents\n",
			              PROGRAM, r->names[i], PROGRAM);
			return -1;
		}
	}
	return 0;
}

static void print_line(const struct agent_look *look)
{
	const struct config_agent *a = look->profile;
	OWNED(str) struct str name = { 0 }, state = { 0 };

	str_addf(&name, "%s%s", a->name, a->is_default ? " *" : "");
	str_add(&state, STATES[look->state]);
	if (look->state == AGENT_READY)
		str_addf(&state, " (ACP %d, %.1f s)", look->acp_version,
		         (double)look->milliseconds / MS_PER_S);
	(void)printf("%-15s %-11s %-10s %s: %s\n", str_text(&name), CONFIG_PROTOCOLS[a->protocol],
	             look->version.length ? look->version.bytes : "-", str_text(&state),
	             str_text(look->detail.length ? &look->detail : &look->path));
}

static void add_text(struct str *out, const char *name, const struct str *text)
{
	json_member_or_null(out, name, text->length ? text->bytes : NULL);
}

static void add_json(struct str *out, const struct agent_look *look)
{
	const struct config_agent *a = look->profile;
	OWNED(str) struct str args = { 0 };

	config_add_texts(&args, &a->args);
	json_object(out);
	json_member(out, "name", a->name);
	json_member(out, "protocol", CONFIG_PROTOCOLS[a->protocol]);
	json_member(out, "command", a->command);
	json_member_raw(out, "args", str_text(&args));
	json_member_bool(out, "default", a->is_default);
	json_member_bool(out, "builtin", a->is_builtin);
	json_member(out, "state", STATES[look->state]);
	add_text(out, "path", &look->path);
	add_text(out, "version", &look->version);
	add_text(out, "detail", &look->detail);
	if (look->acp_version)
		json_member_int(out, "acp_version", look->acp_version);
	if (look->milliseconds)
		json_member_int(out, "milliseconds", look->milliseconds);
	json_object_end(out);
}

static bool is_usable(const struct agent_look *look)
{
	return look->state == AGENT_FOUND || look->state == AGENT_READY;
}

/* The folder in which a session of the profile works if it names none; "": there is none. */
static const char *root_of(const struct config *c, const struct config_agent *a)
{
	for (size_t i = 0; a->workspace && i < c->workspaces.count; i++)
		if (strcmp(c->workspaces.items[i].id, a->workspace) == 0)
			return c->workspaces.items[i].path;
	return c->default_workspace_root;
}

/* Looks at those that are meant. The exit status. */
static int list(const struct request *r, const struct config *c)
{
	const struct config_agents *all = &c->agents;
	OWNED(str) struct str json = { 0 };
	int status = EX_OK;

	json_array(&json);
	if (!r->json)
		(void)printf("%-15s %-11s %-10s %s\n", "NAME", "PROTOCOL", "VERSION", "STATE");
	for (size_t i = 0; i < all->count; i++) {
		OWNED(agent_look) struct agent_look look = { 0 };

		if (!is_meant(r, all->items[i].name))
			continue;
		look_at(&look, &all->items[i]);
		if (r->probe && look.state == AGENT_FOUND && look.profile->protocol == PROTOCOL_ACP)
			agents_probe(&look, root_of(c, look.profile));
		if (!is_usable(&look) && (r->count || look.profile->is_default))
			status = NOT_USABLE;
		if (r->json)
			add_json(&json, &look);
		else
			print_line(&look);
		(void)fflush(stdout);
	}
	json_array_end(&json);
	if (r->json)
		(void)puts(str_text(&json));
	return fflush(stdout) ? EX_IOERR : status;
}

/* ---- the program ---- */

/* 0, 1 after --help, -1 the arguments are wrong and it has been said why. */
static int parse(struct request *r, int argc, char **argv)
{
	bool help = false;
	const struct options_row rows[] = {
		{ "json", .flag = &r->json },
		{ "probe", .flag = &r->probe },
		{ "config", .text = &r->source.config },
		{ "db", .text = &r->source.database },
		{ "help", .flag = &help, .ends = true },
		{ NULL },
	};

	optind = 0; /* the words before us were looked through already */
	if (options_read(rows, "", NULL, argc, argv, NULL))
		return -1;
	if (help)
		return 1;
	r->count = argc - optind;
	r->names = argv + optind;
	return 0;
}

int intercom_agents(const struct config_source *source, int argc, char **argv)
{
	struct request r = { .source = *source };
	OWNED(config) struct config config = { 0 };
	struct err e = { 0 };
	int parsed = parse(&r, argc, argv);

	if (parsed)
		return parsed > 0 ? help() : EX_USAGE;
	if (cli_find(&r.source))
		return EX_CONFIG;
	if (config_load(&r.source, &config, &e))
		return cli_say(&e);
	if (check_names(&r, &config.agents))
		return EX_USAGE;
	return list(&r, &config);
}
