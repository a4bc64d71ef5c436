/* Commands that were mistyped: which one was probably meant. */
#include "config_guess.h"
#include "err.h"
#include "json.h"
#include "say.h"
#include "setting.h"
#include "sql/checkpoint.h"

#include <limits.h>
#include <string.h>

enum {
	SWAPPED = 2, /* edits: two letters in the wrong order */
	LEAST = 4, /* letters of a word of ours that is guessed */
	SHOWN = 80, /* bytes of what follows it */
};

static void guess_alias(struct config_guess *near, const char *word, const cJSON *commands)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, commands)
		config_guess_try(near, word, one->string, strlen(one->string));
}

static bool has_same_letters(const char *a, const char *b)
{
	int counts[UCHAR_MAX + 1] = { 0 };

	for (; *a; a++)
		counts[(unsigned char)*a]++;
	for (; *b; b++)
		counts[(unsigned char)*b]--;
	for (size_t i = 0; i < COUNT(counts); i++)
		if (counts[i])
			return false;
	return true;
}

/* In a short word two edits are another word, unless they swap two letters. */
static bool is_near(const struct config_guess *near, const char *word)
{
	return config_guess_is_near(near, word) ||
	       (near->distance <= SWAPPED && has_same_letters(word, near->name));
}

static void add_aliases(struct str *out, const cJSON *commands)
{
	const char *separator = "the aliases of [commands] are ";
	const cJSON *one;

	if (!commands || !commands->child)
		str_add(out, "config.toml has no [commands]");
	cJSON_ArrayForEach (one, commands) {
		str_addf(out, "%s`%s`", separator, one->string);
		separator = ", ";
	}
}

int operator_unknown(struct store *st, const char *word, bool of_ours, struct str *out,
                     struct err *e)
{
	OWNED(cJSON_ptr) cJSON *commands = NULL;
	struct config_guess near = CONFIG_GUESS_INIT;
	const char *name;

	if (setting_json(st, "commands", &commands, e) < 0)
		return -1;
	guess_alias(&near, word, commands);
	for (size_t i = 0; of_ours && (name = verb_name_at(i)) != NULL; i++)
		if (strlen(name) >= LEAST)
			config_guess_try(&near, word, name, strlen(name));
	str_addf(out, "command not found: %.40s; ", *word ? word : "that word");
	if (is_near(&near, word))
		str_addf(out, "did you mean `%s`?", near.name);
	else if (of_ours)
		str_add(out, "`help` lists the commands");
	else
		add_aliases(out, commands);
	return 0;
}

/* ---- in a conversation ---- */

static size_t word_length(const char *text)
{
	return strcspn(text, " \t\r\n");
}

static bool is_one_word(const char *text)
{
	return *text && !*verb_skip_blanks(text + word_length(text));
}

static bool is_id_or_nothing(const char *rest)
{
	return !*rest || (verb_id_length(rest) && is_one_word(rest));
}

/* A path, and perhaps options. */
static bool is_path(const char *rest)
{
	rest = verb_skip_blanks(rest + word_length(rest));
	return !*rest || verb_dashes(rest) > 0;
}

/* Whether a verb takes no more than this. strictly: in a sentence that begins with words of any
 * conversation. */
static bool takes(const struct verb *v, const char *rest, bool strictly)
{
	if (strcmp(v->word, "show-file") == 0)
		return *rest && is_path(rest);
	if (v->about == ABOUT_FILES)
		return is_path(rest);
	if (v->about == ABOUT_RUN)
		return !*rest || is_one_word(rest);
	if (v->text == TEXT_NONE)
		return is_id_or_nothing(rest);
	return !strictly || !*rest;
}

static void add(struct str *out, const char *name, const char *rest)
{
	str_addf(out, "`%s%s", name, *rest ? " " : "");
	str_add_shown(out, rest, strlen(rest), SHOWN);
	str_add_char(out, '`');
}

/* "list-fiels", "session-puase": nobody begins a sentence so. */
static void add_mistyped(const struct verb_line *l, struct str *out)
{
	struct config_guess near = CONFIG_GUESS_INIT;
	const char *name;

	if (!strchr(l->word, '-'))
		return;
	for (size_t i = 0; (name = verb_name_at(i)) != NULL; i++)
		if (strchr(name, '-'))
			config_guess_try(&near, l->word, name, strlen(name));
	if (near.distance <= SWAPPED && takes(verb_find(near.name), l->rest, false))
		add(out, near.name, l->rest);
}

/* "show file src/main.c", "session pause" */
static void add_parted(const struct verb_line *l, struct str *out)
{
	OWNED(str) struct str name = { 0 };
	size_t n = word_length(l->rest);
	const char *rest = verb_skip_blanks(l->rest + n);
	const struct verb *v;

	str_addf(&name, "%s-%.*s", l->word, n < VERB_BYTES ? (int)n : VERB_BYTES, l->rest);
	v = verb_find(name.bytes);
	if (n && v && takes(v, rest, true))
		add(out, name.bytes, rest);
}

/* "hello", "run hllo" */
static void add_alias(const struct verb_line *l, const char *line, const cJSON *commands,
                      struct str *out)
{
	bool runs = strcmp(l->word, "run") == 0;
	const char *at = runs ? l->rest : verb_skip_blanks(line);
	size_t n = word_length(at);
	OWNED(str) struct str word = { 0 };
	struct config_guess near = CONFIG_GUESS_INIT;
	const cJSON *one;

	if (!n || !is_id_or_nothing(verb_skip_blanks(at + n)))
		return;
	str_add_bytes(&word, at, n);
	one = cJSON_GetObjectItemCaseSensitive(commands, word.bytes);
	if (!one && !runs)
		one = cJSON_GetObjectItemCaseSensitive(commands, l->word);
	if (one) {
		add(out, "run", one->string);
		return;
	}
	if (!runs || !commands || !commands->child)
		return;
	guess_alias(&near, word.bytes, commands);
	if (is_near(&near, word.bytes))
		add(out, "run", near.name);
	else
		str_add(out, "`run <alias>`; `help custom` lists them");
}

bool operator_seems_answer(const char *line)
{
	static const char *const ALONE[] = { "yes", "okay", "lgtm", NULL };
	const struct verb_line l = verb_read(line);
	struct config_guess near = CONFIG_GUESS_INIT;

	config_guess_try(&near, l.word, "approve", strlen("approve"));
	for (size_t i = 0; !*l.rest && ALONE[i]; i++)
		config_guess_try(&near, l.word, ALONE[i], strlen(ALONE[i]));
	return near.distance < SWAPPED ||
	       (near.distance == SWAPPED && has_same_letters(l.word, near.name));
}

int operator_is_label(struct store *st, const char *text, struct err *e)
{
	OWNED(held_row) struct held_row row = { 0 };

	sql_checkpoint_labelled(st, text, NULL, NULL, &row);
	return row_next(&row.row, e);
}

int operator_meant(struct store *st, const char *line, struct str *out, struct err *e)
{
	const struct verb_line l = verb_read(line);
	OWNED(cJSON_ptr) cJSON *commands = NULL;

	if (setting_json(st, "commands", &commands, e) < 0)
		return -1;
	add_alias(&l, line, commands, out);
	if (!out->length && *l.word)
		add_parted(&l, out);
	if (!out->length)
		add_mistyped(&l, out);
	return 0;
}
