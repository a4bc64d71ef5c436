/* user_name: the name of a user, from the user database, to be told to people. */
#ifndef USER_NAME_H
#define USER_NAME_H

#include <sys/types.h>

/* Its number, if it has no name. The caller frees it. */
char *user_name(uid_t uid);

/* What the user is as an operator on this machine: "local:", and the name, cut at 64 bytes. */
enum { USER_OPERATOR_HEAD = 6, USER_OPERATOR_BYTES = USER_OPERATOR_HEAD + 65 };
void user_operator_id(uid_t uid, char out[USER_OPERATOR_BYTES]);

#endif
