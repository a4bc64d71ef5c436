/* A transcript as one HTML page: no scripts, nothing from elsewhere, and all that agents and people
 * wrote is escaped, after it has become visible as on a terminal. */
#include "transcript.h"

#include <string.h>

static const char HEAD[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

static const char STYLE[] =
    "<style>\n"
    "body { max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff; "
    "font: 16px/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.3em; }\n"
    "section { border-left: 4px solid #ccc; margin: 1em 0; padding: 0 0 0 1em; }\n"
    "p { margin: 0; }\n"
    "time { color: #666; font-size: .85em; }\n"
    "pre { margin: .3em 0; padding: .5em; background: #f6f6f6; white-space: pre-wrap; "
    "overflow-wrap: anywhere; }\n"
    ".text, .status { border-color: #36c; }\n"
    ".prompt, .words, .answer { border-color: #284; }\n"
    ".question { border-color: #c80; }\n"
    ".exit, .turn { border-color: #a33; }\n"
    ".add { color: #162; background: #e8f5e8; }\n"
    ".del { color: #811; background: #fbeaea; }\n"
    ".at { color: #26a; }\n"
    "</style>\n";

static void add_escaped(struct str *out, const char *bytes, size_t length, bool lines)
{
	static const struct {
		char c;
		const char *entity;
	} ENTITIES[] = { { '&', "&amp;" },
		         { '<', "&lt;" },
		         { '>', "&gt;" },
		         { '"', "&quot;" },
		         { '\'', "&#39;" } };
	OWNED(str) struct str visible = { 0 };

	add_visible(&visible, bytes, length, lines);
	for (const char *at = str_text(&visible); *at; at++) {
		const char *entity = NULL;

		for (size_t i = 0; i < COUNT(ENTITIES); i++)
			if (*at == ENTITIES[i].c)
				entity = ENTITIES[i].entity;
		if (entity)
			str_add(out, entity);
		else
			str_add_char(out, *at);
	}
}

static void add_line(struct str *out, const char *text)
{
	add_escaped(out, text, strlen(text), false);
}

static const char *class_of(const char *line, size_t length)
{
	if (length && *line == '+')
		return "add";
	if (length && *line == '-')
		return "del";
	return length > 1 && line[0] == '@' && line[1] == '@' ? "at" : NULL;
}

static void add_diff(struct str *out, const struct block *b)
{
	const char *end = b->bytes + b->length;

	for (const char *line = b->bytes; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((newline ? newline : end) - line);
		const char *class = class_of(line, n);

		if (class)
			str_addf(out, "<span class=\"%s\">", class);
		add_escaped(out, line, n, true);
		str_add(out, class ? "</span>\n" : "\n");
		line += n + (newline ? 1 : 0);
	}
}

void transcript_html_begin(struct str *out, const char *title)
{
	str_add(out, HEAD);
	str_add(out, "<title>");
	add_line(out, title);
	str_add(out, "</title>\n");
	str_add(out, STYLE);
	str_add(out, "</head>\n<body>\n<h1>");
	add_line(out, title);
	str_add(out, "</h1>\n");
}

void transcript_html_add(struct str *out, const struct entry *entry)
{
	str_add(out, "<section class=\"");
	add_line(out, entry->what);
	str_add(out, "\">\n<p><time>");
	add_line(out, entry->at);
	str_add(out, "</time> ");
	add_line(out, entry->head);
	if (entry->who) {
		str_add(out, ", <b>");
		add_line(out, entry->who);
		str_add(out, "</b>");
	}
	str_add(out, "</p>\n");
	for (size_t i = 0; i < ENTRY_BLOCKS; i++) {
		const struct block *b = &entry->blocks[i];

		if (!b->bytes || !b->length)
			continue;
		str_add(out, "<pre>");
		if (b->is_diff)
			add_diff(out, b);
		else
			add_escaped(out, b->bytes, b->length, true);
		str_add(out, "</pre>\n");
	}
	str_add(out, "</section>\n");
}

void transcript_html_end(struct str *out)
{
	str_add(out, "</body>\n</html>\n");
}
