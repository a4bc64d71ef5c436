/* story: what the power cuts are made of. A story is told once by the real programs while
 * record.c writes down what they do to files; then it is cut anywhere, and what a disk could have
 * left (disk.h) is looked at. */
#ifndef STORY_H
#define STORY_H

#include "disk.h"
#include "str.h"
#include "workspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char *self; /* this program */
extern char place[WORKSPACE_BYTES]; /* what is on the disk: the database and the workspace */
extern char log_path[WORKSPACE_BYTES + 20];
extern char made[WORKSPACE_BYTES + 20]; /* a database that a story makes */
extern int cuts; /* of each story */
extern uint64_t seed; /* which */

/* A story as it was recorded. */
struct story {
	const char *name;
	struct disk before;
	struct str log;
	size_t length; /* records */
	struct said {
		size_t record; /* that told somebody something */
		char *numbers; /* what the database said then; NULL: not looked yet */
	} * said; /* in order; the first is before all */
	size_t said_count;
	char *old_tree, *new_tree;
	/* NULL, or what is wrong with what stands in place; the caller frees. `had` is what the
	 * database said when somebody had been told of it. */
	char *(*judge)(const struct story *s, const char *had);
	const char *numbers; /* a query of one row: what never grows less */
	const char *db;
};

void story_clear(struct story *s);

/* What is wrong, as a text that the caller frees. */
char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The rows of a query, or "error: ..."; nothing is copied from the log or removed by it. */
char *look(const char *path, const char *sql);

/* The workspace as a text: a line for each name, with mode and content. */
char *tree(void);

/* Each file is as in the old tree or as in the new one, and what is in both of them is there. */
char *each_is_whole(const struct story *s);

/* What was recorded at this place of the log, and its length there in bytes. */
const struct record *record_at(const struct story *s, size_t at);
size_t size_of(const struct record *r);

/* This program in another role, with the place of its database. */
int run_role(const char *role, const char *db);

/* Somebody has been told: a program that ended well is the last to tell. */
void note_said(void);

/* With an applier beside it, if the verb is for that one. */
void run_ctl(const char *verb, bool needs_applier);

/* All that is done from here on is the story; and till here. */
void begin_recording(struct story *s);
void end_recording(struct story *s);

/* A workspace and a store on a disk of their own, and the library in all that is started. */
void begin_place(void);

/* One cut behind `record` records. */
char *cut(const struct story *s, size_t record, uint64_t cut_seed,
          bool (*loses)(const struct disk_node *));

/* Cuts all over the story, `cuts` of them. Returns how many were wrong; with `loses`, whether any
 * was: then as many cuts as it takes. */
int cut_everywhere(const struct story *s, bool (*loses)(const struct disk_node *));

#endif
