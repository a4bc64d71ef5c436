#define PCRE2_CODE_UNIT_WIDTH 8
#include "policy.h"

#include "always_ask.h"
#include "command_line.h"
#include "json.h"
#include "json_check.h"
#include "texts.h"
#include "tool_name.h"
#include "visible.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum risk { RISK_LOW, RISK_HIGH, RISK_CRITICAL, RISK_UNKNOWN };

/* One entry of a list. */
struct rule {
	char *text; /* as written in the file */
	pcre2_code *code; /* NULL for a tool: its name is compared */
};

struct rules {
	struct rule *items;
	size_t count;
};

struct policy {
	bool enabled;
	enum risk threshold;
	struct rules denied, commands, tools, write, read;
	bool log_auto_approved;
	int64_t summary_interval_seconds;
	struct str unknown;
};

static enum risk risk_of(const char *name)
{
	static const char *const NAMES[] = { "low", "high", "critical" };

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i], name) == 0)
			return (enum risk)i;
	return RISK_UNKNOWN;
}

/* ---- rules ---- */

static struct rule *add_rule(struct rules *list, const char *text)
{
	list->items = xrealloc(list->items, (list->count + 1) * sizeof(*list->items));
	list->items[list->count] = (struct rule){ .text = xstrdup(text) };
	return &list->items[list->count++];
}

/* Whoever is asked to trust a rule must see it whole, on its own line, as what it is. A file with
 * another one is refused: without a rule that denies, it would allow more than its author meant. */
static int check_text(const char *text, const char *member, struct err *e)
{
	OWNED(str) struct str shown = { 0 };

	visible_add(&shown, text, strlen(text), false);
	if (strcmp(str_text(&shown), text) == 0)
		return 0;
	return err_set(e, ERR_INPUT,
	               "%s: '%.80s': a rule may contain no control characters, nothing invisible, "
	               "and no more than %d blanks in a row",
	               member, shown.bytes, VISIBLE_BLANKS_MAX);
}

static void free_rules(struct rules *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].text);
		pcre2_code_free(list->items[i].code);
	}
	free(list->items);
}

static int compile(struct rule *r, const char *expression, uint32_t options, const char *member,
                   struct err *e)
{
	int code = 0;
	size_t at = 0;
	unsigned char why[120];

	r->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
	                        options | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF |
	                            PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY,
	                        &code, &at, NULL);
	if (r->code)
		return 0;
	(void)pcre2_get_error_message(code, why, sizeof(why));
	return err_set(e, ERR_INPUT, "%s: '%.80s' is no regular expression: %s", member, r->text,
	               (char *)why);
}

static void add_literal(struct str *out, char c)
{
	if (strchr("\\^$.[]|()?*+{}-#/", c))
		str_add_char(out, '\\');
	str_add_char(out, c);
}

/* ---- command rules ---- */

/* With these, with control characters and backslashes a shell does something else as well; one into
 * which a host types the line edits it with control characters, and repeats an earlier one for
 * "!x". No wildcard in a command's glob matches them. */
#define SPECIAL ";&|`$<>(){}"
#define ORDINARY "[^\\x00-\\x1f\\x7f" SPECIAL "\\\\]"
#define NO_HISTORY "(?!(?:[^!]*+!(?![^ ]))*+[^!]*+!)" /* possessive: long lines, too */

static void add_command_glob(struct str *out, const char *glob)
{
	size_t length = strlen(glob);
	bool open_end = length > 2 && strcmp(glob + length - 2, " *") == 0;

	if (strpbrk(glob, "*?"))
		str_add(out, NO_HISTORY);
	for (size_t i = 0; i < length - (open_end ? 2 : 0); i++)
		if (glob[i] == '*')
			str_add(out, ORDINARY "*");
		else if (glob[i] == '?')
			str_add(out, ORDINARY);
		else
			add_literal(out, glob[i]);
	if (open_end)
		str_add(out, "(?: " ORDINARY "*)?");
}

/* Whether text is written as a regular expression; if so, appends it. -1: it has unknown flags. */
static int add_expression(struct str *out, const char *text, uint32_t *ret_options)
{
	static const char FLAGS[] = "dgimsuvy"; /* all of JavaScript's */
	const char *last = strrchr(text, '/');

	if (text[0] == '^') {
		str_add(out, text);
		return 1;
	}
	if (text[0] != '/' || last == text ||
	    strspn(last + 1, FLAGS) != strlen(last + 1)) /* "/usr/bin/make" is a path */
		return 0;
	if (strspn(last + 1, "iu") != strlen(last + 1))
		return -1;
	if (strchr(last + 1, 'i'))
		*ret_options |= PCRE2_CASELESS;
	str_add_bytes(out, text + 1, (size_t)(last - text) - 1);
	return 1;
}

static int add_command(struct policy *p, const char *text, bool allows, const char *member,
                       struct err *e)
{
	OWNED(str) struct str expression = { 0 };
	uint32_t options = allows ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : PCRE2_DOTALL;
	struct rule *r = add_rule(allows ? &p->commands : &p->denied, text);
	int is_expression;

	if (!allows)
		str_add(&expression, "(?:^|[\\s;&|`(){}<>$])(?:");
	is_expression = add_expression(&expression, text, &options);
	if (is_expression < 0)
		return err_set(
		    e, ERR_INPUT,
		    "%s: '%.80s': the only flag behind /.../ is i; a path is written ^/...$",
		    member, text);
	if (!is_expression)
		add_command_glob(&expression, text);
	if (!allows)
		str_add(&expression, ")(?:$|[\\s;&|`(){}<>])");
	if (!allows && is_expression) { /* it has its own anchors */
		str_reset(&expression);
		(void)add_expression(&expression, text, &options);
	}
	return compile(r, expression.bytes, options, member, e);
}

/* ---- file rules ---- */

/* Appends "{a,b}" as alternatives, in which nothing else is special. */
static size_t add_alternatives(struct str *out, const char *glob)
{
	size_t end = strcspn(glob, "}");

	if (!glob[end]) {
		add_literal(out, '{');
		return 1;
	}
	str_add(out, "(?:");
	for (size_t i = 1; i < end; i++)
		if (glob[i] == ',')
			str_add_char(out, '|');
		else if (glob[i] == '*')
			str_add(out, "[^/]*");
		else if (glob[i] == '?')
			str_add(out, "[^/]");
		else
			add_literal(out, glob[i]);
	str_add_char(out, ')');
	return end + 1;
}

/* "[a-z]", "[!a-z]"; never matches a slash. */
static size_t add_class(struct str *out, const char *glob)
{
	bool negated = glob[1] == '!' || glob[1] == '^';
	size_t begin = negated ? 2 : 1;
	size_t end = begin + (glob[begin] == ']' ? 1 : 0);

	end += strcspn(glob + end, "]");
	if (!glob[end]) {
		add_literal(out, '[');
		return 1;
	}
	str_add(out, negated ? "(?!/)[^" : "(?!/)[");
	for (size_t i = begin; i < end; i++) {
		if (strchr("\\^[]", glob[i]))
			str_add_char(out, '\\');
		str_add_char(out, glob[i]);
	}
	str_add_char(out, ']');
	return end + 1;
}

static void add_path_glob(struct str *out, const char *glob)
{
	size_t i = 0;

	while (glob[i]) {
		if (strncmp(glob + i, "**/", 3) == 0 && (i == 0 || glob[i - 1] == '/')) {
			str_add(out, "(?:[^/]+/)*");
			i += 3;
		} else if (strcmp(glob + i, "**") == 0) {
			str_add(out, ".+");
			i += 2;
		} else if (glob[i] == '*') {
			str_add(out, "[^/]*");
			i += strspn(glob + i, "*");
		} else if (glob[i] == '?') {
			str_add(out, "[^/]");
			i++;
		} else if (glob[i] == '[') {
			i += add_class(out, glob + i);
		} else if (glob[i] == '{') {
			i += add_alternatives(out, glob + i);
		} else {
			add_literal(out, glob[i++]);
		}
	}
}

static int add_path(struct rules *list, const char *text, const char *member, struct err *e)
{
	OWNED(str) struct str expression = { 0 };

	add_path_glob(&expression, strncmp(text, "./", 2) == 0 ? text + 2 : text);
	return compile(add_rule(list, text), str_text(&expression),
	               PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL, member, e);
}

/* ---- reading ---- */

enum list { LIST_COMMANDS, LIST_TOOLS, LIST_WRITE, LIST_READ };

static int add_entry(struct policy *p, enum list list, const char *text, const char *member,
                     struct err *e)
{
	switch (list) {
	case LIST_COMMANDS:
		return add_command(p, text, true, member, e);
	case LIST_TOOLS:
		(void)add_rule(&p->tools, text);
		return 0;
	case LIST_WRITE:
		return add_path(&p->write, text, member, e);
	case LIST_READ:
		return add_path(&p->read, text, member, e);
	}
	return err_set(e, ERR_BUG, "a list without a name");
}

static int read_list(struct policy *p, enum list list, const cJSON *value, const char *member,
                     struct err *e)
{
	const cJSON *one;
	int i = 0;

	if (!value || cJSON_IsNull(value))
		return 0;
	if (!cJSON_IsArray(value))
		return err_set(e, ERR_INPUT, "%s: must be a list of texts", member);
	if (cJSON_GetArraySize(value) > POLICY_MAX_RULES)
		return err_set(e, ERR_INPUT, "%s: has more than %d entries", member,
		               POLICY_MAX_RULES);
	cJSON_ArrayForEach (one, value) {
		if (!cJSON_IsString(one) || !one->valuestring[0])
			return err_set(e, ERR_INPUT, "%s[%d]: must be a text", member, i);
		if (check_text(one->valuestring, member, e) ||
		    add_entry(p, list, one->valuestring, member, e))
			return -1;
		i++;
	}
	return 0;
}

/* VS Code's map: true, false, or an object with "approve"; null removes an entry. */
static int read_map(struct policy *p, const cJSON *value, const char *member, struct err *e)
{
	const cJSON *one;

	if (!value || cJSON_IsArray(value))
		return read_list(p, LIST_COMMANDS, value, member, e);
	if (!cJSON_IsObject(value))
		return err_set(e, ERR_INPUT, "%s: must be a map or a list", member);
	if (cJSON_GetArraySize(value) > POLICY_MAX_RULES)
		return err_set(e, ERR_INPUT, "%s: has more than %d entries", member,
		               POLICY_MAX_RULES);
	cJSON_ArrayForEach (one, value) {
		const cJSON *says = cJSON_IsObject(one) ? json_get(one, "approve") : one;

		if (cJSON_IsNull(says))
			continue;
		if (check_text(one->string, member, e))
			return -1;
		if (!cJSON_IsBool(says) || !one->string[0])
			return err_set(e, ERR_INPUT, "%s: '%.80s' must be true, false or {approve}",
			               member, one->string);
		if (add_command(p, one->string, cJSON_IsTrue(says), member, e))
			return -1;
	}
	return 0;
}

static int read_flag(const cJSON *value, const char *member, bool *flag, struct err *e)
{
	if (!value || cJSON_IsNull(value))
		return 0;
	if (!cJSON_IsBool(value))
		return err_set(e, ERR_INPUT, "%s: must be true or false", member);
	*flag = cJSON_IsTrue(value);
	return 0;
}

static int read_threshold(const cJSON *value, const char *member, enum risk *risk, struct err *e)
{
	const char *name = cJSON_GetStringValue(value);

	if (!value || cJSON_IsNull(value))
		return 0;
	*risk = name ? risk_of(name) : RISK_UNKNOWN;
	if (*risk == RISK_UNKNOWN)
		return err_set(e, ERR_INPUT, "%s: must be low, high or critical", member);
	return 0;
}

static int read_seconds(const cJSON *value, const char *member, int64_t *seconds, struct err *e)
{
	if (!value || cJSON_IsNull(value))
		return 0;
	if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= 86400))
		return err_set(e, ERR_INPUT, "%s: must be a number of seconds up to 86400", member);
	*seconds = (int64_t)value->valuedouble;
	return 0;
}

/* The member names of one shape of the file. */
struct shape {
	const char *enabled, *commands, *tools, *patterns, *threshold, *logs, *summary;
};

static const struct shape FLAT = { "enabled",
	                           "commands",
	                           "tools",
	                           "file_patterns",
	                           "risk_level_threshold",
	                           "log_auto_approved",
	                           "summary_interval_seconds" };
static const struct shape NESTED = { "enabled",
	                             "commands",
	                             "tools",
	                             "filePatterns",
	                             "riskLevelThreshold",
	                             "logAutoApproved",
	                             "summaryIntervalSeconds" };

static int read_rules(struct policy *p, const cJSON *from, const struct shape *s, struct err *e)
{
	const cJSON *patterns = json_get(from, s->patterns);

	if (patterns && !cJSON_IsObject(patterns) && !cJSON_IsNull(patterns))
		return err_set(e, ERR_INPUT, "%s: must be an object with write and read",
		               s->patterns);
	return err_if(read_flag(json_get(from, s->enabled), s->enabled, &p->enabled, e) ||
	              read_list(p, LIST_COMMANDS, json_get(from, s->commands), s->commands, e) ||
	              read_list(p, LIST_TOOLS, json_get(from, s->tools), s->tools, e) ||
	              read_list(p, LIST_WRITE, json_get(patterns, "write"), "write", e) ||
	              read_list(p, LIST_READ, json_get(patterns, "read"), "read", e) ||
	              read_threshold(json_get(from, s->threshold), s->threshold, &p->threshold, e));
}

static int read_notices(struct policy *p, const cJSON *from, const struct shape *s, struct err *e)
{
	return err_if(
	    read_flag(json_get(from, s->logs), s->logs, &p->log_auto_approved, e) ||
	    read_seconds(json_get(from, s->summary), s->summary, &p->summary_interval_seconds, e));
}

enum { NAME_BYTES = 80 }; /* that are told of a member nobody knows */

static void note_unknown(struct policy *p, const cJSON *object, const char *prefix,
                         const char *const *names)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, object)
		if (!texts_name(names, one->string)) {
			str_add(&p->unknown, prefix);
			visible_add(&p->unknown, one->string, strnlen(one->string, NAME_BYTES),
			            false);
			str_add_char(&p->unknown, '\n');
		}
}

static const char TERMINAL[] = "chat.tools.terminal.autoApprove";

static void note_all_unknown(struct policy *p, const cJSON *root)
{
	const char *const TOP[] = { FLAT.enabled,   FLAT.commands, FLAT.tools,      FLAT.patterns,
		                    FLAT.threshold, FLAT.logs,     FLAT.summary,    TERMINAL,
		                    "autoApprove",  "$schema",     "notifications", NULL };
	const char *const RULES[] = { NESTED.enabled,  NESTED.commands,  NESTED.tools,
		                      NESTED.patterns, NESTED.threshold, NULL };
	const char *const NOTICES[] = { NESTED.logs, NESTED.summary, NULL };
	const char *const PATTERNS[] = { "write", "read", NULL };

	note_unknown(p, root, "", TOP);
	note_unknown(p, json_get(root, "autoApprove"), "autoApprove.", RULES);
	note_unknown(p, json_get(root, "notifications"), "notifications.", NOTICES);
	note_unknown(p, json_get(root, FLAT.patterns), "file_patterns.", PATTERNS);
	note_unknown(p, json_get(json_get(root, "autoApprove"), NESTED.patterns),
	             "autoApprove.filePatterns.", PATTERNS);
}

static int read_object(const cJSON *root, const char *name, const cJSON **ret, struct err *e)
{
	*ret = json_get(root, name);
	if (*ret && !cJSON_IsObject(*ret))
		return err_set(e, ERR_INPUT, "%s: must be an object", name);
	return 0;
}

static int read_all(struct policy *p, const cJSON *root, struct err *e)
{
	const cJSON *nested, *notices;

	if (!cJSON_IsObject(root))
		return err_set(e, ERR_INPUT, "the file must hold one JSON object");
	if (read_object(root, "autoApprove", &nested, e) ||
	    read_object(root, "notifications", &notices, e) || read_rules(p, root, &FLAT, e) ||
	    read_notices(p, root, &FLAT, e) || read_rules(p, nested, &NESTED, e) ||
	    read_notices(p, notices, &NESTED, e) ||
	    read_map(p, json_get(root, TERMINAL), TERMINAL, e))
		return -1;
	note_all_unknown(p, root);
	return 0;
}

int policy_parse(const char *bytes, size_t length, struct policy **ret_policy, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	struct policy *p;

	if (length > POLICY_MAX_BYTES)
		return err_set(e, ERR_INPUT, "the file is larger than %d KiB",
		               POLICY_MAX_BYTES >> 10);
	if (json_check_is_blank(bytes, length))
		return err_set(e, ERR_INPUT, "the file is empty");
	root = json_read_strictly(bytes, length, "the file", e);
	if (!root)
		return -1;
	p = xcalloc(1, sizeof(*p));
	p->summary_interval_seconds = 300;
	if (read_all(p, root, e)) {
		policy_free(p);
		return -1;
	}
	*ret_policy = p;
	return 0;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	free_rules(&p->denied);
	free_rules(&p->commands);
	free_rules(&p->tools);
	free_rules(&p->write);
	free_rules(&p->read);
	str_clear(&p->unknown);
	free(p);
}

bool policy_logs(const struct policy *p, int64_t *ret_summary_seconds)
{
	*ret_summary_seconds = p ? p->summary_interval_seconds : 0;
	return p && p->log_auto_approved;
}

bool policy_hides(const struct policy *p, const struct policy *before)
{
	return before && before->enabled && before->log_auto_approved &&
	       (!p->log_auto_approved ||
	        p->summary_interval_seconds > before->summary_interval_seconds);
}

void policy_unknown(const struct policy *p, struct str *out)
{
	str_add(out, str_text(&p->unknown));
}

void policy_warnings(const struct policy *p, struct str *out)
{
	for (size_t i = 0; i < p->tools.count; i++)
		if (strcmp(tool_name(p->tools.items[i].text), "check_clearance") == 0)
			str_addf(out,
			         "tools: %s allows every change to every file, but those that are "
			         "always asked; name files in file_patterns.write instead\n",
			         p->tools.items[i].text);
}

/* ---- comparing ---- */

static bool has_rule(const struct rules *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].text, text) == 0)
			return true;
	return false;
}

static void add_line(struct str *out, const char *what, const char *text)
{
	str_addf(out, "%s: ", what);
	visible_add(out, text, strlen(text), false);
	str_add_char(out, '\n');
}

/* Appends what is in list and not in others. */
static void add_new(const struct rules *list, const struct rules *others, const char *what,
                    struct str *out)
{
	for (size_t i = 0; i < list->count; i++)
		if (!has_rule(others, list->items[i].text))
			add_line(out, what, list->items[i].text);
}

void policy_widening(const struct policy *p, const struct policy *before, struct str *out)
{
	static const char *const RISKS[] = { "low", "high", "critical" };
	static const struct policy NOTHING = { .threshold = RISK_LOW };
	const struct policy *old = before && before->enabled ? before : &NOTHING;

	if (!p->enabled)
		return;
	add_new(&p->write, &old->write, "write", out);
	add_new(&p->read, &old->read, "read", out);
	add_new(&p->commands, &old->commands, "command", out);
	add_new(&p->tools, &old->tools, "tool", out);
	if (old != &NOTHING)
		add_new(&old->denied, &p->denied, "no longer denied", out);
	if (p->threshold > old->threshold)
		str_addf(out, "up to risk: %s\n", RISKS[p->threshold]);
	if (policy_hides(p, before) && p->log_auto_approved)
		str_addf(out, "all of it: with a report in Slack every %lld seconds only\n",
		         (long long)p->summary_interval_seconds);
	else if (policy_hides(p, before))
		str_add(out, "all of it: without a report in Slack\n");
}

/* ---- judging ---- */

enum match { MATCH_NO, MATCH_YES, MATCH_TOO_HARD };

/* Where PCRE2 notes what it finds, and how hard it may try. One for all rules of the process, since
 * to make it costs more than most matches, and what a hard one has allocated stays with it. */
struct matcher {
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

/* NULL: out of memory. */
static const struct matcher *the_matcher(void)
{
	static struct matcher m;

	if (!m.data)
		m.data = pcre2_match_data_create(1, NULL);
	if (!m.limits) {
		m.limits = pcre2_match_context_create(NULL);
		if (m.limits) {
			(void)pcre2_set_match_limit(m.limits, POLICY_MATCH_LIMIT);
			(void)pcre2_set_heap_limit(m.limits, POLICY_HEAP_KIB);
		}
	}
	return m.data && m.limits ? &m : NULL;
}

static enum match matches(const struct rule *r, const char *text)
{
	const struct matcher *m = the_matcher();
	int got = PCRE2_ERROR_NOMEMORY;

	if (m)
		got = pcre2_match(r->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, m->data,
		                  m->limits);
	/* 0: the rule has groups, and data has no place for what they match */
	return got >= 0 ? MATCH_YES : got == PCRE2_ERROR_NOMATCH ? MATCH_NO : MATCH_TOO_HARD;
}

/* The first rule that matches, or one that is too hard to judge, which is decisive, too. */
static const struct rule *first_match(const struct rules *list, const char *text,
                                      enum match *ret_match)
{
	*ret_match = MATCH_NO;
	for (size_t i = 0; i < list->count && *ret_match == MATCH_NO; i++) {
		*ret_match = matches(&list->items[i], text);
		if (*ret_match != MATCH_NO)
			return &list->items[i];
	}
	return NULL;
}

static const struct rule *find_tool(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->tools.count; i++)
		if (strcmp(tool_name(p->tools.items[i].text), tool_name(name)) == 0)
			return &p->tools.items[i];
	return NULL;
}

/* Whether these are arguments only: see SPECIAL. */
static bool is_ordinary(const char *text)
{
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || strchr("\x7f\\" SPECIAL, *at) ||
		    (*at == '!' && at[1] && at[1] != ' '))
			return false;
	return true;
}

/* Whether the configuration lists this command line, or one that it extends with nothing but
 * arguments. */
static bool is_known(const struct policy_question *q)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, q->known) {
		const char *line = cJSON_GetStringValue(one);
		size_t n = line ? strlen(line) : 0;

		if (line && strncmp(q->tool, line, n) == 0 &&
		    (q->tool[n] == '\0' || q->tool[n] == ' ') && is_ordinary(q->tool + n))
			return true;
	}
	return q->known == NULL;
}

static void approve(struct policy_answer *a, const char *kind, const struct rule *r)
{
	a->approved = true;
	str_addf(&a->rule, "%s:%s", kind, r->text);
	str_addf(&a->why, "allowed by %s", a->rule.bytes);
}

static void too_hard(struct policy_answer *a, const struct rule *r)
{
	str_addf(&a->why, "the rule '%.200s' takes too long to judge", r->text);
}

/* A file that always needs approval; NULL: none does. */
static const char *always_asked(const struct policy_question *q, const char **ret_entry)
{
	for (size_t i = 0; i < q->path_count; i++) {
		*ret_entry = q->reads ? always_ask_added(q->root, q->paths[i], q->always_ask)
		                      : always_ask_entry(q->root, q->paths[i], q->always_ask);
		if (*ret_entry)
			return q->paths[i];
	}
	return NULL;
}

/* Every file has to be allowed; the rule reported is that of the first. */
static void judge_files(const struct policy *p, const struct policy_question *q,
                        struct policy_answer *a)
{
	const struct rules *list = q->reads ? &p->read : &p->write;
	const struct rule *first = NULL;
	enum match match;

	for (size_t i = 0; i < q->path_count && !q->names_only; i++) {
		const struct rule *r = first_match(list, q->paths[i], &match);

		if (match == MATCH_TOO_HARD) {
			too_hard(a, r);
			return;
		}
		if (!r) {
			str_addf(&a->why, "no rule allows to %s %.200s",
			         q->reads ? "read" : "write", q->paths[i]);
			return;
		}
		first = first ? first : r;
	}
	if (first)
		approve(a, q->reads ? "file_pattern:read" : "file_pattern:write", first);
	else
		str_addf(&a->why, "no rule matches %.200s", q->tool);
}

struct denial {
	const struct rules *denied;
	const struct rule *found;
};

static bool is_denied(const char *reading, void *arg)
{
	struct denial *d = arg;
	enum match match;

	d->found = first_match(d->denied, reading, &match);
	return d->found != NULL;
}

/* Searches for what is denied in the line as it is and as a shell would split it. Returns whether
 * that is decisive. */
static bool judge_denied(const struct policy *p, const struct policy_question *q,
                         struct policy_answer *a)
{
	struct denial d = { .denied = &p->denied };
	int read = 0;

	if (!p->denied.count)
		return false;
	if (!is_denied(q->tool, &d))
		read = command_line_read(q->tool, is_denied, &d);
	if (d.found)
		str_addf(&a->why, "denied by command:%s", d.found->text);
	else if (read < 0)
		str_addf(&a->why, "the line has more than %d commands", COMMAND_LINE_MAX);
	return d.found || read < 0;
}

bool policy_denies(const struct policy *p, const char *command, struct str *why)
{
	const struct policy_question q = { .tool = command, .is_command = true };
	struct policy_answer a = { 0 };
	bool denies = p && judge_denied(p, &q, &a);

	str_add(why, str_text(&a.why));
	policy_answer_clear(&a);
	return denies;
}

bool policy_may_be_command(const char *what, size_t path_count)
{
	return command_line_is(what) || (path_count == 0 && !tool_name_is_ours(what));
}

/* Returns whether that is decisive. A glob as * would match the name of each tool, too. */
static bool judge_command(const struct policy *p, const struct policy_question *q,
                          struct policy_answer *a)
{
	enum match match;
	const struct rule *r;

	if (judge_denied(p, q, a))
		return true;
	if (!q->is_command && !q->may_be_command)
		return false;
	r = first_match(&p->commands, q->tool, &match);
	if (match == MATCH_TOO_HARD)
		too_hard(a, r);
	else if (r && q->folder)
		str_addf(&a->why, "command:%s counts in the root of the workspace alone", r->text);
	else if (r && is_known(q))
		approve(a, "command", r);
	else if (r)
		str_addf(
		    &a->why,
		    "command:%s matches, but the line is none of config.toml's [commands], nor "
		    "one of them with arguments",
		    r->text);
	return r != NULL;
}

/* Why nothing is allowed, whatever the rules say; NULL: the rules decide. */
static const char *refusal(const struct policy *p, const struct policy_question *q)
{
	static const char *const SKILLS[] = { "Skill", "SlashCommand", NULL }; /* GATE_FORM_SKILL */
	enum risk risk = q->risk_level ? risk_of(q->risk_level) : RISK_LOW;

	if (!p)
		return "there is no policy, or it cannot be read";
	if (!p->enabled)
		return "the policy is not enabled";
	if (risk == RISK_UNKNOWN)
		return "the risk level is not known";
	if (risk == RISK_CRITICAL)
		return "critical actions always need approval";
	if (risk > p->threshold)
		return "the risk is above the policy's risk_level_threshold";
	if (strlen(q->tool) > POLICY_MAX_LINE)
		return "the command line is too long to be judged";
	if (!q->is_command && texts_name(SKILLS, q->tool))
		return "what a skill loads may run commands at once, so it is always asked about";
	return NULL;
}

void policy_judge(const struct policy *p, const struct policy_question *q, struct policy_answer *a)
{
	const char *no = refusal(p, q);
	const char *path, *entry = NULL;
	const struct rule *r;

	if (no) {
		str_add(&a->why, no);
		return;
	}
	if (judge_command(p, q, a))
		return;
	path = always_asked(q, &entry);
	r = find_tool(p, q->tool);
	if (q->is_command) /* a rule about a file does not cover what a command does to it */
		str_addf(&a->why, "no rule matches %.200s", q->tool);
	else if (command_line_is(q->tool))
		str_addf(&a->why,
		         "no rule for commands matches %.200s; with kind terminal_command the "
		         "operator is asked",
		         q->tool);
	else if (path)
		str_addf(&a->why, "%.200s is always asked, because of %s", path, entry);
	else if (r)
		approve(a, "tool", r);
	else
		judge_files(p, q, a);
}

void policy_answer_clear(struct policy_answer *a)
{
	str_clear(&a->rule);
	str_clear(&a->why);
	*a = (struct policy_answer){ 0 };
}
