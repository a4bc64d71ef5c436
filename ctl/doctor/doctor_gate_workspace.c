/* The doctor on what keeps a host's hooks from running: files of workspaces, and the user's own
 * settings. */
#include "canary.h"
#include "doctor.h"
#include "gate_switch.h"

#include "machine.h"
#include "sql/session.h"
#include "texts.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
	struct doctor *d;
	const char *host;
	bool managed;
	const char *what; /* of the lines printed */
	const char *root;
	bool is_closed; /* the host was seen to heed its hooks, with the user's own settings */
};

/* Whether the host, started where this file says so, is kept from acting by our hook all the same:
 * its version may not obey it, or the hooks of all users may go first. */
static bool still_closed(const struct search *s, const struct gate_switch_found *found)
{
	OWNED(canary)
	struct canary c = { .host = s->host,
		            .managed = s->managed,
		            .file = found->tried_as,
		            .text = str_text(&found->proof) };

	if (!found->proof.length)
		return false;
	(void)fflush(stdout);
	canary_look(&c);
	return c.state == GATE_CANARY_STATE_CLOSED;
}

static void tell(void *arg, const struct gate_switch_found *found)
{
	const struct search *s = arg;
	const char *colon = *found->file ? ": " : "";

	if (still_closed(s, found))
		doctor_tell(s->d, OK, s->what, "%s/%s: %s, but its hooks run all the same", s->root,
		            found->file, str_text(&found->what));
	else
		doctor_tell(s->d, FAIL, s->what,
		            "OPEN in %s: %s%s%s, so our hooks do not run there", s->root,
		            found->file, colon, str_text(&found->what));
}

/* Where the user is, and where sessions work. */
static void find_roots(struct doctor *d, struct texts *roots)
{
	OWNED(session_workspaces_row) struct session_workspaces_row row = { 0 };
	char here[PATH_MAX], machine[MACHINE_BYTES];
	struct err e = { 0 };

	if (getcwd(here, sizeof(here)))
		texts_add(roots, here);
	if (!d->store.db)
		return;
	machine_name(machine);
	sql_session_workspaces(&d->store, machine, &row);
	while (row_next(&row.row, &e) > 0)
		if (!texts_has(roots, row.workspace_root))
			texts_add(roots, row.workspace_root);
	if (e.text[0])
		doctor_tell(d, WARN, "gate", "cannot read which workspaces are open: %s", e.text);
}

void doctor_check_workspaces(struct doctor *d, const char *host, bool managed)
{
	OWNED(str) struct str what = { 0 };
	OWNED(texts) struct texts roots = { 0 };
	struct search s = { .d = d, .host = host, .managed = managed };

	str_addf(&what, "gate %s", host);
	s.what = str_text(&what);
	find_roots(d, &roots);
	for (size_t i = 0; i < roots.count; i++) {
		s.root = roots.items[i];
		gate_switch_look(host, s.root, tell, &s);
	}
}

/* ---- the user's own settings ---- */

static void tell_own(void *arg, const struct gate_switch_found *found)
{
	const struct search *s = arg;

	if (s->managed && !found->for_all)
		return;
	if (s->is_closed && found->proof.length)
		doctor_tell(s->d, OK, s->what, "%s: %s, but its hooks run all the same",
		            found->file, str_text(&found->what));
	else
		doctor_tell(s->d, FAIL, s->what, "%s: %s, so our hooks do not run; take that out",
		            found->file, str_text(&found->what));
}

void doctor_check_own(struct doctor *d, const char *host, bool managed, bool closed)
{
	OWNED(str) struct str what = { 0 };
	struct search s = { .d = d, .host = host, .managed = managed, .is_closed = closed };

	str_addf(&what, "gate %s", host);
	s.what = str_text(&what);
	gate_switch_look_own(host, tell_own, &s);
	gate_switch_look_environment(host, tell_own, &s);
}
