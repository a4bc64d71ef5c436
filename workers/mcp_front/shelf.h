/* shelf: puts the long text of a call out of memory while the call waits for a hand, which reads it
 * from there too: into a file without a name, in the folder of the database. */
#ifndef SHELF_H
#define SHELF_H

#include "job.h"

/* Call whose text is in its hand's question. Does nothing if the text is short, or there is no room
 * for the file. */
void shelf_put(struct front *f, struct job *job);
bool shelf_has(const struct job *job);
/* The diff among the arguments in its message, or NULL. */
cJSON *shelf_diff(const struct job *job);
/* Brings it back. 0; or -1 if it cannot be read: then the call must be refused. */
int shelf_take(struct job *job, struct err *e);
/* Forgets what is there. */
void shelf_clear(struct job *job);

#endif
