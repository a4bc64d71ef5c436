/* install: what the parts of `agent-intercom install` share.
 *
 * install.c            arguments, showing, asking, writing
 * install_plan.c       what the files will contain
 * install_hosts.c      where each host reads its servers, and in which form
 * install_gates.c      where each host reads its hooks, and in which form
 * install_gate_plan.c  what the files with hooks will contain
 * install_forget.c     what the database no longer misses */
#ifndef INSTALL_H
#define INSTALL_H

#include "config.h"
#include "err.h"
#include "json_edit.h"
#include "str.h"
#include "textfile.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum { WAIT_SECONDS = 3600, WAIT_SECONDS_MAX = 86400, SLACK_SECONDS = 100, CHANGES_MAX = 5 };
enum { SETTINGS_MAX = 3, PLACE_MAX = 4, GATE_HOOKS_MAX = 10 };

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
 * $cwd for the working directory. */
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

/* What a hook may take its time for. */
enum gate_patience {
	GATE_ASKS, /* a person decides */
	GATE_STOPS, /* a person may say what is next */
	GATE_TELLS, /* nobody waits for it */
	GATE_ENDS, /* the host is about to end */
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
	struct {
		const char *name;
		int unit; /* units per second */
		long
		    most; /* seconds that the host waits at most, whatever it is told; 0: as told */
	} timeout;
	struct {
		const char *event; /* as the vendor calls it */
		enum gate_patience patience;
		bool is_tool;
	} hooks[GATE_HOOKS_MAX];
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

/* ---- install_gates.c ---- */

/* The gate of a host; NULL: we know none. */
const struct gate *gate_find(const char *host);
/* Seconds after which hook number i denies by itself, and after which the host gives it up. */
long gate_deadline(const struct gate *g, const struct wish *w, int i);
long gate_timeout(const struct gate *g, const struct wish *w, int i);
/* The command line of hook number i, for a shell. */
void gate_command(const struct gate *g, const struct wish *w, int i, struct str *out);
/* What stands under the event of hook number i: a group or a handler; the caller deletes it. */
cJSON *gate_item(const struct gate *g, enum gate_shape shape, const struct wish *w, int i);
/* The whole of a file of our own (GATE_TABLES, GATE_PLUGIN); its first line begins with
 * gate_mark(). */
void gate_text(const struct gate *g, const struct gate_place *place, const struct wish *w,
               struct str *out);
const char *gate_mark(enum gate_shape shape);

/* ---- install_plan.c ---- */

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

/* Begins a change of the file at path, or returns the one that the plan has; NULL on error. */
struct change *plan_file(struct plan *p, const char *path, struct err *e);
/* Adds the changes to the host's files. Returns 0 or -1; writes nothing. */
int plan_host(struct plan *p, const struct wish *w, struct err *e);
/* Adds the change of one setting outside the entry. */
int plan_setting(struct change *c, const struct host_setting *s, const struct wish *w,
                 struct err *e);
/* Removes place, and the objects around it that are empty and did not exist before us. */
int plan_take_out(struct change *c, json_place place, struct err *e);
/* Our part has been removed: a file that did not exist before goes, one that means what it meant
 * before gets its old bytes. */
void plan_give_back(struct change *c);
/* Adds the change to the file at path with the settings outside the entry. */
int plan_settings(struct plan *p, const struct wish *w, const char *path, struct err *e);
/* Adds the change to an instruction file. */
int plan_instructions(struct plan *p, const struct wish *w, const char *path, struct err *e);
/* Whether there is anything to write. */
bool plan_changes(const struct plan *p);
bool change_is_one(const struct change *c);
void install_plan_clear(struct plan *p);

/* ---- install_gate_plan.c ---- */

/* Adds the change to the hooks: this user's, or with w->managed everybody's. */
int plan_gate(struct plan *p, const struct wish *w, struct err *e);

/* ---- install_forget.c ---- */

/* Hooks that were uninstalled are not missed: the sentry forgets them. Without a database nobody
 * has noticed them. 0 or -1. */
int install_forget_gate(const struct config_source *source, const struct wish *w, struct err *e);

/* ---- install_plan.c ---- */

/* Appends the lines for an agent's instruction file, between their marks. */
void plan_lines(struct str *out, const char *server);

#endif
