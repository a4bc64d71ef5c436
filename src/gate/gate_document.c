/* The part of gate_patch that reads shell commands. */
#include "gate_patch.h"

#include "gate_blank.h"

#include <string.h>

static const char BLANKS[] = " \t";

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, BLANKS);
}

/* A word that the shell takes as it is: bare, or between quotes of one kind. NULL: there is none.
 * Otherwise what follows it; *ret is a copy, for the caller to free. */
static const char *plain_word(const char *at, char **ret)
{
	static const char BARE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                           "._/+@%:,-";
	struct str word = { 0 };
	const char *end;

	if (*at == '\'' || *at == '"') {
		end = strchr(at + 1, *at);
		if (!end)
			return NULL;
		str_add_bytes(&word, at + 1, (size_t)(end - at - 1));
		/* Between double quotes these keep their meaning. */
		if (*at == '"' && strpbrk(str_text(&word), "$`\\!"))
			str_reset(&word);
		end++;
	} else {
		end = at + strspn(at, BARE);
		str_add_bytes(&word, at, (size_t)(end - at));
	}
	if (word.length == 0 || !strchr(" \t\n", *end)) {
		str_clear(&word);
		return NULL;
	}
	*ret = str_take(&word);
	return end;
}

/* "cd DIR && ", which may be missing. NULL: something else. */
static const char *take_cd(const char *at, char **ret_dir)
{
	if (strncmp(at, "cd", 2) != 0 || !strchr(BLANKS, at[2]) || !at[2])
		return at;
	at = plain_word(skip_blanks(at + 2), ret_dir);
	if (!at || (*ret_dir)[0] == '-')
		return NULL;
	at = skip_blanks(at);
	if (strncmp(at, "&&", 2) != 0)
		return NULL;
	return skip_blanks(at + 2);
}

/* "apply_patch <<'END'" and the end of its line. NULL: something else. */
static const char *take_opening(const char *at, char **ret_end, bool *ret_quoted)
{
	static const char *const NAMES[] = { "apply_patch", "applypatch" };

	for (size_t i = 0; i < COUNT(NAMES); i++) {
		size_t length = strlen(NAMES[i]);

		if (strncmp(at, NAMES[i], length) != 0)
			continue;
		at = skip_blanks(at + length);
		if (strncmp(at, "<<", 2) != 0)
			return NULL;
		at = skip_blanks(at + 2);
		*ret_quoted = *at == '\'' || *at == '"';
		at = plain_word(at, ret_end);
		at = at ? skip_blanks(at) : NULL;
		return at && *at == '\n' ? at + 1 : NULL;
	}
	return NULL;
}

/* The lines up to the one that is end; after it nothing may come. */
static char *take_body(const char *at, const char *end, bool quoted)
{
	struct str body = { 0 };
	size_t length = strlen(end);

	while (*at) {
		const char *stop = strchrnul(at, '\n');

		if ((size_t)(stop - at) == length && memcmp(at, end, length) == 0) {
			if (gate_blank_start(stop, strlen(stop)) != strlen(stop))
				break;
			if (!quoted && strpbrk(str_text(&body), "$`\\"))
				break;
			return str_take(&body);
		}
		str_add_bytes(&body, at, (size_t)(stop - at));
		str_add_char(&body, '\n');
		at = *stop ? stop + 1 : stop;
	}
	str_clear(&body);
	return NULL;
}

bool gate_patch_in_command(const char *command, char **ret_patch, char **ret_dir)
{
	OWNED(char_ptr) char *dir = NULL, *end = NULL;
	bool quoted = false;
	const char *at = take_cd(command + gate_blank_start(command, strlen(command)), &dir);

	if (at)
		at = take_opening(at, &end, &quoted);
	*ret_patch = at ? take_body(at, end, quoted) : NULL;
	*ret_dir = NULL;
	if (!*ret_patch)
		return false;
	*ret_dir = dir;
	dir = NULL;
	return true;
}
