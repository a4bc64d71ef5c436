#include "own_places.h"

#include "path.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 64 }; /* in a message */

static const char OF_DATABASE[] = "belongs to agent-intercom's database";
static const char OF_OURS[] = "is one of agent-intercom's own files";

void own_places_add(struct own_places *o, char *name)
{
	if (!name)
		return;
	o->list = xrealloc(o->list, (o->count + 1) * sizeof(*o->list));
	o->list[o->count++] = (struct own_place){ .name = name };
}

void own_places_look(struct own_places *o)
{
	for (size_t i = 0; i < o->count; i++) {
		struct own_place *p = &o->list[i];
		struct stat st = { 0 };

		if (stat(p->name, &st) != 0)
			st.st_ino = 0;
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
}

/* Whether name is the database, a file that belongs to it (DATABASE-wal, DATABASE.before-9, ...),
 * or in a folder that does. */
static bool is_of_database(const struct own_places *o, const char *name)
{
	size_t length = o->database ? strlen(o->database) : 0;

	return length && strncmp(name, o->database, length) == 0 &&
	       (name[length] == '\0' || strchr("-./", name[length]));
}

const char *own_places_name(const struct own_places *o, const char *name)
{
	if (o && is_of_database(o, name))
		return OF_DATABASE;
	for (size_t i = 0; o && i < o->count; i++)
		if (path_is_within(name, o->list[i].name))
			return OF_OURS;
	return NULL;
}

const char *own_places_file(const struct own_places *o, const struct stat *st)
{
	for (size_t i = 0; o && i < o->count; i++)
		if (o->list[i].ino && o->list[i].ino == st->st_ino && o->list[i].dev == st->st_dev)
			return is_of_database(o, o->list[i].name) ? OF_DATABASE : OF_OURS;
	return NULL;
}

bool own_places_within(const struct own_places *o, const char *folder)
{
	for (size_t i = 0; i < o->count; i++)
		if (path_is_within(o->list[i].name, folder))
			return true;
	return o->database && path_is_within(o->database, folder);
}

void own_places_write(const struct own_places *o, struct str *out)
{
	pack_add_text(out, o ? o->database : NULL);
	pack_add_int(out, o ? (int64_t)o->count : 0);
	for (size_t i = 0; o && i < o->count; i++) {
		pack_add_text(out, o->list[i].name);
		pack_add_int(out, (int64_t)o->list[i].dev);
		pack_add_int(out, (int64_t)o->list[i].ino);
	}
}

void own_places_read(struct own_places *o, struct pack *from, size_t most_bytes)
{
	int64_t count;

	o->database = pack_text(from, most_bytes);
	count = pack_int_in(from, 0, PLACES_MAX);
	for (int64_t i = 0; i < count; i++) {
		own_places_add(o, pack_some_text(from, most_bytes));
		o->list[i].dev = (uint64_t)pack_int(from);
		o->list[i].ino = (uint64_t)pack_int(from);
	}
}

void own_places_clear(struct own_places *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->list[i].name);
	free(o->list);
	free(o->database);
	*o = (struct own_places){ .database = NULL };
}
