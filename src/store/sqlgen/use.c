/* Which worker reads and writes which tables: from main through functions and tables of functions,
 * by name, to the statements that they name, and what SQLite's authorizer says about those. A name
 * that two files use for their own functions is resolved by file. */
#include "sqlgen.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_TEXTS = 600, MAX_NODES = 12000, BUCKETS = 4096 };

/* A function, or a variable with its initializer. */
struct node {
	char name[NAME_BYTES];
	int file;
	const char *text;
	size_t length;
	bool is_static;
	bool reached;
	struct node *next; /* in its bucket */
};

struct code {
	char *path[MAX_TEXTS];
	char *text[MAX_TEXTS];
	int files;
	struct node *node;
	int nodes;
	struct node *bucket[BUCKETS]; /* by name */
};

struct use {
	bool reads[MAX_TABLES];
	bool writes[MAX_TABLES];
};

/* ---- reading C ---- */

/* The end of the comment or text that begins at c; c where none does. */
static char *skipped(char *c)
{
	char *end = c;

	if (strncmp(c, "/*", 2) == 0)
		return strstr(c, "*/") ? strstr(c, "*/") + 2 : c + strlen(c);
	if (*c != '"' && *c != '\'')
		return c;
	for (end = c + 1; *end && *end != *c; end++)
		end += *end == '\\' && end[1];
	return *end ? end + 1 : end;
}

/* Blanks out comments and texts; lines stay. */
static void blank(char *c)
{
	while (*c) {
		char *end = skipped(c);

		for (; c < end; c++)
			if (*c != '\n')
				*c = ' ';
		if (c == end && *c && skipped(c) == c)
			c++;
	}
}

static struct node **bucket_of(struct code *code, const char *name)
{
	unsigned hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return &code->bucket[hash % BUCKETS];
}

static void add_node(struct code *code, int file, const char *start, const char *end)
{
	const char *stop = start, *word;
	struct node *n = &code->node[code->nodes];

	/* The name comes before the parameters, the brackets or the value. */
	while (stop < end && !strchr("([=;{", *stop))
		stop++;
	while (stop > start && !source_is_word(stop[-1]))
		stop--;
	for (word = stop; word > start && source_is_word(word[-1]);)
		word--;
	if (word == stop || isdigit((unsigned char)*word))
		return;
	if (++code->nodes == MAX_NODES)
		die("too many functions");
	(void)snprintf(n->name, sizeof(n->name), "%.*s", (int)(stop - word), word);
	n->file = file;
	n->text = stop;
	n->length = (size_t)(end - stop);
	n->is_static = strncmp(start, "static ", 7) == 0;
	n->next = *bucket_of(code, n->name);
	*bucket_of(code, n->name) = n;
}

/* Whatever begins in the first column and ends with a brace or a semicolon there, or on its
 * line. */
static void split(struct code *code, int file)
{
	const char *c = code->text[file];

	while (*c) {
		const char *start = c;
		int depth = 0;

		if (!isalpha((unsigned char)*c)) {
			c += strcspn(c, "\n");
			c += *c == '\n';
			continue;
		}
		for (; *c; c++) {
			depth += (*c == '{') - (*c == '}');
			if (depth == 0 && (*c == ';' || (*c == '}' && c[1] == '\n')))
				break;
		}
		add_node(code, file, start, c);
		c += strcspn(c, "\n");
		c += *c == '\n';
	}
}

static void read_folder(struct code *code, const char *folder)
{
	char path[4096];
	struct dirent *entry;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/%s", source_dir, folder);
	d = opendir(path);
	while (d && (entry = readdir(d)) != NULL) {
		OWNED(str) struct str name = { 0 };
		struct stat about;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "sqlgen") == 0)
			continue;
		str_addf(&name, "%s/%s", folder, entry->d_name);
		(void)snprintf(path, sizeof(path), "%s/%s", source_dir, name.bytes);
		if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
			read_folder(code, name.bytes);
		} else if (source_ends_with(name.bytes, ".c")) {
			if (code->files == MAX_TEXTS)
				die("too many files");
			code->text[code->files] = source_text(name.bytes);
			blank(code->text[code->files]);
			code->path[code->files++] = str_take(&name);
		}
	}
	if (d)
		(void)closedir(d);
}

/* ---- from main on ---- */

/* A worker is a file or a folder of workers/; worker.c is below all of them. */
static bool is_of_worker(const char *path, const char *worker)
{
	size_t n = strlen(worker);

	return strncmp(path, "workers/", 8) != 0 || strcmp(path, "workers/worker.c") == 0 ||
	       (strncmp(path + 8, worker, n) == 0 && (path[8 + n] == '/' || path[8 + n] == '.'));
}

static void reach(struct code *code, struct node *from, const char *worker, bool *statements,
                  const struct statements *list);

/* Follows everything with that name: declarations and definitions. In the same file, if it has
 * any. */
static void reach_name(struct code *code, int file, const char *name, const char *worker,
                       bool *statements, const struct statements *list)
{
	bool here = false;

	for (struct node *n = *bucket_of(code, name); n; n = n->next)
		here |= n->file == file && strcmp(n->name, name) == 0;
	for (struct node *n = *bucket_of(code, name); n; n = n->next)
		if (!n->reached && strcmp(n->name, name) == 0 &&
		    (here ? n->file == file : !n->is_static) &&
		    is_of_worker(code->path[n->file], worker))
			reach(code, n, worker, statements, list);
}

static void take_statement(const char *name, bool *statements, const struct statements *list)
{
	for (int i = 0; i < list->count; i++)
		if (strcasecmp(list->one[i].name, name) == 0)
			statements[i] = true;
}

static void reach(struct code *code, struct node *from, const char *worker, bool *statements,
                  const struct statements *list)
{
	const char *c = from->text, *end = c + from->length;

	from->reached = true;
	while (c < end) {
		char name[NAME_BYTES];
		const char *start = c;

		while (c < end && source_is_word(*c))
			c++;
		if (c == start) {
			c++;
			continue;
		}
		(void)snprintf(name, sizeof(name), "%.*s", (int)(c - start), start);
		if (strncasecmp(name, "sql_", 4) == 0)
			take_statement(name + 4, statements, list);
		else if (start == from->text || (start[-1] != '.' && start[-1] != '>'))
			reach_name(code, from->file, name, worker, statements, list);
	}
}

/* ---- what a statement touches ---- */

struct watched {
	const struct schema *schema;
	struct use *use;
};

static int watch(void *arg, int action, const char *table, const char *b, const char *c,
                 const char *trigger)
{
	struct watched *w = arg;
	bool writes = action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE;

	(void)b;
	(void)c;
	if (trigger || (!writes && action != SQLITE_READ))
		return SQLITE_OK;
	for (int i = 0; i < w->schema->tables; i++)
		if (table && strcmp(w->schema->table[i].name, table) == 0) {
			w->use->writes[i] |= writes;
			w->use->reads[i] |= !writes;
		}
	return SQLITE_OK;
}

static void find_use(const struct schema *s, const struct statements *list, const bool *statements,
                     struct use *use)
{
	struct watched w = { s, use };

	(void)sqlite3_set_authorizer(s->db, watch, &w);
	for (int i = 0; i < list->count; i++) {
		sqlite3_stmt *stmt = NULL;

		if (!statements[i])
			continue;
		(void)sqlite3_prepare_v2(s->db, list->one[i].text, -1, &stmt, NULL);
		(void)sqlite3_finalize(stmt);
	}
	(void)sqlite3_set_authorizer(s->db, NULL, NULL);
}

/* ---- the table ---- */

static void print_names(const struct schema *s, const bool *marks, struct str *out)
{
	const char *between = "";

	for (int i = 0; i < s->tables; i++) {
		if (!marks[i] || s->table[i].closed)
			continue;
		str_addf(out, "%s`%s`", between, s->table[i].name);
		between = ", ";
	}
	str_add(out, " |");
}

static void print_bells(const struct schema *s, const char *binary, struct str *out)
{
	struct bells *bells = xcalloc(1, sizeof(*bells));
	bool rings[MAX_TABLES] = { false };

	bells_list(s, bells);
	for (int i = 0; i < s->tables; i++)
		for (int k = 0; k < bells->count; k++)
			rings[i] |= bells->bell[k].table == s->table[i].name &&
			            strcmp(bells->bell[k].worker, binary) == 0;
	print_names(s, rings, out);
	free(bells);
}

static void print_worker(struct code *code, const struct schema *s, const struct statements *list,
                         const char *worker, const char *binary, struct str *out)
{
	struct use use = { 0 };
	bool *statements = xcalloc((size_t)list->count + 1, sizeof(*statements));

	for (int i = 0; i < code->nodes; i++)
		code->node[i].reached = false;
	for (int i = 0; i < code->nodes; i++) {
		struct node *n = &code->node[i];

		/* Everything that its own files export; the supervisor's main is not included. */
		if (strncmp(code->path[n->file], "workers/", 8) == 0 &&
		    strcmp(code->path[n->file], "workers/worker.c") != 0 &&
		    is_of_worker(code->path[n->file], worker) && !n->is_static && !n->reached)
			reach(code, n, worker, statements, list);
	}
	find_use(s, list, statements, &use);
	str_addf(out, "| `%s` | ", binary);
	print_bells(s, binary, out);
	str_add(out, " ");
	print_names(s, use.reads, out);
	str_add(out, " ");
	print_names(s, use.writes, out);
	str_add(out, "\n");
	free(statements);
}

void uses_print(const struct schema *s, const struct statements *list, struct str *out)
{
	static const char *const WORKERS[][2] = {
		{ "supervisor", "agent-intercom" },
		{ "mcp_front", "mcp-front" },
		{ "applier", "applier" },
		{ "reader", "reader" },
		{ "watchdog", "watchdog" },
		{ "slack_listener", "slack-listener" },
		{ "slack_poster", "slack-poster" },
		{ "retention", "retention" },
		{ "archivist", "archivist" },
		{ "runner", "runner" },
		{ "commander", "commander" },
		{ "sentry", "sentry" },
		{ "desk", "desk" },
	};
	struct bells *bells = xcalloc(1, sizeof(*bells));
	struct code *code = xcalloc(1, sizeof(*code));

	code->node = xcalloc(MAX_NODES, sizeof(*code->node));
	read_folder(code, "src");
	read_folder(code, "workers");
	for (int i = 0; i < code->files; i++)
		split(code, i);
	str_add(out, "| worker | is rung by | reads | writes |\n|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(WORKERS) / sizeof(WORKERS[0]); i++)
		print_worker(code, s, list, WORKERS[i][0], WORKERS[i][1], out);
	bells_list(s, bells);
	str_add(
	    out,
	    "\nAfter a commit the bells of the tables that it changed are rung in this order, each "
	    "once:\n");
	for (int i = 0; i < bells->count; i++)
		str_addf(out, "%s`%s` (`%s`)", i ? ", " : "", bells->bell[i].worker,
		         bells->bell[i].table);
	str_add(out, ".\n");
	free(bells);
	for (int i = 0; i < code->files; i++) {
		free(code->path[i]);
		free(code->text[i]);
	}
	free(code->node);
	free(code);
}
