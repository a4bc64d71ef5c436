/* usage: docgen SOURCE_DIR PROGRAMS_DIR OUTPUT_DIR
 *
 * Writes man/NAME.SECTION, bash/NAME, zsh/_NAME and fish/NAME.fish. */
#include "docgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "docgen: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

void program_output(const struct program *p, const char *arguments, struct str *out)
{
	struct str command = { 0 };
	char bytes[4096];
	FILE *pipe;
	size_t n;

	/* What it says must not depend on who builds, nor touch what is theirs. */
	str_addf(&command, "exec env -i HOME=/nonexistent '%s/%s' %s </dev/null", p->folder,
	         p->name, arguments);
	pipe = popen(str_text(&command), "re"); /* NOLINT(cert-env33-c) */
	if (!pipe)
		fail(str_text(&command), "cannot be run");
	while ((n = fread(bytes, 1, sizeof(bytes), pipe)) > 0)
		str_add_bytes(out, bytes, n);
	if (pclose(pipe) != 0)
		fail(str_text(&command), "it failed");
	str_clear(&command);
}

const char *command_text(const cJSON *command, const char *member)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(command, member));

	return text ? text : "";
}

void command_more(const struct program *p, const cJSON *command, struct str *out)
{
	struct str arguments = { 0 };

	if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(command, "has_help"))) {
		str_add(out, command_text(command, "more"));
		return;
	}
	str_addf(&arguments, "%s --help", command_text(command, "name"));
	program_output(p, str_text(&arguments), out);
	str_clear(&arguments);
}

static void load(struct program *p, const char *arguments)
{
	struct str text = { 0 };

	program_output(p, arguments, &text);
	p->said = cJSON_Parse(str_text(&text));
	p->commands = cJSON_GetObjectItemCaseSensitive(p->said, "commands");
	if (!cJSON_IsArray(p->commands) || cJSON_GetArraySize(p->commands) == 0)
		fail(p->name, "it lists no commands");
	str_clear(&text);
}

static void write_file(const char *folder, const char *kind, const char *name, struct str *text)
{
	struct str path = { 0 };
	FILE *file;

	str_addf(&path, "%s/%s", folder, kind);
	(void)mkdir(str_text(&path), 0777);
	str_addf(&path, "/%s", name);
	file = fopen(str_text(&path), "we");
	if (!file || fputs(str_text(text), file) < 0 || fclose(file) != 0)
		fail(str_text(&path), "cannot be written");
	str_clear(&path);
	str_reset(text);
}

static void write_program(const char *folder, const struct program *p)
{
	struct str text = { 0 };
	char name[100];

	page_program(&text, p);
	(void)snprintf(name, sizeof(name), "%s.1", p->name);
	write_file(folder, "man", name, &text);
	completion_bash(&text, p);
	write_file(folder, "bash", p->name, &text);
	completion_zsh(&text, p);
	(void)snprintf(name, sizeof(name), "_%s", p->name);
	write_file(folder, "zsh", name, &text);
	completion_fish(&text, p);
	(void)snprintf(name, sizeof(name), "%s.fish", p->name);
	write_file(folder, "fish", name, &text);
	str_clear(&text);
}

int main(int argc, char **argv)
{
	struct program system = { .name = "agent-intercom" },
	               ctl = { .name = "agent-intercom-ctl" };
	struct str text = { 0 };

	if (argc != 4) {
		(void)fputs("usage: docgen SOURCE_DIR PROGRAMS_DIR OUTPUT_DIR\n", stderr);
		return 64;
	}
	system.folder = ctl.folder = argv[2];
	load(&system, "help --json");
	load(&ctl, "--json help");
	(void)mkdir(argv[3], 0777);
	write_program(argv[3], &system);
	write_program(argv[3], &ctl);
	page_config(&text);
	write_file(argv[3], "man", "agent-intercom-config.toml.5", &text);
	page_schema(&text, argv[1]);
	write_file(argv[3], "man", "agent-intercom-schema.5", &text);
	str_clear(&text);
	cJSON_Delete(system.said);
	cJSON_Delete(ctl.said);
	return 0;
}
