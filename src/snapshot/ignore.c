#include "ignore.h"

#include "pattern.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERN_MAX = 4096 }; /* bytes, as many as a path has at most */

/* Cuts blanks at the end, unless the first of them is escaped. */
static void trim(char *line)
{
	char *blanks = NULL;

	for (char *at = line; *at; at++) {
		if (*at == ' ') {
			blanks = blanks ? blanks : at;
			continue;
		}
		blanks = NULL;
		if (*at == '\\' && !*++at)
			return;
	}
	if (blanks)
		*blanks = '\0';
}

static void take_line(struct ignore *i, char *line)
{
	struct ignore_pattern p = { .negated = false };
	size_t length;

	if (*line == '#')
		return;
	trim(line);
	p.negated = *line == '!';
	line += p.negated;
	length = strlen(line);
	p.dirs_only = length > 0 && line[length - 1] == '/';
	if (p.dirs_only)
		line[length - 1] = '\0';
	p.anchored = strchr(line, '/') != NULL;
	p.text = line + (*line == '/');
	if (!*p.text || strlen(p.text) > PATTERN_MAX)
		return;
	i->patterns = xrealloc(i->patterns, (i->count + 1) * sizeof(*i->patterns));
	i->patterns[i->count++] = p;
}

void ignore_read(struct ignore *i, const char *dir, const char *bytes, size_t length)
{
	static const char MARK[] = "\xEF\xBB\xBF";
	char *line, *next;

	i->length = length;
	i->skip = *dir ? strlen(dir) + 1 : 0;
	i->texts = xmalloc(length + 1);
	memcpy(i->texts, bytes, length);
	i->texts[length] = '\0';
	line = i->texts;
	if (strncmp(line, MARK, sizeof(MARK) - 1) == 0)
		line += sizeof(MARK) - 1;
	for (; line < i->texts + length; line = next) {
		size_t left = (size_t)(i->texts + length - line);
		char *end = memchr(line, '\n', left);

		next = end ? end + 1 : i->texts + length;
		if (end && end > line && end[-1] == '\r')
			end[-1] = '\0';
		if (end)
			*end = '\0';
		take_line(i, line);
	}
}

size_t ignore_room(const struct ignore *above, size_t count)
{
	size_t used = 0;

	for (size_t k = 0; k < count; k++)
		used += above[k].length;
	return used < IGNORE_BYTES_MAX ? IGNORE_BYTES_MAX - used : 0;
}

void ignore_clear(struct ignore *i)
{
	free(i->texts);
	free(i->patterns);
	*i = (struct ignore){ 0 };
}

enum ignore_says ignore_judge(const struct ignore *i, const char *path, bool is_dir)
{
	const char *below = path + i->skip;
	const char *slash = strrchr(below, '/');
	const char *name = slash ? slash + 1 : below;

	for (size_t k = i->count; k > 0; k--) {
		const struct ignore_pattern *p = &i->patterns[k - 1];

		if (p->dirs_only && !is_dir)
			continue;
		if (pattern_fits(p->text, p->anchored ? below : name))
			return p->negated ? IGNORE_KEEP : IGNORE_IT;
	}
	return IGNORE_NOTHING;
}
