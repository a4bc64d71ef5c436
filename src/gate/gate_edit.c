#include "gate_edit.h"

#include "gate_patch.h"
#include "gate_replace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct work {
	const struct gate_input *in;
	gate_edit_read *read;
	void *arg;
	struct gate_edit *edit;
	struct err *e;
};

static const char *argument(const cJSON *object, const char *key)
{
	return key ? json_text(object, key) : NULL;
}

/* All refusals of this file begin alike. Returns 0: not computed. */
static int cannot(const struct work *w, const char *why)
{
	err_tell(w->e, ERR_INPUT, "cannot compute the result: %s", why);
	return 0;
}

static int cannot_err(const struct work *w, const struct err *why)
{
	return cannot(w, why->text);
}

static struct gate_edit_file *find(const struct gate_edit *edit, const char *path)
{
	for (size_t i = 0; i < edit->count; i++)
		if (strcmp(edit->files[i].path, path) == 0)
			return &edit->files[i];
	return NULL;
}

/* The file as the edits so far leave it; read when it is first needed. NULL: it cannot be read.
 * Valid until the next one is added. */
static struct gate_edit_file *look(const struct work *w, const char *path)
{
	struct gate_edit *edit = w->edit;
	struct gate_edit_file *f = find(edit, path);
	struct str bytes = { 0 };
	int got;

	if (f)
		return f;
	got = w->read(w->arg, path, &bytes, w->e);
	if (got < 0) {
		str_clear(&bytes);
		return NULL;
	}
	edit->files = xrealloc(edit->files, (edit->count + 1) * sizeof(*edit->files));
	f = &edit->files[edit->count++];
	*f = (struct gate_edit_file){
		.path = xstrdup(path), .existed = got > 0, .exists = got > 0, .before = bytes
	};
	str_add_bytes(&f->after, str_text(&bytes), bytes.length);
	return f;
}

static void put(struct gate_edit_file *f, struct str *bytes)
{
	str_move(&f->after, bytes);
	f->exists = true;
}

static void delete (struct gate_edit_file *f)
{
	str_clear(&f->after);
	f->exists = false;
}

/* ---- forms ---- */

static bool is_markdown(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	return dot && (strcasecmp(dot, ".md") == 0 || strcasecmp(dot, ".mdx") == 0);
}

static int write_all(const struct work *w)
{
	const struct gate_keys *keys = w->in->keys;
	const char *path = argument(w->in->tool_input, keys->path);
	const char *content = argument(w->in->tool_input, keys->content);
	struct gate_edit_file *f;
	struct str bytes = { 0 };
	struct err why = { 0 };

	if (!path || !content)
		return cannot(w, "the path or the content is not given");
	if (w->in->host->trims_lines && !is_markdown(path) && gate_replace_has_loose_end(content))
		return cannot(w, "the host may trim the ends of the lines");
	f = look(w, path);
	if (!f)
		return -1;
	if (gate_replace_check_whole(&f->after, content, &why))
		return cannot_err(w, &why);
	str_add(&bytes, content);
	put(f, &bytes);
	return 1;
}

/* Copilot's create does not overwrite. */
static int create_new(const struct work *w)
{
	int got = write_all(w);

	if (got == 1 && w->edit->files[0].existed)
		return cannot(w, "the file exists, and the tool creates files only");
	return got;
}

/* One replacement in one file; object holds its texts. */
static int replace_in(const struct work *w, const char *path, const cJSON *object)
{
	const struct gate_keys *keys = w->in->keys;
	const struct gate_host *host = w->in->host;
	struct gate_replace r = { .old_text = argument(object, keys->old_text),
		                  .new_text = argument(object, keys->new_text),
		                  .deletes_line_ends = host->deletes_line_ends,
		                  .keeps_last_end = host->keeps_last_end,
		                  .trims_lines = host->trims_lines && !is_markdown(path) };
	const cJSON *all = keys->all ? cJSON_GetObjectItemCaseSensitive(object, keys->all) : NULL;
	const cJSON *expected = cJSON_GetObjectItemCaseSensitive(object, "expected_replacements");
	struct gate_edit_file *f;
	struct str result = { 0 };
	struct err why = { 0 };

	if (!path || !r.old_text || !r.new_text)
		return cannot(w, "the path, the old text or the new text is not given");
	if (all && !cJSON_IsBool(all))
		return cannot(w, "the flag to replace all occurrences is not a boolean");
	r.all = cJSON_IsTrue(all);
	if (cJSON_IsNumber(expected) && expected->valueint > 1)
		r.expected = (size_t)expected->valueint;
	f = look(w, path);
	if (!f)
		return -1;
	if (gate_replace(&r, f->exists ? &f->after : NULL, &result, &why)) {
		str_clear(&result);
		return cannot_err(w, &why);
	}
	put(f, &result);
	return 1;
}

static int replace_many(const struct work *w)
{
	const struct gate_keys *keys = w->in->keys;
	const char *path = argument(w->in->tool_input, keys->path);
	const cJSON *edits = cJSON_GetObjectItemCaseSensitive(w->in->tool_input, keys->edits);
	const cJSON *item;
	int got = 1;

	if (!cJSON_IsArray(edits) || !edits->child)
		return cannot(w, "the list of edits is not given");
	cJSON_ArrayForEach (item, edits) {
		got = replace_in(w, path ? path : argument(item, keys->path), item);
		if (got != 1)
			break;
	}
	return got;
}

static int insert(const struct work *w)
{
	const cJSON *input = w->in->tool_input;
	const char *path = argument(input, w->in->keys->path);
	const char *text = argument(input, w->in->keys->new_text);
	const cJSON *line = cJSON_GetObjectItemCaseSensitive(input, "insert_line");
	struct gate_edit_file *f;
	struct str result = { 0 };
	struct err why = { 0 };

	if (!path || !text || !cJSON_IsNumber(line) || line->valuedouble < 0)
		return cannot(w, "the path, the line or the text is not given");
	f = look(w, path);
	if (!f)
		return -1;
	if (!f->exists)
		return cannot(w, "the file does not exist");
	if (gate_replace_insert(&f->after, (size_t)line->valueint, text, &result, &why)) {
		str_clear(&result);
		return cannot_err(w, &why);
	}
	put(f, &result);
	return 1;
}

static int delete_one(const struct work *w)
{
	const char *path = argument(w->in->tool_input, w->in->keys->path);
	struct gate_edit_file *f;

	if (!path)
		return cannot(w, "the path is not given");
	f = look(w, path);
	if (!f)
		return -1;
	if (!f->exists)
		return cannot(w, "the file does not exist");
	delete (f);
	return 1;
}

/* ---- patches ---- */

static int update(const struct work *w, const struct gate_patch_part *part)
{
	struct gate_edit_file *f = look(w, part->path);
	struct str result = { 0 };
	struct err why = { 0 };
	/* Others that know the language find lines in ways of their own. */
	bool exactly = w->in->host->dialect != GATE_DIALECT_CODEX;

	if (!f)
		return -1;
	if (!f->exists)
		return cannot(w, "a file to update does not exist");
	if (gate_patch_update(part, str_text(&f->after), f->after.length, exactly, &result, &why)) {
		str_clear(&result);
		return cannot_err(w, &why);
	}
	if (part->to && strcmp(part->to, part->path) != 0) {
		delete (f);
		f = look(w, part->to);
	}
	if (!f) {
		str_clear(&result);
		return -1;
	}
	put(f, &result);
	return 1;
}

static int run_part(const struct work *w, const struct gate_patch_part *part)
{
	struct gate_edit_file *f;
	struct str result = { 0 };

	if (find(w->edit, part->path))
		return cannot(w, "the patch names a file twice");
	if (part->kind == GATE_PATCH_UPDATE)
		return update(w, part);
	f = look(w, part->path);
	if (!f)
		return -1;
	if (part->kind == GATE_PATCH_ADD) {
		gate_patch_add(part, &result);
		put(f, &result);
		return 1;
	}
	if (!f->exists)
		return cannot(w, "a file to delete does not exist");
	delete (f);
	return 1;
}

static int run_patch(const struct work *w)
{
	struct gate_patch patch = { 0 };
	struct err why = { 0 };
	int got = 1;

	if (!w->in->patch)
		return cannot(w, "the patch is not given");
	if (gate_patch_parse(w->in->patch, strlen(w->in->patch), &patch, &why))
		got = cannot_err(w, &why);
	for (size_t i = 0; i < patch.count && got == 1; i++)
		got = run_part(w, &patch.parts[i]);
	gate_patch_clear(&patch);
	return got;
}

/* ---- all ---- */

static int run(const struct work *w)
{
	const struct gate_input *in = w->in;

	switch (in->form) {
	case GATE_FORM_WRITE:
		return in->host->dialect == GATE_DIALECT_COPILOT ? create_new(w) : write_all(w);
	case GATE_FORM_REPLACE:
		return replace_in(w, argument(in->tool_input, in->keys->path), in->tool_input);
	case GATE_FORM_REPLACE_MANY:
	case GATE_FORM_REPLACE_EACH:
		return replace_many(w);
	case GATE_FORM_INSERT:
		return insert(w);
	case GATE_FORM_DELETE:
		return delete_one(w);
	case GATE_FORM_PATCH:
		return run_patch(w);
	case GATE_FORM_NOTEBOOK:
		return cannot(w, "it edits a cell of a notebook");
	case GATE_FORM_NONE:
	case GATE_FORM_SEARCH:
	case GATE_FORM_GLOB:
	case GATE_FORM_SKILL:
		break;
	}
	return cannot(w, "the tool does not say what it writes");
}

/* Where it is not certain which files are written, each that may be is looked at: one that is
 * protected is refused all the same. */
static int run_unplaced(const struct work *w)
{
	for (size_t i = 0; i < w->in->path_count; i++)
		if (!look(w, w->in->paths[i]))
			return -1;
	return cannot(w, w->in->unplaced);
}

int gate_edit_compute(const struct gate_input *in, gate_edit_read *read, void *arg,
                      struct gate_edit *edit, struct err *e)
{
	struct work w = { .in = in, .read = read, .arg = arg, .edit = edit, .e = e };
	int got = in->unplaced ? run_unplaced(&w) : run(&w);

	if (got != 1)
		gate_edit_clear(edit);
	return got;
}

void gate_edit_clear(struct gate_edit *edit)
{
	for (size_t i = 0; i < edit->count; i++) {
		free(edit->files[i].path);
		str_clear(&edit->files[i].before);
		str_clear(&edit->files[i].after);
	}
	free(edit->files);
	*edit = (struct gate_edit){ 0 };
}
