#include "peer_user.h"

#include "peer.h"
#include "sql/session.h"
#include "str.h"

#include <string.h>

const int64_t *peer_only_of(const struct peer *p)
{
	return p->uid > 0 ? &p->uid : NULL;
}

const int64_t *peer_uid_in_rows(const struct peer *p)
{
	return p->uid == PEER_OURS ? NULL : &p->uid;
}

void peer_add_user(const struct peer *p, struct str *out)
{
	if (peer_only_of(p))
		str_addf(out, " of user %lld", (long long)p->uid);
}

bool peer_may_join(const struct peer *p, const struct session_row *row)
{
	return !peer_only_of(p) || (row->has_agent_uid && row->agent_uid == p->uid) ||
	       (p->token_session && strcmp(p->token_session, row->id) == 0);
}
