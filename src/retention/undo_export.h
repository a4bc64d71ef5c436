/* undo_export: what was in files before writes that are old goes to a directory, before retention
 * forgets it.
 *
 * The bytes of each stand in "undo-<their SHA-256>"; "undo-<day>-<hash>.jsonl" names, a line each,
 * the file that they were in, its workspace, the request that replaced it, and when. All have mode
 * 0600. */
#ifndef UNDO_EXPORT_H
#define UNDO_EXPORT_H

#include "clock.h"
#include "err.h"
#include "store.h"
#include "str.h"

/* Writes the next few images of before cutoff to dir, to disk: how many, -1. rows: becomes the JSON
 * list of their file_change.seq, which may be forgotten now. */
int undo_export(struct store *st, const char *dir, const struct instant *cutoff, struct str *rows,
                struct err *e);

#endif
