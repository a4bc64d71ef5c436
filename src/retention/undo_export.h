/* undo_export: writes the contents of files before old writes to a directory, before retention
 * forgets them.
 *
 * The bytes of each are in "undo-<their SHA-256>"; "undo-<day>-<hash>.jsonl" gives, in one line
 * each, the file, its workspace, the request that replaced the contents, and when. All have mode
 * 0600. */
#ifndef UNDO_EXPORT_H
#define UNDO_EXPORT_H

#include "clock.h"
#include "err.h"
#include "store.h"
#include "str.h"

/* Writes the next few images from before cutoff to dir, to disk: how many, -1. rows: becomes the
 * JSON list of their file_change.seq, which may now be forgotten. */
int undo_export(struct store *st, const char *dir, const struct instant *cutoff, struct str *rows,
                struct err *e);

#endif
