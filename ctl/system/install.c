/* `agent-intercom install HOST` and `uninstall HOST`: the entry by which a host starts or reaches
 * us, and the lines that tell its agent to ask. The change is shown before it is made; everything
 * else in the files stays, and a copy from before the first change is kept next to each. */
#include "install.h"
#include "system.h"

#include "diff.h"
#include "gate_switch.h"
#include "json.h"
#include "options.h"
#include "port_holder.h"
#include "toml_edit.h"
#include "workspace.h"
#include "yes_no.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { DECLINED = 1, NEW_FOLDER = 0755, PERMISSIONS = 0777 };

static const char PROGRAM[] = "agent-intercom", DEFAULT_NAME[] = "intercom";

/* Owns what a wish refers to. */
struct request {
	struct wish wish;
	struct config_source source;
	struct str command, hook, url, file, instructions;
	const char *when_down; /* NULL: as configured */
};

static void request_clear(struct request *r)
{
	cJSON_Delete(r->wish.args);
	cJSON_Delete(r->wish.hook_args);
	str_clear(&r->command);
	str_clear(&r->hook);
	str_clear(&r->url);
	str_clear(&r->file);
	str_clear(&r->instructions);
}

/* ---- arguments ---- */

static int help(bool remove)
{
	OWNED(str) struct str names = { 0 };

	host_names(&names);
	(void)printf("usage: %s %s HOST [OPTIONS]\n\nHOST is %s.\n\n", PROGRAM,
	             remove ? "uninstall" : "install", str_text(&names));
	if (!remove)
		(void)puts(
		    "Writes the host's entry for agent-intercom, with the limits that let "
		    "a call wait an hour,\nand shows the change before it asks.\n\n"
		    "  --print              only prints the entry\n"
		    "  --http               reach a running agent-intercom over HTTP instead "
		    "of starting it\n"
		    "  --gate               also the hooks by which the host asks before each of "
		    "its own tools\n"
		    "  --managed            only the hooks, for all users of this machine (as "
		    "root)\n"
		    "  --when-down deny|allow\n"
		    "                       what hooks answer while agent-intercom cannot be "
		    "reached "
		    "(deny)\n"
		    "  --wait SECONDS       how long a call may wait (3600)\n"
		    "  --config FILE, --db PATH, --workspace DIR\n"
		    "                       handed on to agent-intercom");
	else
		(void)puts(
		    "Removes what install has added, and nothing else.\n\n"
		    "  --gate               also the hooks of this user, in whichever project "
		    "they ask; they are\n"
		    "                       also removed if none of --project, --file and --name "
		    "is given\n"
		    "  --managed            the hooks for all users of this machine");
	(void)puts(
	    "  --project            the file of the project in the working directory "
	    "(vscode: the default)\n"
	    "  --user               the file of this user\n"
	    "  --root DIR           with --managed: a folder to take for the root of the file "
	    "system\n"
	    "  --file FILE          another file of the same form\n"
	    "  --name NAME          of the server, as the host shows it (intercom)\n"
	    "  --instructions FILE  also the lines for the agent, in CLAUDE.md, AGENTS.md, "
	    "...\n"
	    "  --yes                do not ask\n"
	    "  --help\n\n"
	    "Exit status: 0 done, or nothing to do; 1 nothing written, or something is left to "
	    "do by\nhand; 64 wrong usage; 75 try again; 78 a file that cannot be changed: none "
	    "is.");
	return EX_OK;
}

static int take_wait(void *arg, const char *text, struct err *e)
{
	struct request *r = arg;
	char *end;
	long seconds = strtol(text, &end, 10);

	if (*end || end == text || seconds < 1 || seconds > WAIT_SECONDS_MAX)
		return err_set(e, ERR_INPUT, "--wait takes 1 to %d seconds, not '%.40s'",
		               WAIT_SECONDS_MAX, text);
	r->wish.wait = seconds;
	return 0;
}

static int take_name(void *arg, const char *text, struct err *e)
{
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                              "0123456789_-";
	struct request *r = arg;

	r->wish.name = text;
	if (*text && !text[strspn(text, ALLOWED)] && strlen(text) <= PATHS_NAME_BYTES_MAX)
		return 0;
	return err_set(e, ERR_INPUT, "--name takes up to %d of A-Z a-z 0-9 _ -, not '%.40s'",
	               (int)PATHS_NAME_BYTES_MAX, text);
}

static int take_when_down(void *arg, const char *text, struct err *e)
{
	struct request *r = arg;

	r->when_down = text;
	if (strcmp(text, "deny") == 0 || strcmp(text, "allow") == 0)
		return 0;
	return err_set(e, ERR_INPUT, "--when-down takes deny or allow, not '%.40s'", text);
}

/* Whether the options go together; says why not. */
static int check_gate(const struct request *r)
{
	const char *why = NULL;

	if (r->wish.managed && r->wish.gate)
		why = "--managed and --gate are two places for the same hooks; choose one";
	else if (r->wish.root[0] && !r->wish.managed)
		why = "--root goes with --managed";
	else if (r->wish.print && (r->wish.gate || r->wish.managed))
		why = "hooks are shown before they are written; --print is for the entry";
	else if (r->when_down && !r->wish.gate && !r->wish.managed)
		why = "--when-down goes with --gate or --managed";
	if (why)
		(void)fprintf(stderr, "%s: %s\n", PROGRAM, why);
	return why ? -1 : 0;
}

static int find_host(struct request *r, int argc, char **argv)
{
	OWNED(str) struct str names = { 0 };

	r->wish.host = optind + 1 == argc ? host_find(argv[optind]) : NULL;
	if (r->wish.host)
		return 0;
	host_names(&names);
	(void)fprintf(stderr, "%s: write %s and one of %s\n", PROGRAM, argv[0], str_text(&names));
	return -1;
}

/* Returns 0, 1 after --help, -1. */
static int parse(struct request *r, int argc, char **argv)
{
	bool asks_help = false, project = false, user = false;
	const struct options_row rows[] = {
		{ "project", .flag = &project, .instead_of = &user },
		{ "user", .flag = &user, .instead_of = &project },
		{ "yes", .flag = &r->wish.yes },
		{ "print", .flag = &r->wish.print },
		{ "http", .flag = &r->wish.http },
		{ "gate", .flag = &r->wish.gate },
		{ "managed", .flag = &r->wish.managed },
		{ "when-down", .take = take_when_down },
		{ "root", .text = &r->wish.root },
		{ "help", .flag = &asks_help },
		{ "config", .text = &r->source.config },
		{ "db", .text = &r->source.database },
		{ "workspace", .text = &r->source.workspace },
		{ "file", .text = &r->wish.file },
		{ "name", .take = take_name },
		{ "instructions", .text = &r->wish.instructions },
		{ "wait", .take = take_wait },
		{ NULL },
	};
	struct err e = { 0 };

	r->wish.wait = -1;
	optind = 0;
	if (options_read(rows, "", r, argc, argv, &e)) {
		if (e.kind != ERR_NONE)
			(void)cli_say(&e);
		return -1;
	}
	if (asks_help)
		return 1;
	if (r->wish.print && r->wish.remove) {
		(void)fprintf(stderr,
		              "%s: uninstall prints nothing; it shows the change and asks\n",
		              PROGRAM);
		return -1;
	}
	if (check_gate(r))
		return -1;
	if (find_host(r, argc, argv))
		return -1;
	if (r->wish.remove && !r->wish.managed && !project && !r->wish.file &&
	    strcmp(r->wish.name, DEFAULT_NAME) == 0)
		r->wish.gate = true; /* nothing of ours is to stay with this user's host */
	r->wish.project = project || (!user && r->wish.host->in_project);
	if (r->wish.wait < 0)
		r->wish.wait = r->wish.host->waits_long ? WAIT_SECONDS : 0;
	return 0;
}

/* ---- what the entry says ---- */

/* Whether $PATH has a program of this name, whose path is in out then. */
static bool find_in_path(const char *name, struct str *out)
{
	const char *rest = getenv("PATH");

	while (rest && *rest) {
		size_t length = strcspn(rest, ":");

		str_reset(out);
		str_add_bytes(out, rest, length);
		str_addf(out, "/%s", name);
		if (*rest == '/' && access(str_text(out), X_OK) == 0)
			return true;
		rest += length + (rest[length] == ':');
	}
	return false;
}

/* Whether `agent-intercom` in $PATH is the program at path. */
static bool is_in_path(const char *path)
{
	OWNED(str) struct str found = { 0 };
	char real[PATH_MAX];

	return find_in_path(PROGRAM, &found) && realpath(str_text(&found), real) &&
	       strcmp(real, path) == 0;
}

static int find_command(struct request *r, struct err *e)
{
	char path[PATH_MAX];

	if (!realpath("/proc/self/exe", path))
		return err_errno(e, ERR_INPUT, "/proc/self/exe: cannot tell where I am installed");
	/* A project's file is for other machines, too. In the user's own file the path is absolute:
	 * a host not started from a shell may have another PATH. */
	str_add(&r->command, r->wish.project && is_in_path(path) ? PROGRAM : path);
	r->wish.command = str_text(&r->command);
	return 0;
}

static void add_arg(cJSON *args, const char *text)
{
	(void)cJSON_AddItemToArray(args, cJSON_CreateString(text));
}

static int add_path(cJSON *args, const char *option, const char *path, struct err *e)
{
	OWNED(str) struct str absolute = { 0 };

	if (!path)
		return 0;
	if (paths_absolute(NULL, path, &absolute, e))
		return -1;
	add_arg(args, option);
	add_arg(args, str_text(&absolute));
	return 0;
}

static int find_args(struct request *r, struct err *e)
{
	cJSON *args = r->wish.args = cJSON_CreateArray();
	char number[24];

	add_arg(args, "mcp");
	if (add_path(args, "--config", r->source.config, e) ||
	    add_path(args, "--db", r->source.database, e) ||
	    add_path(args, "--workspace", r->source.workspace, e))
		return -1;
	/* Editors start servers elsewhere (Cursor in ~), but expand this variable. */
	if (r->wish.host->is_editor && !r->source.workspace) {
		add_arg(args, "--workspace");
		add_arg(args, "${workspaceFolder}");
	}
	if (r->wish.wait > 0) {
		(void)snprintf(number, sizeof(number), "%ld", r->wish.wait);
		add_arg(args, "--wait");
		add_arg(args, number);
	}
	return 0;
}

/* Whether hooks let the host decide while we cannot be reached: as asked for, else as configured.
 */
static int find_when_down(const struct request *r, bool *ret_allow, struct err *e)
{
	OWNED(config) struct config config = { 0 };

	*ret_allow = r->when_down && strcmp(r->when_down, "allow") == 0;
	if (r->when_down)
		return 0;
	if (config_load(&r->source, &config, e))
		return -1;
	*ret_allow = config.gate.when_down == WHEN_DOWN_ALLOW;
	return 0;
}

/* Hooks start the small program itself: `agent-intercom hook` would take a second process. */
static int find_hook(struct request *r, struct err *e)
{
	cJSON *args = r->wish.hook_args = cJSON_CreateArray();
	bool allow;

	if (paths_program("hook", &r->hook, e) || find_when_down(r, &allow, e))
		return -1;
	r->wish.hook = str_text(&r->hook);
	if (allow) {
		add_arg(args, "--when-down");
		add_arg(args, "allow");
	}
	return err_if(add_path(args, "--config", r->source.config, e) ||
	              add_path(args, "--db", r->source.database, e));
}

/* Agents would talk to whoever has the port. */
static int tell_taken(int port, struct err *e)
{
	OWNED(str) struct str who = { 0 };

	port_holder_tell(port, &who);
	return err_set(
	    e, ERR_INPUT,
	    "port %d on 127.0.0.1 is held by %s, while agent-intercom does not run; stop "
	    "that program (`ss -ltnp`, as root, shows it) or set another http_port; if it is "
	    "systemd that holds it for us, start agent-intercom first",
	    port, str_text(&who));
}

/* That of a system which does not run. */
static int find_configured_url(struct request *r, struct err *e)
{
	struct config config = { 0 };
	int port;

	if (config_load(&r->source, &config, e))
		return -1;
	port = (int)config.http_port;
	config_clear(&config);
	if (port == 0)
		return err_set(e, ERR_INPUT,
		               "http_port is 0, another one at each start; set one in the "
		               "configuration");
	if (port_try(port) == EADDRINUSE)
		return tell_taken(port, e);
	str_addf(&r->url, "http://127.0.0.1:%d/mcp", port);
	return 0;
}

static int find_url(struct request *r, struct err *e)
{
	int found = where_http(&r->source, &r->url, e);

	if (found < 0 || (found == 0 && find_configured_url(r, e)))
		return -1;
	if (r->wish.wait > 0)
		str_addf(&r->url, "?wait=%ld", r->wish.wait);
	r->wish.url = str_text(&r->url);
	return 0;
}

static int complete(struct request *r, struct err *e)
{
	if (find_command(r, e) || find_args(r, e) ||
	    (r->wish.http && !r->wish.remove && find_url(r, e)))
		return -1;
	if ((r->wish.gate || r->wish.managed) && !r->wish.remove && find_hook(r, e))
		return -1;
	if (r->wish.file) {
		if (paths_absolute(NULL, r->wish.file, &r->file, e))
			return -1;
		r->wish.file = str_text(&r->file);
	}
	if (r->wish.instructions) {
		if (paths_absolute(NULL, r->wish.instructions, &r->instructions, e))
			return -1;
		r->wish.instructions = str_text(&r->instructions);
	}
	return 0;
}

/* ---- printing ---- */

static int print_json(json_place place, const cJSON *value, struct err *e)
{
	OWNED(str) struct str text = { 0 };

	if (json_edit_set(&text, "the entry", place, value, e))
		return -1;
	(void)fputs(str_text(&text), stdout);
	return 0;
}

/* Prints the settings outside the entry as they would be in an empty file. */
static int print_settings(const struct wish *w, struct err *e)
{
	struct plan p = { 0 };
	OWNED(str) struct str path = { 0 };
	int failed;

	if (!w->host->setting[0].value)
		return 0;
	if (host_path(&w->host->settings, w->project, &path, e))
		return -1;
	failed = plan_settings(&p, w, &(struct entries){ 0 }, "/nonexistent", e);
	if (!failed) {
		(void)fprintf(stderr, "in %s:\n", str_text(&path));
		(void)fputs(str_text(&p.changes[0].after), stdout);
		(void)fflush(stdout);
	}
	install_plan_clear(&p);
	return failed;
}

/* Prints the entry on stdout, and where it belongs on stderr. */
static int print(const struct wish *w, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *entry = host_entry(w);
	OWNED(str) struct str path = { 0 }, text = { 0 };
	const char *const place[] = { w->host->servers, w->name, NULL };

	if (w->file)
		str_add(&path, w->file);
	else if (host_path(&w->host->file, w->project, &path, e))
		return -1;
	(void)fprintf(stderr, "in %s:\n", str_text(&path));
	if (w->host->toml) {
		toml_edit_print(&text, w->host->servers, w->name, entry);
		(void)fputs(str_text(&text), stdout);
	} else if (print_json(place, entry, e)) {
		return -1;
	}
	(void)fflush(stdout);
	if (print_settings(w, e))
		return -1;
	if (w->instructions) {
		str_reset(&text);
		plan_lines(&text, w->name);
		(void)fprintf(stderr, "in %s:\n", w->instructions);
		(void)fputs(str_text(&text), stdout);
	}
	return fflush(stdout) ? err_errno(e, ERR_AGAIN, "stdout") : 0;
}

/* ---- showing, asking, writing ---- */

/* Where a file is in truth, if its name leads there through links. */
static void show_target(const struct change *c)
{
	OWNED(char_ptr) char *folder = xstrdup(c->file.path);
	OWNED(char_ptr) char *real = NULL;
	char *slash = strrchr(folder, '/');

	if (strcmp(c->file.target, c->file.path) != 0) {
		(void)printf("%s leads to %s\n", c->file.path, c->file.target);
		return;
	}
	for (; !real && slash > folder; slash = strrchr(folder, '/')) { /* of a new file */
		*slash = '\0';
		real = realpath(folder, NULL);
	}
	if (real && strcmp(real, folder) != 0)
		(void)printf("%s leads to %s\n", folder, real);
}

static void show(const struct plan *p)
{
	for (int i = 0; i < p->count; i++) {
		const struct change *c = &p->changes[i];
		OWNED(str) struct str diff = { 0 };

		if (c->by_hand.length > 0) {
			(void)fputs(str_text(&c->by_hand), stdout);
			continue;
		}
		if (!change_is_one(c)) {
			(void)printf("%s: nothing to change\n", c->file.path);
			continue;
		}
		show_target(c);
		diff_compute(c->file.path + (c->file.path[0] == '/'),
		             c->file.exists ? str_text(&c->file.bytes) : NULL, c->file.bytes.length,
		             c->remove ? NULL : str_text(&c->after),
		             c->remove ? 0 : c->after.length, &diff);
		(void)fputs(str_text(&diff), stdout);
	}
	(void)fflush(stdout);
}

/* Whether install can have made the folder: what its user made with another mode was there before.
 */
static bool is_as_made(const char *folder)
{
	mode_t mask = umask(NOT_FOR_OTHERS), mode;
	struct stat about;

	(void)umask(mask);
	if (lstat(folder, &about) != 0)
		return false;
	mode = about.st_mode & PERMISSIONS;
	return mode == NEW_FOLDER || mode == (NEW_FOLDER & ~mask);
}

/* Removes the folders that install made for a file, if nothing else is in them: up to the home, the
 * working directory, or the first that is not empty. */
static void remove_empty_folders(const char *file)
{
	OWNED(str) struct str folder = { 0 };
	char cwd[PATH_MAX];
	const char *home = paths_from_env("HOME");

	str_add(&folder, file);
	if (!getcwd(cwd, sizeof(cwd)))
		return;
	while (true) {
		char *slash = strrchr(folder.bytes, '/');

		if (!slash || slash == folder.bytes)
			return;
		*slash = '\0';
		folder.length = (size_t)(slash - folder.bytes);
		if (strcmp(folder.bytes, cwd) == 0 || (home && strcmp(folder.bytes, home) == 0) ||
		    !is_as_made(folder.bytes) || rmdir(folder.bytes) != 0)
			return;
	}
}

static int write_one(const struct change *c, bool keep, struct err *e)
{
	if (c->remove) {
		if (textfile_remove(&c->file, e))
			return -1;
		(void)printf("removed %s\n", c->file.path);
		remove_empty_folders(c->file.target);
		return 0;
	}
	if ((keep && textfile_keep(&c->file, KEPT_SUFFIX, e)) ||
	    textfile_replace(&c->file, &c->after, e))
		return -1;
	(void)printf("wrote %s\n", c->file.path);
	return 0;
}

/* Once everything is as it was, the copy is no longer needed. */
static void drop_kept(const struct change *c)
{
	OWNED(str) struct str kept = { 0 };

	if (!c->kept.exists || c->is_shared || c->kept.bytes.length != c->after.length ||
	    memcmp(str_text(&c->kept.bytes), str_text(&c->after), c->after.length) != 0)
		return;
	str_addf(&kept, "%s" KEPT_SUFFIX, c->file.target);
	(void)unlink(str_text(&kept));
}

static int write_all(const struct plan *p, const struct wish *w, struct err *e)
{
	for (int i = 0; i < p->count; i++) {
		const struct change *c = &p->changes[i];

		if (change_is_one(c) ? write_one(c, !w->remove && !c->is_installed, e)
		                     : c->keep && textfile_keep(&c->file, KEPT_SUFFIX, e))
			return -1;
		drop_kept(c);
	}
	return 0;
}

/* All are checked before the first is written. */
static int check_writable(const struct plan *p, struct err *e)
{
	for (int i = 0; i < p->count; i++) {
		const struct change *c = &p->changes[i];

		if ((change_is_one(c) || (c->keep && c->file.exists && !c->kept.exists)) &&
		    paths_check_new(c->file.target, e))
			return -1;
	}
	return 0;
}

/* The hooks for all users are the plan's first change. */
static int check_open(const struct plan *p, const struct wish *w)
{
	return w->managed && !w->remove ? install_open(&p->changes[0], w) : 0;
}

/* Shows, asks and writes. Returns 0; 1 if there was something to write and it was not written, or
 * something is left to do; -1 on error. */
static int carry_out(const struct plan *p, const struct wish *w, const char *question,
                     struct err *e)
{
	int left = 0;

	if (check_writable(p, e))
		return -1;
	show(p);
	for (int i = 0; i < p->count; i++)
		left |= p->changes[i].by_hand.length > 0;
	if (!plan_changes(p))
		return left | check_open(p, w);
	if (!w->yes && !cli_has_terminal()) {
		(void)fprintf(stderr,
		              "%s: nothing is written, because there is no terminal to ask on; "
		              "add --yes\n",
		              PROGRAM);
		return DECLINED;
	}
	if (!w->yes && yes_no_ask(question) != YES_NO_YES) {
		(void)puts("Nothing is written.");
		return DECLINED;
	}
	return write_all(p, w, e) ? -1 : left | check_open(p, w);
}

static int change_host(const struct wish *w, struct err *e)
{
	struct plan p = { 0 };
	OWNED(str) struct str question = { 0 };
	int result = w->managed ? 0 : plan_host(&p, w, e);

	str_addf(&question, "Apply these changes to %s's configuration?", w->host->title);
	if (result == 0 && (w->gate || w->managed))
		result = plan_gate(&p, w, e);
	if (result == 0 && w->instructions) /* checked before anything is written */
		result = plan_instructions(&p, w, w->instructions, e);
	if (result == 0)
		result = carry_out(&p, w, str_text(&question), e);
	install_plan_clear(&p);
	return result;
}

/* The lines for the agent if no file was given: offered on a terminal, else only mentioned.
 * Uninstall checks whether they are in the usual file. */
static int change_usual_instructions(const struct wish *w, struct err *e)
{
	struct plan p = { 0 };
	OWNED(str) struct str question = { 0 }, path = { 0 };
	char here[PATH_MAX];
	int result;

	if (!w->remove && getcwd(here, sizeof(here)) && workspace_unfit(here)) {
		(void)printf("Lines that make the agent ask: in a project's folder, add "
		             "--instructions %s\n",
		             w->host->instructions);
		return 0;
	}
	if (paths_absolute(NULL, w->host->instructions, &path, e))
		return -1;
	result = plan_instructions(&p, w, str_text(&path), e);
	if (result == 0 && plan_changes(&p)) {
		if (w->remove || (cli_has_terminal() && !w->yes)) {
			str_addf(&question, "%s the lines that make the agent ask?",
			         w->remove ? "Take out" : "Add");
			result = carry_out(&p, w, str_text(&question), e);
			if (result == DECLINED && !w->remove)
				result = 0; /* it was only an offer */
		} else {
			(void)printf("Lines that make the agent ask: add --instructions %s\n",
			             w->host->instructions);
		}
	}
	install_plan_clear(&p);
	return result;
}

static void tell_next(const struct host *host)
{
	OWNED(str) struct str found = { 0 };

	if (host->is_editor || find_in_path(host->name, &found))
		(void)printf("Next: restart %s", host->title);
	else
		(void)printf("Next: install %s (there is no `%s` in $PATH)", host->title,
		             host->name);
	(void)puts(", and run agent-intercom-ctl watch in a terminal to answer.");
}

static void tell_hints(const struct wish *w)
{
	const struct gate *g = gate_find(w->host->name);
	const char *hint = !g ? NULL : w->managed ? g->system.hint : w->gate ? g->user.hint : NULL;

	if (w->remove)
		return;
	if (hint)
		(void)puts(hint);
	if (w->managed || w->gate)
		(void)printf(
		    "Then run agent-intercom doctor --gate %s, and again after each update of %s: "
		    "it "
		    "tries whether\nthe gate holds. Until it has, health and Slack say so of each "
		    "version that is in use.\n",
		    w->host->name, w->host->title);
	if (w->managed)
		return;
	if (w->host->hint)
		(void)puts(w->host->hint);
	if (w->project && w->host->project_hint)
		(void)puts(w->host->project_hint);
	if (w->http)
		(void)puts(
		    "Over HTTP, agent-intercom must be running already, and the workspace is "
		    "the one that it was\nstarted with (?workspace_id= in the URL names "
		    "another). While it is stopped, another user of this machine can\ntake its "
		    "port and answer in its place. Without --http, agent-intercom sees\nwhen the "
		    "agent has ended, and in which folder it works: stdio is the better choice.");
	tell_next(w->host);
}

static void tell_off(void *arg, const struct gate_switch_found *found)
{
	bool *is_off = arg;

	(void)printf("%s: %s, so these hooks do not run: take that out\n", found->file,
	             str_text(&found->what));
	*is_off = true;
}

/* The hooks of this user may be switched off in the user's own settings, or by the environment. 1
 * if so, else 0. */
static int check_off(const struct wish *w)
{
	bool is_off = false;

	if (w->gate && !w->remove) {
		gate_switch_look_own(w->host->name, tell_off, &is_off);
		gate_switch_look_environment(w->host->name, tell_off, &is_off);
	}
	return is_off;
}

static int carry_out_request(struct request *r, struct err *e)
{
	int result;

	if (complete(r, e))
		return -1;
	if (r->wish.print && !r->wish.remove)
		return print(&r->wish, e);
	result = change_host(&r->wish, e);
	if (result == 0 && r->wish.remove && (r->wish.gate || r->wish.managed) &&
	    install_forget_gate(&r->source, &r->wish, e))
		return -1;
	if (result == 0)
		tell_hints(&r->wish);
	if (result == 0 && !r->wish.instructions && !r->wish.managed)
		result = change_usual_instructions(&r->wish, e);
	if (result == 0)
		result = check_off(&r->wish);
	if (result == 0 && r->wish.remove && !r->wish.managed)
		install_tell_lines(&r->source, &r->wish);
	return result;
}

int intercom_install(const struct config_source *source, int argc, char **argv)
{
	bool remove = strcmp(argv[0], "uninstall") == 0;
	struct request r = { .wish = { .name = DEFAULT_NAME, .remove = remove, .root = "" },
		             .source = *source };
	struct err e = { 0 };
	int result = parse(&r, argc, argv);

	if (result != 0)
		return result > 0 ? help(remove) : EX_USAGE;
	result = carry_out_request(&r, &e);
	request_clear(&r);
	return result < 0 ? cli_say(&e) : result;
}
