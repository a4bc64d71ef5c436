#include "shown.h"

#include "diff.h"
#include "sql/slack_outbox.h"
#include "summary.h"
#include "text.h"

#include <string.h>

bool slack_is_approved(const struct request *r)
{
	return r->row.kind == REQUEST_KIND_CLEARANCE || r->row.kind == REQUEST_KIND_PERMISSION ||
	       r->row.kind == REQUEST_KIND_TRUST || r->row.kind == REQUEST_KIND_RESTORE;
}

const struct str *slack_proposal(const struct request *r)
{
	bool has_effect =
	    r->row.kind == REQUEST_KIND_CLEARANCE || r->row.kind == REQUEST_KIND_PERMISSION;

	return has_effect && r->effect.length ? &r->effect : &r->body;
}

enum slack_escaping slack_exactness(const struct request *r)
{
	return slack_is_approved(r) ? SLACK_EXACT : SLACK_RAW;
}

/* ---- what fits ---- */

static bool fits(const char *bytes, size_t length, size_t units, enum slack_escaping how)
{
	OWNED(str) struct str shown = { 0 };

	return slack_add(&shown, bytes, length, units, how);
}

static bool text_fits(const char *text, size_t units)
{
	return !text || fits(text, strlen(text), units, SLACK_RAW);
}

/* Each part of it is shown up to a limit of its own. */
static bool description_fits(const struct request *r)
{
	const char *text = r->description ? r->description : "";
	const struct request_parts p = request_split(r, text, strlen(text));

	return fits(text, p.words, SLACK_DESCRIPTION_UNITS, SLACK_RAW) &&
	       fits(p.notes, p.notes_length, SLACK_DESCRIPTION_UNITS, SLACK_RAW);
}

bool slack_is_inline(const struct request *r)
{
	const struct str *text = slack_proposal(r);

	if (!slack_is_approved(r))
		return fits(str_text(text), text->length, SLACK_PROMPT_UNITS, SLACK_RAW);
	return slack_lines(str_text(text), text->length) <= SLACK_INLINE_LINES &&
	       fits(str_text(text), text->length, SLACK_INLINE_UNITS, SLACK_EXACT);
}

bool slack_is_whole(const struct request *r)
{
	bool has_title = request_is_change(r); /* others show the text's first line */

	return slack_is_inline(r) && description_fits(r) &&
	       (!has_title || text_fits(r->row.title, SLACK_TITLE_UNITS));
}

size_t slack_beginning(const struct request *r, size_t *ret_lines)
{
	const struct str *text = slack_proposal(r);
	size_t units = slack_is_approved(r) ? SLACK_INLINE_UNITS : SLACK_PROMPT_UNITS, at = 0;

	for (*ret_lines = 0; *ret_lines < SLACK_INLINE_LINES && at < text->length; ++*ret_lines) {
		const char *line = text->bytes + at;
		const char *newline = memchr(line, '\n', text->length - at);
		size_t end = newline ? (size_t)(newline - text->bytes) + 1 : text->length;

		if (!fits(text->bytes, end, units, slack_exactness(r)))
			return *ret_lines ? at : text->length; /* a long first line is cut */
		at = end;
	}
	return at;
}

/* ---- the file ---- */

int slack_file_find(struct store *st, int64_t request_seq, enum slack_file *ret, struct err *e)
{
	OWNED(slack_diff_state_row) struct slack_diff_state_row file = { 0 };
	int got = sql_slack_diff_state(st, request_seq, &file, e);

	if (got < 0)
		return -1;
	if (got > 0 && file.state == SLACK_MESSAGE_STATE_SENT)
		*ret = SLACK_FILE_THERE;
	else if (got > 0 && file.state == SLACK_MESSAGE_STATE_QUEUED)
		*ret = SLACK_FILE_AWAITED;
	else
		*ret = SLACK_FILE_MISSING;
	return 0;
}

static void add_all(struct str *out, const char *text)
{
	(void)slack_add(out, text, strlen(text), SIZE_MAX, SLACK_RAW);
}

void slack_add_file(struct str *out, const struct request *r)
{
	const struct str *text = slack_proposal(r);
	bool all = !description_fits(r) ||
	           (request_is_change(r) && !text_fits(r->row.title, SLACK_TITLE_UNITS));

	if (all) {
		add_all(out, r->row.title);
		str_add(out, "\n\n");
		add_all(out, r->description ? r->description : "");
		str_add(out, "\n\n");
	}
	(void)slack_add(out, str_text(text), text->length, SIZE_MAX, slack_exactness(r));
}

static void add_name(struct str *out, const char *file_path, const char *replaced)
{
	OWNED(str) struct str name = { 0 };

	(void)slack_add(&name, file_path, strlen(file_path), 200, SLACK_RAW);
	for (size_t i = 0; i < name.length; i++)
		if (strchr(replaced, name.bytes[i]))
			name.bytes[i] = '_';
	str_add(out, str_text(&name));
}

void slack_file_name(const char *file_path, struct str *out)
{
	add_name(out, file_path, "/\\\"");
}

void slack_diff_name(const char *file_path, struct str *out)
{
	add_name(out, file_path, "/.\\\"");
	str_add(out, ".diff");
}

/* ---- in a few words ---- */

void slack_gist_clear(struct slack_gist *g)
{
	str_clear(&g->paths);
}

static bool is_asked(const struct request *r, const struct touched *t)
{
	return r->row.file_path && strcmp(t->path, r->row.file_path) == 0;
}

static void take_paths(const struct request *r, struct slack_gist *g)
{
	size_t units = 0;

	for (size_t i = 0; i < r->file_count; i++) {
		OWNED(str) struct str line = { 0 }, one = { 0 };

		if (is_asked(r, &r->files[i]) ||
		    !summary_add_file(&one, r->files, r->file_count, i))
			continue;
		str_add(&line, g->paths.length ? "\n" : "");
		(void)slack_add(&line, one.bytes, one.length, SLACK_PATH_UNITS, SLACK_RAW);
		units += slack_units(line.bytes);
		if (g->files++ < SLACK_PATHS_MAX && units <= SLACK_PATHS_UNITS)
			str_add(&g->paths, line.bytes);
		else
			g->more++;
	}
	g->files++;
}

static void count_lines(struct slack_gist *g, const struct diff_file *f)
{
	for (size_t h = 0; h < f->hunk_count; h++)
		for (size_t i = 0; i < f->hunks[h].line_count; i++) {
			g->added += f->hunks[h].lines[i].kind == '+';
			g->removed += f->hunks[h].lines[i].kind == '-';
		}
}

void slack_gist_take(const struct request *r, struct slack_gist *g)
{
	const struct str *text = slack_proposal(r);
	OWNED(diff) struct diff d = { 0 };
	bool is_diff = diff_looks_like(str_text(text), text->length);

	take_paths(r, g);
	if (is_diff && diff_parse(str_text(text), text->length, &d, NULL) == 0)
		for (size_t i = 0; i < d.file_count; i++)
			count_lines(g, &d.files[i]);
	else if (!r->effect.length)
		g->added = slack_lines(str_text(text), text->length);
	else
		g->uncounted = is_diff; /* otherwise nothing changes */
}

void slack_gist_add_size(struct str *out, const struct slack_gist *g)
{
	if (g->files > 1)
		str_addf(out, "%zu files", g->files);
	if (!g->uncounted)
		str_addf(out, "%s+%zu −%zu", g->files > 1 ? ", " : "", g->added, g->removed);
}

void slack_add_asked(struct str *out, const struct request *r)
{
	for (size_t i = 0; i < r->file_count; i++)
		if (is_asked(r, &r->files[i]) && summary_is_needed(r->files, r->file_count) &&
		    summary_add_file(out, r->files, r->file_count, i))
			return;
	request_add_name(out, r);
}
