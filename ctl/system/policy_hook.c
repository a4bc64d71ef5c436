#include "policy_hook.h"

#include "safe_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void policy_hook_clear(struct policy_hook *h)
{
	for (size_t i = 0; i < h->question.path_count; i++)
		free(h->paths[i]);
	gate_input_clear(&h->in);
	str_clear(&h->folder);
	str_clear(&h->why);
	*h = (struct policy_hook){ .as = POLICY_TOOL_ASKED };
}

static void add_path(struct policy_hook *h, struct str *path)
{
	h->paths[h->question.path_count++] = str_take(path);
}

/* A file by its name and by what that stands for; or a person is asked. */
static void take_path(struct policy_hook *h, int root, const char *workspace, const char *given)
{
	OWNED(str) struct str absolute = { 0 }, path = { 0 }, target = { 0 };
	struct err e = { 0 };

	if (gate_input_absolute(&h->in, given, &absolute, &e))
		str_add(&absolute, given);
	if (h->in.class == GATE_READ &&
	    safe_path_clean_dir(workspace, absolute.bytes, absolute.length, &path, &e) == 0 &&
	    !path.length) { /* a search of the whole workspace */
		str_add(&path, ".");
		add_path(h, &path);
		return;
	}
	if (safe_path_clean(workspace, absolute.bytes, absolute.length, &path, &e) ||
	    safe_path_resolve(root, str_text(&path), &target, &e)) {
		h->as = POLICY_TOOL_ASKED;
		str_addf(&h->why, "%s%s", h->why.length ? "; " : "", e.text);
		return;
	}
	add_path(h, &path);
	add_path(h, &target);
}

static int take_paths(struct policy_hook *h, const char *workspace, struct err *e)
{
	int root = -1;

	if (safe_path_open(workspace, &root, e))
		return -1;
	for (size_t i = 0; i < h->in.path_count && i < GATE_PATHS_MAX; i++)
		take_path(h, root, workspace, h->in.paths[i]);
	(void)close(root);
	h->question.paths = (const char *const *)h->paths;
	return 0;
}

static void take_folder(struct policy_hook *h, const char *workspace)
{
	OWNED(str) struct str path = { 0 };
	char real[PATH_MAX];
	struct err e = { 0 };

	if (h->in.cwd)
		str_add(&h->folder, h->in.cwd);
	if (h->in.command_dir && gate_input_absolute(&h->in, h->in.command_dir, &h->folder, &e))
		str_reset(&h->folder);
	if (h->folder.length && realpath(h->folder.bytes, real) &&
	    safe_path_clean_dir(workspace, real, strlen(real), &path, &e) == 0) {
		h->question.folder = path.length ? h->folder.bytes : NULL;
		return;
	}
	h->as = POLICY_TOOL_ASKED;
	str_addf(&h->why, "%sit runs outside of the workspace, or nobody knows where",
	         h->why.length ? "; " : "");
}

int policy_hook_read(struct policy_hook *h, const char *host, const char *json,
                     const char *workspace, bool reads_by_policy, struct err *e)
{
	const struct gate_host *known = gate_host_named(host ? host : "claude");

	if (!known)
		return err_set(e, ERR_INPUT, "there is no host '%.60s'", host);
	h->in.home = getenv("HOME");
	if (gate_input_read(known, gate_host_event_name(known, GATE_PRE_TOOL), json, strlen(json),
	                    &h->in, e))
		return -1;
	h->as = policy_tool_take(&h->in, reads_by_policy, &h->question, &h->why);
	if (h->as == POLICY_TOOL_JUDGED && h->in.class == GATE_EXECUTE)
		take_folder(h, workspace);
	if (h->as == POLICY_TOOL_JUDGED && h->in.path_count)
		return take_paths(h, workspace, e);
	return 0;
}
