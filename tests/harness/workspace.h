/* workspace: a session's workspace next to the harness's store, its files, and the rows of what an
 * agent asks to write there, as mcp-front would write them. */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "proposal.h"

#include <stdbool.h>
#include <stddef.h>

enum { WORKSPACE_BYTES = 700 };

extern char ws[WORKSPACE_BYTES]; /* its path */
extern int asked; /* number of the newest request, "request-<asked>" */
extern int session; /* seq of the asking session */
extern const char *risk; /* that the next request names; "low" */

/* A fresh store with an empty workspace and a session in it. */
void begin(void);

/* The absolute path of name in the workspace; as `below`. */
const char *in(const char *name);
void write_bytes(const char *name, const char *bytes, size_t length);
void file(const char *name, const char *text);
/* Gives a file or folder an access list: 4242 may read and write (in a folder, enter), its group
 * nothing, which its mode does not show: 0660 (0770). Whether the file system has such lists. */
bool gets_access_list(const char *name);
/* Gives a file one in which 4242 has all permissions, of which a mask leaves reading, and others
 * may read and write: 0746. */
bool gets_masked_list(const char *name);
bool has_access_list(const char *name);
/* Has a folder give such a list to what is made in it. */
bool gives_access_list(const char *folder);
/* As chattr +a or -a does. Whether that can be done here. */
bool set_append_only(const char *name, bool is);
/* The content of a file, "(none)" if there is none. The caller frees. */
char *content(const char *name);
void file_is(const char *name, const char *text);

/* Inserts the request row of a proposal and its paths. */
void insert_request(const char *path, const char *body, const struct touched *files, size_t count,
                    size_t primary);
/* An agent asks to write body to path, based on the current file. A proposal that a front would
 * refuse is inserted as if it were about this one file. */
void ask(const char *path, const char *body);
/* The operator approves the newest request. */
void say_yes(void);
/* ask and say_yes. */
void approve(const char *path, const char *body);
/* The agent calls check_diff for the newest request. */
void call_check_diff(bool force);

/* A diff with one of each: a file modified, created in a new directory, deleted, renamed with a
 * change, copied, and made executable; and a workspace that it fits, after `begin`. */
extern const char MANY[];
void given_many(void);

#endif
