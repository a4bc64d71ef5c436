/* In a sanitized build: where SQLite keeps the schema that it has read.
 *
 * Each process that opens the database reads all of it, 400 KB of SQL in 37,000 pieces, of which
 * our code never sees one. In the sanitizer's allocator this is nine tenths of the life of a short
 * process, and half of the time of all sanitized tests. So what SQLite allocates from the opening
 * of a database until the first statement that is not a PRAGMA comes from the C library's own heap;
 * all else, and with it every row and text that our code is given, stays the sanitizer's.
 *
 * The sanitized build compiles it together with src/store/store.c; it takes effect by being linked.
 * Where leaks are searched for it does not, since the search does not see that heap. */
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before each piece: its size, and whose it is. A multiple of what SQLite aligns to, eight bytes.
 */
struct head {
	uint64_t bytes;
	uint64_t is_schema;
};

static void *(*own_malloc)(size_t), *(*own_realloc)(void *, size_t);
static void (*own_free)(void *);
static bool reads_schema;

static void *give(int bytes)
{
	bool is_schema = reads_schema;
	struct head *h = (is_schema ? own_malloc : malloc)(sizeof(*h) + (size_t)bytes);

	if (!h)
		return NULL;
	h->bytes = (uint64_t)bytes;
	h->is_schema = is_schema;
	return h + 1;
}

static void take(void *p)
{
	struct head *h = (struct head *)p - 1;

	(h->is_schema ? own_free : free)(h);
}

static void *resize(void *p, int bytes)
{
	struct head *h = (struct head *)p - 1;

	h = (h->is_schema ? own_realloc : realloc)(h, sizeof(*h) + (size_t)bytes);
	if (!h)
		return NULL;
	h->bytes = (uint64_t)bytes;
	return h + 1;
}

static int size(void *p)
{
	return p ? (int)((struct head *)p - 1)->bytes : 0;
}

static int round_up(int bytes)
{
	return (bytes + 7) & ~7;
}

static int begin(void *unused)
{
	(void)unused;
	return SQLITE_OK;
}

static void end(void *unused)
{
	(void)unused;
}

/* The statement with which SQLite reads the schema is not traced; PRAGMAs come before or bring it
 * about. */
static int on_statement(unsigned kind, void *unused, void *statement, void *text)
{
	static const char PRAGMA[] = "PRAGMA ";

	(void)kind, (void)unused, (void)statement;
	if (strncmp(text, PRAGMA, sizeof(PRAGMA) - 1) != 0)
		reads_schema = false;
	return 0;
}

static int on_open(sqlite3 *db, char **ret_message, const struct sqlite3_api_routines *unused)
{
	(void)ret_message, (void)unused;
	reads_schema = true;
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_statement, NULL);
}

__attribute__((constructor)) static void set_schema_heap(void)
{
	static const sqlite3_mem_methods METHODS = { give,     take,  resize, size,
		                                     round_up, begin, end,    NULL };
	const char *options = getenv("ASAN_OPTIONS");
	void *libc = options && strstr(options, "detect_leaks=0")
	                 ? dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD)
	                 : NULL;

	if (!libc)
		return;
	*(void **)&own_malloc = dlsym(libc, "malloc");
	*(void **)&own_realloc = dlsym(libc, "realloc");
	*(void **)&own_free = dlsym(libc, "free");
	if (own_malloc && own_realloc && own_free &&
	    sqlite3_config(SQLITE_CONFIG_MALLOC, &METHODS) == SQLITE_OK)
		(void)sqlite3_auto_extension((void (*)(void))on_open);
}
