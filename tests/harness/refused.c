#include "refused.h"

#include "calls.h"
#include "refusals.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[600];

void refused_calls_look(const char *root)
{
	(void)snprintf(folder, sizeof(folder), "%s/refused", root);
	(void)mkdir(folder, 0700);
	(void)setenv("INTERCOM_REFUSALS", folder, 1);
}

void refused_calls_expect(void)
{
	(void)unsetenv("INTERCOM_REFUSALS");
	folder[0] = '\0';
}

static int show_file(int dir_fd, const char *file)
{
	unsigned counts[REFUSALS_NUMBERS] = { 0 };
	int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC), kinds = 0;

	if (read(fd, counts, sizeof(counts)) != sizeof(counts))
		memset(counts, 0, sizeof(counts));
	if (fd >= 0)
		(void)close(fd);
	for (int i = 0; i < REFUSALS_NUMBERS; i++) {
		if (!counts[i])
			continue;
		(void)fprintf(stderr,
		              "%s was refused %s, %u time(s): is it missing in calls.txt?\n", file,
		              calls_name(i) ? calls_name(i) : "an unknown call", counts[i]);
		kinds++;
	}
	return kinds;
}

int refused_calls_show(void)
{
	DIR *dir = *folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	int kinds = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			kinds += show_file(dirfd(dir), entry->d_name);
	if (dir)
		(void)closedir(dir);
	return kinds;
}
