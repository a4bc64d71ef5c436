/* Completion of commands and their options. The options are those that a command's help names. */
#include "docgen.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 64, WORD_BYTES = 40 };

struct words {
	char word[WORDS_MAX][WORD_BYTES];
	size_t count;
};

static void add_word(struct words *w, const char *text, size_t length)
{
	if (length == 0 || length >= WORD_BYTES || w->count == WORDS_MAX)
		return;
	for (size_t i = 0; i < w->count; i++)
		if (strlen(w->word[i]) == length && memcmp(w->word[i], text, length) == 0)
			return;
	memcpy(w->word[w->count], text, length);
	w->word[w->count++][length] = '\0';
}

static bool is_of_word(char c)
{
	return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '-';
}

/* "--depth" in "[PATH] [--depth N]". */
static void add_options(struct words *w, const char *text)
{
	for (const char *at = strstr(text, "--"); at; at = strstr(at + 2, "--")) {
		size_t length = 2;

		while (is_of_word(at[length]))
			length++;
		if (islower((unsigned char)at[2]) && (at == text || !is_of_word(at[-1])))
			add_word(w, at, length);
	}
}

/* "check" and "trust" in "check|trust ...": the arguments that are words as they are. */
static void add_arguments(struct words *w, const char *text)
{
	while (*text) {
		size_t length = 0;

		while (is_of_word(text[length]))
			length++;
		if (islower((unsigned char)*text) && !isupper((unsigned char)text[length]) &&
		    text[length] != '.')
			add_word(w, text, length);
		text += length ? length : strcspn(text, " |[]");
		text += strspn(text, " |[]");
	}
}

static void words_of(struct words *w, const struct program *p, const cJSON *command)
{
	struct str more = { 0 };

	*w = (struct words){ .count = 0 };
	command_more(p, command, &more);
	add_arguments(w, command_text(command, "arguments"));
	add_options(w, command_text(command, "arguments"));
	add_options(w, str_text(&more));
	str_clear(&more);
}

static void global_options(struct words *w, const struct program *p)
{
	*w = (struct words){ .count = 0 };
	add_options(w, command_text(p->said, "more"));
}

static void add_joined(struct str *out, const struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		str_addf(out, "%s%s", i ? " " : "", w->word[i]);
}

/* agent-intercom-ctl as the name of a function. */
static const char *identifier(const struct program *p)
{
	static char name[WORD_BYTES];

	(void)snprintf(name, sizeof(name), "_%s", p->name);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

/* Which of the words before the cursor is the command: the first that is no option, nor its value.
 */
#define VALUED "--config|--db|--ipc-name|--workspace|--log-format"

void completion_bash(struct str *out, const struct program *p)
{
	struct words w;
	const cJSON *one;

	global_options(&w, p);
	str_addf(out, "# bash completion for %s; written by docgen in the build\n\n%s()\n{\n",
	         p->name, identifier(p));
	str_add(out, "  local cur=${COMP_WORDS[COMP_CWORD]} command=\"\" words=\"\" i\n"
	             "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case ${COMP_WORDS[i]} in\n"
	             "    " VALUED ") ((i++)) ;;\n    -*) ;;\n"
	             "    *) command=${COMP_WORDS[i]}; break ;;\n    esac\n  done\n  case $command "
	             "in\n  \"\") words=\"");
	cJSON_ArrayForEach (one, p->commands)
		if (*command_text(one, "name"))
			str_addf(out, "%s ", command_text(one, "name"));
	add_joined(out, &w);
	str_add(out, "\" ;;\n");
	cJSON_ArrayForEach (one, p->commands) {
		words_of(&w, p, one);
		if (!*command_text(one, "name") || w.count == 0)
			continue;
		str_addf(out, "  %s) words=\"", command_text(one, "name"));
		add_joined(out, &w);
		str_add(out, "\" ;;\n");
	}
	str_addf(out,
	         "  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	         "  [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "
	         "\"$cur\")\n}\n\n"
	         "complete -F %s %s\n",
	         identifier(p), p->name);
}

/* In single quotes; with a colon, a description of _describe would end. */
static void add_quoted(struct str *out, const char *text, bool escapes_colon)
{
	for (; *text; text++) {
		if (*text == '\'')
			str_add(out, "'\\''");
		else if (*text == ':' && escapes_colon)
			str_add(out, "\\:");
		else
			str_add_char(out, *text);
	}
}

void completion_zsh(struct str *out, const struct program *p)
{
	struct words w;
	const cJSON *one;

	str_addf(out, "#compdef %s\n# written by docgen in the build\n\n", p->name);
	str_add(out, "local command=\"\" i\nlocal -a commands\n"
	             "for ((i = 2; i < CURRENT; i++)); do\n  case $words[i] in\n"
	             "  " VALUED
	             ") ((i++)) ;;\n  -*) ;;\n  *) command=$words[i]; break ;;\n  esac\ndone\n"
	             "case $command in\n'')\n  commands=(\n");
	cJSON_ArrayForEach (one, p->commands) {
		if (!*command_text(one, "name"))
			continue;
		str_addf(out, "    '%s:", command_text(one, "name"));
		add_quoted(out, command_text(one, "help"), true);
		str_add(out, "'\n");
	}
	str_add(out, "  )\n  _describe command commands\n  compadd -- ");
	global_options(&w, p);
	add_joined(out, &w);
	str_add(out, "\n  return\n  ;;\n");
	cJSON_ArrayForEach (one, p->commands) {
		words_of(&w, p, one);
		if (!*command_text(one, "name") || w.count == 0)
			continue;
		str_addf(out, "%s) compadd -- ", command_text(one, "name"));
		add_joined(out, &w);
		str_add(out, " ;;\n");
	}
	str_add(out, "esac\n_files\n");
}

void completion_fish(struct str *out, const struct program *p)
{
	struct words w;
	const cJSON *one;

	str_addf(out, "# fish completion for %s; written by docgen in the build\n", p->name);
	global_options(&w, p);
	for (size_t i = 0; i < w.count; i++)
		str_addf(out, "complete -c %s -n __fish_use_subcommand -l %s\n", p->name,
		         w.word[i] + 2);
	cJSON_ArrayForEach (one, p->commands) {
		const char *name = command_text(one, "name");

		if (!*name)
			continue;
		str_addf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '", p->name, name);
		add_quoted(out, command_text(one, "help"), false);
		str_add(out, "'\n");
		words_of(&w, p, one);
		for (size_t i = 0; i < w.count; i++)
			str_addf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' %s %s\n",
			         p->name, name, w.word[i][0] == '-' ? "-l" : "-a",
			         w.word[i] + (w.word[i][0] == '-' ? 2 : 0));
	}
}
