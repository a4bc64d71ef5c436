#include "choice.h"

#include "json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The choice whose number the text is; NULL: it is none's. */
static const cJSON *numbered(const cJSON *choices, const char *text, bool *ret_certain)
{
	size_t digits = strspn(text, "0123456789");
	long number = strtol(text, NULL, 10);

	*ret_certain = text[digits] == '.' && !text[digits + 1];
	if (!digits || (text[digits] && !*ret_certain) || number < 1 ||
	    number > cJSON_GetArraySize(choices))
		return NULL;
	return cJSON_GetArrayItem(choices, (int)number - 1);
}

static bool is_called(const cJSON *choice, const char *text)
{
	const char *name = json_text(choice, "name");

	return name && strcasecmp(name, text) == 0;
}

const cJSON *choice_find(const cJSON *choices, const char *text, bool *ret_many)
{
	bool is_certain;
	const cJSON *found = numbered(choices, text, &is_certain), *choice;

	*ret_many = false;
	if (is_certain && found)
		return found;
	cJSON_ArrayForEach (choice, choices) {
		if (choice == found || !is_called(choice, text))
			continue;
		*ret_many = found != NULL;
		found = choice;
	}
	return *ret_many ? NULL : found;
}
