#include "diff_case.h"

size_t fuzz; /* of `applied` */

char *applied(const char *old, const char *text, struct err *e)
{
	OWNED(diff) struct diff d = { 0 };
	OWNED(str) struct str result = { 0 };
	const struct diff_how how = { .fuzz = fuzz };

	if (diff_parse(text, strlen(text), &d, e) == 0 &&
	    diff_apply(&d.files[0], old, old ? strlen(old) : 0, &how, &result, e) == 0)
		return str_take(&result);
	return NULL;
}

void read_diff(const char *text, struct diff *d)
{
	struct err e = { 0 };

	ck_assert_msg(diff_parse(text, strlen(text), d, &e) == 0, "%s", e.text);
}
