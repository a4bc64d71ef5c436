/* hosts: the programs that agents run in: where each of them reads its servers (hosts.c) and its
 * hooks (gates.c), and in which form. */
#ifndef HOSTS_H
#define HOSTS_H

#include "err.h"
#include "gate_host.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum { WAIT_SECONDS = 3600, WAIT_SECONDS_MAX = 86400, SPARE_SECONDS = 100 };
enum { SETTINGS_MAX = 3, PLACE_MAX = 4 };

/* What the user asked for. */
struct wish {
	const struct host *host;
	const char *name; /* of the server, as the host knows it */
	const char *file; /* instead of the host's own, or NULL */
	const char *instructions; /* file, or NULL */
	const char *folder; /* whose settings are meant; NULL: the working directory's */
	bool remove, project, print, yes, http;
	const char *command; /* stdio: the program */
	cJSON *args; /* and its arguments */
	const char *url; /* HTTP */
	long wait; /* seconds; 0: the server's own cap */
	bool gate; /* the hooks, too */
	bool managed; /* only the hooks, for all users, in the vendor's system path */
	const char *root; /* before each system path, or "" */
	const char *hook; /* the program that hooks start */
	cJSON *hook_args; /* options that each hook gets */
};

/* A file of a host: $variable/name, else ~/<home><name> (home is "" or a folder with its slash).
 * For a project: `project`, in the working directory. */
struct host_file {
	const char *project, *variable, *home, *name; /* project NULL: only per user */
	bool or_jsonc; /* with a 'c' appended, if only that file exists */
};

/* A setting of a host outside the entry. In place and value, $name stands for the server's name and
 * $cwd for the working directory, as a whole member of place. */
struct host_setting {
	const char *place[PLACE_MAX]; /* member names from the root; the rest NULL */
	const char *value; /* JSON */
	bool is_item; /* place is an array: the item is added, the others stay */
};

/* How a host writes its hooks down. */
enum gate_shape {
	GATE_GROUPS, /* an event has groups of handlers, with a matcher each */
	GATE_FLAT, /* an event has handlers */
	GATE_TABLES, /* TOML's arrays of tables: a file of our own */
	GATE_PLUGIN, /* JavaScript: a file of our own */
};

/* A file that holds hooks (gate_hooks.h says where it is), and what else is set with it. */
struct gate_place {
	enum gate_shape shape;
	const char *root; /* JSON object: constant members of the file, or NULL */
	/* Settings next to the hooks; in another file if that is named. */
	struct host_file settings;
	struct host_setting setting[SETTINGS_MAX];
	const char *hint; /* what else whoever installs must know, or NULL */
};

/* The gate of a host: the hooks by which it asks before each tool. */
struct gate {
	const char *host;
	struct gate_place user, system;
	const char *command; /* the member that holds the command line */
	const char *members; /* JSON object: further constant members of a handler */
	bool matches; /* events of tools need a matcher */
	const char *left_out; /* its events that get no hook, with blanks between them; or NULL */
	struct {
		const char *name;
		int unit; /* units per second */
		long
		    most; /* seconds that the host waits at most, whatever it is told; 0: as told */
	} timeout;
};

struct host {
	const char *name; /* on the command line; of its program, unless it is an editor */
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
	const char *passes; /* member with the names of variables that a program is to get, where a
	                       host keeps its own from it; NULL: it does not */
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
/* Whether a setting is one of a folder: its place has a $cwd, which is member *ret_at of it. */
bool host_setting_is_per_folder(const struct host_setting *s, int *ret_at);
/* Appends text with $name and $cwd replaced. */
void host_fill(struct str *out, const char *text, const struct wish *w);
/* Builds the entry; the caller deletes it. */
cJSON *host_entry(const struct wish *w);
/* Whether an entry under our name was written by install, and is not another server. */
bool host_entry_is_ours(const cJSON *entry);

/* ---- gates.c ---- */

/* The gate of a host; NULL: we know none. */
const struct gate *gate_find(const char *host);
/* Its hook number i; NULL: behind the last. */
const struct gate_event_name *gate_hook(const struct gate *g, int i);
/* What stands under the event of a hook: a group or a handler; the caller deletes it. */
cJSON *gate_item(const struct gate *g, enum gate_shape shape, const struct wish *w,
                 const struct gate_event_name *hook);
/* The whole of a file of our own (GATE_TABLES, GATE_PLUGIN); its first line begins with
 * gate_mark(). */
void gate_text(const struct gate *g, const struct gate_place *place, const struct wish *w,
               struct str *out);
const char *gate_mark(enum gate_shape shape);

#endif
