#include "hook.h"

#include "always_ask.h"
#include "clock.h"
#include "gate_defer.h"
#include "gate_version.h"
#include "hand_reach.h"
#include "hook_settle.h"
#include "json.h"
#include "path.h"
#include "policy_tool.h"
#include "result.h"
#include "safe_path.h"
#include "texts.h"
#include "visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_BYTES = 200, MESSAGE_BYTES = 2000 };

/* ---- opening ---- */

bool hook_decides(const struct hook *h)
{
	return h->in.event == GATE_PRE_TOOL || h->in.event == GATE_PERMISSION;
}

bool hook_is_subagents(const struct gate_input *in)
{
	return in->host->names_subagents && in->agent;
}

/* A while before its own deadline. */
static int64_t patience_ms(const cJSON *params)
{
	const cJSON *deadline = cJSON_GetObjectItemCaseSensitive(params, "deadline_ms");
	double ms = cJSON_IsNumber(deadline) ? deadline->valuedouble : 0;

	if (ms <= 0 || ms > 1e9)
		return 0;
	return (int64_t)(ms > 4 * HOOK_MARGIN_MS ? ms - HOOK_MARGIN_MS : ms * 3 / 4);
}

static void find_folder(struct hook *h)
{
	const struct gate_input *in = &h->in;
	struct err e = { 0 };

	if (in->cwd)
		str_add(&h->folder, in->cwd);
	if (in->class == GATE_EXECUTE && in->command_dir &&
	    gate_input_absolute(in, in->command_dir, &h->folder, &e))
		str_reset(&h->folder);
}

static void add_text(struct sha256_state *h, const char *text)
{
	sha256_add(h, text ? text : "", text ? strlen(text) : 0);
	sha256_add(h, "", 1);
}

/* What an agent says about a command or a patch is not what it does, and may be worded anew. */
static void add_arguments(struct sha256_state *h, const struct gate_input *in)
{
	OWNED(cJSON_ptr) cJSON *bare = NULL;
	OWNED(str) struct str text = { 0 };

	if (in->class == GATE_EXECUTE || in->patch) {
		bare = cJSON_Duplicate(in->tool_input, true);
		cJSON_DeleteItemFromObjectCaseSensitive(bare, "description");
	}
	if (in->patch) {
		cJSON_DeleteItemFromObjectCaseSensitive(bare, "explanation");
		cJSON_DeleteItemFromObjectCaseSensitive(bare, gate_input_patch_argument(in));
	}
	json_canonical(&text, bare ? bare : in->tool_input);
	add_text(h, str_text(&text));
}

/* The same patch may come as a command, and as a tool of its own: then its text counts, and what
 * else there is in the call. */
struct sha256 hook_digest_in(const struct hook *h, const char *folder)
{
	struct sha256_state *state = sha256_begin();
	const struct gate_input *in = &h->in;

	add_text(state, HOOK_METHOD);
	if (in->patch) {
		add_text(state, "patch");
		add_text(state, in->patch);
		add_text(state, in->patch_dir);
	} else {
		add_text(state, in->tool ? in->tool : in->event_name);
		if (!in->tool)
			add_text(state, in->session);
	}
	if (in->tool_input)
		add_arguments(state, in);
	add_text(state, folder);
	return sha256_end(state);
}

void hook_identify(struct hook *h)
{
	find_folder(h);
	h->digest = hook_digest_in(h, str_text(&h->folder));
}

/* What is kept of the input: not the transcript, nor what a tool returned. */
static cJSON *kept(const struct gate_input *in)
{
	cJSON *all = cJSON_CreateObject();
	OWNED(str) struct str message = { 0 };

	(void)cJSON_AddStringToObject(all, "host", in->host->name);
	(void)cJSON_AddStringToObject(all, "event", in->event_name);
	if (in->tool)
		(void)cJSON_AddStringToObject(all, "tool", in->tool);
	if (in->cwd)
		(void)cJSON_AddStringToObject(all, "cwd", in->cwd);
	if (in->kind)
		(void)cJSON_AddStringToObject(all, "kind", in->kind);
	if (in->message) {
		str_add_shown(&message, in->message, strlen(in->message), MESSAGE_BYTES);
		(void)cJSON_AddStringToObject(all, "message", str_text(&message));
	}
	if (in->tool_input)
		cJSON_AddItemToObject(all, "input", cJSON_Duplicate(in->tool_input, true));
	return all;
}

static int64_t process_of(const cJSON *params)
{
	const cJSON *pid = cJSON_GetObjectItemCaseSensitive(params, "process");

	return cJSON_IsNumber(pid) && pid->valuedouble > 1 && pid->valuedouble <= INT32_MAX
	           ? (int64_t)pid->valuedouble
	           : 0;
}

/* What is not wholly understood is judged by what it may do: who relays it has looked. */
static const char *risk_of(const char *text)
{
	static const char *const RISKS[] = { "low", "high" };

	for (size_t i = 0; i < COUNT(RISKS); i++)
		if (!text || strcmp(text, RISKS[i]) == 0)
			return RISKS[i];
	return "critical";
}

static bool is_option(const cJSON *o)
{
	return json_text(o, "id") && json_text(o, "name") && json_text(o, "kind");
}

/* What a relayed agent offers. */
static int read_options(struct hook *h, struct err *e)
{
	const cJSON *options = json_get(h->in.tool_input, "options"), *o;
	OWNED(str) struct str text = { 0 };
	int yeses = 0;

	if (!options || !h->in.host->relays || h->in.event != GATE_PERMISSION)
		return 0;
	cJSON_ArrayForEach (o, options) {
		if (!is_option(o))
			break;
		yeses += json_says(o, "kind", "allow_once");
	}
	if (!cJSON_IsArray(options) || o)
		return err_set(e, ERR_INPUT, "options must be a list of {id, name, kind}");
	json_canonical(&text, options);
	h->options = str_take(&text);
	h->must_choose = yeses != 1;
	return 0;
}

static int read_input(struct hook *h, const cJSON *params, struct err *e)
{
	const char *name = json_text(params, "host");
	const char *event = json_text(params, "event");
	const char *helper = json_text(params, "helper");
	const cJSON *input = cJSON_GetObjectItemCaseSensitive(params, "input");
	const struct gate_host *host = name ? gate_host_named(name) : NULL;
	const cJSON *env = json_get(params, "env");
	OWNED(str) struct str version = { 0 };

	if (!host)
		return err_set(e, ERR_INPUT, "params.host must be the name of a known host");
	if (!event || !helper || !cJSON_IsObject(input))
		return err_set(
		    e, ERR_INPUT,
		    "params.event and params.helper must be strings, and params.input an "
		    "object");
	h->helper = xstrdup(helper);
	gate_version_add(host, input, env, &version);
	h->version = version.length ? str_take(&version) : NULL;
	if (host->relays) {
		h->risk = risk_of(json_text(input, "risk"));
		h->before = xstrdup_if(json_text(params, "before"));
	}
	h->in.home = json_text(env, "HOME");
	return gate_input_from(host, event, input, &h->in, e) || read_options(h, e) ||
	               hook_settle_read(h, params, e)
	           ? -1
	           : 0;
}

int hook_open(struct call *c, const cJSON *params, const char *rpc_id, bool has_nul, struct err *e)
{
	struct hook *h = xcalloc(1, sizeof(*h));
	OWNED(str) struct str token = { 0 };

	c->hook = h;
	h->began_ms = clock_monotonic_ms();
	h->risk = "low";
	h->patience_ms = patience_ms(params);
	if (read_input(h, params, e))
		return -1;
	h->process = gate_defer_fits(&h->in) ? process_of(params) : 0;
	json_add_id_token(&token, rpc_id);
	c->rpc_id = str_take(&token);
	c->arguments = kept(&h->in);
	json_canonical(&c->canonical, c->arguments);
	hook_identify(h);
	c->digest = h->digest;
	if (h->told && h->before)
		(void)snprintf(c->digest.text, sizeof(c->digest.text), "%s", h->before);
	if (has_nul)
		result_refuse(c, "invalid_arguments", "the input holds a NUL byte (\\u0000)");
	return 0;
}

void hook_free(struct hook *h)
{
	if (!h)
		return;
	gate_input_clear(&h->in);
	free(h->helper);
	free(h->version);
	str_clear(&h->why);
	str_clear(&h->description);
	str_clear(&h->words);
	str_clear(&h->folder);
	str_clear(&h->real_folder);
	str_clear(&h->subject);
	str_clear(&h->title);
	str_clear(&h->body);
	str_clear(&h->input);
	for (size_t i = 0; i < h->named_count; i++)
		free(h->named[i]);
	free(h->named);
	free(h->options);
	free(h->before);
	free(h->how);
	free(h);
}

/* ---- what it is about ---- */

static void print_input(struct str *out, const struct gate_input *in)
{
	char *text = cJSON_Print(in->tool_input);

	str_add(out, text ? text : "{}");
	cJSON_free(text);
}

static void make_title(struct hook *h, const char *about)
{
	str_add_shown(&h->title, h->in.tool, strlen(h->in.tool), TITLE_BYTES);
	if (!about || !*about)
		return;
	str_add(&h->title, " ");
	visible_add_first_line(&h->title, about, TITLE_BYTES);
}

static void add_question(struct str *out, const cJSON *question)
{
	const cJSON *option;
	int number = 0;

	str_addf(out, "%s%s", out->length ? "\n\n" : "", json_text(question, "question"));
	cJSON_ArrayForEach (option, cJSON_GetObjectItemCaseSensitive(question, "options")) {
		const char *label =
		    cJSON_IsString(option) ? option->valuestring : json_text(option, "label");
		const char *about = json_text(option, "description");

		str_addf(out, "\n%d. %s", ++number, label ? label : "?");
		if (about)
			str_addf(out, ": %s", about);
	}
}

/* What the agent asks its user, or the plan that it submits. False: it is worded in another way. */
static bool describe_prompt(struct hook *h)
{
	const cJSON *input = h->in.tool_input, *one;
	const char *plan = json_text(input, "plan");

	/* What else is asked for with it belongs to the question: then all of it is shown. Claude
	 * Code also says in which file the plan is. */
	if (h->in.class == GATE_PLAN && plan && *plan &&
	    cJSON_GetArraySize(input) == 1 + (json_text(input, "planFilePath") != NULL)) {
		str_addf(&h->subject, "%s", plan);
		str_add(&h->title, "Plan to be approved");
		return true;
	}
	if (h->in.class != GATE_QUESTION)
		return false;
	if (json_text(input, "question"))
		add_question(&h->subject, input);
	cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(input, "questions"))
		if (json_text(one, "question"))
			add_question(&h->subject, one);
	return h->subject.length > 0;
}

static bool has_others(const cJSON *object, const char *const *names)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, object)
		if (!texts_name(names, item->string))
			return true;
	return false;
}

/* A permission as its relay has read it (workers/acp_proxy/subject.c): what is shown of paths and
 * input is in its other members. What no title holds is above the agent's words. */
static bool describe_relayed(struct hook *h)
{
	static const char *const NAMES[] = { "title", "description", "notes",   "content",
		                             "paths", "input",       "options", NULL };
	const cJSON *input = h->in.tool_input;
	const char *title = json_text(input, "title"), *content = json_text(input, "content");
	const char *words = json_text(input, "description");

	if (!title || !h->notes || has_others(input, NAMES))
		return false;
	str_add(&h->subject, content ? content : "");
	make_title(h, title);
	if (strlen(title) > TITLE_BYTES || strchr(title, '\n'))
		str_addf(&h->words, "%s%s", title, words ? "\n\n" : "");
	str_add(&h->words, words ? words : "");
	return true;
}

/* The texts for a person. The title of a command is its first line (ask.c). */
static void describe(struct hook *h)
{
	const struct gate_input *in = &h->in;
	const cJSON *first = in->tool_input ? in->tool_input->child : NULL;
	OWNED(str) struct str path = { 0 };

	if (in->host->relays)
		h->notes = json_text(in->tool_input, "notes");
	if (in->class == GATE_EXECUTE && in->command) {
		str_add(&h->subject, in->command);
		return;
	}
	if (describe_prompt(h) || describe_relayed(h))
		return;
	print_input(&h->subject, in);
	if (in->path_count) /* on one line, whatever it has */
		str_add_shown(&path, in->paths[0], strlen(in->paths[0]), TITLE_BYTES);
	make_title(h, in->path_count ? str_text(&path) : cJSON_GetStringValue(first));
}

static void add_named(struct hook *h, const char *path)
{
	OWNED(str) struct str absolute = { 0 };
	struct err e = { 0 };

	if (gate_input_absolute(&h->in, path, &absolute, &e))
		str_add(&absolute, path); /* below the workspace, as far as we know */
	h->named[h->named_count++] = str_take(&absolute);
}

static void name_paths(struct hook *h, struct hand_ask *ask)
{
	h->named = xcalloc(h->in.path_count + 1, sizeof(*h->named));
	for (size_t i = 0; i < h->in.path_count && i < HAND_NAMES; i++)
		add_named(h, h->in.paths[i]);
	ask->named = (const char *const *)h->named;
	ask->named_count = h->named_count;
}

static void look_at_edit(struct hook *h, const struct call_settings *settings, struct hand_ask *ask)
{
	json_add(&h->input, h->in.root);
	name_paths(h, ask);
	ask->edit = str_text(&h->input);
	ask->edit_length = h->input.length;
	ask->edit_host = h->in.host->name;
	ask->edit_event = h->in.event_name;
	ask->ours = &settings->ours;
	ask->fuzz = settings->fuzz;
}

static void ask_about(struct hook *h, const char *risk, const char *why)
{
	if (h->why.length)
		str_add(&h->why, "; ");
	str_add_shown(&h->why, why, strlen(why), ERR_TEXT_BYTES);
	h->risk = risk;
	h->verdict = HOOK_ASK;
}

/* Where the names lead, and what of policy.always_ask lies beneath. */
static void look_at_names(struct hook *h, const struct call_settings *settings,
                          struct hand_ask *ask)
{
	name_paths(h, ask);
	if (cJSON_GetArraySize(settings->always_ask) == 0)
		return;
	json_canonical(&h->input, settings->always_ask);
	ask->always_ask = h->input.bytes;
}

/* Reading is allowed, but for what the configuration always asks about, or has beneath it. */
static void look_at_read(struct hook *h, const struct call_settings *settings, struct hand_ask *ask)
{
	bool always = cJSON_GetArraySize(settings->always_ask) > 0;

	if (!h->in.path_count || (h->verdict != HOOK_POLICY && !always))
		return;
	if (always && h->in.unplaced && h->verdict != HOOK_ASK) {
		ask_about(h, "high", h->in.unplaced);
		return;
	}
	look_at_names(h, settings, ask);
}

/* What a tool that is not known names: a rule for its name says nothing of that. */
static void look_at_unknown(struct hook *h, const struct call_settings *settings,
                            struct hand_ask *ask)
{
	if (h->in.path_count && h->verdict == HOOK_POLICY)
		look_at_names(h, settings, ask);
}

static void look_at_tool(struct call *c, const struct call_settings *settings, struct hand_ask *ask)
{
	static const enum hook_verdict VERDICTS[] = { [POLICY_TOOL_ALLOWED] = HOOK_ALLOW,
		                                      [POLICY_TOOL_JUDGED] = HOOK_POLICY,
		                                      [POLICY_TOOL_ASKED] = HOOK_ASK };
	struct hook *h = c->hook;

	describe(h);
	h->verdict = VERDICTS[policy_tool_take(&h->in, settings->gate_reads_by_policy, &h->question,
	                                       &h->why)];
	if (gate_input_escalates(&h->in) || h->in.form == GATE_FORM_SKILL)
		h->risk = "high";
	if (h->subject.length + h->why.length + h->words.length +
	            (h->notes ? strlen(h->notes) : 0) >
	        HOOK_BODY_BYTES &&
	    h->in.class != GATE_EDIT) {
		result_refuse(c, "too_large",
		              "its input has more than %d bytes: nobody would see it whole",
		              (int)HOOK_BODY_BYTES);
		return;
	}
	if (h->in.class == GATE_EDIT)
		look_at_edit(h, settings, ask);
	else if (h->in.class == GATE_READ)
		look_at_read(h, settings, ask);
	else if (h->in.class == GATE_OTHER)
		look_at_unknown(h, settings, ask);
	else if (h->in.class == GATE_EXECUTE)
		ask->folder = h->folder.length ? h->folder.bytes : NULL;
}

void hook_look(struct call *c, const struct call_settings *settings, struct hand_ask *ask)
{
	struct hook *h = c->hook;

	h->settings = settings;
	if (h->told && h->before)
		return; /* it is known what that was */
	if (hook_decides(h))
		look_at_tool(c, settings, ask);
	else if (h->in.event == GATE_POST_TOOL && h->in.class == GATE_EDIT)
		name_paths(h, ask);
	ask->hashes = h->in.class == GATE_EDIT;
}

/* ---- what was found ---- */

/* Our own files and folders, and what decides about a repository. */
static bool is_closed(const struct hook *h, const char *path)
{
	return own_places_name(&h->settings->ours, path) || safe_path_is_protected(path);
}

/* A file that is not in the workspace: its real name, as far as it is known. */
static const char *real_name(const struct hook *h, const struct call *c, size_t i)
{
	return c->names[i].leads ? c->names[i].leads : h->named[i];
}

static void deny(struct hook *h, const char *before, const char *what, const char *after)
{
	str_reset(&h->why);
	str_add(&h->why, before);
	str_add_shown(&h->why, what, strlen(what), ERR_TEXT_BYTES / 2);
	str_add(&h->why, after);
	h->verdict = HOOK_DENY;
}

static bool has_control(const char *path)
{
	while ((unsigned char)*path >= 0x20 && *path != 0x7F)
		path++;
	return *path;
}

/* Why it is not known what becomes of it; behind a folder that is not there, nobody knows where it
 * leads. */
static const char *why_other(const char *real, const char *root)
{
	if (!path_is_within(real, root))
		return "outside of the workspace";
	if (has_control(real))
		return "has a line break or another control character in its path";
	if (strcmp(real, root) == 0)
		return "is the folder of the workspace itself";
	if (strstr(real, "/../"))
		return "goes up from a folder that is not there";
	return "leads elsewhere than its path says, behind a link";
}

/* Whether a file is not in the workspace, or not where its path says: then nothing is computed. */
static bool leads_elsewhere(struct call *c, const char *root)
{
	struct hook *h = c->hook;
	bool is_other = false, is_outside = false;

	for (size_t i = 0; i < c->name_count && h->verdict != HOOK_DENY; i++) {
		OWNED(str) struct str why = { 0 };
		const char *real = real_name(h, c, i);
		bool is_inside = path_is_within(real, root);

		if (!c->names[i].is_other)
			continue;
		is_other = true;
		if (is_closed(h, real)) {
			deny(h, "path violation: ", real, " is protected: no agent writes there");
			return true;
		}
		str_addf(&why, "%s: %s", why_other(real, root), real);
		is_outside = is_outside || !is_inside;
		ask_about(h, is_outside ? "critical" : "high", str_text(&why));
	}
	return is_other;
}

static void take_plan(struct call *c, struct hand_found *found)
{
	struct hook *h = c->hook;

	c->plan = found->plan;
	found->plan = (struct plan){ 0 };
	c->effect = found->effect;
	found->effect = (struct str){ 0 };
	c->files = xcalloc(c->plan.count + 1, sizeof(*c->files));
	for (size_t i = 0; i < c->plan.count; i++) {
		c->files[i] = c->plan.files[i].is;
		if (strcmp(c->files[i].action, "read") != 0 &&
		    (always_ask_entry(found->root, c->files[i].path, h->settings->always_ask) ||
		     always_ask_entry(found->root, c->files[i].target, h->settings->always_ask)))
			h->risk = "high";
	}
	h->is_computed = true;
	str_reset(&h->title);
	make_title(h, c->files[c->plan.primary].path);
}

static void ask_about_links(struct hook *h, const struct hand_name *n, const char *path)
{
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "%s has %d names (hard links)", path, n->links);
	ask_about(h, "high", why.bytes);
}

static void seen_edit(struct call *c, struct hand_found *found)
{
	struct hook *h = c->hook;
	const struct refusal *why = &found->why;

	if (h->why.length) /* it has arguments that are not known */
		h->risk = "high";
	/* A host may write in place: then the other names change as well. */
	for (size_t i = 0; i < c->name_count; i++)
		if (c->names[i].links)
			ask_about_links(h, &c->names[i], real_name(h, c, i));
	if (leads_elsewhere(c, found->root))
		return;
	if (!why->code)
		take_plan(c, found);
	else if (strcmp(why->code, "not_computed") == 0)
		ask_about(h, "high", why->text);
	else
		deny(h, "", why->text, "");
}

/* A search may be of the whole workspace: to the policy, that is ".". */
static void take_root(struct hand_name *n, const char *root)
{
	if (!n->is_outside || !n->leads || strcmp(n->leads, root) != 0)
		return;
	n->is_other = n->is_outside = false;
	n->path = xstrdup(".");
	n->target = xstrdup(".");
}

static void ask_about_reach(struct hook *h, const struct hand_name *n)
{
	OWNED(str) struct str why = { 0 };

	if (n->is_vast)
		str_addf(&why,
		         "it reaches more than %d files: policy.always_ask may name some of them",
		         (int)HAND_REACH_MOST);
	else
		str_addf(&why, "it reaches what policy.always_ask names: %s", n->reaches);
	ask_about(h, "high", why.bytes);
}

static void seen_read(struct call *c, const struct hand_found *found)
{
	struct hook *h = c->hook;

	for (size_t i = 0; i < c->name_count && h->verdict != HOOK_ASK; i++) {
		struct hand_name *n = &c->names[i];
		bool is_known = i < h->in.known_count;
		bool by_policy = h->verdict == HOOK_POLICY && is_known;
		const char *first, *second;

		take_root(n, found->root);
		first = n->is_other ? real_name(h, c, i) : n->path;
		second = n->is_other ? h->named[i] : n->target;
		if (always_ask_added(found->root, first, h->settings->always_ask) ||
		    always_ask_added(found->root, second, h->settings->always_ask))
			ask_about(h, "high", "policy.always_ask names this file");
		else if (n->reaches || n->is_vast)
			ask_about_reach(h, n);
		else if (n->links && by_policy)
			ask_about_links(h, n, real_name(h, c, i));
		else if (n->is_other && by_policy)
			ask_about(h, "high", "it is not in the workspace");
		n->is_other = n->is_other || !is_known; /* nor does the policy judge it */
	}
}

/* Files in the workspace are left to the policy: it knows which are always asked. */
static void seen_unknown(struct call *c, const struct hand_found *found)
{
	struct hook *h = c->hook;

	for (size_t i = 0; i < c->name_count && h->verdict != HOOK_ASK; i++) {
		struct hand_name *n = &c->names[i];

		take_root(n, found->root);
		if (n->is_other)
			ask_about(h, "high", "it is not in the workspace");
		else if (n->reaches || n->is_vast)
			ask_about_reach(h, n);
		else if (n->links)
			ask_about_links(h, n, n->path);
	}
}

/* Where a command runs, if that is not the root of the workspace: it does something else there. */
static void add_place(struct hook *h, const char *folder)
{
	str_add(&h->why, h->why.length ? "; runs in " : "runs in ");
	str_add_shown(&h->why, folder, strlen(folder), ERR_TEXT_BYTES);
}

static void seen_command(struct hook *h, const struct hand_found *found)
{
	OWNED(str) struct str why = { 0 };

	if (h->why.length) /* it has arguments that are not known, or a patch */
		h->risk = "high";
	if (found->folder)
		str_add(&h->real_folder, found->folder);
	if (found->has_folder) {
		if (found->folder && found->root && strcmp(found->folder, found->root) != 0) {
			h->question.folder = h->real_folder.bytes;
			add_place(h, found->folder);
		}
		return;
	}
	if (h->folder.length)
		str_addf(&why, "runs in %s, outside of the workspace",
		         found->folder ? found->folder : h->folder.bytes);
	ask_about(h, "high", why.length ? why.bytes : "where it runs is not known");
}

/* Which file it is counts where it is also another name's. */
static void add_links(struct sha256_state *h, const struct hand_name *n)
{
	char text[80] = "";

	if (n->links)
		(void)snprintf(text, sizeof(text), "%" PRId64 " %" PRId64 " %d", n->device,
		               n->inode, n->links);
	add_text(h, text);
}

struct sha256 hook_bind(const struct call *c, const char *digest)
{
	struct sha256_state *state;
	struct sha256 same = { { 0 } };

	bool escalates = gate_input_escalates(&c->hook->in);

	if (!c->name_count && !c->files && !c->hook->real_folder.length && !escalates) {
		(void)snprintf(same.text, sizeof(same.text), "%s", digest);
		return same;
	}
	state = sha256_begin();
	add_text(state, digest);
	if (escalates) /* so an approval of the same before the tool is none of this */
		add_text(state, "outside of the sandbox");
	add_text(state, str_text(&c->hook->real_folder));
	for (size_t i = 0; i < c->name_count; i++) {
		add_text(state, c->names[i].path);
		add_text(state, c->names[i].target);
		add_text(state, c->names[i].leads);
		add_text(state, c->names[i].hash);
		add_links(state, &c->names[i]);
	}
	for (size_t i = 0; c->files && i < c->plan.count; i++) {
		add_text(state, c->files[i].path);
		add_text(state, c->files[i].target);
		add_text(state, c->files[i].hash);
		add_text(state, c->files[i].result_hash);
	}
	return sha256_end(state);
}

void hook_seen(struct call *c, struct hand_found *found)
{
	struct hook *h = c->hook;

	c->names = found->names;
	c->name_count = found->name_count;
	found->names = NULL;
	found->name_count = 0;
	if (!hook_decides(h))
		return;
	if (h->in.class == GATE_EDIT)
		seen_edit(c, found);
	else if (h->in.class == GATE_READ)
		seen_read(c, found);
	else if (h->in.class == GATE_OTHER)
		seen_unknown(c, found);
	else if (h->in.class == GATE_EXECUTE)
		seen_command(h, found);
	c->digest = hook_bind(c, h->digest.text);
}
