#include "guests.h"

#include "front.h"
#include "group_id.h"
#include "io.h"
#include "peer.h"
#include "reach.h"
#include "shared.h"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- who ---- */

bool guests_have(const struct front *f, uid_t uid)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, f->allow_uids)
		if (cJSON_IsNumber(one) && one->valuedouble == (double)uid)
			return true;
	return false;
}

static void list(struct front *f, uid_t uid)
{
	if (!f->allow_uids)
		f->allow_uids = cJSON_CreateArray();
	if (!guests_have(f, uid))
		(void)cJSON_AddItemToArray(f->allow_uids, cJSON_CreateNumber(uid));
}

/* Over TCP the kernel tells the user of a caller, and not the groups: who is in the group when we
 * start may ask there. */
static void list_members(struct front *f)
{
	const struct group *group = getgrgid(f->guests.group);
	const struct passwd *user;

	for (char **name = group ? group->gr_mem : NULL; name && *name; name++)
		if ((user = getpwnam(*name)) != NULL)
			list(f, user->pw_uid);
	setpwent();
	while ((user = getpwent()) != NULL)
		if (user->pw_gid == f->guests.group)
			list(f, user->pw_uid);
	endpwent();
}

bool guests_are_served(const struct front *f)
{
	return f->guests.dir_fd >= 0;
}

const char *guests_refusal(const struct front *f)
{
	if (guests_are_served(f))
		return "this agent-intercom serves the users of one group, and you are not in it: "
		       "an administrator adds you to the group that shared.agents names, and "
		       "restarts agent-intercom, which over HTTP knows who was in it at its start";
	return "this agent-intercom belongs to another user; mcp.allow_uids in its config.toml "
	       "lets others in";
}

bool guests_admit(const struct front *f, int fd, uid_t *ret_uid)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return false;
	*ret_uid = who.uid;
	if (who.uid == geteuid())
		return true;
	if (f->guests.dir_fd < 0)
		return false;
	return who.uid == 0 || guests_have(f, who.uid) || group_id_has_peer(f->guests.group, fd);
}

void guests_mark(const struct front *f, struct peer *p, uid_t uid)
{
	p->uid = uid == geteuid() ? PEER_OURS : (int64_t)uid;
	p->has_user = f->guests.dir_fd >= 0 && uid != geteuid() && uid != 0;
	p->user = uid;
}

/* ---- where ---- */

int guests_open(struct front *f, struct err *e)
{
	struct guests *g = &f->guests;
	int got = shared_open(&f->worker.store, &g->dir_fd, e);

	if (got <= 0)
		return got;
	if (shared_group(&f->worker.store, "shared.agents", &g->group, e))
		return -1;
	g->has_others = cJSON_GetArraySize(f->allow_uids) > 0;
	list_members(f);
	return 0;
}

int guests_listen(struct front *f, evconnlistener_cb on_caller, struct err *e)
{
	const struct shared_door door = { .type = SOCK_STREAM,
		                          .group = f->guests.group,
		                          .is_wide = f->guests.has_others };
	int fd;

	if (f->guests.dir_fd < 0 || f->guests.listener)
		return 0;
	fd = shared_listen(f->guests.dir_fd, REACH_AGENTS, &door, e);
	if (fd < 0)
		return -1;
	f->guests.listener = evconnlistener_new(
	    f->base, on_caller, f, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (f->guests.listener)
		return 0;
	(void)close(fd);
	return err_set(e, ERR_AGAIN, "libevent does not take the socket for other users");
}

/* The socket's name stays: agents wait for our successor there. */
void guests_stop(struct front *f)
{
	front_deafen(&f->guests.listener);
	io_shut(&f->guests.dir_fd);
}
