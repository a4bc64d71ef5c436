#include "seen.h"

#include "find.h"
#include "summary.h"
#include "visible.h"

#include <string.h>

enum { FILES_MOST = 20 };

static bool is_command(const struct request *r)
{
	return !request_is_change(r) &&
	       (r->row.kind == REQUEST_KIND_PERMISSION || r->row.kind == REQUEST_KIND_TRUST);
}

bool seen_is_described(const struct request *r)
{
	return r->row.gate_class && r->row.notes_length &&
	       strcmp(r->row.gate_class, "execute") != 0 && !request_is_change(r);
}

/* A command as shown, and how many bytes of that the inbox shows. */
static size_t show(const struct request *r, struct str *text)
{
	const struct str *command = r->effect.length ? &r->effect : &r->body;
	const char *words = seen_is_described(r) && r->description ? r->description : "";
	size_t length = 0;

	visible_add(text, str_text(command), command->length, true);
	if (command->length && *words)
		str_add_char(text, '\n');
	visible_add(text, words, strlen(words), true);
	for (int lines = 0; lines < SEEN_LINES && length < text->length; lines++) {
		const char *rest = text->bytes + length;
		const char *newline = memchr(rest, '\n', text->length - length);
		size_t end = newline ? (size_t)(newline - text->bytes) + 1 : text->length;

		if (end > SEEN_BYTES)
			return length;
		length = end;
	}
	return length;
}

/* Whether the inbox shows all of it; text: all that there is of a command. */
static bool is_whole(const struct request *r, struct str *text)
{
	return !is_command(r) || show(r, text) == text->length;
}

bool seen_is_whole(const struct request *r)
{
	OWNED(str) struct str text = { 0 };

	return is_whole(r, &text);
}

void seen_add(struct str *out, const struct request *r)
{
	OWNED(str) struct str text = { 0 };
	size_t length;

	if (request_is_change(r) && summary_is_needed(r->files, r->file_count))
		summary_add(out, r->files, r->file_count, "; ", FILES_MOST);
	else if (request_is_change(r))
		request_add_name(out, r);
	if (!is_command(r))
		return;
	length = show(r, &text);
	str_addf(out, "%.*s", (int)length, str_text(&text));
	if (length < text.length)
		str_addf(out, "... %zu more bytes", text.length - length);
}

void seen_add_members(cJSON *row, const struct request *r)
{
	cJSON *changes = cJSON_AddArrayToObject(row, "changes");
	OWNED(str) struct str command = { 0 };

	for (size_t i = 0; i < r->file_count; i++) {
		OWNED(str) struct str change = { 0 };

		if (summary_add_file(&change, r->files, r->file_count, i))
			(void)cJSON_AddItemToArray(changes, cJSON_CreateString(change.bytes));
	}
	if (is_command(r))
		seen_add(&command, r);
	if (command.length)
		(void)cJSON_AddStringToObject(row, "command", command.bytes);
	else
		(void)cJSON_AddNullToObject(row, "command");
	(void)cJSON_AddBoolToObject(row, "is_whole", seen_is_whole(r));
}

int seen_in_inbox(struct store *st, const struct request *r, struct str *why, struct err *e)
{
	OWNED(str) struct str text = { 0 };

	(void)st;
	(void)e;
	if (is_whole(r, &text))
		return 1;
	str_addf(why,
	         "the inbox does not show all of these %zu bytes: read them with "
	         "`agent-intercom-ctl show %.*s`, then approve with the digest that it prints "
	         "(--digest)",
	         text.length, FIND_SHORT, r->row.id);
	return 0;
}
