/* checkpoint: what a workspace holds, kept: taken, listed and shown. */
#include "ctl.h"

#include "manifest.h"
#include "sql/checkpoint.h"
#include "tree_diff.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
	WAIT_MS = 600000, /* the default of checkpoint.timeout_seconds */
	DIFF_BYTES = 16 << 20, /* nobody reads more */
};

static const char LATE[] = "ordered, but not taken yet: the archivist does it when it runs; see "
                           "`checkpoint list`";

/* ---- create, list ---- */

static void tell_created(const cJSON *o)
{
	const cJSON *label = cJSON_GetObjectItem(o, "label");

	printf("checkpoint %s", cJSON_GetStringValue(cJSON_GetObjectItem(o, "checkpoint_id")));
	print_between(": ", cJSON_GetStringValue(label), "");
	double left_out = cJSON_GetNumberValue(cJSON_GetObjectItem(o, "left_out"));

	printf("\n%.0f files, %.0f bytes; it takes %.0f more on disk; %.0f path%s left out\n",
	       cJSON_GetNumberValue(cJSON_GetObjectItem(o, "files")),
	       cJSON_GetNumberValue(cJSON_GetObjectItem(o, "bytes")),
	       cJSON_GetNumberValue(cJSON_GetObjectItem(o, "added_bytes")), left_out,
	       left_out == 1 ? "" : "s");
}

static int create(struct ctl *c, const char *root, struct err *e)
{
	OWNED(char_ptr) char *label = join_arguments(c, 1);
	const struct words w = { .verb = verb_find("session-checkpoint"),
		                 .id = c->session,
		                 .text = label,
		                 .workspace = root };
	OWNED(ctl_reply) struct ctl_reply reply = { 0 };

	if (ctl_order(c, &w, WAIT_MS, LATE, &reply, e))
		return -1;
	if (c->json)
		ctl_print_reply(c, &reply);
	else
		tell_created(reply.json);
	return 0;
}

static int list(struct ctl *c, const char *root, struct err *e)
{
	const struct words w = { .verb = verb_find("session-checkpoints"),
		                 .id = c->session,
		                 .workspace = root,
		                 .most = c->count == 0  ? INT_MAX
		                         : c->count < 0 ? 0
		                                        : c->count };

	return ctl_say_and_print(c, &w, e);
}

/* ---- show ---- */

static void print_entry(const struct entry *entry)
{
	OWNED(str) struct str line = { 0 };

	add_visible(&line, entry->path, strlen(entry->path), false);
	if (entry->kind == ENTRY_LINK)
		str_add(&line, " -> ");
	else if (entry->kind == ENTRY_LEFT_OUT)
		str_add(&line, "  left out: ");
	add_visible(&line, entry->text, strlen(entry->text), false);
	printf("%c %04o %12llu  %s\n", (char)entry->kind, (unsigned)entry->mode,
	       (unsigned long long)entry->size, str_text(&line));
}

static cJSON *entry_json(const struct entry *entry)
{
	cJSON *o = cJSON_CreateObject();
	const char kind[] = { (char)entry->kind, '\0' };

	json_add_text(o, "path", entry->path);
	json_add_text(o, "kind", kind);
	(void)cJSON_AddNumberToObject(o, "mode", (double)entry->mode);
	(void)cJSON_AddNumberToObject(o, "size", (double)entry->size);
	json_add_text(o, "hash", entry->hash.text[0] ? entry->hash.text : NULL);
	json_add_text(o, "text", *entry->text ? entry->text : NULL);
	return o;
}

static int show_manifest(struct ctl *c, const char *hash, struct err *e)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(manifest) struct manifest m = { 0 };
	OWNED(str) struct str path = { 0 };
	struct entry entry;
	int got;

	objects_path(c->paths.database, &path);
	if (objects_open(str_text(&path), false, &o, e) || manifest_open(&o, hash, &m, e))
		return -1;
	while ((got = manifest_next(&m, &entry, e)) > 0)
		if (c->json)
			json_print_line(entry_json(&entry));
		else
			print_entry(&entry);
	return got;
}

/* The manifest of the checkpoint that text names; the caller frees it. */
static int find_checkpoint(struct ctl *c, const char *text, const char *root, char **ret_manifest,
                           struct err *e)
{
	OWNED(checkpoint_row) struct checkpoint_row row = { 0 };
	char id[ID_BYTES];
	int got;

	if (ctl_find_checkpoint(c, text, root, id, e))
		return -1;
	sql_checkpoint_by_prefix(&c->store, id, &row);
	got = row_next(&row.row, e);
	if (got <= 0)
		return got < 0 ? -1 : err_set(e, ERR_INPUT, "checkpoint %s has just gone", id);
	if (!row.manifest)
		return err_set(e, ERR_INPUT, "checkpoint %s is %s%s%s", row.id,
		               checkpoint_state_name(row.state), row.why ? ": " : "",
		               row.why ? row.why : "");
	*ret_manifest = xstrdup(row.manifest);
	return 0;
}

static int show(struct ctl *c, const char *root, struct err *e)
{
	OWNED(char_ptr) char *name = join_arguments(c, 1);
	OWNED(char_ptr) char *manifest = NULL;

	if (c->argc < 2)
		return err_set(e, ERR_INPUT, "checkpoint show needs an id or a label");
	if (find_checkpoint(c, name, root, &manifest, e))
		return -1;
	return show_manifest(c, manifest, e);
}

static int restore(struct ctl *c, const char *root, struct err *e)
{
	OWNED(char_ptr) char *name = join_arguments(c, 1);

	if (c->argc < 2)
		return err_set(e, ERR_INPUT, "checkpoint restore needs an id or a label");
	return restore_checkpoint(c, name, root, e);
}

/* ---- diff ---- */

static int diff(struct ctl *c, const char *root, struct err *e)
{
	OWNED(char_ptr) char *before = NULL, *after = NULL;
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(manifest) struct manifest a = { 0 }, b = { 0 };
	OWNED(str) struct str text = { 0 };

	if (c->argc < 2 || c->argc > 3)
		return err_set(e, ERR_INPUT, "write checkpoint diff ID [ID]");
	if (c->argc == 2)
		return diff_since(c, c->argv[1], e);
	if (find_checkpoint(c, c->argv[1], root, &before, e) ||
	    find_checkpoint(c, c->argv[2], root, &after, e))
		return -1;
	objects_path(c->paths.database, &text);
	if (objects_open(str_text(&text), false, &o, e) || manifest_open(&o, before, &a, e) ||
	    manifest_open(&o, after, &b, e))
		return -1;
	str_reset(&text);
	if (tree_diff(&a, &b, DIFF_BYTES, &text, e))
		return -1;
	if (c->json) {
		cJSON *json = cJSON_CreateObject();

		json_add_bytes(json, "diff", str_text(&text), text.length);
		json_print(c, json);
	} else {
		OWNED(str) struct str shown = { 0 };

		add_visible(&shown, str_text(&text), text.length, true);
		(void)fputs(str_text(&shown), stdout);
	}
	return 0;
}

static int run_checkpoint(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *root = NULL;
	const char *word = c->argv[0];

	if (ctl_workspace(c, &root, e))
		return -1;
	if (strcmp(word, "create") == 0)
		return create(c, root, e);
	if (strcmp(word, "list") == 0 && c->argc == 1)
		return list(c, root, e);
	if (strcmp(word, "show") == 0)
		return show(c, root, e);
	if (strcmp(word, "diff") == 0)
		return diff(c, root, e);
	if (strcmp(word, "restore") == 0)
		return restore(c, root, e);
	return err_set(e, ERR_INPUT,
	               "write checkpoint create [LABEL], list, show ID, diff ID or restore ID");
}

const struct command_spec cmd_checkpoint = {
	"checkpoint",
	HELP("create [LABEL...] | list [-n N] | show ID | diff ID [ID] | restore ID",
	     "keeps what a workspace holds",
	     "  create [LABEL...]   every file, without .git, .intercom and what .gitignore "
	     "ignores (setting\n"
	     "                      checkpoint.ignored); content that is kept already costs "
	     "nothing\n"
	     "  list [-n N]         the newest 20, or N; -n 0: all\n"
	     "  show ID             its files, links and folders, and what could not be kept\n"
	     "  diff ID [ID]        what has changed since it, or between two; binary files by "
	     "size\n"
	     "  restore ID          puts the workspace back: shows what would change, and asks "
	     "(--yes: does\n"
	     "                      not); --file PATH: only this, and what is below it; may be "
	     "repeated;\n"
	     "                      where nobody can be asked the question stays open, and the "
	     "exit status is 1\n"
	     "ID: the beginning of an id, a label, a session, or `start`: as the session began.\n"
	     "--session ID, --workspace DIR: of which session, or of which folder; a checkpoint of "
	     "another\n"
	     "is refused. create --workspace DIR: of a folder without any session.\n"),
	ARGUMENTS(1, -1, TAKES_SESSION | TAKES_WORKSPACE | TAKES_YES | TAKES_COUNT),
	.run = run_checkpoint
};
