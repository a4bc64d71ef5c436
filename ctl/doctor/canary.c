#include "canary.h"

#include "canary_model.h"
#include "clock.h"
#include "environment.h"
#include "gate_canary.h"
#include "id.h"
#include "json.h"
#include "launch.h"
#include "program.h"
#include "tail.h"
#include "textfile.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MS_PER_S = 1000,
	RUN_SECONDS = 120, /* opencode may look for a package for a minute */
	VERSION_SECONDS = 20,
	TURN_MS = 50,
	CHUNK_BYTES = 4096,
	WORDS_MAX = 20,
	VARIABLES_MAX = 8,
	VERSION_BYTES = 60,
	DETAIL_BYTES = 300,
	CALL_WRITE = 0,
	CALL_RUN = 1,
	FILES_AT_ONCE = 8,
};

/* How a host is started with our model. In all texts $base stands for the model's address, $file
 * and $command for what it is to write and to run, $folder for where it works. */
struct look {
	const char *host, *program;
	const char
	    *words[WORDS_MAX]; /* after the program; nothing but the gate stands in their way */
	/* $free: lets it do everything, or as much as what `install --managed` writes leaves. */
	const char *free, *free_managed;
	const char *variables[VARIABLES_MAX]; /* NAME=value */
	const char *write_tool, *write_args, *run_tool, *run_args;
	/* A file of the folder whose settings go before the user's own, so that its model is not
	 * asked, or NULL. */
	const char *settings, *settings_text;
	const char *trust; /* what keeps hooks from running although they are there, or NULL */
};

#define PROMPT "This is a canary of agent-intercom: answer with that word."
#define PATCH                                                                                      \
	"apply_patch <<'EOF'\\n*** Begin Patch\\n*** Add File: $file\\n+canary\\n*** End "         \
	"Patch\\nEOF"

/* What goes before the user's own settings. */
#define CLAUDE_SETTINGS                                                                            \
	"{\"env\":{\"ANTHROPIC_BASE_URL\":\"$base\",\"ANTHROPIC_AUTH_TOKEN\":\"canary\"}}"

static const struct look LOOKS[] = {
	{ .host = "claude",
	  .program = "claude",
	  .words = { "-p", PROMPT, "--strict-mcp-config", "--settings", CLAUDE_SETTINGS,
	             "--allowedTools", "Write", "Bash" },
	  .variables = { "ANTHROPIC_BASE_URL=$base", "ANTHROPIC_AUTH_TOKEN=canary",
	                 "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1" },
	  .write_tool = "Write",
	  .write_args = "{\"file_path\":\"$file\",\"content\":\"canary\\n\"}",
	  .run_tool = "Bash",
	  .run_args = "{\"command\":\"$command\",\"description\":\"canary\"}" },
	{ .host = "codex",
	  .program = "codex",
	  .words = { "exec",
	             "--skip-git-repo-check",
	             "$free",
	             "-c",
	             "model=\"canary\"",
	             "-c",
	             "model_provider=\"canary\"",
	             "-c",
	             "model_providers.canary.name=\"canary\"",
	             "-c",
	             "projects={\"$folder\"={trust_level=\"trusted\"}}",
	             "-c",
	             "model_providers.canary.base_url=\"$base/v1\"",
	             "-c",
	             "model_providers.canary.env_key=\"CANARY_KEY\"",
	             "-c",
	             "model_providers.canary.wire_api=\"responses\"",
	             "-c",
	             "check_for_update_on_startup=false",
	             PROMPT },
	  .free = "--dangerously-bypass-approvals-and-sandbox",
	  .free_managed = "--sandbox=workspace-write",
	  .variables = { "CANARY_KEY=canary" },
	  .write_tool = "exec_command",
	  .write_args = "{\"cmd\":\"" PATCH "\"}",
	  .run_tool = "exec_command",
	  .run_args = "{\"cmd\":\"$command\"}",
	  .trust =
	      "it skips hooks that you have not trusted: start codex, type /hooks, trust them" },
	{ .host = "gemini",
	  .program = "gemini",
	  .words = { "-p", PROMPT, "$free", "--allowed-tools=run_shell_command", "-m",
	             "gemini-2.5-pro" },
	  .free = "--yolo",
	  .free_managed = "--approval-mode=auto_edit",
	  .variables = { "GEMINI_API_KEY=canary", "GOOGLE_GEMINI_BASE_URL=$base",
	                 "GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=true" },
	  .settings = ".gemini/settings.json",
	  .settings_text = "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}\n",
	  .write_tool = "write_file",
	  .write_args = "{\"file_path\":\"$file\",\"content\":\"canary\\n\"}",
	  .run_tool = "run_shell_command",
	  .run_args = "{\"command\":\"$command\"}" },
	{ .host = "copilot",
	  .program = "copilot",
	  .words = { "--disable-builtin-mcps", "--no-auto-update", "--allow-all-tools",
	             "--allow-all-paths", "-p", PROMPT },
	  .variables = { "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=$base/v1",
	                 "COPILOT_MODEL=canary", "COPILOT_ALLOW_ALL=true" },
	  .write_tool = "create",
	  .write_args = "{\"path\":\"$file\",\"file_text\":\"canary\\n\"}",
	  .run_tool = "bash",
	  .run_args = "{\"command\":\"$command\",\"description\":\"canary\"}" },
	{ .host = "opencode",
	  .program = "opencode",
	  .words = { "run", "--model", "canary/canary", PROMPT },
	  .variables = { "OPENCODE_CONFIG_CONTENT={\"provider\":{\"canary\":{\"npm\":"
	                 "\"@ai-sdk/"
	                 "openai-compatible\",\"name\":\"canary\",\"options\":{\"baseURL\":"
	                 "\"$base/v1\",\"apiKey\":\"canary\"},\"models\":{\"canary\":{\"name\":"
	                 "\"canary\",\"tool_call\":true}}}}}",
	                 "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1" },
	  .write_tool = "write",
	  .write_args = "{\"filePath\":\"$file\",\"content\":\"canary\\n\"}",
	  .run_tool = "bash",
	  .run_args = "{\"command\":\"$command\",\"description\":\"canary\"}",
	  .trust = "it skips a plugin that it cannot load without a word" },
	{ .host = "qwen",
	  .program = "qwen",
	  .words = { "--auth-type", "openai", "--yolo", "-p", PROMPT },
	  .variables = { "OPENAI_API_KEY=canary", "OPENAI_BASE_URL=$base/v1",
	                 "OPENAI_MODEL=canary" },
	  .write_tool = "write_file",
	  .write_args = "{\"file_path\":\"$file\",\"content\":\"canary\\n\"}",
	  .run_tool = "run_shell_command",
	  .run_args = "{\"command\":\"$command\"}" },
};

/* What a host is started with, and what comes of it. */
struct trial {
	const struct look *look;
	struct canary *canary;
	struct canary_model model;
	struct str program, base, file, command;
	struct tail out, err;
	char folder[sizeof("/tmp/agent-intercom-XXXXXX")];
	struct id word; /* that only our hook knows */
};

static void trial_clear(struct trial *t)
{
	canary_model_clear(&t->model);
	str_clear(&t->program);
	str_clear(&t->base);
	str_clear(&t->file);
	str_clear(&t->command);
	tail_clear(&t->out);
	tail_clear(&t->err);
}

void canary_clear(struct canary *c)
{
	str_clear(&c->version);
	str_clear(&c->detail);
	str_clear(&c->by_hand);
}

static void fill(struct str *out, const char *text, const struct trial *t)
{
	const struct {
		const char *name, *value;
	} NAMES[] = { { "$base", str_text(&t->base) },
		      { "$file", str_text(&t->file) },
		      { "$command", str_text(&t->command) },
		      { "$folder", t->folder },
		      { "$free", t->canary->managed ? t->look->free_managed : t->look->free } };

	while (*text) {
		size_t i = 0;

		while (i < COUNT(NAMES) && strncmp(text, NAMES[i].name, strlen(NAMES[i].name)) != 0)
			i++;
		if (i < COUNT(NAMES)) {
			str_add(out, NAMES[i].value);
			text += strlen(NAMES[i].name);
		} else {
			str_add_char(out, *text++);
		}
	}
}

/* ---- its process ---- */

/* Reads what there is. */
static void hear(int fd, struct tail *tail)
{
	char chunk[CHUNK_BYTES];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		tail_add(tail, chunk, (size_t)n);
}

/* Appends the members of two objects as one. */
static void add_merged(const char *first, const char *second, struct str *out)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(first);
	OWNED(cJSON_ptr) cJSON *more = cJSON_Parse(second);
	char *text;

	while (more && more->child) {
		cJSON *one = cJSON_DetachItemViaPointer(more, more->child);

		(void)cJSON_AddItemToObject(root, one->string, one);
	}
	text = cJSON_PrintUnformatted(root);
	str_add(out, text ? text : first);
	cJSON_free(text);
}

static int make_file(const struct trial *t, const char *name, const struct str *text, struct err *e)
{
	OWNED(textfile) struct textfile file = { 0 };
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/%s", t->folder, name);
	return textfile_read(str_text(&path), &file, e) || textfile_replace(&file, text, e) ? -1
	                                                                                    : 0;
}

/* Makes the files that its folder has. */
static int make_files(const struct trial *t, struct err *e)
{
	const char *settings = t->look->settings, *file = t->canary->file;
	bool is_one = settings && file && strcmp(settings, file) == 0;
	OWNED(str) struct str ours = { 0 }, theirs = { 0 };

	if (settings)
		str_add(&ours, t->look->settings_text);
	if (is_one)
		add_merged(t->canary->text, t->look->settings_text, &theirs);
	else if (file)
		str_add(&theirs, t->canary->text);
	return err_if((settings && !is_one && make_file(t, settings, &ours, e)) ||
	              (file && make_file(t, file, &theirs, e)));
}

static void set_environment(const struct trial *t, struct environment *e)
{
	static const char PASSED[] = "[\"SHELL\",\"XDG_*\",\"CLAUDE_CONFIG_DIR\",\"CODEX_HOME\","
	                             "\"COPILOT_HOME\",\"INTERCOM_CONFIG\","
	                             /* without hooks (gate_switch.h) */
	                             "\"CLAUDE_CODE_SAFE_MODE\",\"CLAUDE_CODE_SIMPLE\","
	                             "\"QWEN_CODE_SAFE_MODE\",\"QWEN_CODE_SIMPLE\"]";
	OWNED(str) struct str path = { 0 };

	environment_pass(e, environ, PASSED);
	program_path(str_text(&t->program), &path);
	environment_set(e, "PATH", str_text(&path));
	environment_set(e, "NO_COLOR", "1");
	environment_set(e, "NO_PROXY", "127.0.0.1,localhost");
	environment_set(e, "no_proxy", "127.0.0.1,localhost");
	environment_set(e, GATE_CANARY_VARIABLE, t->word.text);
	for (size_t i = 0; i < VARIABLES_MAX && t->look->variables[i]; i++) {
		OWNED(str) struct str whole = { 0 };
		char *equals;

		fill(&whole, t->look->variables[i], t);
		equals = whole.bytes ? strchr(whole.bytes, '=') : NULL;
		if (!equals)
			continue;
		*equals = '\0';
		environment_set(e, whole.bytes, equals + 1);
	}
}

/* Runs the program to its end, at most so long, and serves the model meanwhile. Returns 0, or -1 if
 * it cannot be started. Nothing of it stays. */
static int run(struct trial *t, char **argv, int seconds, struct err *e)
{
	OWNED(environment) struct environment variables = { 0 };
	struct launch l = LAUNCH_INIT;
	struct launch_plan plan = { .argv = argv, .directory = t->folder };
	int64_t due = clock_monotonic_ms() + (int64_t)seconds * MS_PER_S;
	int failed;

	set_environment(t, &variables);
	plan.environment = variables.variables;
	failed = launch_hold(&l, &plan, e) || launch_go(&l, &plan, e);
	while (!failed) {
		struct pollfd ended = { .fd = l.ended, .events = POLLIN };
		bool over = poll(&ended, 1, 0) > 0 || clock_monotonic_ms() > due;

		if (!over)
			canary_model_serve(&t->model, TURN_MS);
		hear(l.out, &t->out);
		hear(l.err, &t->err);
		if (over)
			break;
	}
	if (l.pid > 0) {
		(void)kill(-l.pid, SIGKILL);
		(void)waitpid(l.pid, NULL, 0);
	}
	launch_clear(&l);
	return failed ? -1 : 0;
}

/* The first line that has a digit, of what the program says of its version. */
static void find_version(struct trial *t)
{
	char option[] = "--version", *argv[] = { t->program.bytes, option, NULL };
	OWNED(str) struct str said = { 0 };
	char *rest;

	if (run(t, argv, VERSION_SECONDS, NULL))
		return;
	tail_text(&t->out, &said);
	tail_clear(&t->out);
	tail_clear(&t->err);
	t->out = t->err = (struct tail){ 0 };
	for (char *line = said.length ? strtok_r(said.bytes, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!strpbrk(line, "0123456789"))
			continue;
		str_add_shown(&t->canary->version, line, strlen(line), VERSION_BYTES);
		return;
	}
}

static int start(struct trial *t, struct err *e)
{
	struct str words[WORDS_MAX] = { 0 };
	char *argv[WORDS_MAX + 2] = { t->program.bytes };
	int failed;

	for (size_t i = 0; i < WORDS_MAX && t->look->words[i]; i++) {
		fill(&words[i], t->look->words[i], t);
		argv[i + 1] = words[i].bytes;
	}
	failed = run(t, argv, RUN_SECONDS, e);
	for (size_t i = 0; i < WORDS_MAX; i++)
		str_clear(&words[i]);
	return failed;
}

/* ---- what came of it ---- */

bool canary_has(const char *folder, const char *name)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/%s", folder, name);
	return access(str_text(&path), F_OK) == 0;
}

/* Its last line on stderr, else on stdout. */
static void add_last_words(const struct trial *t, struct str *out)
{
	OWNED(str) struct str said = { 0 };
	const char *line;

	tail_text(&t->err, &said);
	if (!said.length)
		tail_text(&t->out, &said);
	line = said.length ? strrchr(said.bytes, '\n') : NULL;
	line = line ? line + 1 : str_text(&said);
	str_add(out, *line ? "; its last words: " : "; it said nothing");
	str_add_shown(out, line, strlen(line), DETAIL_BYTES);
}

/* The first call that the host told the model no result of, and the first whose result does not
 * come from our hook; NULL: there is none. */
static void sort_calls(const struct trial *t, const struct canary_call **untold,
                       const struct canary_call **other)
{
	*untold = *other = NULL;
	for (int i = CANARY_CALLS - 1; i >= 0; i--) {
		const struct canary_call *call = &t->model.calls[i];

		if (!call->told.length)
			*untold = call;
		else if (!strstr(call->told.bytes, t->word.text))
			*other = call;
	}
}

static void say_open(struct trial *t, bool wrote, bool ran)
{
	struct canary *c = t->canary;

	c->state = GATE_CANARY_STATE_OPEN;
	str_addf(&c->detail, "it %s%s%s unasked", wrote ? "wrote a file" : "",
	         wrote && ran ? " and " : "", ran ? "ran a command" : "");
	if (t->look->trust)
		str_addf(&c->detail, "; %s", t->look->trust);
}

static void judge(struct trial *t)
{
	struct canary *c = t->canary;
	bool wrote = canary_has(t->folder, "canary-write"),
	     ran = canary_has(t->folder, "canary-command");
	const struct canary_call *untold, *other;

	sort_calls(t, &untold, &other);
	c->state = GATE_CANARY_STATE_UNKNOWN;
	if (wrote || ran) {
		say_open(t, wrote, ran);
	} else if (!t->model.requests) {
		str_add(&c->detail, "it never asked the model that it was given");
		add_last_words(t, &c->detail);
	} else if (untold) {
		str_addf(&c->detail, "%s `%s`",
		         untold->offered ? "it made no end of" : "it has no tool", untold->tool);
		add_last_words(t, &c->detail);
	} else if (other) {
		str_addf(&c->detail,
		         "not our hook, but something else kept it from `%s`: ", other->tool);
		str_add_shown(&c->detail, other->told.bytes, other->told.length, DETAIL_BYTES);
	} else {
		c->state = GATE_CANARY_STATE_CLOSED;
		str_add(&c->detail,
		        "our hook kept it from writing a file and from running a command");
	}
}

/* ---- a look ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
	(void)about;
	(void)kind;
	(void)place;
	(void)remove(path);
	return 0;
}

static void try(struct trial *t)
{
	struct err e = { 0 };

	t->model.calls[CALL_WRITE].tool = t->look->write_tool;
	t->model.calls[CALL_RUN].tool = t->look->run_tool;
	str_addf(&t->file, "%s/canary-write", t->folder);
	str_addf(&t->command, "touch %s/canary-command", t->folder);
	fill(&t->model.calls[CALL_WRITE].args, t->look->write_args, t);
	fill(&t->model.calls[CALL_RUN].args, t->look->run_args, t);
	if (make_files(t, &e) == 0 && canary_model_start(&t->model, &e) == 0) {
		str_addf(&t->base, "http://127.0.0.1:%d", t->model.port);
		find_version(t);
		if (start(t, &e) == 0)
			return judge(t);
	}
	t->canary->state = GATE_CANARY_STATE_UNKNOWN;
	str_add(&t->canary->detail, e.text);
}

/* A host that takes no model of ours, or has no command line. */
static void leave_to_hand(struct canary *c)
{
	c->state = GATE_CANARY_STATE_UNKNOWN;
	str_add(&c->detail, "it takes no model of ours, so I cannot try it");
	str_addf(
	    &c->by_hand,
	    "In an empty folder, tell its agent: write a file `canary` with the word canary, "
	    "then run the command `touch canary2`. Both must appear in agent-intercom-ctl inbox; "
	    "reject them there, and run this again. If a file exists before that, the gate is "
	    "OPEN. Repeat it with each version.");
}

void canary_look(struct canary *c)
{
	OWNED(trial) struct trial t = { .canary = c, .folder = "/tmp/agent-intercom-XXXXXX" };

	for (size_t i = 0; i < COUNT(LOOKS); i++)
		if (strcmp(LOOKS[i].host, c->host) == 0)
			t.look = &LOOKS[i];
	if (!t.look) {
		leave_to_hand(c);
		return;
	}
	c->state = GATE_CANARY_STATE_UNKNOWN;
	c->missing = !program_find(t.look->program, &t.program);
	if (c->missing) {
		str_addf(&c->detail, "%s is not installed", t.look->program);
		return;
	}
	if (!mkdtemp(t.folder)) {
		str_add(&c->detail, "cannot make a folder in /tmp");
		return;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	t.word = id_new();
	try(&t);
	(void)nftw(t.folder, remove_one, FILES_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
