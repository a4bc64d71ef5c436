/* suite: what every test program needs, with or without a store. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>
#include <stdbool.h>

enum { SUITE_SKIPPED = 77 }; /* exit status: nothing failed, but not everything could run */

/* Runs all tests of a suite, reports, and returns what main returns. */
int run_suite(Suite *s);

/* Skips the current test unless `can`. Prints a line "skipped: TEST: needs ..."; the skipped tests
 * are counted at the end of the program. Use it only in a test itself, not in a function that it
 * calls. */
#define SKIP_UNLESS(can, needs)                                                                    \
	do {                                                                                       \
		if (!(can)) {                                                                      \
			suite_note_skipped(__func__, needs);                                       \
			return;                                                                    \
		}                                                                                  \
	} while (0)
void suite_note_skipped(const char *test, const char *needs);

enum { NOBODY_ID = 65534 }; /* user and group */

/* Like ck_assert_msg, for checks made many thousand times: Check reports each successful assertion
 * to its parent, which takes minutes for a million of them. */
#define MUST(holds, ...)                                                                           \
	do {                                                                                       \
		if (!(holds))                                                                      \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* From here on this process, and what it starts, is nobody. False: only root can do this. */
bool become_nobody(void);

/* From here on mounts of this process are private and end with it. False: only root can do this,
 * where there are mount namespaces. */
bool may_mount(void);

/* folder/name; valid until the eighth call after it. */
const char *below(const char *folder, const char *name);

/* Removes a directory and its contents; true: it is gone. */
bool remove_tree(const char *path);

#endif
