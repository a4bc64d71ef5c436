/* agent-intercom-ctl: answers waiting questions, and reports what the rows say. The commands are a
 * table. */
#include "ctl.h"

#include "clock.h"
#include "config.h"
#include "config_guess.h"
#include "instance.h"
#include "locate.h"
#include "via_desk.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum { LOOK_MS = 1000, START_MS = 5000, TRY_MS = 50 };

static const char PROGRAM[] = "agent-intercom-ctl";

static const struct command_spec *const COMMANDS[] = {
	&cmd_inbox,      &cmd_show,   &cmd_approve, &cmd_reject, &cmd_choose,     &cmd_continue,
	&cmd_refine,     &cmd_resume, &cmd_stop,    &cmd_undo,   &cmd_steer,      &cmd_task,
	&cmd_session,    &cmd_stall,  &cmd_nudge,   &cmd_watch,  &cmd_transcript, &cmd_list,
	&cmd_checkpoint, &cmd_mode,   &cmd_run,     &cmd_runs,   &cmd_run_stop,   &cmd_log,
	&cmd_files,      &cmd_file,   &cmd_diff,    &cmd_health, &cmd_sql,        &cmd_owner,
};

/* ---- help ---- */

static void print_usage(FILE *out, const struct command_spec *command)
{
	(void)fprintf(out, "usage: %s [OPTIONS] %s %s\n", PROGRAM, command->name,
	              command->arguments);
}

static void print_command_help(const struct command_spec *command)
{
	print_usage(stdout, command);
	(void)printf("\n%s\n", command->help);
	if (command->more)
		(void)printf("\n%s", command->more);
}

static const char HELP_ARGUMENTS[] = "[COMMAND]";
static const char HELP_HELP[] = "this text, or more on one command";
static const char HELP_MORE[] =
    "Commands and ids may be shortened as long as they are unambiguous. What Slack calls\n"
    "session-resume and the like is understood, too. An option among the words of a TEXT is\n"
    "refused, and so is a TEXT that begins like one: write -- before the text.\n\n"
    "  --config FILE    the configuration that names the database\n"
    "  --db PATH        the database\n"
    "  --ipc-name NAME  the system of that name\n"
    "  --shared         that of this machine, for several users, also if one of yours runs\n"
    "  --json           JSON, also on a terminal; elsewhere it is the default\n"
    "  --text           text, also in a pipe\n"
    "  --help, --version\n\n"
    "Without one of the first four it is the system that runs under the configured ipc_name, with\n"
    "whatever configuration, or else that of this machine, if there is one for several users\n"
    "and you are an operator. --ipc-name names one that was started under another name.\n"
    "Exit status: 0 done, 1 not done (stderr says why), 64 wrong usage.\n";

/* What it does is below arguments that are too long for its line. */
static void print_command(const char *name, const char *arguments, const char *help)
{
	enum { NAME = 13, ARGUMENTS = 30 };
	bool fits = strlen(arguments) <= ARGUMENTS;

	(void)printf("  %-*s%-*s%s%*s%s\n", NAME - 2, name, ARGUMENTS, arguments, fits ? " " : "\n",
	             fits ? 0 : NAME + ARGUMENTS + 1, "", help);
}

static void print_help(void)
{
	(void)printf("usage: %s [OPTIONS] COMMAND [ARGUMENTS]\n\n", PROGRAM);
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		print_command(COMMANDS[i]->name, COMMANDS[i]->arguments, COMMANDS[i]->help);
	print_command("help", HELP_ARGUMENTS, HELP_HELP);
	(void)printf("\n%s", HELP_MORE);
}

static cJSON *command_json(const char *name, const char *arguments, const char *help,
                           const char *more)
{
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "name", name);
	json_add_text(o, "arguments", arguments);
	json_add_text(o, "help", help);
	json_add_text(o, "more", more);
	return o;
}

static cJSON *json_of(const struct command_spec *c)
{
	return command_json(c->name, c->arguments, c->help, c->more);
}

/* The same for programs: the manual and the shells' completion are made from it. */
static void print_help_json(const struct ctl *c)
{
	cJSON *all = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(all, "commands");

	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		(void)cJSON_AddItemToArray(list, json_of(COMMANDS[i]));
	(void)cJSON_AddItemToArray(list, command_json("help", HELP_ARGUMENTS, HELP_HELP, NULL));
	json_add_text(all, "more", HELP_MORE);
	json_print(c, all);
}

/* ---- commands by name ---- */

static int unknown_command(const char *name, struct err *e)
{
	struct config_guess near = CONFIG_GUESS_INIT;

	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		config_guess_try(&near, name, COMMANDS[i]->name, strlen(COMMANDS[i]->name));
	if (near.distance <= 3)
		return err_set(e, ERR_INPUT, "unknown command '%.40s'; did you mean '%s'?", name,
		               near.name);
	return err_set(e, ERR_INPUT, "unknown command '%.40s'", name);
}

static const struct command_spec *find_command(const char *name, struct err *e)
{
	const struct command_spec *found = NULL;

	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		if (strcmp(COMMANDS[i]->name, name) == 0)
			return COMMANDS[i];
		if (!*name || strncmp(COMMANDS[i]->name, name, strlen(name)) != 0)
			continue;
		if (found) {
			(void)err_set(e, ERR_INPUT, "'%s' may be '%s' or '%s'", name, found->name,
			              COMMANDS[i]->name);
			return NULL;
		}
		found = COMMANDS[i];
	}
	if (!found)
		(void)unknown_command(name, e);
	return found;
}

/* The name of the command, without which the arguments are left. Texts that are read in Slack, too,
 * name orders as they are there: session-resume is `session resume`. */
static const char *take_name(struct ctl *c)
{
	static const char SESSION[] = "session-";
	static char create[] = "create", list[] = "list", restore[] = "restore";
	static char files[] = "files", file[] = "file";
	static const struct {
		const char *name;
		char *word; /* that stands for it */
		const char *command; /* NULL: the word is it */
	} ORDERS[] = { { "list-files", files, NULL },
		       { "show-file", file, NULL },
		       { "session-checkpoint", create, "checkpoint" },
		       { "session-checkpoints", list, "checkpoint" },
		       { "session-restore", restore, "checkpoint" } };

	for (size_t i = 0; i < COUNT(ORDERS); i++) {
		if (strcmp(c->argv[0], ORDERS[i].name) != 0)
			continue;
		c->argv[0] = ORDERS[i].word;
		if (ORDERS[i].command)
			return ORDERS[i].command;
	}
	if (strncmp(c->argv[0], SESSION, strlen(SESSION)) == 0) {
		c->argv[0] += strlen(SESSION);
		return "session";
	}
	c->argc--;
	return *c->argv++;
}

/* ---- options ---- */

enum option_kind {
	OPTION_FLAG,
	OPTION_NAME, /* a text that is not empty: what was to be named would be chosen by us */
	OPTION_TEXT,
	OPTION_FILES, /* may be given several times */
	OPTION_NUMBER,
};

/* The order is that of the complaints. */
static const struct ctl_option_row {
	const char *name;
	enum option_kind kind;
	size_t place; /* in struct ctl */
	unsigned takes; /* who takes it; 0: every command */
	char letter; /* its short form, or 0 */
} OPTIONS[] = {
	{ "--session", OPTION_NAME, offsetof(struct ctl, session), TAKES_SESSION, 0 },
	{ "--reason", OPTION_TEXT, offsetof(struct ctl, reason), TAKES_REASON, 0 },
	{ "--note", OPTION_TEXT, offsetof(struct ctl, note), TAKES_NOTE, 0 },
	{ "--option", OPTION_NAME, offsetof(struct ctl, option), TAKES_OPTION, 0 },
	{ "--digest", OPTION_NAME, offsetof(struct ctl, digest), TAKES_DIGEST, 0 },
	{ "--agent", OPTION_NAME, offsetof(struct ctl, agent), TAKES_AGENT, 0 },
	{ "--workspace", OPTION_NAME, offsetof(struct ctl, workspace),
	  TAKES_AGENT | TAKES_WORKSPACE, 0 },
	{ "--park", OPTION_NAME, offsetof(struct ctl, park), TAKES_AGENT, 0 },
	{ "--yes", OPTION_FLAG, offsetof(struct ctl, yes), TAKES_YES, 0 },
	{ "--edit", OPTION_FLAG, offsetof(struct ctl, edit), TAKES_EDIT, 0 },
	{ "--with", OPTION_NAME, offsetof(struct ctl, with), TAKES_EDIT, 0 },
	{ "--file", OPTION_FILES, offsetof(struct ctl, files), TAKES_YES, 0 },
	{ "--depth", OPTION_TEXT, offsetof(struct ctl, depth), TAKES_DEPTH, 0 },
	{ "--lines", OPTION_TEXT, offsetof(struct ctl, lines), TAKES_LINES, 0 },
	{ "-n", OPTION_NUMBER, offsetof(struct ctl, count), TAKES_COUNT, 'n' },
	{ "--follow", OPTION_FLAG, offsetof(struct ctl, follow), TAKES_FOLLOW, 'f' },
	{ "--sent", OPTION_FLAG, offsetof(struct ctl, sent), TAKES_SENT, 0 },
	{ "--html", OPTION_FLAG, offsetof(struct ctl, html), TAKES_HTML, 0 },
	{ "--config", OPTION_NAME, offsetof(struct ctl, config), 0, 0 },
	{ "--db", OPTION_NAME, offsetof(struct ctl, database), 0, 0 },
	{ "--ipc-name", OPTION_NAME, offsetof(struct ctl, ipc_name), 0, 0 },
	{ "--shared", OPTION_FLAG, offsetof(struct ctl, shared), 0, 0 },
	{ "--json", OPTION_FLAG, offsetof(struct ctl, json_asked), 0, 0 },
	{ "--text", OPTION_FLAG, offsetof(struct ctl, text_asked), 0, 0 },
	{ "--help", OPTION_FLAG, offsetof(struct ctl, help), 0, 'h' },
	{ "--version", OPTION_FLAG, offsetof(struct ctl, version), 0, 0 },
};
static const char LETTERS[] = "-:n:fh"; /* "-": in the order in which they stand */
enum { LONG = 256 /* what getopt_long returns for the first of them */ };

static int parse_count(const char *text, int64_t *ret, struct err *e)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (errno || end == text || *end || *ret < 0)
		return err_set(e, ERR_INPUT, "-n needs a number, not '%.40s'", text);
	return 0;
}

static void add_file(struct ctl *c, const char *path)
{
	if (!c->files)
		c->files = cJSON_CreateArray();
	(void)cJSON_AddItemToArray(c->files, cJSON_CreateString(path));
}

/* The command that the words so far name, NULL: none. words: two of them, and NULL; *rest: the
 * command's arguments among them. */
static const struct command_spec *command_of(const struct ctl *c, char *words[2], struct ctl *rest)
{
	struct err e = { 0 };

	words[0] = c->word_count > 0 ? c->words[0] : NULL;
	words[1] = c->word_count > 1 ? c->words[1] : NULL;
	*rest = (struct ctl){ .argc = c->word_count, .argv = words };
	return words[0] ? find_command(take_name(rest), &e) : NULL;
}

/* Quotes would not do for a text that begins so: they are the shell's, and not seen here. */
#define TEXT_FOLLOWS "A text with it follows --"

/* Which options there are instead, and how a text has such words. */
static void add_takes(const struct command_spec *command, bool lists, struct str *out)
{
	const char *separator = " takes ";

	if (lists)
		str_addf(out, "; '%s'", command->name);
	for (size_t i = 0; lists && i < COUNT(OPTIONS); i++)
		if (OPTIONS[i].takes & command->takes) {
			str_addf(out, "%s%s", separator, OPTIONS[i].name);
			separator = ", ";
		}
	if (lists)
		str_add(out, command->takes ? ", and those of every command"
		                            : " takes those of every command");
	if (command->text_from || command->text_from_of)
		str_add(out, ". " TEXT_FOLLOWS);
}

/* A short one may be one of several letters behind a dash; a long one takes no value. */
static int unknown_option(const struct ctl *c, char **argv, struct err *e)
{
	const char *word = argv[optind - 1];
	bool is_long = strncmp(word, "--", 2) == 0 && strchr(word, '=');
	char *words[2], letter[] = { '-', (char)optopt, '\0' };
	struct ctl rest;
	const struct command_spec *command = command_of(c, words, &rest);
	OWNED(str) struct str takes = { 0 };

	if (command)
		add_takes(command, true, &takes);
	return err_set(e, ERR_INPUT, "unknown option '%.40s'%s", optopt && !is_long ? letter : word,
	               str_text(&takes));
}

/* The option that getopt_long has just taken, as it was given. */
static const char *option_word(char **argv)
{
	return argv[optind - (argv[optind - 1] == optarg ? 2 : 1)];
}

static size_t option_index(int option)
{
	size_t i = 0;

	while (i < COUNT(OPTIONS) && option != LONG + (int)i && option != OPTIONS[i].letter)
		i++;
	return i;
}

static int given_twice(char **argv, struct err *e)
{
	return err_set(e, ERR_INPUT, "'%.40s' is given twice", option_word(argv));
}

static int does_not_take(const struct command_spec *command, const char *option, struct err *e)
{
	OWNED(str) struct str how = { 0 };

	add_takes(command, false, &how);
	return err_set(e, ERR_INPUT, "'%s' does not take %s%s", command->name, option,
	               str_text(&how));
}

/* Of an option that the command does not take, a value would not help. */
static int lacks_value(const struct ctl *c, char **argv, struct err *e)
{
	const struct ctl_option_row *o = &OPTIONS[option_index(optopt)];
	char *words[2];
	struct ctl rest;
	const struct command_spec *command = command_of(c, words, &rest);
	OWNED(str) struct str how = { 0 };

	if (command && o->takes && !(command->takes & o->takes))
		return does_not_take(command, o->name, e);
	if (command)
		add_takes(command, false, &how);
	return err_set(e, ERR_INPUT, "'%.40s' needs a value%s", argv[optind - 1], str_text(&how));
}

static int take_option(struct ctl *c, int option, char **argv, struct err *e)
{
	size_t i = option_index(option);
	void *place;

	if (option == ':')
		return lacks_value(c, argv, e);
	if (i == COUNT(OPTIONS))
		return unknown_option(c, argv, e);
	place = (char *)c + OPTIONS[i].place;
	switch (OPTIONS[i].kind) {
	case OPTION_FLAG:
		*(bool *)place = true;
		break;
	case OPTION_FILES:
		add_file(c, optarg);
		break;
	case OPTION_NUMBER:
		return c->count >= 0 ? given_twice(argv, e) : parse_count(optarg, &c->count, e);
	case OPTION_NAME:
	case OPTION_TEXT:
		if (*(const char **)place)
			return given_twice(argv, e);
		*(const char **)place = optarg;
		break;
	}
	return 0;
}

/* Of OPTION_NAME or OPTION_TEXT. */
static const char *text_of(const struct ctl *c, const struct ctl_option_row *o)
{
	const void *place = (const char *)c + o->place;

	return *(const char *const *)place;
}

static bool is_given(const struct ctl *c, const struct ctl_option_row *o)
{
	const void *place = (const char *)c + o->place;

	switch (o->kind) {
	case OPTION_FLAG:
		return *(const bool *)place;
	case OPTION_FILES:
		return c->files != NULL;
	case OPTION_NUMBER:
		return c->count >= 0;
	case OPTION_NAME:
	case OPTION_TEXT:
		break;
	}
	return text_of(c, o) != NULL;
}

/* How many words of a text there are. *ret_loose: what stands before it may be left out. */
static int text_words(const struct ctl *c, bool *ret_loose)
{
	char *words[2];
	struct ctl rest;
	const struct command_spec *command = command_of(c, words, &rest);
	int from, before;

	*ret_loose = false;
	if (!command)
		return 0;
	from = command->text_from;
	if (command->text_from_of)
		from = rest.argc > 0 ? command->text_from_of(rest.argv[0]) : 0;
	before = (int)(rest.argv - words) + from - 1;
	*ret_loose = !command->text_from_of && from - 1 > command->least;
	return from > 0 && c->word_count > before ? c->word_count - before : 0;
}

/* An option among the words of a text may be one of them: that is for the operator to say. (So may
 * one at its end that every command takes.) */
static int check_text(const struct ctl *c, struct err *e)
{
	bool is_loose;
	int words = text_words(c, &is_loose);
	int behind = words - (c->word_count - c->late_at); /* words of the text before the option */

	if (!c->late || words == 0 || (behind <= 0 && !(is_loose && behind == 0)) ||
	    (words == 1 && behind == 1 && !c->help && !c->version))
		return 0;
	return err_set(e, ERR_INPUT,
	               "is '%.40s' an option, or does it belong to the text? " TEXT_FOLLOWS,
	               c->late);
}

/* A word that is an option with the long dash of a phone becomes that. */
static bool shorten_dash(char *word)
{
	size_t dashes = *word == '-' ? 0 : verb_option_dashes(word);

	if (!dashes || word[strcspn(word, " \t\r\n")])
		return false;
	word[0] = word[1] = '-';
	memmove(word + 2, word + dashes, strlen(word + dashes) + 1);
	return true;
}

static int parse_options(struct ctl *c, int argc, char **argv, struct err *e)
{
	struct option options[COUNT(OPTIONS) + 1] = { 0 };
	const char *own = NULL; /* the first option that only some commands take, behind a word */
	const char *taken = NULL; /* the last word or value */
	size_t count = 0;
	bool is_loose;
	int option;

	c->words = xcalloc((size_t)argc + 1, sizeof(*c->words));
	for (size_t i = 0; i < COUNT(OPTIONS); i++)
		if (OPTIONS[i].name[1] == '-')
			options[count++] =
			    (struct option){ .name = OPTIONS[i].name + 2,
				             .has_arg = OPTIONS[i].kind != OPTION_FLAG,
				             .val = LONG + (int)i };
	opterr = 0;
	while ((option = getopt_long(argc, argv, LETTERS, options, NULL)) != -1) {
		taken = optarg;
		if (option == 1 && shorten_dash(optarg)) {
			optind--;
			continue;
		}
		if (option == 1) { /* a word */
			if (own) {
				c->late = own;
				c->late_at = c->word_count;
			}
			own = NULL;
			c->words[c->word_count++] = optarg;
			continue;
		}
		if (take_option(c, option, argv, e))
			return -1;
		if (c->word_count && OPTIONS[option_index(option)].takes) {
			own = own ? own : option_word(argv);
		} else if (c->word_count) {
			c->late = option_word(argv);
			c->late_at = c->word_count;
		}
	}
	/* In a text, "--" is a word like others. */
	if (optind > 1 && argv[optind - 1] != taken && strcmp(argv[optind - 1], "--") == 0 &&
	    text_words(c, &is_loose) > 0)
		optind--;
	while (optind < argc)
		c->words[c->word_count++] = argv[optind++];
	c->argc = c->word_count;
	c->argv = c->words;
	return check_text(c, e);
}

static void look_at_terminal(struct ctl *c)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");
	struct winsize size;

	c->terminal = isatty(STDOUT_FILENO);
	c->json = c->json_asked || (!c->terminal && !c->text_asked);
	if (!c->terminal)
		return;
	c->colour = !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		c->columns = size.ws_col;
}

/* No id, name or path is empty: what was to be named would be chosen by us. (A reason, a note and a
 * text may be.) */
static int check_empty(const struct ctl *c, const struct command_spec *command, struct err *e)
{
	bool is_loose;
	int words = c->argc - text_words(c, &is_loose);

	for (size_t i = 0; i < COUNT(OPTIONS); i++)
		if (OPTIONS[i].kind == OPTION_NAME && is_given(c, &OPTIONS[i]) &&
		    !*text_of(c, &OPTIONS[i]))
			return err_set(e, ERR_INPUT, "%s is empty", OPTIONS[i].name);
	for (int i = 0; i < words; i++)
		if (!*c->argv[i])
			return err_set(e, ERR_INPUT, "'%s' needs %s, and was given an empty word",
			               command->name, command->arguments);
	return 0;
}

/* Checks that the command takes the given arguments and options. */
static int check_usage(const struct ctl *c, const struct command_spec *command, struct err *e)
{
	for (size_t i = 0; i < COUNT(OPTIONS); i++)
		if (OPTIONS[i].takes && !(command->takes & OPTIONS[i].takes) &&
		    is_given(c, &OPTIONS[i]))
			return does_not_take(command, OPTIONS[i].name, e);
	if (c->html && (c->json_asked || c->text_asked))
		return err_set(e, ERR_INPUT, "--html excludes --json and --text");
	if (c->shared && (c->config || c->database || c->ipc_name))
		return err_set(e, ERR_INPUT,
		               "--shared names a system, as do --config, --db and "
		               "--ipc-name: one will do");
	if (c->session && c->workspace)
		return err_set(e, ERR_INPUT, "--session and --workspace exclude each other");
	if (c->json_asked && c->text_asked)
		return err_set(e, ERR_INPUT, "--json and --text exclude each other");
	if (c->argc < command->least)
		return err_set(e, ERR_INPUT, "'%s' needs %s", command->name, command->arguments);
	if (command->most >= 0 && c->argc > command->most)
		return err_set(e, ERR_INPUT, "too many arguments for '%s': '%.40s'", command->name,
		               c->argv[command->most]);
	if (check_empty(c, command, e))
		return -1;
	return command->check ? command->check(c, e) : 0;
}

/* ---- which system ---- */

static int no_database(struct ctl *c, const char *path, struct err *e)
{
	OWNED(paths) struct paths paths = { 0 };
	OWNED(str) struct str lost = { 0 };

	c->is_missing = true;
	if (paths_open(path, false, &paths, NULL) == 0 &&
	    instance_is_lost(paths.run, paths.database, &lost))
		return err_set(e, ERR_INPUT, "%s", lost.bytes);
	return err_set(
	    e, ERR_INPUT,
	    "there is no database at %s; the first agent that connects starts the system (so does "
	    "`agent-intercom`); another one is named with --config, --db or --ipc-name%s",
	    path,
	    via_desk_is_closed() ? "; to answer in the system of this machine, join the group of "
	                           "its operators, and log in again"
	                         : "");
}

static int open_path(struct ctl *c, const char *path, struct err *e)
{
	if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
		return no_database(c, path, e);
	return paths_open(path, false, &c->paths, e);
}

/* Takes the paths of a running system. */
static int take_running(struct ctl *c, struct located *found, const struct str *note)
{
	if (note->length)
		(void)fprintf(stderr, "note: %s\n", str_text(note));
	c->paths = found->paths;
	found->paths = (struct paths){ 0 };
	return 0;
}

static int open_configured(struct ctl *c, struct err *e)
{
	OWNED(config) struct config config = { 0 };
	OWNED(located) struct located found = { 0 };
	OWNED(str) struct str note = { 0 };
	/* any workspace will do: only the database matters */
	const struct config_source source = { .config = c->config, .workspace = "/" };
	int runs = locate_usual(&source, &found, &note, e);

	if (runs)
		return runs < 0 ? -1 : take_running(c, &found, &note);
	if (config_load(&source, &config, e))
		return -1;
	if (!locate_is_named(&source) && access(config.database.path, F_OK) != 0 &&
	    paths_find_by_name(config.ipc_name, &c->paths, NULL) == 0)
		return 0; /* stopped, and started with a configuration not searched here */
	return open_path(c, config.database.path, e);
}

static int open_named(struct ctl *c, struct err *e)
{
	OWNED(located) struct located found = { 0 };
	OWNED(str) struct str note = { 0 };
	int runs = locate_running(c->ipc_name, NULL, &found, &note, e);

	if (runs)
		return runs < 0 ? -1 : take_running(c, &found, &note);
	return paths_find_by_name(c->ipc_name, &c->paths, e);
}

static int find_system(struct ctl *c, struct err *e)
{
	if (via_desk_operator())
		return open_path(c, via_desk_database(), e);
	if (c->database)
		return open_path(c, c->database, e);
	return c->ipc_name ? open_named(c, e) : open_configured(c, e);
}

static int open_store(struct ctl *c, struct err *e)
{
	struct stat about;
	const char *run;

	if (find_system(c, e))
		return -1;
	if (stat(c->paths.database, &about) != 0 ||
	    (about.st_size == 0 && instance_is_lost(c->paths.run, c->paths.database, NULL)))
		return no_database(c, c->paths.database, e);
	run = access(c->paths.run, F_OK) == 0 ? c->paths.run : NULL; /* never started, or removed */
	if (store_open_own(&c->store, c->paths.database, run, e))
		return -1;
	instance_look(c->paths.database, &c->opened);
	return via_desk_enter(c, e);
}

/* Waits for a second, or until what shall end a command that waits: a line "q" from a terminal, the
 * end of a pipe, or nobody who reads. False: it shall end. */
static bool wait_a_second(void)
{
	bool typed = isatty(STDIN_FILENO);
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = typed ? POLLIN : 0 }, /* answers stay in a pipe */
		{ .fd = STDOUT_FILENO },
	};
	char line[256];
	ssize_t n;

	if (poll(fds, COUNT(fds), LOOK_MS) < 0 && errno != EINTR)
		return false;
	if (fds[1].revents || (!typed && fds[0].revents))
		return false;
	if (!fds[0].revents)
		return true;
	n = read(STDIN_FILENO, line, sizeof(line));
	return n > 0 && *line != 'q';
}

/* From /dev/null or a file, nobody waits for questions. */
static bool can_wait(void)
{
	struct stat about;

	return isatty(STDIN_FILENO) || (fstat(STDIN_FILENO, &about) == 0 &&
	                                (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)));
}

/* Whether the system has the database, and is about to make it what it shall be. */
static bool is_starting(const struct ctl *c, const struct err *e)
{
	return e->kind == ERR_AGAIN && instance_holder(c->paths.database, NULL) > 0;
}

/* Opens the store, if need be when the system has started. Returns 0, 1 if it was told to end, or
 * -1. */
static int await_store(struct ctl *c, bool waits, struct err *e)
{
	int64_t give_up = clock_monotonic_ms() + START_MS;
	bool told = false;

	while (open_store(c, e)) {
		if (is_starting(c, e) && clock_monotonic_ms() < give_up) {
			(void)poll(NULL, 0, TRY_MS);
		} else if (c->is_missing && waits && can_wait()) {
			if (!told)
				(void)fprintf(stderr,
				              "note: %s\nwaiting for it; q and Enter quit\n",
				              e->text);
			told = true;
			if (!wait_a_second())
				return 1;
			give_up = clock_monotonic_ms() + START_MS;
		} else {
			return -1;
		}
		c->is_missing = false;
		*e = (struct err){ 0 };
		store_clear(&c->store);
		paths_clear(&c->paths);
	}
	return 0;
}

/* ---- main ---- */

static void print_error(const struct ctl *c, const struct err *e)
{
	OWNED(str) struct str text = { 0 };

	(void)fflush(stdout);
	add_visible(&text, e->text, strlen(e->text), true);
	(void)fprintf(stderr, "Error: %s\n", str_text(&text));
	if (c->json_asked) {
		cJSON *o = cJSON_CreateObject();

		(void)cJSON_AddBoolToObject(o, "ok", false);
		json_add_text(o, "error", e->text);
		json_print(c, o);
	}
}

static int wrong_usage(const struct ctl *c, const struct command_spec *command, const struct err *e)
{
	print_error(c, e);
	if (command)
		print_usage(stderr, command);
	else
		(void)fprintf(stderr, "see `%s help`\n", PROGRAM);
	return EX_USAGE;
}

static int run(struct ctl *c, const struct command_spec *command)
{
	struct err e = { 0 };
	int status = -1;

	c->command = command;
	if (!via_desk_operator() && via_desk_is_meant(c)) {
		status = via_desk_run(c, c->given, &e);
	} else if (via_desk_check(c, &e) == 0) {
		status = await_store(c, command->waits, &e);
		if (status == 0)
			status = command->run(c, &e);
		else if (status > 0)
			status = 0;
	}
	if (status < 0)
		print_error(c, &e);
	store_clear(&c->store);
	paths_clear(&c->paths);
	return status < 0 ? EXIT_FAILURE : status;
}

/* Handles help, --help and --version. Returns whether it was one of them. */
static bool asked_for_help(struct ctl *c)
{
	if (c->version)
		(void)printf("%s %s\n", PROGRAM, INSTANCE_BUILD);
	else if (c->help && c->argc == 0 && c->json_asked)
		print_help_json(c);
	else if (c->help && c->argc == 0)
		print_help();
	else
		return false;
	return true;
}

static int dispatch(struct ctl *c)
{
	const struct command_spec *command;
	struct err e = { 0 };

	if (asked_for_help(c))
		return EXIT_SUCCESS;
	if (c->argc == 0) {
		(void)err_set(&e, ERR_INPUT, "a command is needed");
		return wrong_usage(c, NULL, &e);
	}
	if (strcmp(c->argv[0], "help") == 0) {
		c->help = true;
		c->argc--;
		c->argv++;
		if (asked_for_help(c))
			return EXIT_SUCCESS;
	}
	command = find_command(take_name(c), &e);
	if (command && c->help) {
		if (c->json_asked)
			json_print(c, json_of(command));
		else
			print_command_help(command);
		return EXIT_SUCCESS;
	}
	if (!command || check_usage(c, command, &e))
		return wrong_usage(c, command, &e);
	return run(c, command);
}

/* As they are before names are taken off them, without the program. */
static char **copy_arguments(int argc, char **argv)
{
	char **copy = xcalloc((size_t)argc + 1, sizeof(*copy));

	for (int i = 1; i < argc; i++)
		copy[i - 1] = argv[i];
	return copy;
}

int main(int argc, char **argv)
{
	struct ctl c = { .store = STORE_INIT, .count = -1 };
	struct err e = { 0 };
	int status;

	(void)setlocale(LC_CTYPE, "C.UTF-8"); /* for the width of characters */
	status = parse_options(&c, argc, argv, &e);
	c.given = copy_arguments(argc, argv);
	look_at_terminal(&c);
	status = status ? wrong_usage(&c, NULL, &e) : dispatch(&c);
	cJSON_Delete(c.files);
	free(c.given);
	free(c.words);
	if (fflush(stdout) != 0 || ferror(stdout)) { /* long ago, perhaps: errno says nothing */
		(void)fputs("Error: the output could not be written\n", stderr);
		return status ? status : EXIT_FAILURE;
	}
	return status;
}
