/* agent-intercom(1) and agent-intercom-ctl(1). */
#include "docgen.h"

#include <string.h>

static const struct about {
	const char *name, *what, *description, *files;
} ABOUT[] = {
	{ "agent-intercom",
	  "runs the system that asks you what AI agents may do, and looks after it",
	  "AI coding agents ask for approval before they change a file, and for an answer when "
	  "they do not know "
	  "how to proceed. agent-intercom runs the processes that keep these questions in an "
	  "SQLite database, "
	  "bring them to you in Slack or a terminal, take your answers back, and write what you "
	  "approved. "
	  "Usually nobody starts it by hand: the first agent that connects does (agent-intercom "
	  "mcp), or "
	  "systemd (systemctl \\-\\-user enable \\-\\-now agent\\-intercom.socket).",
	  "~/.config/agent-intercom/config.toml   the configuration; none is needed\n"
	  "~/.local/state/agent-intercom/         the database, logs, objects of checkpoints\n"
	  "$XDG_RUNTIME_DIR/agent-intercom/       sockets and locks\n"
	  "/etc/agent-intercom/config.toml        of a system under a user of its own\n"
	  "/var/lib/agent-intercom/               its database\n" },
	{ "agent-intercom-ctl", "answers the questions of AI agents, and shows what happens",
	  "It reads and writes the database of the agent-intercom that runs. The rules are in the "
	  "database, so "
	  "that an answer here, in Slack and in the sqlite3 shell is judged alike.",
	  NULL },
};

static const struct about *about(const char *name)
{
	for (size_t i = 0; i < COUNT(ABOUT); i++)
		if (strcmp(ABOUT[i].name, name) == 0)
			return &ABOUT[i];
	return NULL;
}

static void add_commands(struct str *out, const struct program *p)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, p->commands) {
		const char *name = command_text(one, "name");
		struct str more = { 0 };

		man_term(out, *name ? name : "(none)", command_text(one, "arguments"),
		         command_text(one, "help"));
		command_more(p, one, &more);
		if (more.length) {
			str_add(out, ".RS\n");
			man_lines(out, str_text(&more));
			str_add(out, ".RE\n");
		}
		str_clear(&more);
	}
}

void page_program(struct str *out, const struct program *p)
{
	const struct about *a = about(p->name);
	bool is_system = a == &ABOUT[0];

	man_begin(out, p->name, 1, a->what);
	man_section(out, "SYNOPSIS");
	str_add(out, ".B ");
	man_text(out, p->name);
	str_addf(out, "\n[\\fIOPTIONS\\fR] %s\n",
	         is_system ? "[\\fICOMMAND\\fR]" : "\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]");
	man_section(out, "DESCRIPTION");
	str_addf(out, "%s\n", a->description);
	man_section(out, "COMMANDS");
	add_commands(out, p);
	man_section(out, "OPTIONS AND EXIT STATUS");
	man_lines(out, command_text(p->said, "more"));
	if (a->files) {
		man_section(out, "FILES");
		man_lines(out, a->files);
	}
	man_section(out, "SEE ALSO");
	str_addf(out,
	         ".BR %s (1),\n.BR agent\\-intercom\\-config.toml (5),\n.BR "
	         "agent\\-intercom\\-schema (5)\n",
	         is_system ? "agent\\-intercom\\-ctl" : "agent\\-intercom");
}
