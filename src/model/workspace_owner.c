#include "workspace_owner.h"

#include "sql/workspace_owner.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME_BYTES = 80 };

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

static void name_of(uid_t uid, char name[NAME_BYTES])
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		(void)snprintf(name, NAME_BYTES, "%.64s", user->pw_name);
	else
		(void)snprintf(name, NAME_BYTES, "%u", (unsigned)uid);
}

static int commit(struct store *st, int failed, struct err *e)
{
	if (!failed)
		return store_commit(st, e);
	store_rollback(st);
	return -1;
}

static int record_first(struct store *st, const char *machine, const char *workspace, uid_t uid,
                        struct err *e)
{
	char name[NAME_BYTES];

	name_of(uid, name);
	if (store_begin(st, e))
		return -1;
	return commit(st, sql_workspace_owner_first(st, machine, workspace, uid, name, e), e);
}

/* Another owner than the one so far: told once. */
static int refuse(struct store *st, const char *machine, const char *workspace, uid_t uid,
                  const char *so_far, struct err *e)
{
	char name[NAME_BYTES];
	int waits = sql_workspace_owner_waits(st, machine, workspace, uid, e);

	if (waits < 0)
		return -1;
	name_of(uid, name);
	if (!waits &&
	    (store_begin(st, e) ||
	     commit(st, sql_workspace_owner_found(st, machine, workspace, uid, name, e), e)))
		return -1;
	return err_set(e, ERR_INPUT,
	               "no workspace: %.300s belonged to %.64s when agents first worked there, and "
	               "belongs to %.64s by now; an operator can allow that with "
	               "agent-intercom-ctl owner %.300s",
	               workspace, so_far, name, workspace);
}

int workspace_owner_meet(struct store *st, const char *machine, const char *workspace, uid_t uid,
                         struct err *e)
{
	OWNED(workspace_owner_now_row) struct workspace_owner_now_row row = { 0 };
	int got = sql_workspace_owner_now(st, machine, workspace, &row, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return record_first(st, machine, workspace, uid, e);
	return (uid_t)row.uid == uid ? 0 : refuse(st, machine, workspace, uid, row.name, e);
}
