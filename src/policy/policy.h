/* policy: what a workspace allows without asking: `.intercom/settings.json`, read, compiled and
 * asked. No rows and no files in here; see policy_file.h.
 *
 * Sources: seeds 000 sections 1.3, 8.7 and 10, seeds 001 section 4.4. Three
 * shapes of the file are taken: flat ("commands"), nested ("autoApprove": {"commands"}), and VS
 * Code's map
 * ("chat.tools.terminal.autoApprove": {"git status": true, "rm": false}).
 *
 * A command rule that begins with ^, or is written /.../ or /.../i, is a regular expression for the
 * whole command line (PCRE2, with limits: a rule that takes too long allows nothing). Any other
 * is a glob: * and ? stand for what no shell treats specially, so that `cargo test *` does not
 * allow `cargo test; rm -rf ~`; a last " *" may be nothing at all. What is denied is looked for
 * anywhere in the line, also as a shell splits it (command_line.h), and beats what is allowed.
 *
 * File rules are globs over the path beneath the workspace: * and ? stay within a directory, **
 * does not. Rules for reading never allow a write, and some files are always asked (always_ask.h).
 * What can only be a command line is no matter of rules for files or tools, whatever its kind. */
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
	POLICY_MAX_LINE = 32 << 10, /* bytes of a command line that is judged */
	POLICY_MATCH_LIMIT = 20000, /* steps of PCRE2 for one rule */
	POLICY_HEAP_KIB = 4096, /* of PCRE2 for one rule */
};

struct policy;

/* What is to be done without asking. Texts are borrowed. */
struct policy_question {
	const char *tool; /* name of a tool, in either generation, or a command line */
	bool is_command; /* tool is a command line and nothing else */
	const char *risk_level; /* low, high, critical; NULL: low; anything else is never allowed */
	const char *const *paths; /* every file that is touched, relative to the workspace */
	size_t path_count;
	bool reads; /* the files are read, not written */
	const cJSON *known; /* the configuration's map of commands, where only these may be */
	/* allowed; NULL: any */
	const cJSON *always_ask; /* further files that are never written unasked (always_ask.h) */
};

struct policy_answer {
	bool approved;
	struct str rule; /* "command:..", "tool:..", "file_pattern:write:.."; empty: none matched */
	struct str why; /* for people, in one line */
};

/* Reads a file's content. *ret_policy is set on success, policy_free frees it. 0, or -1 with a text
 * that names the member and what is wrong with it (ERR_INPUT): then everything is to be denied. */
int policy_parse(const char *bytes, size_t length, struct policy **ret_policy, struct err *e);
void policy_free(struct policy *p);

/* Judges. p NULL: there is no file, and all is denied. a is fresh; the caller clears it. */
void policy_judge(const struct policy *p, const struct policy_question *q, struct policy_answer *a);
void policy_answer_clear(struct policy_answer *a);

/* Whether what was allowed is to be told in Slack, and in a summary every so many seconds (0: each
 * by itself). */
bool policy_logs(const struct policy *p, int64_t *ret_summary_seconds);

/* Appends a line for each thing that p may allow and before (NULL: nothing) does not, by their
 * rules as they are written: rules that are new, denials that are gone, a higher threshold.
 * Nothing: p is no wider. */
void policy_widening(const struct policy *p, const struct policy *before, struct str *out);

/* Appends a line for each rule that allows more than its author may have meant. */
void policy_warnings(const struct policy *p, struct str *out);

/* Appends a line for each member of the file that says nothing to us: a misspelt one, mostly. */
void policy_unknown(const struct policy *p, struct str *out);

#endif
