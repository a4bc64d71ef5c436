#include "collect.h"

#include "pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 80 };

struct collecting {
	const struct objects *from;
	struct objects *to;
	struct collected *sum;
	struct err *e;
};

static int copy(struct collecting *c, const char *name, const char *hash)
{
	int fd = openat(c->from->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct sha256 found = { "" };
	enum object_put did;
	uint64_t size = 0;

	if (fd < 0)
		return errno == ENOENT ? 0
		                       : err_errno(c->e, ERR_AGAIN, "cannot open object %s", hash);
	did = object_put(c->to, fd, UINT64_MAX, &found, &size, c->e);
	if (did == OBJECT_UNREADABLE)
		(void)err_errno(c->e, ERR_AGAIN, "cannot read object %s", hash);
	(void)close(fd);
	if (did != OBJECT_STORED)
		return -1;
	if (strcmp(found.text, hash) != 0) {
		c->sum->damaged++;
		return 0;
	}
	c->sum->count++;
	c->sum->added++;
	c->sum->bytes += size;
	return 0;
}

/* Whether only we can have written it, or can write it after it has got another name. */
static bool is_ours(const struct stat *about)
{
	return about->st_uid == geteuid() && !(about->st_mode & (S_IWGRP | S_IWOTH));
}

/* What is not ours may be anything, also longer than the disk: it is read before it is copied. */
static bool is_sound(const struct collecting *c, const char *hash, const struct stat *about)
{
	return S_ISREG(about->st_mode) &&
	       (is_ours(about) || object_check(c->from, hash, NULL) == 1);
}

static int take(const char *hash, uint64_t size, void *arg)
{
	struct collecting *c = arg;
	char name[NAME_BYTES];
	struct stat about;

	pulse();
	if (object_exists(c->to, hash)) {
		c->sum->count++;
		return 0;
	}
	(void)snprintf(name, sizeof(name), "%.2s/%s", hash, hash + 2);
	if (fstatat(c->from->dir, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0
		                       : err_errno(c->e, ERR_AGAIN, "cannot read object %s", hash);
	if (!is_sound(c, hash, &about)) {
		c->sum->damaged++;
		return 0;
	}
	if (is_ours(&about) && linkat(c->from->dir, name, c->to->dir, name, 0) == 0) {
		c->sum->count++;
		c->sum->added++;
		c->sum->bytes += size;
		return 0;
	}
	return copy(c, name, hash);
}

int collect_objects(const struct objects *from, struct objects *to, struct collected *ret,
                    struct err *e)
{
	struct collecting c = { .from = from, .to = to, .sum = ret, .e = e };

	*ret = (struct collected){ 0 };
	if (objects_each(from, take, &c, e) || objects_flush(to, e))
		return -1;
	return syncfs(to->dir) ? err_errno(e, ERR_AGAIN, "cannot flush objects") : 0;
}
