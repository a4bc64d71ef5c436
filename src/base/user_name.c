#include "user_name.h"

#include "str.h"

#include <pwd.h>

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
