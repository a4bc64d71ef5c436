/* peer_hook: whose call the call of a hook is. A host names its session by an id of its own, and an
 * agent behind an editor by one that is unique among its own sessions only: so an id alone is
 * nobody's. What differs in its folder, or in the connection of editor and agent, is another
 * session, and is judged by the policy of where it works. */
#ifndef PEER_HOOK_H
#define PEER_HOOK_H

#include "peer.h"

/* What a hook says of where it comes from. Texts are borrowed; NULL: it does not say. */
struct peer_hook {
	const char *host;
	const char *session; /* the host's id of it; NULL: then the host's process counts */
	const char *workspace; /* where the host says that it works */
	bool may_move; /* that is its current folder, which a session may change */
	bool relays; /* the session is that of an agent behind an editor: */
	const char *run; /* of the two */
	bool continues; /* the editor has loaded it, so it may be that of an earlier run */
};

/* Makes p the peer of a hook: of the row that is there, or of a new one. 0 or -1. */
int peer_of_hook(struct store *st, struct peer *p, const struct peer_hook *from, struct err *e);

#endif
