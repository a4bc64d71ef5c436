#include "hand_edit.h"

#include "gate_edit.h"
#include "hand_effect.h"
#include "safe_path.h"

#include <string.h>
#include <unistd.h>

/* One computation, and the files that it has read so far. */
struct editing {
	int root;
	const struct gate_input *in;
	const struct proposal *p;
	struct plan *plan;
	struct refusal *why;
};

/* The number of a path that the tool names. */
static int touch(struct editing *d, const char *path, size_t *ret)
{
	OWNED(str) struct str absolute = { 0 };
	struct err e = { 0 };

	if (gate_input_absolute(d->in, path, &absolute, &e))
		return refusal_set(d->why, "not_computed", "%s", e.text);
	return proposal_touch(d->root, d->p, d->plan, str_text(&absolute), ret, d->why);
}

/* gate_edit_read */
static int read_file(void *arg, const char *path, struct str *bytes, struct err *e)
{
	struct editing *d = arg;
	const struct planned *f;
	size_t at;

	if (touch(d, path, &at))
		return err_set(e, ERR_INPUT, "%s", d->why->text);
	f = &d->plan->files[at];
	if (!f->exists && *path != '/' && d->in->form == GATE_FORM_REPLACE &&
	    d->in->host->finds_files) {
		(void)refusal_set(d->why, "path_violation",
		                  "%.300s does not exist, and %s would edit any file whose path "
		                  "ends so: name the file by its absolute path",
		                  path, d->in->host->title);
		return err_set(e, ERR_INPUT, "%s", d->why->text);
	}
	if (f->exists)
		str_add_bytes(bytes, str_text(&f->old), f->old.length);
	return f->exists;
}

static int take_results(struct editing *d, const struct gate_edit *edit)
{
	size_t at;

	for (size_t i = 0; i < edit->count; i++) {
		const struct gate_edit_file *f = &edit->files[i];

		if (touch(d, f->path, &at) ||
		    proposal_set_result(d->p, d->plan, at, f->exists ? &f->after : NULL, d->why))
			return -1;
		if (i == 0)
			d->plan->primary = at;
	}
	if (!edit->count)
		return refusal_set(d->why, "not_computed", "the tool names no file");
	return proposal_check_results(d->plan, d->why);
}

static int compute(struct editing *d, struct hand_found *found)
{
	OWNED(gate_edit) struct gate_edit edit = { 0 };
	struct err e = { 0 };
	int got = gate_edit_compute(d->in, read_file, d, &edit, &e);

	if (got < 0 && d->why->code)
		return -1;
	if (got <= 0)
		return refusal_set(d->why, "not_computed", "%s", e.text);
	if (take_results(d, &edit))
		return -1;
	d->plan->replaces_file =
	    d->in->form == GATE_FORM_WRITE && d->plan->files[d->plan->primary].exists;
	return hand_effect_compute(found);
}

void hand_edit_look(const struct hand_ask *ask, struct hand_found *found)
{
	OWNED(gate_input) struct gate_input in = { 0 };
	const struct gate_host *host = gate_host_named(ask->edit_host);
	const struct proposal p = { .workspace_root = found->root,
		                    .ours = ask->ours,
		                    .most = ask->is_big ? 0 : HAND_SMALL_BYTES };
	struct editing d = {
		.root = -1, .in = &in, .p = &p, .plan = &found->plan, .why = &found->why
	};
	struct err e = { 0 };
	int failed;

	if (!host || gate_input_read(host, ask->edit_event, ask->edit, ask->edit_length, &in, &e)) {
		(void)refusal_set(&found->why, "not_computed", "%s", e.text);
		return;
	}
	if (safe_path_open(found->root, &d.root, &e)) {
		(void)refusal_set(&found->why, "workspace_unreadable", "%s", e.text);
		return;
	}
	failed = compute(&d, found);
	(void)close(d.root);
	found->is_too_big = failed && !ask->is_big && strcmp(found->why.code, "too_large") == 0;
}
