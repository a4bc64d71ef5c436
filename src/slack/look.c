#include "look.h"

#include "json.h"
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	HEADER_UNITS = 130, /* Slack takes 150, with the sign before it */
	INLINE_UNITS = 8000, /* of a text that is short enough; marks of invisible bytes are long */
	FENCED_UNITS = 3500,
};

/* ---- languages ---- */

static const struct {
	const char *ending, *type;
} TYPES[] = {
	{ "rs", "rust" },
	{ "c", "c" },
	{ "h", "c" },
	{ "cc", "cpp" },
	{ "cpp", "cpp" },
	{ "cxx", "cpp" },
	{ "hh", "cpp" },
	{ "hpp", "cpp" },
	{ "cs", "csharp" },
	{ "css", "css" },
	{ "csv", "csv" },
	{ "clj", "clojure" },
	{ "coffee", "coffeescript" },
	{ "dart", "dart" },
	{ "diff", "diff" },
	{ "patch", "diff" },
	{ "erl", "erlang" },
	{ "fs", "fsharp" },
	{ "f90", "fortran" },
	{ "go", "go" },
	{ "groovy", "groovy" },
	{ "gradle", "groovy" },
	{ "hs", "haskell" },
	{ "hbs", "handlebars" },
	{ "htm", "html" },
	{ "html", "html" },
	{ "java", "java" },
	{ "js", "javascript" },
	{ "cjs", "javascript" },
	{ "mjs", "javascript" },
	{ "jsx", "javascript" },
	{ "json", "javascript" },
	{ "jl", "julia" },
	{ "kt", "kotlin" },
	{ "kts", "kotlin" },
	{ "tex", "latex" },
	{ "lisp", "lisp" },
	{ "el", "lisp" },
	{ "lua", "lua" },
	{ "m", "objc" },
	{ "md", "markdown" },
	{ "markdown", "markdown" },
	{ "mat", "matlab" },
	{ "ml", "ocaml" },
	{ "pas", "pascal" },
	{ "pl", "perl" },
	{ "pm", "perl" },
	{ "php", "php" },
	{ "ps1", "powershell" },
	{ "pp", "puppet" },
	{ "py", "python" },
	{ "r", "r" },
	{ "rb", "ruby" },
	{ "sass", "sass" },
	{ "scss", "sass" },
	{ "scala", "scala" },
	{ "scm", "scheme" },
	{ "sh", "shell" },
	{ "bash", "shell" },
	{ "zsh", "shell" },
	{ "sql", "sql" },
	{ "swift", "swift" },
	{ "ts", "typescript" },
	{ "tsx", "typescript" },
	{ "v", "verilog" },
	{ "vb", "vb" },
	{ "xml", "xml" },
	{ "svg", "xml" },
	{ "yaml", "yaml" },
	{ "yml", "yaml" },
};

const char *slack_file_type(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (strcasecmp(name, "Dockerfile") == 0)
		return "dockerfile";
	for (size_t i = 0; dot && i < COUNT(TYPES); i++)
		if (strcasecmp(dot + 1, TYPES[i].ending) == 0)
			return TYPES[i].type;
	return "text";
}

/* ---- words ---- */

/* "8,412" */
static void add_number(struct str *out, int64_t n)
{
	char digits[24];
	size_t length;

	(void)snprintf(digits, sizeof(digits), "%lld", (long long)n);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			str_add_char(out, ',');
		str_add_char(out, digits[i]);
	}
}

static void add_count(struct str *out, int64_t n, const char *one, const char *many)
{
	add_number(out, n);
	str_addf(out, " %s", n == 1 ? one : many);
}

/* "src/", "a.c", "notes.md → src/auth.c" */
static void add_name(struct str *out, const cJSON *detail, bool is_folder)
{
	const char *target = json_text(detail, "target");

	str_add(out, json_text_or(detail, "path", "?"));
	if (is_folder)
		str_add_char(out, '/');
	if (target)
		str_addf(out, " → %s", target);
}

static void add_folder_facts(struct str *out, const cJSON *detail)
{
	str_add(out, "📊 ");
	add_count(out, json_integer(detail, "directories"), "directory", "directories");
	str_add(out, ", ");
	add_count(out, json_integer(detail, "files"), "file", "files");
	if (json_integer(detail, "others")) {
		str_add(out, ", ");
		add_count(out, json_integer(detail, "others"), "other", "others");
	}
	str_addf(out, " | Depth: %lld | 💡 Use `--depth N` to adjust",
	         (long long)json_integer(detail, "depth"));
}

static void add_file_facts(struct str *out, const struct file_look_read_row *l, const cJSON *detail)
{
	const char *at = json_text(detail, "modified_at");

	str_add(out, "📊 ");
	if (l->first_line)
		str_addf(out, "Lines %lld–%lld of ", (long long)json_integer(detail, "first"),
		         (long long)json_integer(detail, "last"));
	add_count(out, json_integer(detail, "lines"), "line", "lines");
	str_add(out, " | ");
	add_count(out, json_integer(detail, "bytes"), "byte", "bytes");
	if (at && strlen(at) > 16)
		str_addf(out, " | Last modified: %.10s %.5s UTC", at, at + 11);
	if (l->is_long && !l->first_line)
		str_add(out, " | 💡 Use `--lines 10:50` to view a range");
}

/* ---- blocks ---- */

static void add_header(cJSON *blocks, const struct str *title)
{
	cJSON *header = blocks_object("header");
	OWNED(str) struct str cut = { 0 };

	(void)slack_add(&cut, str_text(title), title->length, HEADER_UNITS, SLACK_RAW);
	(void)cJSON_AddItemToObject(header, "text", blocks_plain(str_text(&cut)));
	(void)cJSON_AddItemToArray(blocks, header);
}

static void add_text(cJSON *blocks, const struct str *text, const char *empty, const char *type)
{
	cJSON *elements;

	if (!text->length) {
		blocks_add_section(blocks, empty);
		return;
	}
	elements = blocks_add_rich(blocks, "rich_text_preformatted");
	blocks_add_foreign(elements, text->bytes, text->length, INLINE_UNITS, NULL);
	if (strcmp(type, "text") != 0) {
		cJSON *block = cJSON_GetArrayItem(blocks, cJSON_GetArraySize(blocks) - 1);
		cJSON *pre = cJSON_GetArrayItem(cJSON_GetObjectItem(block, "elements"), 0);

		(void)cJSON_AddStringToObject(pre, "language", type);
	}
}

/* Without blocks. */
static void add_fenced(struct str *out, const struct str *text, const struct str *facts)
{
	str_add(out, "\n```\n");
	(void)slack_add(out, str_text(text), text->length, FENCED_UNITS, SLACK_MRKDWN);
	str_addf(out, "\n```\n%s", str_text(facts));
}

static void say_refused(const struct file_look_read_row *l, struct slack_said *out)
{
	str_add(&out->text, "🚫 ");
	blocks_add_escaped(&out->text, l->why ? l->why : "?", BLOCKS_REASON);
	out->blocks = blocks_of_section(str_text(&out->text));
}

static void add_diff_title(struct str *out, const cJSON *detail)
{
	const char *label = json_text(detail, "label");

	if (!label && json_says(detail, "kind", "start")) {
		str_add(out, "🔀 Changes since the session began");
		return;
	}
	str_add(out, "🔀 Changes since checkpoint ");
	if (label)
		str_add(out, label);
	else
		str_addf(out, "%.13s", json_text_or(detail, "checkpoint_id", "?"));
}

static void add_diff_facts(struct str *out, const cJSON *detail)
{
	const char *at = json_text(detail, "taken_at");

	str_addf(out, "📊 %lld modified, %lld added, %lld deleted",
	         (long long)json_integer(detail, "modified"),
	         (long long)json_integer(detail, "added"),
	         (long long)json_integer(detail, "deleted"));
	if (json_integer(detail, "not_compared") > 0)
		str_addf(out, ", %lld not compared",
		         (long long)json_integer(detail, "not_compared"));
	if (at && strlen(at) > 16)
		str_addf(out, " since %.10s %.5s UTC", at, at + 11);
	str_addf(out, " | 💡 `session-restore %.13s` puts it back",
	         json_text_or(detail, "checkpoint_id", "?"));
}

/* "📁 Directory: src/", "📄 a.c", "🔀 Changes since ..." */
static void add_title(struct str *out, const struct file_look_read_row *l, const cJSON *detail)
{
	if (l->what == FILE_LOOK_WHAT_DIFF) {
		add_diff_title(out, detail);
		return;
	}
	str_add(out, l->what == FILE_LOOK_WHAT_FOLDER ? "📁 Directory: " : "📄 ");
	add_name(out, detail, l->what == FILE_LOOK_WHAT_FOLDER);
}

static void add_facts(struct str *out, const struct file_look_read_row *l, const cJSON *detail)
{
	if (l->what == FILE_LOOK_WHAT_DIFF)
		add_diff_facts(out, detail);
	else if (l->what == FILE_LOOK_WHAT_FOLDER)
		add_folder_facts(out, detail);
	else
		add_file_facts(out, l, detail);
}

static const char *too_long(const struct file_look_read_row *l)
{
	if (l->what == FILE_LOOK_WHAT_DIFF)
		return "The diff is too long for a message: see the attached file.";
	return l->what == FILE_LOOK_WHAT_FOLDER
	           ? "The tree is too long for a message: see the attached file."
	           : "The file is too long for a message: see the attached file.";
}

void slack_look_say(const struct file_look_read_row *l, const struct str *text, bool with_blocks,
                    struct slack_said *out)
{
	OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(l->detail ? l->detail : "{}");
	OWNED(str) struct str title = { 0 }, facts = { 0 };
	bool is_folder = l->what == FILE_LOOK_WHAT_FOLDER;
	const char *name = json_text(detail, "file_name");

	if (l->state == FILE_LOOK_STATE_REFUSED) {
		say_refused(l, out);
		return;
	}
	add_title(&title, l, detail);
	add_facts(&facts, l, detail);
	blocks_add_escaped(&out->text, title.bytes, BLOCKS_PATH);
	out->blocks = cJSON_CreateArray();
	add_header(out->blocks, &title);
	if (l->is_long)
		blocks_add_section(out->blocks, too_long(l));
	else
		add_text(out->blocks, text,
		         l->what == FILE_LOOK_WHAT_DIFF ? "_Nothing has changed._"
		                                        : "_The file is empty._",
		         is_folder || !name ? "text" : slack_file_type(name));
	blocks_add_context(out->blocks, facts.bytes);
	if (!with_blocks && !l->is_long)
		add_fenced(&out->text, text, &facts);
}
