#include "workspace_owner.h"

#include "sql/workspace_owner.h"

#include <unistd.h>

int workspace_owner_now(struct store *st, const char *machine, const char *workspace,
                        uid_t *ret_uid, struct err *e)
{
	OWNED(workspace_owner_now_row) struct workspace_owner_now_row row = { 0 };
	int got = sql_workspace_owner_now(st, machine, workspace, &row, e);

	if (got <= 0)
		return got;
	*ret_uid = (uid_t)row.uid;
	return *ret_uid != geteuid();
}

static int record_first(struct store *st, const char *machine, const char *workspace, uid_t uid,
                        const char *name, struct err *e)
{
	if (store_begin(st, e))
		return -1;
	return store_end(st, sql_workspace_owner_first(st, machine, workspace, uid, name, e), e);
}

/* Another owner than the one so far: told once. */
static int refuse(struct store *st, const char *machine, const char *workspace, uid_t uid,
                  const char *name, const char *so_far, struct err *e)
{
	int waits = sql_workspace_owner_waits(st, machine, workspace, uid, e);

	if (waits < 0)
		return -1;
	if (!waits &&
	    (store_begin(st, e) ||
	     store_end(st, sql_workspace_owner_found(st, machine, workspace, uid, name, e), e)))
		return -1;
	return err_set(e, ERR_INPUT,
	               "no workspace: %.300s belonged to %.64s when agents first worked there, and "
	               "belongs to %.64s by now; an operator can allow that with "
	               "agent-intercom-ctl owner %.300s",
	               workspace, so_far, name, workspace);
}

int workspace_owner_meet(struct store *st, const char *machine, const char *workspace, uid_t uid,
                         const char *name, struct err *e)
{
	OWNED(workspace_owner_now_row) struct workspace_owner_now_row row = { 0 };
	int got = sql_workspace_owner_now(st, machine, workspace, &row, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return record_first(st, machine, workspace, uid, name, e);
	return (uid_t)row.uid == uid ? 0 : refuse(st, machine, workspace, uid, name, row.name, e);
}
