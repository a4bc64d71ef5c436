/* own_places: where agent-intercom keeps its own files, by their names and by what these stand for:
 * neither a hard link nor a bind mount makes another file of one. */
#ifndef OWN_PLACES_H
#define OWN_PLACES_H

#include "pack.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct own_place {
	char *name; /* absolute and real; it need not exist */
	uint64_t dev, ino; /* of what is there; ino 0: nothing was */
};

struct own_places {
	char *database; /* absolute and real: it is ours, and so is what begins with its name and
	                   '-' or '.'; NULL: none */
	struct own_place *list; /* with everything beneath them */
	size_t count;
};

/* Takes the name over; NULL adds nothing. */
void own_places_add(struct own_places *o, char *name);

/* Looks again what the names stand for: before a piece of work, since files come and go. */
void own_places_look(struct own_places *o);

/* Why name (absolute and real) is ours, to complete "PATH ..."; NULL: it is not. o may be NULL. */
const char *own_places_name(const struct own_places *o, const char *name);

/* The same of what was found somewhere, by whatever name. It says nothing about what is beneath. */
const char *own_places_file(const struct own_places *o, const struct stat *st);

/* Whether a name of ours lies in folder, or is it (absolute and real). */
bool own_places_within(const struct own_places *o, const char *folder);

/* To another process, and in it. */
void own_places_write(const struct own_places *o, struct str *out);
void own_places_read(struct own_places *o, struct pack *from, size_t most_bytes);

void own_places_clear(struct own_places *o);

#endif
