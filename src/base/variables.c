#include "variables.h"

#include "str.h"

#include <string.h>

bool variable_is(const char *variable, const char *name)
{
	size_t length = strcspn(variable, "="), n = strlen(name);
	bool prefix = n > 0 && name[n - 1] == '*';

	n -= prefix;
	return strncmp(variable, name, n) == 0 && (prefix ? length >= n : length == n);
}

size_t variables_count(char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

bool variable_is_one_of(const char *variable, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (variable_is(variable, names[i]))
			return true;
	return false;
}

char **variables_pick(char *const *from, const char *const *names, size_t count, size_t room)
{
	char **out = xcalloc(variables_count(from) + room + 1, sizeof(*out));
	size_t kept = 0;

	for (; *from; from++)
		if (!count || variable_is_one_of(*from, names, count))
			out[kept++] = *from;
	return out;
}
