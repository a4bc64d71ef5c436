/* The program hook where there is no memory. Sanitizers reserve more than any limit leaves, so this
 * is a program of its own. */
#include "hook_case.h"

#include "err.h"

#include <string.h>

START_TEST(a_hook_without_memory_is_a_deny)
{
	enum {
		FIRST_KIB = 2000,
		LAST_KIB = 14000,
		STEP_KIB = 250,
		CONTENT = 3900000,
		NO_START = 127
	};
	OWNED(str) struct str input = { 0 };
	OWNED(char_ptr) char *content = xcalloc(CONTENT + 1, 1);
	char hook[PROGRAM_BYTES];
	int started = 0;

	test_program("hook", hook);
	given_run_directory();
	memset(content, 'a', CONTENT);
	str_addf(&input, "{\"tool_name\":\"Write\",\"tool_input\":{\"content\":\"%s\"}}", content);
	put_file(run_directory, "input", str_text(&input));
	for (int kib = FIRST_KIB; kib <= LAST_KIB; kib += STEP_KIB) {
		OWNED(str) struct str said = { 0 };
		int status = shell(&said,
		                   "ulimit -v %d; exec %s claude PreToolUse --run %s --deadline 1 "
		                   "<%s/input 2>&1",
		                   kib, hook, run_directory, run_directory);

		if (status == NO_START || status > 128) /* the loader's word, or the shell's */
			continue;
		ck_assert_msg(status == 2, "%d KiB: status %d: %s", kib, status, str_text(&said));
		if (strstr(str_text(&said), "has no memory")) /* not even for the host's words */
			continue;
		ck_assert_msg(strstr(str_text(&said), "\"deny\""), "%d KiB: %s", kib,
		              str_text(&said));
		started++;
		if (strstr(str_text(&said), "not running"))
			break; /* there was memory enough */
	}
	ck_assert_int_gt(started, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_memory");
	TCase *c = tcase_create("hook_memory");

	tcase_add_test(c, a_hook_without_memory_is_a_deny);
	suite_add_tcase(s, c);
	return run_suite(s);
}
