/* row: what the functions that sqlgen generates from sql/ are built on (src/README.md, "A statement
 * is a function"). Only they call the functions declared here, except row_next.
 *
 * A row's texts are valid until it is cleared or its next row is read. NULL is a NULL pointer, 0
 * for an INTEGER, and NONE for an enum. OWNED(..._row) releases what a row holds, including a
 * statement that has not been read to its end. */
#ifndef ROW_H
#define ROW_H

#include "err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
typedef struct sqlite3_stmt stmt;

struct sql_bytes {
	const void *bytes;
	size_t length;
};

/* The start of every row. */
struct row {
	stmt *from; /* has more rows; NULL: none */
	const struct row_shape *shape;
	void *owned; /* its texts, once the statement is over */
};

/* The next row of a :many statement: 1 a row, 0 no more, -1 error (ERR_REFUSED: a rule of the
 * schema). */
int row_next(struct row *row, struct err *e);

enum row_type { ROW_INTEGER, ROW_BOOL, ROW_TEXT, ROW_BYTES, ROW_WORD };

struct row_column {
	enum row_type type;
	unsigned short at; /* of its member in the row */
	unsigned short has_at; /* of the bool that tells NULL from 0; 0: there is none */
	const char *const *words; /* of ROW_WORD */
};

struct row_shape {
	const struct row_column *column;
	int columns;
	size_t size; /* of the row */
};

void row_clear(struct row *row);
int row_one(stmt *s, const struct row_shape *shape, struct row *row, struct err *e);
void row_many(stmt *s, const struct row_shape *shape, struct row *row);
int row_any(stmt *s, struct err *e);
int64_t row_number(stmt *s, struct err *e);
int row_exec(stmt *s, struct err *e);
int row_count(stmt *s, struct err *e);
int64_t row_insert(stmt *s, struct err *e);

/* Texts and bytes are not copied, except for a :many statement. */
void row_bind_text(stmt *s, int at, const char *text, bool copy);
void row_bind_bytes(stmt *s, int at, struct sql_bytes bytes, bool copy);
void row_bind_integer(stmt *s, int at, int64_t value);
void row_bind_nullable(stmt *s, int at, const int64_t *value);
void row_bind_seq(stmt *s, int at, int64_t seq);
void row_bind_word(stmt *s, int at, const char *const *words, unsigned word);

/* Words begin at 1 and end with NULL. 0: not one of them. */
unsigned row_word(const char *const *words, const char *text);

#endif
