/* sqlgen: the build-time program behind every table, rule and statement.
 *
 * It loads schema/ into an empty database, generates the guards that the remarks of its tables ask
 * for, prepares each named statement of sql/ against it, and writes what the programs need. Its
 * parts, in the order of a run:
 *
 *   source      files, lines and complaints
 *   schema      tables, columns, indexes and their remarks
 *   set         columns that hold one word of a few
 *   guard       triggers made from remarks
 *   statement   sql/: names, texts, columns, parameters, and whether they scan
 *   type        what a parameter or a column is in C
 *   trigger     what triggers write: no scans, no cycles
 *   bell        whose bells a table rings, and in which order
 *   use         which worker reads and writes which tables, from the sources
 *   base        schema/steps/: a database of the last release, stepped up, is what the nouns make
 *   emit        sql.h, sql.c, image.c, calls.c and schema.sql
 *   call        sql/<noun>.h: each statement as a function
 *   page        what is printed into READMEs */
#ifndef SQLGEN_H
#define SQLGEN_H

#include "err.h"
#include "str.h"

#include <sqlite3.h>
#include <stdbool.h>

enum {
	MAX_FILES = 300,
	MAX_TABLES = 120,
	MAX_COLUMNS = 64,
	MAX_INDEXES = 300,
	MAX_STATEMENTS = 800,
	MAX_SETS = 80,
	MAX_WORDS = 24,
	NAME_BYTES = 80,
	TEXT_BYTES = 200,
	MAX_BELLS = 64, /* a bit for each in struct store */
};

/* ---- source ---- */

struct source {
	char *path; /* relative to the source directory */
	char *text;
};

/* The files of a folder that end in .sql, by name. */
struct sources {
	struct source file[MAX_FILES];
	int count;
};

extern const char *source_dir;
extern int failures; /* a build with one writes nothing */

/* Reports a mistake; the run continues to find others. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For memory and files: continuing is pointless. */
void die(const char *what) __attribute__((noreturn));
void sources_read(struct sources *s, const char *folder);
void sources_clear(struct sources *s);
/* The text of a file below the source directory; the caller frees it. NULL: no such file. */
char *source_text(const char *relative);
/* Writes a file of a folder only if its text differs, so that nothing is rebuilt needlessly. */
void source_write(const char *folder, const char *name, const char *text);
/* Whether c may be in a name. */
bool source_is_word(char c);
bool source_ends_with(const char *text, const char *end);
int line_of(const char *text, const char *at);
/* Runs a file's SQL statement by statement, so that a mistake is reported with its line. */
void source_run(sqlite3 *db, const struct source *s);
/* The single value of a query as text, which the caller frees; NULL: no row, or NULL. */
char *query_text(sqlite3 *db, const char *sql, const char *parameter);

/* ---- schema ---- */

enum guard {
	GUARD_FIXED = 1, /* never changes */
	GUARD_ONCE = 2, /* once it is there, it stays as it is */
	GUARD_GROWS = 4, /* does not fall */
	GUARD_FORGETS = 8, /* changes to NULL only */
	GUARD_LATER = 16, /* not given at birth */
	GUARD_UNTIL = 32, /* does not change once another column is set */
	GUARD_FREE = 64,
};

struct column {
	char name[NAME_BYTES];
	char type[NAME_BYTES];
	char *standard; /* the default as SQL; NULL: none */
	bool not_null;
	bool is_key; /* part of the primary key */
	bool is_bool; /* CHECK (x IN (0, 1)) */
	unsigned guards;
	char until[NAME_BYTES]; /* of GUARD_UNTIL */
	char set[NAME_BYTES]; /* the set whose words it takes; "": any text */
};

struct table {
	char name[NAME_BYTES];
	const char *file;
	int line;
	struct column column[MAX_COLUMNS];
	int columns;
	char key[NAME_BYTES]; /* the INTEGER PRIMARY KEY; "": none */
	bool small; /* may be scanned */
	bool closed; /* its rows come with the program */
	char rings[TEXT_BYTES]; /* workers, with commas */
	char moves[NAME_BYTES]; /* the column whose changes <name>_move allows */
	char repeats[NAME_BYTES]; /* the same value again is the same row: no effect */
	char fixed[TEXT_BYTES]; /* the refusal of a change to what is fixed */
	char upserts[TEXT_BYTES]; /* why the same row may be inserted again */
	char free[TEXT_BYTES]; /* why none of it is guarded */
};

/* A UNIQUE constraint or unique index, the primary key included. */
struct unique {
	const struct table *table;
	char name[NAME_BYTES];
	char column[8][NAME_BYTES];
	int columns;
	char *where; /* of a partial index; NULL: all rows */
	char refuses[TEXT_BYTES]; /* "rule: words", from the remark above; "": none */
};

/* The words of a column: an enum in C. */
struct set {
	char name[NAME_BYTES];
	char word[MAX_WORDS][NAME_BYTES];
	int words;
	bool used; /* by a statement */
};

struct schema {
	sqlite3 *db; /* made from the nouns, with rules */
	sqlite3 *bare; /* the same, in which no trigger fires */
	struct sources nouns, rules;
	struct table table[MAX_TABLES];
	int tables;
	struct unique unique[MAX_INDEXES];
	int uniques;
	struct set set[MAX_SETS];
	int sets;
};

void schema_load(struct schema *s);
void schema_clear(struct schema *s);
/* Prepares the first statement of sql without the triggers that it would fire, where that can be:
 * these, which triggers_check compiles anyway, take most of the time. Returns the database that it
 * belongs to and that says what is wrong with it. *ret is NULL after an error. tail may be NULL. */
sqlite3 *schema_prepare(const struct schema *s, const char *sql, sqlite3_stmt **ret,
                        const char **tail);
const struct table *schema_table(const struct schema *s, const char *name);
const struct column *table_column(const struct table *t, const char *name);

/* ---- set ---- */

void sets_find(struct schema *s);
const struct set *schema_set(const struct schema *s, const char *name);

/* ---- guard ---- */

/* Make the triggers in s->db: those that watch columns, and those that watch births and moves.
 * SQLite fires the youngest trigger on an event first; the hand-written rules are made between the
 * two, so that of several refusals the most informative one is reported. */
void guards_before(struct schema *s);
void guards_after(struct schema *s);

/* ---- statement ---- */

/* What a statement returns: the word after its name. */
enum answer {
	ANSWER_NONE,
	ANSWER_ONE, /* at most one row, owned by the caller */
	ANSWER_MANY, /* rows, one after the other, borrowed */
	ANSWER_ANY, /* whether there is a row */
	ANSWER_NUMBER, /* the number in its first row, 0: none */
	ANSWER_EXEC, /* nothing */
	ANSWER_ROWS, /* the number of rows that it changed */
	ANSWER_INSERT, /* the seq of the row that it inserted */
};

enum type {
	TYPE_UNKNOWN,
	TYPE_INTEGER,
	TYPE_SEQ, /* 0 is NULL */
	TYPE_BOOL,
	TYPE_TEXT,
	TYPE_BYTES,
	TYPE_SET,
};

struct value {
	char name[NAME_BYTES]; /* of a column; of a parameter, without its colon */
	enum type type;
	bool may_be_null; /* an INTEGER for which 0 does not mean NULL */
	char set[NAME_BYTES]; /* of TYPE_SET */
	int at; /* of a parameter: SQLite's number */
};

struct statement {
	char name[NAME_BYTES];
	char noun[NAME_BYTES]; /* its file */
	char row[NAME_BYTES]; /* the type of its rows */
	char *remark; /* for readers of the header */
	char *text;
	enum answer answer;
	struct value column[MAX_COLUMNS];
	int columns;
	struct value parameter[MAX_COLUMNS]; /* without :now */
	int parameters;
	bool reads_only;
};

struct statements {
	struct statement one[MAX_STATEMENTS];
	int count;
};

void statements_load(struct statements *list, struct schema *s, const struct sources *sql);
void statements_clear(struct statements *list);
/* Complains about each step of the plan that scans a growing table. */
void check_scans(const struct schema *s, const char *where, const char *sql);

/* ---- type ---- */

/* Determines the types of columns and parameters of a prepared statement. types: its remarks "--
 * type: NAME TYPE", which take precedence. Complains where nothing determines a type. */
void types_find(struct schema *schema, struct statement *st, sqlite3_stmt *s, const char *types,
                const char *where);

/* ---- trigger ---- */

/* Checks that no trigger scans and that triggers form no cycle. out: the graph, one line for each
 * effect of a trigger. */
void triggers_check(const struct schema *s, struct str *out);

/* ---- bell ---- */

struct bells {
	struct {
		const char *table;
		char worker[NAME_BYTES];
	} bell[MAX_BELLS];
	int count;
};

/* In ringing order: those with "first", then by table. */
void bells_list(const struct schema *s, struct bells *out);

/* ---- use ---- */

/* Prints one row per worker: the tables that ring it, that it reads and that it writes, according
 * to its sources; and the order of bells. */
void uses_print(const struct schema *s, const struct statements *list, struct str *out);

/* ---- base ---- */

enum { BASE_VERSION = 100 }; /* PRAGMA user_version of the release that steps start from */

/* Compares the result of the nouns with that of base and steps. With write, rewrites the base,
 * unless it is frozen. */
void base_check(const struct schema *s, const struct sources *steps, bool write);

/* ---- emit ---- */

void emit(const char *folder, const struct schema *s, const struct statements *list,
          const struct sources *steps);

/* ---- call ---- */

/* Complains about columns that have two types in rows of one name. */
void calls_check(const struct statements *list);
/* sql/<noun>.h and sql/sets.h. */
void calls_declare(const char *folder, const struct schema *s, const struct statements *list);
/* Their definitions. */
void calls_define(struct str *out, const struct schema *s, const struct statements *list);

/* ---- page ---- */

/* Puts text between "<!-- NAME: written by sqlgen -->" and "<!-- end of NAME -->" of a page;
 * without write, complains if it is not there already. */
void page_put(const char *page, const char *name, const char *text, bool write);

#endif
