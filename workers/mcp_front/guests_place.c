#include "guests_place.h"

#include "front.h"
#include "hand.h"
#include "owner.h"
#include "peer.h"
#include "user_name.h"
#include "workspace_owner.h"

#include <string.h>

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
	return peer_place(&f->settings.workspaces, p, found, e);
}
