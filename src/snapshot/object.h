/* object: content of workspaces, each once, named by its SHA-256: files in a folder next to the
 * database, <database>-objects.
 *
 *   ab/cdef…   an object: complete, on disk, never changed; its name is its hash
 *   new/…      what is being written; swept at the next start
 *   mark       a random text, another one before anything is deleted
 *   cache/…    hash_cache.h
 *   look       keep.h
 *
 * Order: what is put is written below new/. objects_flush brings its bytes to disk, gives it its
 * name and brings that to disk. A row may name an object after objects_flush only, so that neither
 * a kill nor a power cut leaves a row without its object, nor a name without its bytes.
 *
 * What is copied from a workspace or to it goes by files.h.
 *
 * One process puts and deletes at a time (archivist); any number reads. An object that was put, or
 * found to be there, stays until that process deletes it. */
#ifndef OBJECT_H
#define OBJECT_H

#include "err.h"
#include "sha256.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBJECT_NAME_BYTES = 64, OBJECT_MARK_BYTES = 33 };

struct objects {
	int dir; /* the folder */
	struct sha256 *pending; /* put, and without a name yet: new/<prefix>-<index> */
	size_t count;
	uint64_t pending_bytes;
	uint64_t added; /* bytes that were new, since it was opened */
	uint64_t most_added; /* of them; 0: any number */
	uint64_t reserve; /* bytes of the disk that are left free; 0: none */
	uint64_t most_held; /* bytes of the disk, by one user's checkpoints; 0: any number */
	uint64_t held; /* by them, when it was opened; see object_room */
	uint64_t taken; /* bytes of the disk that were taken since */
	char prefix[OBJECT_NAME_BYTES];
	bool is_full; /* what was put failed for want of room on the disk */
	bool marked; /* anew, because it deletes */
};

#define OBJECTS_INIT                                                                               \
	{                                                                                          \
		.dir = -1                                                                          \
	}

/* Appends the folder that belongs to a database. */
void objects_path(const char *database, struct str *path);

/* Opens a folder. create: makes it (0700), durably, if it is missing; otherwise a missing folder
 * is an error of kind ERR_INPUT. o must be fresh. 0 or -1. */
int objects_open(const char *path, bool create, struct objects *o, struct err *e);
/* Closes it; what was put and not flushed is removed. */
void objects_clear(struct objects *o);

/* ---- writing (one process) ---- */

/* Whether so many bytes more may be written: most_added, reserve and most_held are kept. 0; or -1,
 * ERR_INPUT. What is put is checked before each of its pieces is written. */
int objects_admit(const struct objects *o, uint64_t bytes, struct err *e);

enum object_put {
	OBJECT_FAILED = -1, /* the store cannot take it: e says why */
	OBJECT_STORED, /* it is there, or will be after objects_flush */
	OBJECT_UNREADABLE, /* reading fd failed, with errno; nothing is stored */
	OBJECT_TOO_LONG, /* fd has more bytes than most; nothing is stored */
};

/* Stores what fd yields from its position to its end, at most most bytes, in memory that does not
 * grow with it. *hash and *size are set if it is stored. Many small ones are flushed on the way.
 * Where most_added, reserve or most_held is set, most bytes of a long one must be admitted before
 * it is read on. */
enum object_put object_put(struct objects *o, int fd, uint64_t most, struct sha256 *hash,
                           uint64_t *size, struct err *e);
/* The same from memory. 0 or -1. */
int object_put_bytes(struct objects *o, const void *bytes, size_t length, struct sha256 *hash,
                     struct err *e);

/* Brings all that was put to disk, under its name. 0; or -1, and rows must not name it. */
int objects_flush(struct objects *o, struct err *e);

/* The mark of the folder, which it gets if it has none; "": it cannot have one. What was found
 * under a mark is still there under the same: so it need not be looked for. */
void objects_mark(struct objects *o, char mark[OBJECT_MARK_BYTES]);

/* Deletes an object; one that is missing is fine. Before the first one the folder gets another
 * mark. 0 or -1. */
int object_delete(struct objects *o, const char *hash, struct err *e);

/* Removes what a predecessor that was killed left below new/. 0 or -1. */
int objects_sweep(struct objects *o, struct err *e);

/* ---- reading (any process) ---- */

/* Whether there is an object with its name; one that was put and not flushed does not count. Its
 * bytes are not read. */
bool object_exists(const struct objects *o, const char *hash);
/* What an object of so many bytes takes of the disk at most: whole blocks, of 4096 bytes. */
uint64_t object_room(uint64_t bytes);
/* The same of one that is there; 0 of a missing one. */
uint64_t object_room_of(const struct objects *o, const char *hash);

/* Writes an object to a descriptor, in memory that does not grow with it, and compares its bytes
 * with its name. 0; or -1, and what was written is not to be used: it is missing or damaged
 * (ERR_INPUT), or cannot be read or written (ERR_AGAIN). */
int object_copy(const struct objects *o, const char *hash, int to, struct err *e);

/* Appends an object of at most most bytes to out, unless it is damaged. 0, or -1 as object_copy. */
int object_read(const struct objects *o, const char *hash, size_t most, struct str *out,
                struct err *e);

/* Reads an object and compares its bytes with its name. 1 whole, 0 missing or damaged (e says
 * which), -1 it cannot be read. */
int object_check(const struct objects *o, const char *hash, struct err *e);

/* Calls each for every object, in no order, until it returns other than 0. Objects may be deleted
 * meanwhile. 0, what each returned, or -1. */
int objects_each(const struct objects *o, int (*each)(const char *hash, uint64_t size, void *arg),
                 void *arg, struct err *e);

#endif
