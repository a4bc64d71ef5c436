/* story: the raw material of power cuts. The real programs play a story once while record.c records
 * what they do to files; then it is cut at any point, and what a disk could have left (disk.h) is
 * examined. */
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
extern char made[WORKSPACE_BYTES + 20]; /* a database that a story creates */
extern int cuts; /* per story */
extern uint64_t seed; /* of the first cut */

/* A recorded story. */
struct story {
	const char *name;
	struct disk before;
	struct str log;
	size_t length; /* records */
	struct said {
		size_t record; /* the record that told someone something */
		char *numbers; /* the numbers in the database then; NULL: not read yet */
	} * said; /* in order; the first is before the story */
	size_t said_count;
	char *old_tree, *new_tree;
	/* Returns NULL, or what is wrong with the state in place; the caller frees it. `had` holds
	 * the numbers at the time when someone was last told something. */
	char *(*judge)(const struct story *s, const char *had);
	const char *numbers; /* a query with one row of numbers that never decrease */
	const char *db;
};

void story_clear(struct story *s);

/* What is wrong, as a text that the caller frees. */
char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The rows of a query, or "error: ..."; does not checkpoint or remove the WAL. */
char *look(const char *path, const char *sql);

/* The workspace as a text: one line per name, with mode and content. */
char *tree(void);

/* Each file must be as in the old tree or as in the new one, and what is in both must exist. */
char *each_is_whole(const struct story *s);

/* The record at this offset of the log; its length in bytes there. */
const struct record *record_at(const struct story *s, size_t at);
size_t size_of(const struct record *r);

/* Runs this program in another role, with the path of its database. */
int run_role(const char *role, const char *db);

/* Notes that someone was told: a program that ends well has told its caller. */
void note_said(void);

/* Runs ctl, alongside an applier if the verb needs one. */
void run_ctl(const char *verb, bool needs_applier);

/* Everything done between these two is the story. */
void begin_recording(struct story *s);
void end_recording(struct story *s);

/* Makes a workspace and a store on a disk of their own, and loads the library into everything that
 * is started. */
void begin_place(void);

/* One cut after `record` records. */
char *cut(const struct story *s, size_t record, uint64_t cut_seed,
          bool (*loses)(const struct disk_node *));

/* Cuts all over the story, `cuts` times. Returns how many cuts were wrong; with `loses` it stops at
 * the first one. */
int cut_everywhere(const struct story *s, bool (*loses)(const struct disk_node *));

#endif
