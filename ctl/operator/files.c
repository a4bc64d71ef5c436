/* files, file: what is in a workspace. The order is a row; reader answers it, and this program
 * waits for that. */
#include "ctl.h"

#include "content.h"
#include "json.h"
#include "sql/file_look.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

enum {
	WAIT_MS = 15000, /* longer than reader takes for a look */
	DIFF_MS = 620000, /* the default of checkpoint.timeout_seconds, and the look */
};

/* ---- the answer ---- */

static void print_facts(const cJSON *detail)
{
	const cJSON *cut = cJSON_GetObjectItem(detail, "cut");

	(void)printf("\n%.0f directories, %.0f files, %.0f others; depth %.0f (--depth N)%s\n",
	             cJSON_GetNumberValue(cJSON_GetObjectItem(detail, "directories")),
	             cJSON_GetNumberValue(cJSON_GetObjectItem(detail, "files")),
	             cJSON_GetNumberValue(cJSON_GetObjectItem(detail, "others")),
	             cJSON_GetNumberValue(cJSON_GetObjectItem(detail, "depth")),
	             cJSON_IsTrue(cut) ? "; not all is listed" : "");
}

static void print_text(const cJSON *detail, const struct str *text, bool is_tree)
{
	OWNED(str) struct str shown = { 0 };

	add_visible(&shown, str_text(text), text->length, true);
	(void)fwrite(str_text(&shown), 1, shown.length, stdout);
	if (shown.length && shown.bytes[shown.length - 1] != '\n')
		(void)putchar('\n');
	if (is_tree)
		print_facts(detail);
}

static void print_found(const cJSON *detail, const struct str *text, enum file_look_what what)
{
	if (what != FILE_LOOK_WHAT_DIFF)
		print_text(detail, text, what == FILE_LOOK_WHAT_FOLDER);
	else if (text->length)
		print_text(detail, text, false);
	else
		(void)puts("nothing has changed");
}

static int print(struct ctl *c, struct ctl_reply *reply, struct err *e)
{
	OWNED(file_look_of_command_row) struct file_look_of_command_row look = { 0 };
	OWNED(str) struct str text = { 0 };

	if (sql_file_look_of_command(&c->store, reply->seq, &look, e) < 0 ||
	    content_get(&c->store, look.content_seq, &text, e))
		return -1;
	if (c->json) {
		json_add_bytes(reply->json, "text", str_text(&text), text.length);
		ctl_print_reply(c, reply);
	} else {
		print_found(reply->json, &text, look.what);
	}
	return EX_OK;
}

static int look(struct ctl *c, const char *word, const char *depth, const char *lines,
                struct err *e)
{
	OWNED(char_ptr) char *folder = NULL;
	OWNED(ctl_reply) struct ctl_reply reply = { 0 };
	struct words w = { .verb = verb_find(word),
		           .id = c->session,
		           .text = c->argc ? c->argv[0] : NULL,
		           .depth = depth,
		           .lines = lines };

	if (ctl_workspace(c, &folder, e))
		return -1;
	w.workspace = folder;
	return ctl_order(c, &w, strcmp(word, "diff") == 0 ? DIFF_MS : WAIT_MS,
	                 "ordered, but not answered yet: reader does it when it runs; see `health`",
	                 &reply, e)
	           ? -1
	           : print(c, &reply, e);
}

static int run_files(struct ctl *c, struct err *e)
{
	return look(c, "list-files", c->depth, NULL, e);
}

static int run_file(struct ctl *c, struct err *e)
{
	return look(c, "show-file", NULL, c->lines, e);
}

static const char WHERE[] =
    "Without --session or --workspace it is the only workspace in which agents work; of several,\n"
    "name one; without any, it is default_workspace_root. DIR is a folder (with a '/', or . or "
    "..),\n"
    "or the id of a [[workspace]].\n";

const struct command_spec cmd_files = {
	"files",
	HELP("[PATH] [--depth N] [--session ID|--workspace DIR]",
	     "the folders and files of a workspace",
	     "N is 3 unless given, and at most 10. Hidden folders, node_modules and target are "
	     "left out\n"
	     "unless PATH names them. Links, mount points and huge folders are named, not "
	     "followed.\n"),
	ARGUMENTS(0, 1, TAKES_SESSION | TAKES_WORKSPACE | TAKES_DEPTH), .run = run_files
};
const struct command_spec cmd_file = {
	"file",
	HELP("PATH [--lines A:B] [--session ID|--workspace DIR]",
	     "a file of a workspace, or some of its lines", WHERE),
	ARGUMENTS(1, 1, TAKES_SESSION | TAKES_WORKSPACE | TAKES_LINES), .run = run_file
};

int diff_since(struct ctl *c, const char *what, struct err *e)
{
	char *arguments[] = { (char *)what, NULL };

	c->argv = arguments;
	c->argc = what ? 1 : 0;
	return look(c, "diff", NULL, NULL, e);
}

static int run_diff(struct ctl *c, struct err *e)
{
	OWNED(char_ptr) char *what = c->argc ? join_arguments(c, 0) : NULL;

	return diff_since(c, what, e);
}

const struct command_spec cmd_diff = {
	"diff",
	HELP("[CHECKPOINT|LABEL|SESSION] [--session ID|--workspace DIR]",
	     "what has changed in a workspace since then",
	     "Alone: since the session began; with --workspace: since the last checkpoint of that "
	     "folder.\n"
	     "Text as a diff; binary and long files by size. Two checkpoints: checkpoint diff ID "
	     "ID.\n"),
	ARGUMENTS(0, -1, TAKES_SESSION | TAKES_WORKSPACE), .run = run_diff
};
