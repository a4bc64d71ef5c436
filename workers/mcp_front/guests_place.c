#include "guests_place.h"

#include "front.h"
#include "hand.h"
#include "owner.h"
#include "peer.h"
#include "user_name.h"
#include "workspace_owner.h"

#include <string.h>

/* Our own user's agents work in folders of others, too, but not in one that has got another owner
 * since those were served there. */
static int meet_as_ours(struct front *f, const struct hand_found *found, struct err *e)
{
	OWNED(char_ptr) char *name = NULL;
	uid_t known;
	int got = workspace_owner_now(&f->worker.store, f->worker.machine, found->root, &known, e);

	if (got <= 0 || found->owner <= 0 || (uid_t)found->owner == known)
		return got < 0 ? -1 : 0;
	name = user_name((uid_t)found->owner);
	return workspace_owner_meet(&f->worker.store, f->worker.machine, found->root,
	                            (uid_t)found->owner, name, e);
}

int guests_place(struct front *f, struct peer *p, const struct hand_found *found, struct err *e)
{
	if (p->uid != PEER_OURS && !p->user_name)
		p->user_name = user_name((uid_t)p->uid);
	if (p->has_user && found->unfit && strcmp(found->unfit, HAND_CLOSED) == 0)
		return err_set(e, ERR_INPUT, /* without a name: it may be another user's */
		               "no workspace: its folder is closed to this user, or " OWNER_SILENT,
		               OWNER_UNIT_FILES);
	if (p->has_user && found->root && !found->unfit &&
	    workspace_owner_meet(&f->worker.store, f->worker.machine, found->root, p->user,
	                         p->user_name, e))
		return -1;
	if (!p->has_user && f->guests.dir_fd >= 0 && found->root && !found->unfit &&
	    meet_as_ours(f, found, e))
		return -1;
	return peer_place(&f->settings.workspaces, p, found, e);
}
