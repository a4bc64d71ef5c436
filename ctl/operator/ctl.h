/* ctl: what the commands of agent-intercom-ctl share.
 *
 * To add a command: write <name>.c with a `const struct command_spec cmd_<name>`, declare it below,
 * and add it to COMMANDS in main.c, in the order of the help text. */
#ifndef CTL_H
#define CTL_H

#include "command.h"
#include "err.h"
#include "instance.h"
#include "paths.h"
#include "request.h"
#include "say.h"
#include "store.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ctl {
	struct store store; /* open while a command runs */
	struct paths paths;
	struct instance_files opened; /* what the store has open */
	bool is_missing; /* there is no database */
	const char *config, *database, *ipc_name; /* options; NULL: not given */
	bool shared; /* the system of the machine, for several users */
	const char *session, *reason, *note, *option, *digest, *agent, *workspace, *park;
	cJSON *files; /* of --file; NULL: none */
	bool yes;
	bool edit; /* approve another text, from an editor, */
	const char *with; /* or from this file; "-": stdin */
	const char *depth, *lines;
	int64_t count; /* -n; -1: not given */
	bool follow;
	bool html; /* print a page for a browser */
	bool sent; /* show what the agent sent, not its effect on the files */
	bool json; /* print JSON instead of text for people */
	bool json_asked; /* because of --json, not because of a pipe */
	bool text_asked; /* because of --text */
	bool terminal; /* stdout is a terminal */
	bool colour;
	size_t columns; /* width of the terminal, 0: not a terminal */
	bool help, version;
	const struct command_spec *command; /* that runs */
	char **given; /* all arguments, NULL-terminated */
	char **words; /* those that are no options, with the command's name */
	int word_count;
	const char *late; /* the last option that stands behind a word */
	int late_at; /* behind how many */
	int argc; /* the command's arguments, without its name */
	char **argv;
};

/* Options that only some commands take. */
enum ctl_option {
	TAKES_SESSION = 1,
	TAKES_REASON = 2,
	TAKES_COUNT = 4,
	TAKES_FOLLOW = 8,
	TAKES_NOTE = 16,
	TAKES_SENT = 32,
	TAKES_DIGEST = 64,
	TAKES_AGENT = 128, /* --agent, --workspace and --park */
	TAKES_HTML = 256,
	TAKES_OPTION = 512,
	TAKES_WORKSPACE = 1024, /* --workspace alone */
	TAKES_DEPTH = 2048,
	TAKES_LINES = 4096,
	TAKES_YES = 8192, /* --yes and --file */
	TAKES_EDIT = 16384, /* --edit and --with */
};

struct command_spec {
	const char *name;
	const char *arguments; /* as shown in the help */
	const char *help; /* one line */
	const char *more; /* further lines for `help NAME`, or NULL */
	int least, most; /* number of arguments; most -1: no limit */
	unsigned takes; /* enum ctl_option */
	/* Returns the exit status; -1: e says why it failed (exit 1). */
	int (*run)(struct ctl *c, struct err *e);
	/* The argument, from 1 on, with which a text for an agent begins; 0: there is none. */
	int text_from;
	int (*text_from_of)(char *word); /* instead, by the first argument */
	/* Whether its arguments go together: 0 or -1; NULL: they do. */
	int (*check)(const struct ctl *c, struct err *e);
	bool waits; /* for a database that is not there yet: the first agent starts the system */
};

/* Groups its members: the texts; the number of arguments, and the options. */
#define HELP(...) __VA_ARGS__
#define ARGUMENTS(...) __VA_ARGS__

extern const struct command_spec cmd_approve, cmd_reject, cmd_choose, cmd_continue, cmd_refine,
    cmd_stop;
extern const struct command_spec cmd_resume, cmd_mode, cmd_list, cmd_inbox, cmd_show, cmd_log;
extern const struct command_spec cmd_watch, cmd_transcript, cmd_health, cmd_sql, cmd_undo;
extern const struct command_spec cmd_steer, cmd_task, cmd_session, cmd_stall, cmd_nudge;
extern const struct command_spec cmd_files, cmd_file, cmd_diff, cmd_owner;
extern const struct command_spec cmd_checkpoint;
extern const struct command_spec cmd_run, cmd_run_stop, cmd_runs;

/* ---- finding (find.c) ---- */

/* Reads the request whose id is text or begins with it. Returns 0, or -1 if there is not exactly
 * one. */
int find_request(struct ctl *c, const char *text, struct request *r, struct err *e);
/* The full id of the session whose id is text or begins with it; the caller frees it. */
int find_session(struct ctl *c, const char *text, char **ret_id, struct err *e);
/* The same of a session that may have ended. */
int find_any_session(struct ctl *c, const char *text, char **ret_id, struct err *e);
/* Appends the shortest prefix of id that no other session or question shares: some commands take
 * either. It has FIND_SHORT characters at least, the instant, so that none of a later one begins
 * so. */
int add_short_id(struct ctl *c, const char *id, struct str *out, struct err *e);
/* Fails once the database, its -wal or its -shm is another file than the one that we have open:
 * what is written here would reach nobody. */
int ctl_check_files(const struct ctl *c, struct err *e);
/* What --workspace names: a folder if there is a '/' in it, or it is "." or ".."; else the
 * [[workspace]] of that id. */
static inline bool ctl_is_folder(const char *workspace)
{
	return strchr(workspace, '/') || strcmp(workspace, ".") == 0 ||
	       strcmp(workspace, "..") == 0;
}
/* The path of what it names, for the caller to free: of a folder the real one, as whoever typed it
 * sees it; NULL if it is not given. 0 or -1. */
int ctl_workspace(struct ctl *c, char **ret_folder, struct err *e);
/* The arguments from `first` on, joined with blanks; the caller frees it. */
char *join_arguments(const struct ctl *c, int first);

/* ---- saying (say.c) ---- */

/* Passes words to the operator's desk, and commits. Returns 0 if done; -1 if not: e says why
 * ("already approved by ..."). */
int ctl_say(struct ctl *c, const struct words *w, struct said *out, struct err *e);
/* The id of the checkpoint that name (its id, label, session, or "start") means, of --session, and
 * of the folder root (NULL: any). 0 or -1, as above. */
int ctl_find_checkpoint(struct ctl *c, const char *name, const char *root, char id[ID_BYTES],
                        struct err *e);
/* Waits a moment for the hook that was approved, and adds to the answer why it was denied
 * nonetheless, if it was. */
void ctl_add_withheld(struct ctl *c, struct said *s);
/* Prints the answer in the requested form; takes over its JSON. */
void print_said(const struct ctl *c, struct said *s);
/* ctl_say, and prints the answer. 0 or -1. */
int ctl_say_and_print(struct ctl *c, const struct words *w, struct err *e);
/* What a worker answers to an order. */
struct ctl_reply {
	int64_t seq; /* of the order */
	cJSON *json;
};
void ctl_reply_clear(struct ctl_reply *r);
/* Gives an order to a worker and waits up to ms for it to carry it out. 0; -1: it was refused, or
 * is not done by then, and e says why (late: in the second case). */
int ctl_order(struct ctl *c, const struct words *w, int ms, const char *late,
              struct ctl_reply *reply, struct err *e);
/* Prints its JSON, which is then gone. */
void ctl_print_reply(const struct ctl *c, struct ctl_reply *r);
/* Orders what has changed since the checkpoint that what means (NULL: since the session began),
 * waits for it and prints it. Exit status, or -1. */
int diff_since(struct ctl *c, const char *what, struct err *e);

/* ---- putting a checkpoint back (restore.c) ---- */

/* checkpoint restore ID [--yes] [--file PATH...]; root: of --workspace, or NULL */
int restore_checkpoint(struct ctl *c, const char *id, const char *root, struct err *e);

/* ---- showing one request (show.c) ---- */

void show_request(const struct ctl *c, const struct request *r, int64_t listeners);
cJSON *request_json(const struct request *r, const struct request_calls_row *calls);
/* ---- output (output.c) ---- */

enum look { LOOK_PLAIN, LOOK_BOLD, LOOK_DIM, LOOK_RED, LOOK_GREEN, LOOK_YELLOW, LOOK_CYAN };

/* Whatever agents and rows say must pass through this on its way to a terminal: it makes visible
 * control characters (<U+001B>), invalid UTF-8 (<9B>), and characters that hide or reorder text
 * (<U+202E>); of a text that looks like such a mark, the < is a mark itself (<U+003C>9B>). Keeps
 * newlines and tabs if lines is set. */
void add_visible(struct str *out, const char *bytes, size_t length, bool lines);
/* The same to stdout, on one line; NULL prints "-". */
void print_visible(const char *text);
/* The same between words of ours; nothing at all if text is NULL. */
void print_between(const char *before, const char *text, const char *behind);
void print_look(const struct ctl *c, enum look look);

enum { AGE_BYTES = 24 };
struct age {
	char text[AGE_BYTES]; /* "5s", "3m", "2h", "4d"; "-" if there is no instant */
};
struct age age_of(const char *instant);

/* Adds a member to a JSON object. Text may hold any bytes: invalid UTF-8 becomes U+FFFD, control
 * characters are escaped. NULL becomes null. */
void json_add_text(cJSON *object, const char *name, const char *text);
/* Omitted if NULL. */
void json_add_given(cJSON *object, const char *name, const char *text);
void json_add_bytes(cJSON *object, const char *name, const char *bytes, size_t length);
cJSON *json_string(const char *text);
/* Adds a member that is JSON already. */
void json_raw(cJSON *object, const char *name, const char *json);
/* Prints and frees value; on several lines on a terminal, else on one line. */
void json_print(const struct ctl *c, cJSON *value);
void json_print_line(cJSON *value);

/* Aligned columns; cells are made visible as they are added. */
struct table {
	size_t columns;
	char **cells; /* row by row, headings first */
	size_t count;
};
void table_begin(struct table *t, const char *const *headings, size_t columns);
void table_add(struct table *t, const char *cell); /* NULL: empty */
/* Cuts long cells for a terminal, and the last column at its edge. */
void table_print(const struct ctl *c, const struct table *t);
void table_clear(struct table *t);

/* How to list the rows of a statement. */
struct listing {
	const char *name; /* of the array, in JSON */
	const char *none; /* printed if there are no rows */
	const char *const *headings;
	size_t columns;
	cJSON *(*json)(const void *row);
	int (*add)(struct ctl *c, struct table *t, const void *row, struct err *e); /* its cells */
	int (*more)(struct ctl *c, const void *row, cJSON *json, struct err *e); /* NULL: none */
};
/* Prints a text of the agent's line by line behind a margin, so that it cannot pass for ours. */
void print_block(const struct ctl *c, const char *bytes, size_t length, bool diff);

/* Lists all rows from row_next in the requested form. */
int print_listing(struct ctl *c, struct row *row, const struct listing *l, struct err *e);

#endif
