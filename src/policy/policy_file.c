#include "policy_file.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SETTLED_MS = 1000
}; /* a file changed so recently may change again within the same instant */

static int64_t changed_ms(const struct stat *s)
{
	return (int64_t)s->st_ctim.tv_sec * 1000 + s->st_ctim.tv_nsec / 1000000;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* ---- a version of the file ---- */

static int check_file(const struct stat *s, struct err *e)
{
	if (!S_ISREG(s->st_mode))
		return err_set(e, ERR_INPUT, "it is no regular file");
	if (s->st_mode & S_IWOTH)
		return err_set(e, ERR_INPUT, "every user may write it; chmod o-w it");
	if (s->st_size > POLICY_MAX_BYTES)
		return err_set(e, ERR_INPUT, "it is larger than %d KiB", POLICY_MAX_BYTES >> 10);
	return 0;
}

static int read_bytes(int fd, struct str *bytes, struct err *e)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 && bytes->length <= POLICY_MAX_BYTES)
		str_add_bytes(bytes, part, (size_t)n);
	return n < 0 ? err_errno(e, ERR_AGAIN, "it cannot be read") : 0;
}

/* A version that differs in nothing but its time is not compiled again: *kept, then, is f's. */
static int read_version(struct policy_file *f, int fd, const char *had, struct policy **kept,
                        struct err *e)
{
	OWNED(str) struct str bytes = STR_INIT;

	if (check_file(&f->seen, e) || read_bytes(fd, &bytes, e))
		return -1;
	(void)snprintf(f->hash, sizeof(f->hash), "%s",
	               sha256_of(str_text(&bytes), bytes.length).text);
	if (*kept && strcmp(f->hash, had) == 0) {
		f->policy = *kept;
		*kept = NULL;
		return 0;
	}
	return policy_parse(str_text(&bytes), bytes.length, &f->policy, e);
}

static void forget(struct policy_file *f)
{
	f->policy = NULL;
	f->hash[0] = '\0';
	f->why[0] = '\0';
	f->exists = false;
	memset(&f->seen, 0, sizeof(f->seen));
}

/* Takes the file that fd is, or (below 0) that there is none. */
static void take_version(struct policy_file *f, int fd, const struct err *why_not)
{
	char hash[SHA256_BYTES], why[ERR_TEXT_BYTES];
	struct err e = why_not ? *why_not : (struct err)ERR_INIT;
	struct policy *kept = f->policy;
	bool existed = f->exists;
	int got = 0;

	memcpy(hash, f->hash, sizeof(hash));
	memcpy(why, f->why, sizeof(why));
	forget(f);
	f->read_ms = clock_now_ms();
	f->exists = fd >= 0 || why_not;
	if (fd >= 0 && fstat(fd, &f->seen) == 0)
		got = read_version(f, fd, hash, &kept, &e);
	policy_free(kept);
	if (got || why_not)
		(void)snprintf(f->why, sizeof(f->why), "%s", e.text);
	if (existed != f->exists || strcmp(hash, f->hash) != 0 || strcmp(why, f->why) != 0) {
		f->changed = true;
		f->told = false;
	}
}

static bool is_fresh(const struct policy_file *f, const struct stat *now)
{
	return f->exists && is_same(&f->seen, now) && f->read_ms - changed_ms(now) > SETTLED_MS;
}

static void look(struct policy_file *f)
{
	char path[4200];
	struct err e = ERR_INIT;
	struct stat now;
	int fd = -1;

	(void)snprintf(path, sizeof(path), "%.4095s/" POLICY_FILE, f->workspace_root);
	if (stat(path, &now) == 0) {
		if (is_fresh(f, &now))
			return;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	if (fd >= 0 || errno == ENOENT || errno == ENOTDIR) {
		take_version(f, fd, NULL);
	} else {
		(void)err_errno(&e, ERR_AGAIN, "it cannot be opened");
		take_version(f, fd, &e);
	}
	if (fd >= 0)
		(void)close(fd);
}

/* ---- all of them ---- */

struct policy_file *policy_file_of(struct policy_files *files, const char *workspace_root)
{
	struct policy_file *f;

	LIST_FOREACH (f, &files->all, next)
		if (strcmp(f->workspace_root, workspace_root) == 0)
			break;
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		f->workspace_root = xstrdup(workspace_root);
		LIST_INSERT_HEAD(&files->all, f, next);
	}
	look(f);
	return f;
}

void policy_files_clear(struct policy_files *files)
{
	struct policy_file *f;

	while ((f = LIST_FIRST(&files->all)) != NULL) {
		LIST_REMOVE(f, next);
		policy_free(f->policy);
		free(f->workspace_root);
		free(f);
	}
}
