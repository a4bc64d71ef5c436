#include "user_name.h"

#include "err.h"
#include "str.h"

#include <pwd.h>
#include <stdio.h>

char *user_name(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);
	struct str name = { 0 };

	if (user)
		str_add(&name, user->pw_name);
	else
		str_addf(&name, "%u", (unsigned)uid);
	return str_take(&name);
}

void user_operator_id(uid_t uid, char out[USER_OPERATOR_BYTES])
{
	OWNED(char_ptr) char *name = user_name(uid);

	(void)snprintf(out, USER_OPERATOR_BYTES, "local:%s", name);
}
