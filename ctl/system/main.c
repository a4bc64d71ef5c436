/* agent-intercom: runs the system, or one of the subcommands in the table below. */
#include "system.h"

#include "app.h"
#include "instance.h"
#include "json.h"
#include "options.h"
#include "str.h"
#include "texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

static const char PROGRAM[] = "agent-intercom";

static char **given; /* all arguments */

struct arguments {
	struct config_source source;
	bool help, version;
	int argc; /* words that are not options, without the subcommand */
	char **argv;
};

struct subcommand {
	const char *name;
	const char *arguments; /* as shown in the help */
	const char *help;
	int count; /* number of operands; -1: it parses its own, with options */
	int (*run)(const struct arguments *a); /* returns the exit status */
	const char *more; /* of what `NAME --help` prints, if it prints none of its own; or NULL */
	int (*own)(const struct config_source *, int argc, char **argv); /* instead of run */
};

static int help(const struct arguments *a);
static int help_of(const char *name);
static int help_command(const struct arguments *a);

/* ---- subcommands ---- */

/* A host that starts `agent-intercom` as its MCP server would wait for ever for an answer. */
static void warn_host(const struct arguments *a)
{
	struct stat about;

	if (fstat(STDIN_FILENO, &about) != 0 ||
	    !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)))
		return;
	(void)fprintf(stderr,
	              "%s: this runs the system and reads nothing from stdin; as an agent's MCP "
	              "server write: %s mcp%s%s\n",
	              PROGRAM, PROGRAM, a->source.config ? " --config " : "",
	              a->source.config ? a->source.config : "");
}

/* The new build in our place, with our arguments; under systemd, a process that it knows to be
 * new. */
static int run_again(void)
{
	OWNED(str) struct str program = { 0 };
	struct err e = { 0 };

	if (getenv("NOTIFY_SOCKET"))
		return EX_TEMPFAIL;
	if (installed_program(&program, &e) == 0) {
		(void)execv(str_text(&program), given);
		(void)err_errno(&e, ERR_AGAIN, "cannot run %s", str_text(&program));
	}
	return cli_say(&e);
}

static int run(const struct arguments *a)
{
	int status;

	warn_host(a);
	status = supervisor_run(&a->source);
	return status == SUPERVISOR_AGAIN ? run_again() : status;
}

static int become(const char *name, char **argv)
{
	struct err e = { 0 };

	cli_become(name, argv, &e);
	return cli_say(&e);
}

static int become_doctor(const struct cli_arguments *a)
{
	const char *const options[][2] = { { "--config", a->source.config },
		                           { "--db", a->source.database },
		                           { "--workspace", a->source.workspace } };
	struct texts argv = { 0 }; /* until we are another program, or end */

	texts_add(&argv, "doctor");
	for (size_t i = 0; i < COUNT(options); i++)
		if (options[i][1]) {
			texts_add(&argv, options[i][0]);
			texts_add(&argv, options[i][1]);
		}
	if (a->flag)
		texts_add(&argv, "--gate");
	if (a->operand)
		texts_add(&argv, a->operand);
	return become("doctor", argv.items);
}

static int doctor(const struct arguments *a)
{
	struct cli_arguments args = { .source = a->source };
	int parsed = cli_parse(&args, "gate", a->argc, a->argv);

	if (parsed > 0)
		return help_of("doctor");
	if (parsed < 0)
		return EX_USAGE;
	if (args.operand && !args.flag) {
		(void)fprintf(stderr, "%s: doctor takes no '%.40s'; see doctor --gate HOST\n",
		              PROGRAM, args.operand);
		return EX_USAGE;
	}
	return become_doctor(&args);
}

static int config(const struct arguments *a)
{
	OWNED(str) struct str sample = { 0 };

	if (strcmp(a->argv[0], "sample") != 0) {
		(void)fprintf(stderr, "%s: unknown argument '%.40s'; write config sample\n",
		              PROGRAM, a->argv[0]);
		return EX_USAGE;
	}
	config_sample(&sample);
	return fputs(str_text(&sample), stdout) < 0 || fflush(stdout) != 0 ? EX_IOERR : EX_OK;
}

static int slack_manifest(const struct arguments *a)
{
	OWNED(str) struct str manifest = { 0 };

	(void)a;
	slack_app_manifest(&manifest);
	return fputs(str_text(&manifest), stdout) < 0 || fflush(stdout) != 0 ? EX_IOERR : EX_OK;
}

static int backup(const struct arguments *a)
{
	struct config_source source = a->source;

	return cli_find(&source) ? EX_CONFIG : intercom_backup(&source, a->argv[0]);
}

static const char DOCTOR_MORE[] =
    "Looks at the configuration, Slack, the database, the port, the workers and our hooks in\n"
    "hosts' files, and prints a line for each; what is wrong comes with what to do.\n\n"
    "  --gate [HOST]  whether the hooks of each installed host, or of one, are where it reads\n"
    "                 them, and start a program of ours; then whether the host heeds them: it is\n"
    "                 started, with a model of ours, in a folder of its own, and may do nothing\n"
    "                 that the hook denies. Nothing leaves this machine.\n\n"
    "Exit status: 0 in order, 1 something is not, 64 wrong usage, 78 wrong configuration.\n";

static const char BACKUP_MORE[] =
    "FILE must not exist; what checkpoints hold is copied to a folder beside it. Bring it back\n"
    "with restore.\n";

static const struct subcommand SUBCOMMANDS[] = {
	{ "", "", "runs the system in the foreground", 0, .run = run },
	{ "mcp", "[ARGUMENTS]", "serves MCP to one agent on stdin and stdout", -1, .run = NULL },
	{ "acp", "PROFILE|COMMAND", "stands between an editor and an agent; see --help", -1,
	  .run = NULL },
	{ "hook", "HOST EVENT", "answers a hook of an agent's host; see --help", -1, .run = NULL },
	{ "install", "HOST ...", "connects a host (claude, codex, ...); see --help", -1,
	  .own = intercom_install },
	{ "uninstall", "HOST ...", "removes what install has added", -1, .own = intercom_install },
	{ "agents", "[NAME ...]", "lists the agents that sessions can start; see --help", -1,
	  .own = intercom_agents },
	{ "policy", "check|trust|schema ...", "what a workspace's policy file allows; see --help",
	  -1, .own = intercom_policy },
	{ "backup", "FILE", "copies the database, and what checkpoints hold, even while in use", 1,
	  .run = backup, .more = BACKUP_MORE },
	{ "restore", "FILE ...", "replaces the database by a backup; see --help", -1,
	  .own = intercom_restore },
	{ "retention", "--once", "deletes what is due now, and lists it", -1,
	  .own = intercom_retention },
	{ "audit", "export|verify ...", "exports or checks the sealed timeline; see --help", -1,
	  .own = intercom_audit },
	{ "where", "[NAME]", "prints the paths of database, sockets, log and configuration", -1,
	  .own = intercom_where },
	{ "doctor", "[--gate [HOST]]", "checks the installation, or tries the hosts' gates", -1,
	  .run = doctor, .more = DOCTOR_MORE },
	{ "slack-manifest", "", "prints the manifest of the Slack app", 0, .run = slack_manifest,
	  .more = "Paste it at api.slack.com/apps: Create New App, From a manifest.\n" },
	{ "config", "sample", "prints a config.toml with every setting", 1, .run = config,
	  .more = "Each setting stands there with its meaning and its default.\n" },
	{ "help", "[COMMAND|--json]", "this text, or more on one command", -1,
	  .run = help_command },
};

static const char HELP_MORE[] =
    "  --config FILE      the configuration; without it $INTERCOM_CONFIG, then\n"
    "                     ~/.config/agent-intercom/config.toml, then the defaults\n"
    "  --db PATH          the database\n"
    "  --workspace DIR    the folder in which the first agent works\n"
    "  --log-format FORM  text (default) or json, to stderr\n"
    "  --shared DIR       the folder of the sockets for other users of this machine\n"
    "  --help, --version\n\n"
    "One line on stdout says that the system is ready, and where. SIGTERM and SIGINT\n"
    "stop it within 10 s (kill \"$(agent-intercom where pid)\"), a second one at once; SIGHUP\n"
    "is ignored: a changed configuration is read at the next start.\n\n"
    "Exit status: 0 stopped or in order, 1 the doctor found something, 64 wrong\n"
    "usage, 70 a bug, 74 the output could not be written, 75 try later (it runs\n"
    "already), 78 wrong configuration.\n";

/* What it does is below arguments that are too long for its line. */
static void print_command(const struct subcommand *c)
{
	enum { NAME = 17, ARGUMENTS = 16 };
	bool fits = strlen(c->arguments) <= ARGUMENTS;

	(void)printf("  %-*s%-*s%s%*s%s\n", NAME - 2, *c->name ? c->name : "(none)", ARGUMENTS,
	             c->arguments, fits ? " " : "\n", fits ? 0 : NAME + ARGUMENTS + 1, "", c->help);
}

static int help(const struct arguments *a)
{
	(void)a;
	(void)printf("usage: %s [OPTIONS] [COMMAND]\n\n", PROGRAM);
	for (size_t i = 0; i < COUNT(SUBCOMMANDS); i++)
		print_command(&SUBCOMMANDS[i]);
	(void)printf("\n%s", HELP_MORE);
	return EX_OK;
}

/* For programs: the manual and the shells' completion are made from it. */
static int print_help_json(void)
{
	OWNED(cJSON_ptr) cJSON *all = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(all, "commands");
	char *text;

	for (size_t i = 0; i < COUNT(SUBCOMMANDS); i++) {
		cJSON *o = cJSON_CreateObject();

		(void)cJSON_AddStringToObject(o, "name", SUBCOMMANDS[i].name);
		(void)cJSON_AddStringToObject(o, "arguments", SUBCOMMANDS[i].arguments);
		(void)cJSON_AddStringToObject(o, "help", SUBCOMMANDS[i].help);
		(void)cJSON_AddBoolToObject(
		    o, "has_help", SUBCOMMANDS[i].count < 0 && SUBCOMMANDS[i].run != help_command);
		(void)cJSON_AddItemToArray(list, o);
	}
	(void)cJSON_AddStringToObject(all, "more", HELP_MORE);
	text = cJSON_Print(all);
	(void)puts(text ? text : "");
	cJSON_free(text);
	return EX_OK;
}

static int help_command(const struct arguments *a)
{
	if (a->argc > 1 && strcmp(a->argv[1], "--json") == 0)
		return print_help_json();
	return a->argc > 1 ? help_of(a->argv[1]) : help(a);
}

static const struct subcommand *find(const char *name)
{
	for (size_t i = 0; i < COUNT(SUBCOMMANDS); i++)
		if (strcmp(SUBCOMMANDS[i].name, name) == 0)
			return &SUBCOMMANDS[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	(void)fprintf(stderr, "%s: unknown command '%.40s'; see %s --help\n", PROGRAM, name,
	              PROGRAM);
	return EX_USAGE;
}

static int help_of(const char *name)
{
	const struct subcommand *c = find(name);

	if (!c || !*name)
		return unknown_command(name);
	(void)printf("usage: %s [OPTIONS] %s %s\n\n%s\n", PROGRAM, name, c->arguments, c->help);
	if (c->more)
		(void)printf("\n%s", c->more);
	return EX_OK;
}

/* What an agent or an editor starts is a program of its own: it opens no database. It gets all our
 * arguments except the subcommand at place. */
static int exec_beside(const char *program, int argc, char **argv, int place)
{
	for (int i = place; i < argc; i++)
		argv[i] = argv[i + 1];
	return become(program, argv);
}

/* ---- arguments ---- */

/* Parses options, with order "+" up to the first operand; optind is its index. */
static int parse(struct arguments *a, const char *order, int argc, char **argv)
{
	const struct options_row rows[] = {
		{ "config", .text = &a->source.config },
		{ "db", .text = &a->source.database },
		{ "workspace", .text = &a->source.workspace },
		{ "log-format", .text = &a->source.log_format },
		{ "shared", .text = &a->source.shared },
		{ "help", .flag = &a->help },
		{ "version", .flag = &a->version },
		{ NULL },
	};

	if (options_read(rows, order, NULL, argc, argv, NULL) == 0)
		return 0;
	(void)fprintf(stderr, "see %s --help\n", PROGRAM);
	return -1;
}

/* `help NAME` is `NAME --help`, where that prints a text of its own. */
static void turn_help(int argc, char **argv)
{
	static char option[] = "--help";
	const struct subcommand *c = argc - optind == 2 ? find(argv[optind + 1]) : NULL;

	if (!c || c->count >= 0 || c->run == help_command || strcmp(argv[optind], "help") != 0)
		return;
	argv[optind] = argv[optind + 1];
	argv[optind + 1] = option;
}

static int run_subcommand(const struct subcommand *c, const struct arguments *a)
{
	if (a->help)
		return *c->name ? help_of(c->name) : help(a);
	if (a->version) {
		(void)printf("%s %s\n", PROGRAM, INSTANCE_BUILD);
		return EX_OK;
	}
	if (c->count >= 0 && a->argc != c->count) {
		(void)fprintf(stderr, "usage: %s [OPTIONS] %s %s\n", PROGRAM, c->name,
		              c->arguments);
		return EX_USAGE;
	}
	return c->own ? c->own(&a->source, a->argc, a->argv) : c->run(a);
}

/* If the parent closed 0, 1 or 2, the database must not be opened as stderr. */
static void occupy_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	struct arguments a = { .argc = 0 };
	const struct subcommand *c = &SUBCOMMANDS[0];

	given = argv;
	occupy_standard_files();
	if (parse(&a, "+", argc, argv))
		return EX_USAGE;
	if (optind < argc) {
		turn_help(argc, argv);
		c = find(argv[optind]);
		if (!c || !*c->name)
			return unknown_command(argv[optind]);
		if (strcmp(c->name, "hook") == 0)
			return intercom_hook(&a.source, argc - optind, argv + optind);
		if (!c->run && !c->own)
			return exec_beside(strcmp(c->name, "acp") == 0 ? "acp-proxy" : "mcp-stdio",
			                   argc, argv, optind);
		argc -= optind;
		argv += optind;
		optind = 0; /* from the beginning */
		if (c->count >= 0 && parse(&a, "", argc, argv))
			return EX_USAGE;
	}
	a.argc = argc - optind;
	a.argv = argv + optind;
	return cli_end(PROGRAM, run_subcommand(c, &a));
}
