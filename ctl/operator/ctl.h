/* ctl: what the commands of agent-intercom-ctl share.
 *
 * To add a command: write <name>.c with a `const struct command_spec cmd_<name>`, declare it below,
 * and add it to COMMANDS in main.c, in the order of the help text. */
#ifndef CTL_H
#define CTL_H

#include "command.h"
#include "err.h"
#include "paths.h"
#include "request.h"
#include "say.h"
#include "store.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct ctl {
	struct store store; /* open while a command runs */
	struct paths paths;
	const char *config, *database, *ipc_name; /* options; NULL: not given */
	const char *session, *reason, *note, *digest, *agent, *workspace;
	int64_t count; /* -n; -1: not given */
	bool follow;
	bool sent; /* show what the agent sent, not what it makes of the files */
	bool json; /* print JSON, else text for a person */
	bool json_asked; /* by --json, not because of a pipe */
	bool text_asked; /* by --text */
	bool terminal; /* stdout is one */
	bool colour;
	size_t columns; /* width of the terminal, 0: none */
	bool help, version;
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
	TAKES_AGENT = 128, /* --agent and --workspace */
};

struct command_spec {
	const char *name;
	const char *arguments; /* as the help shows them */
	const char *help; /* one line */
	const char *more; /* further lines for `help NAME`, or NULL */
	int least, most; /* how many arguments; most -1: any number */
	unsigned takes; /* enum ctl_option */
	/* The exit status; -1: e says why it failed (exit 1). */
	int (*run)(struct ctl *c, struct err *e);
};

extern const struct command_spec cmd_approve, cmd_reject, cmd_continue, cmd_refine, cmd_stop;
extern const struct command_spec cmd_resume, cmd_mode, cmd_list, cmd_inbox, cmd_show, cmd_log;
extern const struct command_spec cmd_watch, cmd_health, cmd_sql, cmd_undo;
extern const struct command_spec cmd_steer, cmd_task, cmd_session, cmd_stall, cmd_nudge;

/* ---- finding (find.c) ---- */

/* Reads the request whose id is or begins with text. 0, or -1 if there is not exactly one. */
int find_request(struct ctl *c, const char *text, struct request *r, struct err *e);
/* The whole id of the session whose id is or begins with text; the caller frees it. */
int find_session(struct ctl *c, const char *text, char **ret_id, struct err *e);
/* Appends the shortest beginning of id (8 characters at least) that no other request, or session,
 * shares. Ids begin with their time: what is asked in the same minute begins alike. */
int short_request_id(struct ctl *c, const char *id, struct str *out, struct err *e);
int short_session_id(struct ctl *c, const char *id, struct str *out, struct err *e);
/* The arguments from `first` on, with blanks between them; the caller frees it. */
char *join_arguments(const struct ctl *c, int first);

/* ---- saying (say.c) ---- */

/* Says it at the operator's desk, and commits. 0 done; -1 not: e says why ("already approved by
 * ..."). */
int ctl_say(struct ctl *c, const struct words *w, struct said *out, struct err *e);
/* The answer, in the form that was asked for; takes its JSON. */
void print_said(const struct ctl *c, struct said *s);
/* mode MODE [--session ID], stall on|off SESSION. */
int say_mode(struct ctl *c, struct err *e);
int say_stall(struct ctl *c, struct err *e);

/* ---- showing one request (cmd_show.c) ---- */

void show_request(const struct ctl *c, const struct request *r, int64_t listeners);
cJSON *request_json(const struct request *r, int64_t listeners);
/* ---- output (cmd_output.c) ---- */

enum look { LOOK_PLAIN, LOOK_BOLD, LOOK_DIM, LOOK_RED, LOOK_GREEN, LOOK_YELLOW, LOOK_CYAN };

/* What agents and rows say goes to a terminal through this only: control characters (^[ for
 * escape), broken UTF-8 (<9B>), and characters that hide or turn text (<U+202E>) are made visible.
 * Newlines and tabs are kept if lines is set. */
void add_visible(struct str *out, const char *bytes, size_t length, bool lines);
/* The same, onto stdout and on one line; NULL prints "-". */
void print_visible(const char *text);
void print_look(const struct ctl *c, enum look look);
/* How many columns a text takes on a terminal. */
size_t text_width(const char *text);

enum { AGE_BYTES = 24 };
struct age {
	char text[AGE_BYTES]; /* "5s", "3m", "2h", "4d"; "-" for no instant */
};
struct age age_of(const char *instant);

/* Members of a JSON object. Texts may hold any bytes; what is no UTF-8 becomes U+FFFD, and what
 * would act on a terminal is escaped. NULL becomes null. */
void json_add_text(cJSON *object, const char *name, const char *text);
void json_add_bytes(cJSON *object, const char *name, const char *bytes, size_t length);
cJSON *json_string(const char *text);
/* A member that is JSON already. */
void json_raw(cJSON *object, const char *name, const char *json);
/* Prints and frees; over several lines on a terminal, on one line otherwise. */
void json_print(const struct ctl *c, cJSON *value);
void json_print_line(cJSON *value);

/* Aligned columns; cells are made visible as they are added. */
struct table {
	size_t columns;
	char **cells; /* row by row, headings first */
	size_t count, capacity;
};
void table_begin(struct table *t, const char *const *headings, size_t columns);
void table_add(struct table *t, const char *cell); /* NULL: empty */
/* Long cells are cut for a terminal, and the last column at its edge. */
void table_print(const struct ctl *c, const struct table *t);
void table_clear(struct table *t);

/* How the rows of a statement are listed. */
struct listing {
	const char *name; /* of the array, in JSON */
	const char *none; /* said where there is no row */
	const char *const *headings;
	size_t columns;
	cJSON *(*json)(const void *row);
	int (*add)(struct ctl *c, struct table *t, const void *row, struct err *e); /* its cells */
	int (*more)(struct ctl *c, const void *row, cJSON *json, struct err *e); /* NULL: none */
};
/* A text of the agent's, line by line behind a margin, so that it cannot pass for ours. */
void print_block(const struct ctl *c, const char *bytes, size_t length, bool diff);

/* Lists all rows, as row_next gives them, in the form that was asked for. */
int print_listing(struct ctl *c, struct row *row, const struct listing *l, struct err *e);

#endif
