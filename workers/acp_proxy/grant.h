/* grant: what a person has approved when the agent asked for permission, and the agent then has the
 * editor do: it is not asked about twice. Bound to the bytes: of a file before and after, of a
 * command line and its folder. Each is used once. */
#ifndef GRANT_H
#define GRANT_H

#include "inquiry.h"
#include "sha256.h"

#include <stdbool.h>
#include <sys/queue.h>

enum {
	GRANTS_MAX = 1000, /* the oldest is forgotten: then it is asked about */
	GRANT_FILE_BYTES = 32 << 20, /* of a file that is looked at */
};

struct grant;

struct grants {
	STAILQ_HEAD(, grant) all;
	int count;
};

void grants_init(struct grants *g);
void grants_clear(struct grants *g);

/* The hash of where a file really is, of which file it is, and of what it is now: its bytes, that
 * there is none, or, of one that is not looked at, what changes when it is written. */
struct sha256 grant_look(const char *path);

/* What a yes to this permission would approve, of the files as they are now. content: of the tool
 * call that it is about, as far as it is known, or NULL. */
void grant_add(struct grants *g, const struct acp_inquiry *ask, const cJSON *content,
               const char *folder);

/* Whether everything is as it was when a yes would have approved it. */
bool grants_stand(const struct grants *g);

/* The yes was said, of what is still as it was. */
void grants_move(struct grants *from, struct grants *to);

/* Whether this was approved already; then it is used up. */
bool grant_take_write(struct grants *g, const char *path, const char *content, size_t length);
/* cwd: NULL: in the folder. */
bool grant_take_command(struct grants *g, const char *command, const char *cwd, const char *folder);

#endif
