#include "judge.h"

#include "gate_path.h"
#include "hand.h"
#include "json.h"
#include "log.h"
#include "runner.h"
#include "safe_path.h"
#include "setting.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { PATHS_MAX = 100 }; /* a question that names more is not judged */

/* ---- what it is about ---- */

enum subject { SUBJECT_UNKNOWN, SUBJECT_COMMAND, SUBJECT_WRITE, SUBJECT_READ, SUBJECT_PROMPT };

static enum subject subject_of(const struct acp_inquiry *q)
{
	static const char *const WRITES[] = { "edit", "delete", "move", NULL };
	static const char *const READS[] = { "read", "search", NULL };
	bool is_stream = !q->options;

	if (q->kind == ACP_INQUIRY_PROMPT) /* a person has to see an agent that is in trouble */
		return texts_same(q->prompt_type, "error_recovery") ? SUBJECT_UNKNOWN
		                                                    : SUBJECT_PROMPT;
	if (q->kind != ACP_INQUIRY_PERMISSION || q->is_unclear)
		return SUBJECT_UNKNOWN;
	if (is_stream || texts_name(WRITES, q->tool_kind))
		return q->path_count && !q->command.length ? SUBJECT_WRITE : SUBJECT_UNKNOWN;
	if (texts_name(READS, q->tool_kind))
		return q->path_count && !q->command.length && !q->is_diff ? SUBJECT_READ
		                                                          : SUBJECT_UNKNOWN;
	if (q->tool_kind && strcmp(q->tool_kind, "execute") == 0)
		return q->command.length && !q->is_diff ? SUBJECT_COMMAND : SUBJECT_UNKNOWN;
	return SUBJECT_UNKNOWN;
}

static bool is_inside(const char *root, const char *folder)
{
	OWNED(str) struct str relative = { 0 };

	return !folder || strcmp(folder, root) == 0 ||
	       safe_path_clean(root, folder, strlen(folder), &relative, NULL) == 0;
}

/* The files that its diff names, which the agent may have written itself. False: it cannot be
 * read. */
static bool add_diff_paths(const struct acp_inquiry *q, struct texts *paths)
{
	struct diff d = { 0 };
	struct err e = { 0 };

	if (!q->is_diff || !diff_looks_like(str_text(&q->diff), q->diff.length))
		return true; /* whole content, of the files that it names (acp-stream) */
	if (diff_parse(q->diff.bytes, q->diff.length, &d, &e))
		return false;
	for (size_t i = 0; i < d.file_count; i++) {
		if (d.files[i].old_path)
			texts_add(paths, d.files[i].old_path);
		if (d.files[i].new_path)
			texts_add(paths, d.files[i].new_path);
	}
	diff_clear(&d);
	return true;
}

/* All that it names. False: that is not known, or too much to judge. */
static bool find_paths(const struct acp_inquiry *q, struct texts *paths)
{
	for (size_t i = 0; i < q->path_count; i++)
		texts_add(paths, q->paths[i]);
	return add_diff_paths(q, paths) && paths->count <= PATHS_MAX;
}

/* Why it is not certain which file the agent takes a path for; NULL: it is. */
static const char *doubt_of(const struct acp_inquiry *q, enum subject subject, const char *path)
{
	const char *why = gate_path_doubt_any(path, subject == SUBJECT_READ);

	return why || !texts_same(q->tool_kind, "search") ? why : gate_path_doubt_one(path);
}

static void doubt_paths(struct acp_inquiry *q, enum subject subject, const struct texts *paths)
{
	const char *why = NULL;

	for (size_t i = 0; !why && i < paths->count; i++)
		why = doubt_of(q, subject, paths->items[i]);
	if (why)
		acp_inquiry_doubt(q, why);
}

/* ---- looking ---- */

/* Who looks, for an agent of another user. */
static void find_looker(struct judge *j, struct runner *r)
{
	OWNED(str) struct str socket = { 0 };
	OWNED(str) struct str fence = { 0 };

	if (!r->is_kept || setting_get(&r->w.store, "shared.owner_socket", &socket, NULL) <= 0)
		return;
	(void)setting_get(&r->w.store, "fence", &fence, NULL);
	j->looker.owner =
	    looker_owner_new(str_text(&socket), r->uid, fence.length ? fence.bytes : "auto");
}

static void open_judge(struct judge *j, struct runner *r)
{
	struct store *st = &r->w.store;

	j->is_open = true;
	find_looker(j, r);
	LIST_INIT(&j->policies.all);
	j->trust = policy_trust_read(st);
	j->known = policy_gate_commands(st);
	(void)setting_json(st, "policy.always_ask", &j->always_ask, NULL);
	if (cJSON_GetArraySize(j->always_ask) > 0)
		json_canonical(&j->always, j->always_ask);
	(void)setting_json(st, "workspace", &j->workspaces, NULL);
	(void)setting_named_workspace(st, &j->usual, NULL);
	j->listed = hand_listed(str_text(&j->usual), j->workspaces, &j->listed_count);
}

/* Adopts the policy as it was found. */
static void take_policy(struct judge *j, struct runner *r, const struct hand_ask *ask,
                        struct hand_found *found, struct verdict *v)
{
	struct policy_file *f = policy_file_known(&j->policies, ask->root);
	struct err e = { 0 };

	found->policy.known.look = ask->known.look;
	policy_file_take(f, &found->policy);
	if (policy_gate_take(&r->w.store, r->w.machine, j->trust, found->is_listed, f, &e))
		log_warn("what was trusted of %s/" POLICY_FILE ": %s", ask->root, e.text);
	v->file = f;
}

/* What one question touches. */
struct scope {
	enum subject subject; /* SUBJECT_UNKNOWN: it is not judged */
	struct texts paths; /* of it all that are looked at */
	struct texts names; /* each path and what it stands for, in the same order */
	bool is_known; /* and none of them is elsewhere */
};

static void scope_clear(struct scope *t)
{
	texts_clear(&t->paths);
	texts_clear(&t->names);
}

/* The agent may write in place: then the other names change as well. */
static void doubt_links(struct acp_inquiry *q, const char *path, int links)
{
	OWNED(str) struct str text = { 0 };

	str_add_shown(&text, path, strlen(path), ERR_TEXT_BYTES);
	str_addf(&text, " has %d names (hard links)", links);
	acp_inquiry_doubt(q, text.bytes);
}

static void take_name(struct acp_inquiry *q, struct scope *t, const char *path,
                      const struct hand_found *found, const struct hand_name *name)
{
	if (name->leads && !name->is_outside)
		acp_inquiry_leads(q, found->root, path, name->leads);
	if (t->subject == SUBJECT_COMMAND)
		return; /* the line alone is judged */
	if (t->subject == SUBJECT_WRITE && name->links)
		doubt_links(q, path, name->links);
	if (name->is_other || name->is_vast || q->is_unclear) {
		t->is_known = false;
		return;
	}
	texts_add(&t->names, name->path);
	texts_add(&t->names, name->target);
	if (name->reaches)
		texts_add(&t->names, name->reaches);
}

static void ask_policy(struct judge *j, const char *root, struct hand_ask *ask)
{
	ask->policy = true;
	ask->listed = j->listed;
	ask->listed_count = j->listed_count;
	ask->known = policy_file_known(&j->policies, root)->known;
	ask->known.look = ++j->policies.looks;
}

/* Looks at all paths and, if it is to be judged, at the policy. True: it can be. */
static bool look_at(struct judge *j, struct runner *r, const char *root, struct acp_inquiry *q,
                    struct scope *t, struct verdict *v)
{
	OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
	struct hand_ask ask = { .root = root,
		                .named = (const char *const *)t->paths.items,
		                .named_count =
		                    t->paths.count < PATHS_MAX ? t->paths.count : PATHS_MAX };

	if (t->subject != SUBJECT_UNKNOWN)
		ask_policy(j, root, &ask);
	if (t->subject == SUBJECT_WRITE || t->subject == SUBJECT_READ)
		ask.always_ask = j->always.bytes;
	if (!ask.policy && !ask.named_count)
		return false;
	if (!looker_ask(&j->looker, &ask, &found)) {
		log_warn("the policy and files of %s could not be looked at in time", root);
		return false;
	}
	if (ask.policy && found.has_policy)
		take_policy(j, r, &ask, &found, v);
	for (size_t i = 0; i < found.name_count; i++)
		take_name(q, t, ask.named[i], &found, &found.names[i]);
	return ask.policy && t->is_known && v->file != NULL;
}

/* ---- judging ---- */

static void judge(struct judge *j, const char *root, const struct acp_inquiry *q,
                  enum subject subject, const struct texts *names, struct verdict *v)
{
	bool is_at_root = !q->cwd || strcmp(q->cwd, root) == 0;
	const struct policy_question question = {
		.tool = subject == SUBJECT_COMMAND  ? q->command.bytes
		        : subject == SUBJECT_WRITE  ? "check_clearance"
		        : subject == SUBJECT_PROMPT ? "transmit"
		                                    : q->tool_kind,
		.is_command = subject == SUBJECT_COMMAND,
		.folder = is_at_root ? NULL : q->cwd,
		.risk_level = acp_risk_name(q->risk),
		.paths = (const char *const *)names->items,
		.path_count = names->count,
		.reads = subject == SUBJECT_READ,
		.known = j->known,
		.always_ask = j->always_ask,
	};

	str_add(&v->subject, subject == SUBJECT_COMMAND  ? q->command.bytes
	                     : subject == SUBJECT_PROMPT ? str_text(&q->description)
	                                                 : str_text(&q->path));
	policy_gate_judge(v->file, &question, &v->is);
}

void judge_ask(struct judge *j, struct runner *r, const char *root, struct acp_inquiry *q,
               struct verdict *v)
{
	OWNED(scope) struct scope t = { .subject = subject_of(q), .is_known = true };
	bool has_all = find_paths(q, &t.paths);

	if (!j->is_open)
		open_judge(j, r);
	/* Only where there is one yes: else it says what a person would have to choose. */
	if (!is_inside(root, q->cwd) || !has_all || (q->options && !acp_inquiry_yes(q)))
		t.subject = SUBJECT_UNKNOWN;
	if (t.subject == SUBJECT_WRITE || t.subject == SUBJECT_READ)
		doubt_paths(q, t.subject, &t.paths);
	if (look_at(j, r, root, q, &t, v))
		judge(j, root, q, t.subject, &t.names, v);
}

void verdict_clear(struct verdict *v)
{
	policy_verdict_clear(&v->is);
	str_clear(&v->subject);
	*v = (struct verdict){ 0 };
}

void judge_rest(struct judge *j)
{
	looker_rest(&j->looker);
}

void judge_clear(struct judge *j)
{
	looker_clear(&j->looker);
	if (j->is_open)
		policy_files_clear(&j->policies);
	cJSON_Delete(j->known);
	cJSON_Delete(j->always_ask);
	cJSON_Delete(j->workspaces);
	str_clear(&j->always);
	str_clear(&j->usual);
	free(j->listed);
	*j = (struct judge){ 0 };
}
