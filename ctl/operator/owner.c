/* owner: whose the folder of a workspace is, where the system serves several users. */
#include "ctl.h"

#include "machine.h"
#include "via_desk.h"

#include "sql/workspace_owner.h"

#include <stdio.h>

static cJSON *owner_json(const void *row)
{
	const struct workspace_owner_list_row *o = row;
	cJSON *json = cJSON_CreateObject();

	json_add_text(json, "workspace_root", o->workspace_root);
	json_add_text(json, "so_far", o->so_far);
	json_add_text(json, "name", o->name);
	(void)cJSON_AddNumberToObject(json, "uid", (double)o->uid);
	json_add_text(json, "found_at", o->found_at);
	return json;
}

static int add_row(struct ctl *c, struct table *t, const void *row, struct err *e)
{
	const struct workspace_owner_list_row *o = row;
	struct age found = age_of(o->found_at);

	(void)c;
	(void)e;
	table_add(t, o->so_far);
	table_add(t, o->name);
	table_add(t, found.text);
	table_add(t, o->workspace_root);
	return 0;
}

static int list_owners(struct ctl *c, const char *machine, struct err *e)
{
	static const char *const HEADINGS[] = { "SO FAR", "NOW", "FOUND", "WORKSPACE" };
	static const struct listing OWNERS = { "owners",   "no folder has got another owner",
		                               HEADINGS,   COUNT(HEADINGS),
		                               owner_json, add_row,
		                               NULL };
	OWNED(workspace_owner_list_row) struct workspace_owner_list_row o = { 0 };

	sql_workspace_owner_list(&c->store, machine, &o);
	return print_listing(c, &o.row, &OWNERS, e);
}

static int accept_owner(struct ctl *c, const char *machine, const char *workspace, struct err *e)
{
	int changed;

	if (store_begin(&c->store, e))
		return -1;
	changed = sql_workspace_owner_accept(&c->store, via_desk_operator(), machine, workspace, e);
	if (store_end(&c->store, changed < 0, e))
		return -1;
	if (changed == 0)
		return err_set(e, ERR_INPUT, "no other owner of %.300s waits: see `owner`",
		               workspace);
	(void)puts("accepted: agents of its owner are served there");
	return 0;
}

static int run_owner(struct ctl *c, struct err *e)
{
	char machine[MACHINE_BYTES];

	machine_name(machine);
	return c->argc ? accept_owner(c, machine, c->argv[0], e) : list_owners(c, machine, e);
}

const struct command_spec cmd_owner = {
	"owner",
	HELP("[WORKSPACE]", "folders that have got another owner, and that one may have",
	     "Where several users are served, an agent works in folders of its own user. The first "
	     "owner\n"
	     "of a folder counts until an operator accepts another one here.\n"),
	ARGUMENTS(0, 1, 0), .run = run_owner
};
