/* install: what the parts of `agent-intercom install` share.
 *
 * install.c            arguments, showing, asking, writing
 * install_plan.c       what the files will contain
 * install_gate_plan.c  what the files with hooks will contain
 * install_found.c      what of ours is in a file
 * install_open.c       whether all users can read what is for all
 * install_forget.c     what the database no longer misses, and what stays in projects
 * What is known of each host is in ctl/shared/hosts.h. */
#ifndef INSTALL_H
#define INSTALL_H

#include "config.h"
#include "err.h"
#include "hosts.h"
#include "json_edit.h"
#include "str.h"
#include "textfile.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum { CHANGES_MAX = 5 };

#define KEPT_SUFFIX ".before-intercom"

/* ---- install_plan.c ---- */

/* The change to one file. */
struct change {
	struct textfile file;
	struct textfile kept; /* the copy from before the first install */
	struct str after;
	bool remove; /* we created the file, and it is now empty */
	bool is_installed; /* something of ours is in the file: a copy would not be from before */
	bool is_shared; /* other entries of ours stay, and the copy with them */
	bool keep; /* a copy is kept though it is not changed: the user has set what we would set */
	struct str by_hand; /* not empty: we may not change the file; says what to do instead */
};

/* Before the change: entries of ours, under whatever name, and those that stay. */
struct entries {
	bool any, others;
};

struct plan {
	struct change changes[CHANGES_MAX];
	int count;
};

/* Begins a change of the file at path, or returns the one that the plan has; NULL on error. */
struct change *plan_file(struct plan *p, const char *path, struct err *e);
/* Adds the changes to the host's files. Returns 0 or -1; writes nothing. */
int plan_host(struct plan *p, const struct wish *w, struct err *e);
/* Whether an entry of ours stays in this user's own file. */
bool plan_leaves_entry(const struct plan *p, const struct wish *w);
/* Adds the change of one setting outside the entry. */
int plan_setting(struct change *c, const struct host_setting *s, const struct wish *w,
                 struct err *e);
/* Removes place, and the objects around it that are empty and did not exist before us. */
int plan_take_out(struct change *c, json_place place, struct err *e);
/* Our part has been removed: a file that did not exist before goes, one that means what it meant
 * before gets its old bytes. */
void plan_give_back(struct change *c);
/* Adds the change to the file at path with the settings outside the entry. */
int plan_settings(struct plan *p, const struct wish *w, const struct entries *found,
                  const char *path, struct err *e);
/* Adds the change to an instruction file. */
int plan_instructions(struct plan *p, const struct wish *w, const char *path, struct err *e);
/* Whether there is anything to write. */
bool plan_changes(const struct plan *p);
bool change_is_one(const struct change *c);
void install_plan_clear(struct plan *p);

/* ---- install_found.c ---- */

/* How many entries of ours a file has, under whatever name; *ret_others: under other names. */
int found_entries(const struct str *text, const char *path, const struct wish *w, int *ret_others);
/* Takes our handlers out of the list of an event, and the groups that then hold none. */
void found_clean_event(const struct gate *g, enum gate_shape shape, cJSON *list);
/* Whether any handler of ours is in the file. */
bool found_hooks(const struct gate *g, enum gate_shape shape, const cJSON *root);
/* Whether the file of a change had hooks of ours. */
bool found_our_hooks(const struct change *c, const struct wish *w);

/* ---- install_gate_plan.c ---- */

/* Adds the change to the hooks: this user's, or with w->managed everybody's. */
int plan_gate(struct plan *p, const struct wish *w, struct err *e);

/* ---- install_open.c ---- */

/* Makes what we made for all users readable for them, and says what else they cannot read, and what
 * to do. 1 if there is such a thing, else 0. */
int install_open(const struct change *c, const struct wish *w);

/* ---- install_forget.c ---- */

/* Hooks that were uninstalled are not missed: the sentry forgets them. Without a database nobody
 * has noticed them. 0 or -1. */
int install_forget_gate(const struct config_source *source, const struct wish *w, struct err *e);
/* After uninstall: prints in which other folders the lines for the agent stay, as far as the
 * database knows where agents worked. */
void install_tell_lines(const struct config_source *source, const struct wish *w);

/* ---- install_plan.c ---- */

#define INSTRUCTIONS_BEGIN "<!-- agent-intercom -->"

/* Appends the lines for an agent's instruction file, between their marks. */
void plan_lines(struct str *out, const char *server);

#endif
