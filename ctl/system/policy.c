/* `agent-intercom policy check`: whether a workspace's policy file is valid, what it decides in one
 * case, and what it would have decided in all cases that people decided there. `policy schema`
 * prints the file's JSON Schema. `policy trust`: policy_trust_command.c. */
#include "system.h"

#include "io.h"
#include "json.h"
#include "machine.h"
#include "options.h"
#include "policy_file.h"
#include "policy_gate.h"
#include "policy_history.h"
#include "policy_hook.h"
#include "safe_path.h"
#include "setting.h"
#include "visible.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum { SAYS_NO = 1, MAX_PATHS = 100, SHOWN_REJECTED = 20 };

static const char PROGRAM[] = "agent-intercom";

struct check {
	struct config_source source;
	struct config config;
	bool wants_schema;
	const char *file; /* NULL: that of the workspace */
	char workspace[PATH_MAX];
	bool is_listed; /* the configuration names it */
	struct policy_question question; /* tool NULL: no question was given */
	const char *paths[MAX_PATHS];
	char *cleaned[MAX_PATHS];
	const char *host; /* of a hook's JSON; NULL: the usual one */
	struct policy_files files;
	struct policy *policy;
	const struct policy_file
	    *own; /* where trust is known; NULL: not, or it is not the workspace's */
	cJSON *commands; /* map: only these may be allowed; NULL: any */
	cJSON *always_ask; /* list */
};

static void check_clear(struct check *c)
{
	for (size_t i = 0; i < MAX_PATHS; i++)
		free(c->cleaned[i]);
	if (c->file) /* else it belongs to files */
		policy_free(c->policy);
	policy_files_clear(&c->files);
	cJSON_Delete(c->commands);
	cJSON_Delete(c->always_ask);
	config_clear(&c->config);
}

/* ---- arguments ---- */

static int help(void)
{
	(void)printf(
	    "usage: %s policy check [FILE|WORKSPACE] [OPTIONS]\n"
	    "       %s policy trust [WORKSPACE] [--yes]\n"
	    "       %s policy schema        prints the JSON Schema of the file\n\n"
	    "Reads " POLICY_FILE " of the workspace, or FILE, and says what is wrong with it.\n"
	    "Without --explain it is tried on what people decided in this workspace so far.\n\n"
	    "  --explain TOOL     what it says of a tool or a command line, or of the JSON that a\n"
	    "                     hook before a tool gets (it begins with {), and why\n"
	    "  --host HOST        whose hook that is: claude (default), codex, gemini, ...\n"
	    "  --path PATH        a file that is touched; again for each further one\n"
	    "  --read             the files are read, not written\n"
	    "  --risk LEVEL       low (default), high, critical\n"
	    "  --workspace DIR    instead of the working directory\n"
	    "  --config FILE, --db PATH\n\n"
	    "trust shows what the file newly allows in a workspace that config.toml does not "
	    "name,\n"
	    "and asks whether it may (--yes: it does not ask).\n\n"
	    "Exit status: 0 in order, or allowed; 1 needs approval, or it would have allowed what "
	    "was\n"
	    "rejected; 64 wrong usage; 78 the file cannot be used: it allows nothing.\n",
	    PROGRAM, PROGRAM, PROGRAM);
	return EX_OK;
}

static int take_path(void *arg, const char *value, struct err *e)
{
	struct check *c = arg;

	(void)e; /* nobody gives so many */
	if (c->question.path_count == MAX_PATHS)
		return -1;
	c->paths[c->question.path_count++] = value;
	return 0;
}

/* Returns 0, 1 after --help, -1. */
static int parse(struct check *c, int argc, char **argv)
{
	bool help = false;
	const struct options_row rows[] = {
		{ "explain", .text = &c->question.tool },
		{ "host", .text = &c->host },
		{ "path", .take = take_path },
		{ "read", .flag = &c->question.reads },
		{ "risk", .text = &c->question.risk_level },
		{ "workspace", .text = &c->source.workspace },
		{ "config", .text = &c->source.config },
		{ "db", .text = &c->source.database },
		{ "help", .flag = &help, .ends = true },
		{ NULL },
	};

	c->question.paths = c->paths;
	optind = 0; /* getopt_long has already run over the words before */
	if (options_read(rows, "", c, argc, argv, NULL))
		return -1;
	if (help)
		return 1;
	if (argc - optind == 1 && strcmp(argv[optind], "schema") == 0) {
		c->wants_schema = true;
		return 0;
	}
	if (argc - optind < 1 || argc - optind > 2 || strcmp(argv[optind], "check") != 0) {
		(void)fprintf(stderr,
		              "%s: write policy check [FILE|WORKSPACE], policy trust [WORKSPACE], "
		              "or policy schema; --help says more\n",
		              PROGRAM);
		return -1;
	}
	c->file = argv[optind + 1];
	return 0;
}

/* ---- the file ---- */

/* A folder that is given for a file is the workspace. */
static void take_folder(struct check *c)
{
	struct stat about;

	if (!c->file || stat(c->file, &about) != 0 || !S_ISDIR(about.st_mode))
		return;
	c->source.workspace = c->file;
	c->file = NULL;
}

static int find_workspace(struct check *c, struct err *e)
{
	const char *given = c->source.workspace ? c->source.workspace : ".";

	if (!realpath(given, c->workspace))
		return err_errno(e, ERR_INPUT, "the workspace %s", given);
	return 0;
}

static int read_given(struct check *c, struct err *e)
{
	OWNED(str) struct str bytes = { 0 };
	struct err why = { 0 };
	int fd = open(c->file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, ERR_INPUT, "cannot open %s", c->file);
	(void)io_read_all(fd, POLICY_MAX_BYTES + 1, &bytes);
	(void)close(fd);
	if (policy_parse(str_text(&bytes), bytes.length, &c->policy, &why))
		return err_set(e, ERR_INPUT, "%s allows nothing: %s", c->file, why.text);
	return 0;
}

static int read_own(struct check *c, struct err *e)
{
	const struct policy_file *f = policy_file_of(&c->files, c->workspace);

	if (!f->exists)
		return err_set(e, ERR_INPUT, "there is no %s/" POLICY_FILE ": everything is asked",
		               c->workspace);
	if (f->why[0])
		return err_set(e, ERR_INPUT, "%s/" POLICY_FILE " allows nothing: %s", c->workspace,
		               f->why);
	c->policy = f->policy;
	return 0;
}

static bool is_workspace(const struct check *c, const char *path)
{
	char real[PATH_MAX];

	return path && realpath(path, real) && strcmp(real, c->workspace) == 0;
}

/* Whether a setting names the workspace. */
static bool names_workspace(const struct check *c, const char *name, const char *value)
{
	OWNED(cJSON_ptr) cJSON *workspaces = NULL;
	const cJSON *one;

	if (strcmp(name, "default_workspace_root") == 0)
		return is_workspace(c, value);
	if (strcmp(name, "workspace") == 0)
		workspaces = cJSON_Parse(value);
	cJSON_ArrayForEach (one, workspaces)
		if (is_workspace(c, json_text(one, "path")))
			return true;
	return false;
}

static void take_setting(const char *name, const char *value, const char *source, void *arg)
{
	struct check *c = arg;

	if (strcmp(source, "file") == 0 && names_workspace(c, name, value))
		c->is_listed = true;
	if (strcmp(name, "commands") == 0 && c->config.policy.require_global_allowlist)
		c->commands = cJSON_Parse(value);
	else if (strcmp(name, "policy.always_ask") == 0)
		c->always_ask = cJSON_Parse(value);
}

/* Prints a line that quotes the file, or an agent: neither may act on the terminal. */
static void tell(const struct str *line)
{
	OWNED(str) struct str shown = { 0 };

	visible_add(&shown, str_text(line), line->length, false);
	(void)puts(str_text(&shown));
}

/* Prints each line of text, between `before` and `behind`. */
static void tell_lines(struct str *text, const char *before, const char *behind)
{
	char *rest = NULL;

	if (!text->length)
		return;
	for (char *line = strtok_r(text->bytes, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		OWNED(str) struct str told = { 0 };

		str_addf(&told, "%s%s%s", before, line, behind);
		tell(&told);
	}
}

static void tell_warnings(const struct check *c)
{
	OWNED(str) struct str warnings = { 0 }, unknown = { 0 };

	policy_warnings(c->policy, &warnings);
	tell_lines(&warnings, "warning: ", "");
	policy_unknown(c->policy, &unknown);
	tell_lines(&unknown, "warning: ", " is not a known key; is it misspelt?");
	if (c->own && !c->own->counts && strcmp(c->own->hash, c->own->trusted_hash) != 0)
		(void)puts(
		    "warning: nobody has trusted this version: what it newly allows is asked, "
		    "until agent-intercom policy trust");
}

/* ---- trust ---- */

/* Whether the system that runs takes the workspace for one that its configuration names. */
static bool is_listed(const struct check *c, struct store *st)
{
	OWNED(str) struct str usual = { 0 }, listed = { 0 };

	return (setting_named_workspace(st, &usual, NULL) > 0 &&
	        names_workspace(c, "default_workspace_root", str_text(&usual))) ||
	       (setting_get(st, "workspace", &listed, NULL) > 0 &&
	        names_workspace(c, "workspace", str_text(&listed))) ||
	       c->is_listed;
}

/* What was trusted of the workspace's file; without a database nobody has trusted anything yet. */
static int read_trust(struct check *c, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;
	struct policy_file *f = policy_file_of(&c->files, c->workspace);
	char machine[MACHINE_BYTES];

	if (access(c->config.database.path, F_OK) != 0)
		return 0;
	machine_name(machine);
	if (store_open_own(&st, c->config.database.path, NULL, e) ||
	    policy_gate_take(&st, machine, policy_trust_read(&st), is_listed(c, &st), f, e))
		return -1;
	c->own = f;
	return 0;
}

/* ---- judging ---- */

/* With what the configuration says. */
static struct policy_question complete(const struct check *c, const struct policy_question *asked)
{
	struct policy_question q = *asked;

	q.root = c->workspace;
	q.known = c->commands;
	q.always_ask = c->always_ask;
	return q;
}

static void judge(const struct check *c, const struct policy_question *asked,
                  struct policy_answer *a)
{
	struct policy_question q = complete(c, asked);

	policy_judge(c->policy, &q, a);
}

/* As an agent would be told. */
static void judge_now(const struct check *c, const struct policy_question *asked,
                      struct policy_answer *a)
{
	struct policy_verdict v = { .allowed = false };
	struct policy_question q = complete(c, asked);

	if (!c->own) {
		judge(c, asked, a);
		return;
	}
	policy_gate_judge(c->own, &q, &v);
	a->approved = v.allowed;
	str_add(&a->why, str_text(&v.why));
	policy_verdict_clear(&v);
}

static int say(bool allowed, const char *why)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "%s: %s", allowed ? "allowed" : "asked", why);
	tell(&line);
	return allowed ? EX_OK : SAYS_NO;
}

static int explain_hook(struct check *c)
{
	OWNED(policy_answer) struct policy_answer a = { 0 };
	OWNED(policy_hook) struct policy_hook h = { .as = POLICY_TOOL_ASKED };
	struct err e = { 0 };

	if (policy_hook_read(&h, c->host, c->question.tool, c->workspace,
	                     c->config.gate.reads == READS_POLICY, &e))
		return cli_say(&e);
	h.question.risk_level = c->question.risk_level;
	if (h.as == POLICY_TOOL_ALLOWED)
		return say(true, !h.question.reads ? "it is a tool of ours"
		                 : cJSON_GetArraySize(c->always_ask) > 0
		                     ? "it only reads; what policy.always_ask names is asked"
		                     : "it only reads");
	if (h.as == POLICY_TOOL_ASKED)
		return say(false, h.why.length ? h.why.bytes : "it is for a person to answer");
	judge_now(c, &h.question, &a);
	return say(a.approved, str_text(&a.why));
}

/* The paths become what they are when an agent gives them: those of the files that they stand for.
 */
static int clean_paths(struct check *c, struct err *e)
{
	int root = -1, failed = safe_path_open(c->workspace, &root, e);

	for (size_t i = 0; i < c->question.path_count && !failed; i++) {
		OWNED(str) struct str relative = { 0 }, resolved = { 0 };

		failed =
		    safe_path_clean(c->workspace, c->paths[i], strlen(c->paths[i]), &relative, e) ||
		    safe_path_resolve(root, str_text(&relative), &resolved, e);
		if (!failed)
			c->paths[i] = c->cleaned[i] = str_take(&resolved);
	}
	if (root >= 0)
		(void)close(root);
	return failed ? -1 : 0;
}

static int explain(struct check *c)
{
	OWNED(policy_answer) struct policy_answer a = { 0 };
	struct err e = { 0 };

	if (c->question.tool[0] == '{')
		return explain_hook(c);
	if (clean_paths(c, &e))
		return say(false, e.text);
	c->question.may_be_command =
	    policy_may_be_command(c->question.tool, c->question.path_count);
	judge_now(c, &c->question, &a);
	return say(a.approved, str_text(&a.why));
}

/* ---- history ---- */

struct tally {
	const struct check *check;
	int approved, approved_allowed, rejected, rejected_allowed;
};

static bool try_one(const struct policy_past *past, void *arg)
{
	OWNED(policy_answer) struct policy_answer a = { 0 };
	struct tally *t = arg;

	judge(t->check, &past->question, &a);
	*(past->approved ? &t->approved : &t->rejected) += 1;
	if (!a.approved)
		return true;
	*(past->approved ? &t->approved_allowed : &t->rejected_allowed) += 1;
	if (!past->approved && t->rejected_allowed <= SHOWN_REJECTED) {
		OWNED(str) struct str line = { 0 };

		str_addf(&line, "you rejected %.13s (%s), which %s would allow", past->id,
		         past->what, str_text(&a.rule));
		tell(&line);
	}
	return true;
}

static int read_history(const struct check *c, struct tally *t, struct err *e)
{
	OWNED(store) struct store st = STORE_INIT;

	if (access(c->config.database.path, F_OK) != 0)
		return 0;
	if (store_open_own(&st, c->config.database.path, NULL, e))
		return -1;
	return policy_history(&st, c->workspace, 0, try_one, t, e);
}

static int try_history(const struct check *c, struct err *e)
{
	struct tally t = { .check = c };

	if (read_history(c, &t, e))
		return -1;
	if (t.approved + t.rejected == 0)
		(void)puts("in order; there is no history of this workspace to try it on");
	else
		(void)printf(
		    "in order; of %d questions that you approved here it would have allowed "
		    "%d, of %d that you rejected %d\n",
		    t.approved, t.approved_allowed, t.rejected, t.rejected_allowed);
	return t.rejected_allowed ? SAYS_NO : EX_OK;
}

/* ---- the program ---- */

static int check(struct check *c)
{
	struct err e = { 0 };
	int status;

	take_folder(c);
	if (cli_find(&c->source))
		return EX_CONFIG;
	if (find_workspace(c, &e) || config_load(&c->source, &c->config, &e))
		return cli_say(&e);
	config_settings(&c->config, take_setting, c);
	if ((c->file ? read_given(c, &e) : read_own(c, &e) || read_trust(c, &e)))
		return cli_say(&e);
	tell_warnings(c);
	if (c->question.tool)
		return explain(c);
	status = try_history(c, &e);
	return status < 0 ? cli_say(&e) : status;
}

int intercom_policy(const struct config_source *source, int argc, char **argv)
{
	struct check c = { .source = *source };
	int parsed, status;

	if (argc > 1 && strcmp(argv[1], "trust") == 0)
		return intercom_policy_trust(source, argc - 1, argv + 1);
	parsed = parse(&c, argc, argv);
	if (parsed != 0)
		status = parsed > 0 ? help() : EX_USAGE;
	else if (c.wants_schema)
		status = fputs(POLICY_SCHEMA, stdout) < 0 ? EX_IOERR : EX_OK;
	else
		status = check(&c);
	check_clear(&c);
	return status;
}
