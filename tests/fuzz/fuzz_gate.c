/* libFuzzer target for hooks: whatever a host sends, nothing is read beyond it; each answer is at
 * most one line of JSON, and a deny before a tool has a reason and status 2; what is computed of an
 * edit names each file once, and a patch leaves UTF-8 as UTF-8.
 *
 * Input: host, event and kind, then the hook's JSON, or a file, a zero and a patch. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "gate_answer.h"
#include "gate_edit.h"
#include "gate_patch.h"

enum { HEAD = 3, KINDS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Files exist or not, as their names have it. */
static int read_file(void *arg, const char *path, struct str *bytes, struct err *e)
{
	static const char TEXT[] = "a\nb\n\nc\n";

	(void)arg;
	if (strlen(path) % 7 == 6)
		return err_set(e, ERR_AGAIN, "cannot be read");
	if (strlen(path) % 2)
		str_add(bytes, TEXT);
	return (int)(strlen(path) % 2);
}

static void check_edit(const struct gate_edit *edit)
{
	for (size_t i = 0; i < edit->count; i++) {
		must(edit->files[i].existed || edit->files[i].before.length == 0);
		must(edit->files[i].exists || edit->files[i].after.length == 0);
		for (size_t k = 0; k < i; k++)
			must(strcmp(edit->files[i].path, edit->files[k].path) != 0);
	}
}

static void check_answers(const struct gate_input *in)
{
	OWNED(char_ptr)
	char *input = in->tool_input ? cJSON_PrintUnformatted(in->tool_input) : NULL;

	for (int decision = GATE_NONE; decision <= GATE_DEFER; decision++) {
		OWNED(gate_answer) struct gate_answer a = { 0 };
		const struct gate_verdict v = { .decision = (enum gate_decision)decision,
			                        .reason = in->tool,
			                        .input = input,
			                        .context = in->message,
			                        .go_on = in->kind };
		const char *end = NULL;
		cJSON *said;

		gate_answer_write(in->host, in->event_name, &v, &a);
		if (decision == GATE_DENY && in->event == GATE_PRE_TOOL)
			must(a.status == 2 && a.err.length > 1 && a.out.length > 1);
		if (a.out.length == 0)
			continue;
		said = cJSON_ParseWithOpts(a.out.bytes, &end, false);
		must(cJSON_IsObject(said) && strcmp(end, "\n") == 0);
		must(strchr(a.out.bytes, '\n') == end);
		cJSON_Delete(said);
	}
}

static void try_input(const struct gate_host *host, const char *event, const char *bytes,
                      size_t length)
{
	OWNED(gate_input) struct gate_input in = { 0 };
	OWNED(gate_edit) struct gate_edit edit = { 0 };
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };

	if (gate_input_read(host, event, bytes, length, &in, &e)) {
		must(e.kind == ERR_INPUT && e.text[0] && !in.owned);
		return;
	}
	for (size_t i = 0; i < in.path_count; i++)
		must(*in.paths[i] && gate_input_absolute(&in, in.paths[i], &path, NULL) <= 0);
	check_answers(&in);
	if (!in.tool || in.class != GATE_EDIT)
		return;
	if (gate_edit_compute(&in, read_file, NULL, &edit, &e) == 1)
		check_edit(&edit);
	else
		must(edit.count == 0 && e.text[0]);
}

static void try_patch(const char *bytes, size_t length, bool exactly)
{
	const char *zero = length ? memchr(bytes, '\0', length) : NULL;
	size_t file = zero ? (size_t)(zero - bytes) : 0;
	const char *text = zero ? zero + 1 : bytes;
	struct gate_patch patch = { 0 };
	struct err e = { 0 };

	if (gate_patch_parse(text, length - (size_t)(text - bytes), &patch, &e) == 0) {
		must(patch.count > 0);
		for (size_t i = 0; i < patch.count; i++) {
			OWNED(str) struct str out = { 0 };
			const struct gate_patch_part *part = &patch.parts[i];

			must(*part->path || strlen(part->path) == 0);
			if (part->kind == GATE_PATCH_ADD)
				gate_patch_add(part, &out);
			if (part->kind == GATE_PATCH_UPDATE &&
			    gate_patch_update(part, bytes, file, exactly, &out, &e) == 0)
				must(out.length == 0 ||
				     !utf8_valid(text, length - (size_t)(text - bytes)) ||
				     (utf8_valid(out.bytes, out.length) &&
				      out.bytes[out.length - 1] == '\n'));
		}
	} else {
		must(e.text[0] != '\0');
	}
	gate_patch_clear(&patch);
}

static void try_command(const char *bytes, size_t length)
{
	OWNED(char_ptr) char *command = strndup(bytes, length);
	OWNED(char_ptr) char *patch = NULL;
	OWNED(char_ptr) char *dir = NULL;

	must(gate_patch_in_command(command, &patch, &dir) == (patch != NULL));
	must(!patch || strstr(command, "<<"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gate_host *host;
	const struct gate_event_name *event;
	size_t length = size - HEAD;
	char *bytes;

	if (size < HEAD)
		return 0;
	host = &GATE_HOSTS[data[0] % GATE_HOST_COUNT];
	event = host->events;
	for (int i = 0; i < data[1] % 4 && event[1].name; i++)
		event++;
	bytes = xmalloc(length ? length : 1);
	memcpy(bytes, data + HEAD, length);
	if (data[2] % KINDS == 0)
		try_input(host, event->name, bytes, length);
	else if (data[2] % KINDS == 1)
		try_patch(bytes, length, data[2] > 127);
	else
		try_command(bytes, length);
	free(bytes);
	return 0;
}
