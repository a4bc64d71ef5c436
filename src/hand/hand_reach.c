#include "hand_reach.h"

#include "always_ask.h"

#include <fts.h>
#include <stddef.h>

int hand_reach(const char *folder, const cJSON *entries, int most, struct str *found)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *one;
	int got = 0;

	if (!tree)
		return 0;
	while (!got && (one = fts_read(tree)) != NULL) {
		if (one->fts_level == FTS_ROOTLEVEL || one->fts_info == FTS_DP)
			continue;
		if (most-- == 0) {
			got = -1;
		} else if (always_ask_ends(one->fts_path, entries)) {
			str_add(found, one->fts_path);
			got = 1;
		}
	}
	(void)fts_close(tree);
	return got;
}
