/* file_look: a look into a workspace as a row: claimed, and settled together with its order. */
#ifndef FILE_LOOK_H
#define FILE_LOOK_H

#include "err.h"
#include "sql/file_look.h"
#include "store.h"

#include <stdbool.h>

enum { FILE_LOOK_ATTEMPTS = 3 }; /* then it is refused: it ends its readers */

/* What was found. Texts are borrowed. */
struct file_look_found {
	const char *text; /* the tree, or the lines */
	size_t length;
	const char *detail; /* JSON object: what is said beside it */
	bool is_long; /* too long for a message */
	const char *why; /* it is refused: in words; then nothing else counts */
};

/* Claims the look `seen`, in a transaction of its own. 1; 0 somebody else was faster; -1. */
int file_look_claim(struct store *st, const struct file_look_next_row *seen, const char *worker_id,
                    struct file_look_claim_row *ret, struct err *e);
/* Ends a claimed look and its order; 1, 0 somebody else has claimed it since, -1. */
int file_look_settle(struct store *st, const struct file_look_claim_row *l,
                     const struct file_look_found *found, struct err *e);

#endif
