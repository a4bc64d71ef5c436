/* user_name: the name of a user, from the user database, to be told to people. */
#ifndef USER_NAME_H
#define USER_NAME_H

#include <sys/types.h>

/* Its number, if it has no name. The caller frees it. */
char *user_name(uid_t uid);

#endif
