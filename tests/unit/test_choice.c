/* Which choice a person means by what they type. */
#include "choice.h"
#include "json.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static const char CHOICES[] =
    "[{\"id\":\"9\",\"name\":\"Now\"},{\"id\":\"no\",\"name\":\"1\"},{\"id\":\"c\",\"name\":"
    "\"later\"},"
    "{\"id\":\"d\",\"name\":\"Later\"},{\"id\":\"e\"},{\"id\":\"f\",\"name\":\"7\"}]";

/* The id of what is meant; "": nothing, "many": several. */
static const char *meant(const char *text)
{
	static char id[8];
	OWNED(cJSON_ptr) cJSON *choices = cJSON_Parse(CHOICES);
	bool many;
	const cJSON *found = choice_find(choices, text, &many);

	ck_assert(!found || !many);
	(void)snprintf(id, sizeof(id), "%s", many ? "many" : found ? json_text(found, "id") : "");
	return id;
}

START_TEST(a_choice_is_meant_by_its_number_or_its_name)
{
	static const char *const MEANT[][2] = {
		{ "3", "c" },
		{ "3.", "c" },
		{ "now", "9" },
		{ "1", "many" },
		{ "1.", "9" },
		{ "LATER", "many" },
		{ "4", "d" },
		{ "5", "e" },
		{ "6", "f" },
		{ "7", "f" },
		/* An id, what is no number of the list, and what only begins like one, mean none.
		 */
		{ "9", "" },
		{ "no", "" },
		{ "0", "" },
		{ "7.", "" },
		{ "-1", "" },
		{ "3.x", "" },
		{ "3..", "" },
		{ "3 ", "" },
		{ "3x", "" },
		{ ".", "" },
		{ "", "" },
		{ "c", "" },
		{ "99999999999999999999", "" },
	};

	for (size_t i = 0; i < COUNT(MEANT); i++)
		ck_assert_msg(strcmp(meant(MEANT[i][0]), MEANT[i][1]) == 0, "'%s' means '%s'",
		              MEANT[i][0], meant(MEANT[i][0]));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("choice");
	TCase *c = tcase_create("choice");

	suite_add_tcase(s, c);
	tcase_add_test(c, a_choice_is_meant_by_its_number_or_its_name);
	return run_suite(s);
}
