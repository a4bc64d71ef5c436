/* diff_case: what the programs test_diff_*.c share. */
#ifndef DIFF_CASE_H
#define DIFF_CASE_H

#include "diff.h"
#include "suite.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern size_t fuzz; /* of `applied` */

/* Applies the only file of a diff to old; "" and the reason in e when it does not go. */
char *applied(const char *old, const char *text, struct err *e);

void read_diff(const char *text, struct diff *d);

#define HEAD "--- a/f.c\n+++ b/f.c\n"

#endif
