/* suite: what every test program needs, with or without a store. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>
#include <stdbool.h>

/* Runs all tests of a suite, reports, and returns what main returns. */
int run_suite(Suite *s);

/* folder/name; valid until the eighth call after it. */
const char *below(const char *folder, const char *name);

/* Removes a directory with all that is in it; true: it is gone. */
bool remove_tree(const char *path);

#endif
