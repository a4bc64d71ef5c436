#include "gate_edit_case.h"

#include "err.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 16 };

static struct {
	char *path, *text;
	size_t length;
} files[FILES_MAX];

void no_files(void)
{
	for (int i = 0; i < FILES_MAX; i++) {
		free(files[i].path);
		free(files[i].text);
		files[i].path = files[i].text = NULL;
	}
}

static int find(const char *path)
{
	for (int i = 0; i < FILES_MAX; i++)
		if (files[i].path && strcmp(files[i].path, path) == 0)
			return i;
	return -1;
}

static void put(const char *path, const char *text, size_t length)
{
	int at = find(path);

	for (int i = 0; at < 0 && i < FILES_MAX; i++)
		if (!files[i].path)
			at = i;
	MUST(at >= 0, "too many files");
	free(files[at].path);
	free(files[at].text);
	files[at].path = files[at].text = NULL;
	if (!text)
		return;
	files[at].path = xstrdup(path);
	files[at].text = xcalloc(length + 1, 1);
	memcpy(files[at].text, text, length);
	files[at].length = length;
}

void given_file(const char *path, const char *text)
{
	put(path, text, text ? strlen(text) : 0);
}

static int read_file(void *arg, const char *path, struct str *bytes, struct err *e)
{
	int at = find(path);

	(void)arg;
	if (strcmp(path, "unreadable") == 0)
		return err_set(e, ERR_AGAIN, "unreadable");
	if (at < 0)
		return 0;
	str_add_bytes(bytes, files[at].text, files[at].length);
	return 1;
}

int compute(const char *host, const char *tool, const char *input, struct gate_edit *edit,
            struct err *why)
{
	OWNED(gate_input) struct gate_input in = { 0 };
	OWNED(str) struct str json = { 0 };
	const struct gate_host *h = gate_host_named(host);
	struct err e = { 0 };

	json_object(&json);
	json_member(&json, "cwd", "/w");
	json_member(&json, "tool_name", tool);
	json_member_raw(&json, "tool_input", input);
	json_object_end(&json);
	MUST(gate_input_read(h, gate_host_event_name(h, GATE_PRE_TOOL), json.bytes, json.length,
	                     &in, &e) == 0,
	     "%s: %s", e.text, json.bytes);
	MUST(in.class == GATE_EDIT, "%s %s is no edit: %s", host, tool, input);
	return gate_edit_compute(&in, read_file, NULL, edit, why);
}

void carry_out(const char *host, const char *tool, const char *input)
{
	OWNED(gate_edit) struct gate_edit edit = { 0 };
	struct err e = { 0 };
	int got = compute(host, tool, input, &edit, &e);

	MUST(got == 1, "%s: %s", e.text, input);
	for (size_t i = 0; i < edit.count; i++) {
		const struct gate_edit_file *f = &edit.files[i];
		int at = find(f->path);

		MUST(f->existed == (at >= 0), "%s", f->path);
		MUST(at < 0 ||
		         (f->before.length == files[at].length &&
		          memcmp(str_text(&f->before), files[at].text, files[at].length) == 0),
		     "%s", f->path);
		put(f->path, f->exists ? str_text(&f->after) : NULL, f->after.length);
	}
}

void file_is(const char *path, const char *text)
{
	int at = find(path);

	MUST((at >= 0) == (text != NULL), "%s: %s", path, at >= 0 ? "is there" : "is missing");
	MUST(at < 0 || strcmp(files[at].text, text) == 0, "%s is\n%s\nnot\n%s", path,
	     files[at].text, text);
}

void is_not_computed(const char *host, const char *tool, const char *input, const char *part)
{
	OWNED(gate_edit) struct gate_edit edit = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(compute(host, tool, input, &edit, &e), 0);
	ck_assert_msg(strstr(e.text, part) != NULL, "%s", e.text);
	ck_assert_msg(strncmp(e.text, "cannot compute the result: ", 27) == 0, "%s", e.text);
	ck_assert_uint_eq(edit.count, 0);
}

const char *object(const char *name, ...)
{
	static struct str json;
	va_list args;

	str_reset(&json);
	json_object(&json);
	va_start(args, name);
	for (; name; name = va_arg(args, const char *))
		json_member(&json, name, va_arg(args, const char *));
	va_end(args);
	json_object_end(&json);
	return json.bytes;
}
