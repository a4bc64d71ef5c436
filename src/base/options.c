#include "options.h"

#include <assert.h>
#include <getopt.h>
#include <stddef.h>

enum { FIRST = 256 /* no character */ };

int options_read(const struct options_row *rows, const char *how, void *arg, int argc, char **argv,
                 struct err *e)
{
	struct option options[OPTIONS_MOST + 1] = { 0 };
	int option;

	for (int i = 0; rows[i].name; i++) {
		assert(i < OPTIONS_MOST);
		options[i] = (struct option){ .name = rows[i].name,
			                      .has_arg = !rows[i].flag,
			                      .val = FIRST + i };
	}
	while ((option = getopt_long(argc, argv, how, options, NULL)) != -1) {
		const struct options_row *row;

		if (option < FIRST)
			return -1;
		row = &rows[option - FIRST];
		if (row->take && row->take(arg, optarg, e))
			return -1;
		if (row->text)
			*row->text = optarg;
		if (row->flag)
			*row->flag = true;
		if (row->instead_of)
			*row->instead_of = false;
		if (row->ends)
			break;
	}
	return 0;
}
