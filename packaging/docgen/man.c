/* The words of man(7). */
#include "docgen.h"

#include <ctype.h>
#include <string.h>

void man_text(struct str *out, const char *text)
{
	bool begins = true; /* a line */

	for (; *text; text++) {
		if (begins && (*text == '.' || *text == '\''))
			str_add(out, "\\&");
		if (*text == '\\')
			str_add(out, "\\e");
		else if (*text == '-')
			str_add(out, "\\-");
		else if (*text == '~')
			str_add(out, "\\(ti");
		else if (*text == '^')
			str_add(out, "\\(ha");
		else if (*text == '`')
			str_add(out, "\\(ga");
		else
			str_add_char(out, *text);
		begins = *text == '\n';
	}
}

void man_begin(struct str *out, const char *name, int section, const char *what)
{
	str_add(out, ".\\\" Written by docgen in the build.\n.TH ");
	for (const char *c = name; *c; c++)
		str_add_char(out, (char)toupper((unsigned char)*c));
	str_addf(out, " %d \"\" \"agent-intercom %s\" \"Agent Intercom\"\n", section,
	         INTERCOM_VERSION);
	str_add(out, ".nh\n.ad l\n"); /* names of files are not split */
	man_section(out, "NAME");
	man_text(out, name);
	str_add(out, " \\- ");
	man_text(out, what);
	str_add_char(out, '\n');
}

void man_section(struct str *out, const char *title)
{
	str_addf(out, ".SH %s\n", title);
}

void man_subsection(struct str *out, const char *title)
{
	str_add(out, ".SS ");
	man_text(out, title);
	str_add_char(out, '\n');
}

/* Where a section begins, a paragraph does. */
static void begin_paragraph(struct str *out)
{
	const char *last = out->bytes + out->length - 1;

	while (last > out->bytes && last[-1] != '\n')
		last--;
	if (strncmp(last, ".SH", 3) != 0 && strncmp(last, ".SS", 3) != 0)
		str_add(out, ".PP\n");
}

void man_paragraph(struct str *out, const char *text)
{
	begin_paragraph(out);
	man_text(out, text);
	str_add_char(out, '\n');
}

void man_lines(struct str *out, const char *text)
{
	size_t length = strlen(text);

	begin_paragraph(out);
	str_add(out, ".nf\n");
	man_text(out, text);
	str_addf(out, "%s.fi\n", length && text[length - 1] == '\n' ? "" : "\n");
}

void man_term(struct str *out, const char *term, const char *more, const char *text)
{
	str_add(out, ".TP\n\\fB");
	man_text(out, term);
	str_add(out, "\\fR");
	if (*more) {
		str_add_char(out, ' ');
		man_text(out, more);
	}
	str_add_char(out, '\n');
	man_text(out, text);
	str_add_char(out, '\n');
}
