#include "hand_reach.h"

#include "always_ask.h"

#include <fts.h>
#include <string.h>
#include <sys/stat.h>

/* What lies above has been looked at before, but for the names of one file. */
static bool is_covered(const FTSENT *one, size_t skip, const struct hand_reach_of *of,
                       const cJSON *entries)
{
	if (!of->is_file)
		return always_ask_ends(one->fts_path, entries);
	return one->fts_info == FTS_F && (int64_t)one->fts_statp->st_ino == of->inode &&
	       (int64_t)one->fts_statp->st_dev == of->device &&
	       always_ask_is_added(one->fts_path + skip, entries);
}

int hand_reach(const char *folder, const struct hand_reach_of *of, const cJSON *entries,
               struct str *found)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *one;
	int left = of->most, got = 0;

	if (!tree)
		return 0;
	while (!got && (one = fts_read(tree)) != NULL) {
		if (one->fts_level == FTS_ROOTLEVEL || one->fts_info == FTS_DP)
			continue;
		if (left-- == 0) {
			got = -1;
		} else if (is_covered(one, strlen(folder), of, entries)) {
			str_add(found, one->fts_path);
			got = 1;
		}
	}
	(void)fts_close(tree);
	return got;
}
