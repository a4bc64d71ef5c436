/* install: what the parts of `agent-intercom install` share.
 *
 * install.c        arguments, showing, asking, writing
 * install_plan.c   what the files will contain
 * install_hosts.c  where each host reads its servers, and in which form */
#ifndef INSTALL_H
#define INSTALL_H

#include "err.h"
#include "json_edit.h"
#include "str.h"
#include "textfile.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum { WAIT_SECONDS = 3600, WAIT_SECONDS_MAX = 86400, SLACK_SECONDS = 100, CHANGES_MAX = 3 };
enum { SETTINGS_MAX = 2, PLACE_MAX = 4 };

#define KEPT_SUFFIX ".before-intercom"

/* What the user asked for. */
struct wish {
	const struct host *host;
	const char *name; /* of the server, as the host knows it */
	const char *file; /* instead of the host's own, or NULL */
	const char *instructions; /* file, or NULL */
	bool remove, project, print, yes, http;
	const char *command; /* stdio: the program */
	cJSON *args; /* and its arguments */
	const char *url; /* HTTP */
	long wait; /* seconds; 0: the server's own cap */
};

/* A file of a host: $variable/name, else ~/<home><name> (home is "" or a folder with its slash).
 * For a project: `project`, in the working directory. */
struct host_file {
	const char *project, *variable, *home, *name; /* project NULL: only per user */
	bool or_jsonc; /* with a 'c' appended, if only that file exists */
};

/* A setting of a host outside the entry. In place and value, $name stands for the server's name and
 * $cwd for the working directory. */
struct host_setting {
	const char *place[PLACE_MAX]; /* member names from the root; the rest NULL */
	const char *value; /* JSON */
	bool is_item; /* place is an array: the item is added, the others stay */
};

struct host {
	const char *name; /* on the command line */
	const char *title;
	const char *instructions; /* the file that the agent reads in a workspace */
	bool toml;
	bool waits_long; /* can be told to wait an hour, or needs no telling */
	bool in_project; /* must be told the workspace, so it is installed per project */
	bool is_editor; /* started from a desktop: its PATH is not the shell's */
	struct host_file file;
	const char *servers; /* the member that holds the servers */
	/* The members of an entry, in this order; NULL: not written. */
	const char *types[2]; /* "type" for a program, for a URL */
	const char *url; /* name of the member that holds the URL */
	bool one_array; /* "command" holds the arguments, too */
	const char *members; /* JSON object: further constant members */
	struct {
		const char *name;
		int unit; /* units per second */
	} timeout;
	/* Settings outside the entry, all in one file. */
	struct host_file settings;
	struct host_setting setting[SETTINGS_MAX];
	const char *hint, *project_hint; /* what else the user must know, or NULL */
};

const struct host *host_find(const char *name);
/* "claude|codex|..." */
void host_names(struct str *out);
/* Appends the path of a file: of this user, or of the project in the working directory. */
int host_path(const struct host_file *f, bool project, struct str *out, struct err *e);
/* Appends text with $name and $cwd replaced. */
void host_fill(struct str *out, const char *text, const struct wish *w);
/* Builds the entry; the caller deletes it. */
cJSON *host_entry(const struct wish *w);
/* Whether an entry under our name was written by install, and is not another server. */
bool host_entry_is_ours(const cJSON *entry);

/* The change to one file. */
struct change {
	struct textfile file;
	struct textfile kept; /* the copy from before the first install */
	struct str after;
	bool remove; /* we created the file, and it is now empty */
	struct str by_hand; /* not empty: we may not change the file; says what to do instead */
};

struct plan {
	struct change changes[CHANGES_MAX];
	int count;
};

/* Adds the changes to the host's files. Returns 0 or -1; writes nothing. */
int plan_host(struct plan *p, const struct wish *w, struct err *e);
/* Adds the change to the file at path with the settings outside the entry. */
int plan_settings(struct plan *p, const struct wish *w, const char *path, struct err *e);
/* Adds the change to an instruction file. */
int plan_instructions(struct plan *p, const struct wish *w, const char *path, struct err *e);
/* Whether there is anything to write. */
bool plan_changes(const struct plan *p);
bool change_is_one(const struct change *c);
void install_plan_clear(struct plan *p);

/* Appends the lines for an agent's instruction file, between their marks. */
void plan_lines(struct str *out, const char *server);

#endif
