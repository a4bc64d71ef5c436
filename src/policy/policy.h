/* policy: what a workspace allows without asking: `.intercom/settings.json`, parsed, compiled and
 * evaluated. No rows and no files here; see policy_file.h.
 *
 * The file may have one of three shapes: flat ("commands"), nested ("autoApprove": {"commands"}),
 * and VS Code's map ("chat.tools.terminal.autoApprove": {"git status": true, "rm": false}).
 *
 * A command rule that begins with ^, or is written /.../ or /.../i, is a regular expression for the
 * whole command line (PCRE2, with limits: a rule that takes too long allows nothing). Any other
 * rule is a glob: * and ? match only what no shell treats specially, so that `cargo test *` does
 * not allow `cargo test; rm -rf ~`; a final " *" may match nothing at all. Denials are searched for
 * anywhere in the line, also as a shell splits it (command_line.h), and override what is allowed.
 *
 * Rules for commands count in the root of the workspace alone: a folder in it may hold what an
 * agent wrote by a rule for files, and most programs take their orders from the folder they run in.
 *
 * A rule with a control or invisible character (visible.h) is an error of the file.
 *
 * File rules are globs over the path beneath the workspace: * and ? stay within a directory, **
 * does not. Rules for reading never allow a write, and some files always need approval
 * (always_ask.h), those that the configuration names also before they are read. Rules for files and
 * tools never apply to what can only be a command line, whatever its kind. */
#ifndef POLICY_H
#define POLICY_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	POLICY_MAX_BYTES = 256 << 10, /* of the file */
	POLICY_MAX_RULES = 500, /* of one list */
	POLICY_MAX_LINE = 32 << 10, /* bytes; a longer command line is not judged */
	POLICY_MATCH_LIMIT = 20000, /* steps of PCRE2 for one rule */
	POLICY_HEAP_KIB = 4096, /* of PCRE2 for one rule */
};

struct policy;

/* What is to be done without asking. Texts are borrowed. */
struct policy_question {
	const char *tool; /* name of a tool, old or new, or a command line */
	bool is_command; /* tool is a command line and nothing else */
	const char *folder; /* where that runs, if not in the root of the workspace; or NULL */
	bool may_be_command; /* what tool is only its text says, see policy_may_be_command */
	const char *risk_level; /* low, high, critical; NULL: low; anything else is never allowed */
	const char *root; /* of the workspace: what lies in a folder that is always asked is, too;
	                     NULL: not known */
	const char *const *paths; /* every touched file, relative to the workspace */
	size_t path_count;
	bool reads; /* the files are read, not written */
	bool names_only; /* what becomes of them is not known: no rule for files allows it */
	const cJSON *known; /* the configuration's map of commands, where only these may be */
	/* allowed; NULL: any */
	const cJSON *always_ask; /* more files that are never read or written unasked
	                            (always_ask.h) */
};

struct policy_answer {
	bool approved;
	struct str rule; /* "command:..", "tool:..", "file_pattern:write:.."; empty: none matched */
	struct str why; /* for people, on one line */
};

/* Parses a file's content. On success *ret_policy is set; policy_free frees it. 0, or -1 with a
 * text that names the member and its error (ERR_INPUT): then everything must be denied. */
int policy_parse(const char *bytes, size_t length, struct policy **ret_policy, struct err *e);
void policy_free(struct policy *p);

/* Whether what an agent would do may be a command line: it has the form of one, or names neither a
 * file nor a tool of ours. Rules for commands judge nothing else. */
bool policy_may_be_command(const char *what, size_t path_count);

/* Judges. p NULL: there is no file, and everything is denied. a is fresh; the caller clears it. */
void policy_judge(const struct policy *p, const struct policy_question *q, struct policy_answer *a);
void policy_answer_clear(struct policy_answer *a);

/* Whether a rule denies a command line, anywhere in it; then why gets it. p NULL: nothing is
 * denied.
 */
bool policy_denies(const struct policy *p, const char *command, struct str *why);

/* Whether what was allowed is reported in Slack, and how often in a summary (0: each one
 * separately). */
bool policy_logs(const struct policy *p, int64_t *ret_summary_seconds);

/* Whether p reports what it allows no longer, or later, than before (may be NULL) did. */
bool policy_hides(const struct policy *p, const struct policy *before);

/* Appends a line for each thing that p may allow and before (NULL: allows nothing) does not,
 * judging by the rules as written: new rules, removed denials, a higher threshold; and that it
 * reports that no longer, or later. Foreign text in it is visible (visible.h). Nothing: p is not
 * wider. */
void policy_widening(const struct policy *p, const struct policy *before, struct str *out);

/* Appends a line for each rule that may allow more than its author meant. */
void policy_warnings(const struct policy *p, struct str *out);

/* Appends a line for each member of the file that we do not know: usually a misspelt one.
 * Its name is visible (visible.h). */
void policy_unknown(const struct policy *p, struct str *out);

#endif
