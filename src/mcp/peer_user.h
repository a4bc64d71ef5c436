/* peer_user: what of other users a caller may name. */
#ifndef PEER_USER_H
#define PEER_USER_H

#include <stdbool.h>
#include <stdint.h>

struct peer;
struct session_row;
struct str;

/* The user to whom all that p names must belong: its connection, session, task. Other users' are as
 * if they did not exist. NULL: it is ours, or root's, who may see everything anyway. */
const int64_t *peer_only_of(const struct peer *p);

/* Its user as rows have it (agent_uid, connection.uid); NULL: it is ours. Borrowed. */
const int64_t *peer_uid_in_rows(const struct peer *p);

/* Adds to what a key is made of whose peer it is: what one user says about itself, another user may
 * say, too. */
void peer_add_user(const struct peer *p, struct str *out);

/* Whether p may go on with a session of the agent of this user. */
bool peer_may_join(const struct peer *p, const struct session_row *row);

#endif
