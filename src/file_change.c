#include "file_change.h"

#include "diff.h"
#include "id.h"
#include "io.h"
#include "safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 65536,
	PROC_LINK_BYTES = 64,
	XATTR_NAMES_BYTES = 4096, /* more attributes than fit are not taken over */
	XATTR_VALUE_BYTES = 65536,
	SET_ID_BITS = S_ISUID | S_ISGID,
};

static const char TEMP_PREFIX[] = ".intercom-";

/* ---- refusals ---- */

int refuse(struct refusal *why, const char *code, const char *format, ...)
{
	va_list args;

	why->code = code;
	why->again = false;
	va_start(args, format);
	(void)vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return -1;
}

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN ||
	       error == EINTR || error == EBUSY;
}

/* The codes that an agent is told. */
static const char *code_of(int error)
{
	switch (error) {
	case ENOSPC:
		return "no_space";
	case EDQUOT:
		return "quota";
	case EROFS:
		return "read_only";
	case EACCES:
	case EPERM:
		return "permission";
	case EFBIG:
		return "too_large";
	case 0: /* no call failed: what is there is not what was expected */
	case ENOENT:
	case EEXIST:
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
	case ESTALE:
		return "patch_conflict";
	default:
		return is_shortage(error) ? "busy" : "io_error";
	}
}

int refuse_errno(struct refusal *why, const char *what, const char *path)
{
	int error = errno;

	(void)refuse(why, code_of(error), "cannot %s %.500s: %s", what, path, strerror(error));
	why->again = is_shortage(error);
	return -1;
}

int refuse_err(struct refusal *why, const struct err *e)
{
	int error = errno;

	if (strncmp(e->text, "path violation", 14) == 0)
		return refuse(why, "path_violation", "%s", e->text);
	if (strstr(e->text, "is larger than"))
		return refuse(why, "too_large", "%s", e->text);
	(void)refuse(why, code_of(error), "%s%s",
	             strcmp(code_of(error), "patch_conflict") == 0 ? "patch conflict: " : "",
	             e->text);
	why->again = is_shortage(error);
	return -1;
}

/* ---- planning ---- */

static const char *shown(const char *hash)
{
	return strcmp(hash, NO_FILE) == 0 ? "no file" : hash;
}

static int changed_since(struct refusal *why, const char *path, const char *expected,
                         const char *found)
{
	return refuse(
	    why, "patch_conflict",
	    "patch conflict: %.300s: the file has changed since the proposal: expected sha256 "
	    "%s, found %s; read it again and ask anew, or use force",
	    path, shown(expected), shown(found));
}

/* A diff says only whether a file is executable: by whom, follows from who may read it. */
static mode_t with_diff_mode(mode_t mode, unsigned said)
{
	if (said == 0)
		return mode;
	return said & 0111 ? mode | ((mode & 0444) >> 2) : mode & ~(mode_t)0111;
}

/* path: as it was asked, before symlinks were followed. */
static int plan_diff(const struct proposal *p, const char *path, const struct str *old, bool exists,
                     struct file_change *f, struct refusal *why)
{
	OWNED(diff) struct diff d = DIFF_INIT;
	struct err e = ERR_INIT;

	if (diff_parse(p->body, p->body_length, &d, &e) || diff_is_about(&d, path, &e))
		return refuse(why, "invalid_diff", "%s", e.text);
	if (diff_apply_file(&d.files[0], exists ? str_text(old) : NULL, old->length, &f->bytes,
	                    NULL, &e))
		return refuse(why, "patch_conflict", "%s", e.text);
	if (d.files[0].is_delete || !d.files[0].new_path)
		f->action = "delete";
	f->mode = with_diff_mode(f->mode, d.files[0].new_mode);
	return 0;
}

static void choose_temp_name(struct file_change *f)
{
	struct secret random = secret_new();

	(void)snprintf(f->temp_name, sizeof(f->temp_name), "%s%.16s.tmp", TEMP_PREFIX, random.text);
}

static int plan_content(const struct proposal *p, const char *path, const struct str *old,
                        bool exists, struct file_change *f, struct refusal *why)
{
	f->action = exists ? "modify" : "create";
	f->mode = exists ? f->old.st_mode & 07777 : 0666;
	if (!diff_looks_like(p->body, p->body_length))
		str_add_bytes(&f->bytes, p->body, p->body_length);
	else if (plan_diff(p, path, old, exists, f, why))
		return -1;
	if (f->bytes.length > FILE_CHANGE_MAX_BYTES)
		return refuse(why, "too_large", "%.300s would be larger than %d bytes", path,
		              (int)FILE_CHANGE_MAX_BYTES);
	if (strcmp(f->action, "delete") == 0) {
		strcpy(f->hash_after, NO_FILE);
		return 0;
	}
	(void)snprintf(f->hash_after, sizeof(f->hash_after), "%s",
	               sha256_of(str_text(&f->bytes), f->bytes.length).text);
	choose_temp_name(f);
	return 0;
}

/* The absolute name of path below root_fd. */
static void absolute(int root_fd, const char *path, struct str *out)
{
	char link[PROC_LINK_BYTES], root[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", root_fd);
	n = readlink(link, root, sizeof(root));
	if (n > 1)
		str_add_bytes(out, root, (size_t)n);
	str_add_char(out, '/');
	str_add(out, path);
}

/* Whether path is our database, a file that SQLite keeps beside it (<database>-wal, ...), or
 * another name of one. Even opening and closing it would take away this process's locks on it. */
static bool is_database(int root_fd, const char *path, const char *database)
{
	static const char *const SUFFIXES[] = { "", "-wal", "-shm" };
	OWNED(str) struct str name = STR_INIT;
	size_t length = strlen(database);
	struct stat target, st;

	absolute(root_fd, path, &name);
	if (strncmp(str_text(&name), database, length) == 0 &&
	    (name.length == length || name.bytes[length] == '-'))
		return true;
	if (fstatat(root_fd, path, &target, AT_SYMLINK_NOFOLLOW))
		return false;
	for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
		str_reset(&name);
		str_addf(&name, "%s%s", database, SUFFIXES[i]);
		if (stat(str_text(&name), &st) == 0 && st.st_dev == target.st_dev &&
		    st.st_ino == target.st_ino)
			return true;
	}
	return false;
}

/* The path that was asked for, what it leads to, and what is there. 1, 0 nothing is, -1. */
static int read_target(int root_fd, const struct proposal *p, struct file_change *f,
                       struct str *path, struct str *old, struct refusal *why)
{
	struct err e = ERR_INIT;
	int exists = -1;

	errno = 0;
	if (safe_path_clean(p->workspace_root, p->file_path, strlen(p->file_path), path, &e) ||
	    safe_path_resolve(root_fd, str_text(path), &f->path, &e))
		return refuse_err(why, &e);
	if (p->database && is_database(root_fd, str_text(&f->path), p->database))
		return refuse(why, "path_violation",
		              "path violation: \"%.300s\" belongs to agent-intercom's database",
		              str_text(path));
	errno = 0;
	exists =
	    safe_path_read(root_fd, str_text(&f->path), FILE_CHANGE_MAX_BYTES, old, &f->old, &e);
	return exists < 0 ? refuse_err(why, &e) : exists;
}

int file_change_plan(int root_fd, const struct proposal *p, struct file_change *f,
                     struct refusal *why)
{
	OWNED(str) struct str path = STR_INIT;
	OWNED(str) struct str old = STR_INIT;
	int exists = read_target(root_fd, p, f, &path, &old, why);

	if (exists < 0)
		return -1;
	(void)snprintf(f->hash_before, sizeof(f->hash_before), "%s",
	               exists ? sha256_of(str_text(&old), old.length).text : NO_FILE);
	if (!p->force && strcmp(f->hash_before, p->original_hash) != 0)
		return changed_since(why, str_text(&path), p->original_hash, f->hash_before);
	return plan_content(p, str_text(&path), &old, exists > 0, f, why);
}

/* ---- the temporary file ---- */

/* Opens a regular file that is no symlink, without side effects on others. -1: errno, EEXIST if
 * something else is there. */
static int open_regular(int dir_fd, const char *name, struct stat *st)
{
	int fd, error = 0;

	if (fstatat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = EEXIST;
		return -1;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, st))
		error = errno;
	else if (!S_ISREG(st->st_mode))
		error = EEXIST;
	if (!error)
		return fd;
	(void)close(fd);
	errno = error;
	return -1;
}

/* Extended attributes (access lists too), as far as they can be set. */
static void copy_attributes(int from, int to)
{
	char names[XATTR_NAMES_BYTES];
	char *value = NULL;
	ssize_t length = flistxattr(from, names, sizeof(names));

	if (length <= 0)
		return;
	value = xmalloc(XATTR_VALUE_BYTES);
	for (const char *name = names; name < names + length; name += strlen(name) + 1) {
		ssize_t n = fgetxattr(from, name, value, XATTR_VALUE_BYTES);

		if (n >= 0)
			(void)fsetxattr(to, name, value, (size_t)n, 0);
	}
	free(value);
}

/* Owner, mode and attributes of the old file. Without its owner it gets no set-id bits. */
static int take_over(const struct file_change *f, int fd)
{
	struct stat st;
	mode_t mode = f->mode;
	int from;

	if (fstat(fd, &st))
		return -1;
	if ((st.st_uid != f->old.st_uid || st.st_gid != f->old.st_gid) &&
	    fchown(fd, f->old.st_uid, f->old.st_gid))
		mode &= ~(mode_t)SET_ID_BITS;
	if (fchmod(fd, mode))
		return -1;
	from = open_regular(f->dir_fd, str_text(&f->name), &st);
	if (from >= 0) {
		copy_attributes(from, fd);
		(void)close(from);
	}
	return 0;
}

static int fill_temp(const struct file_change *f, int fd)
{
	bool is_new = strcmp(f->action, "create") == 0;
	int failed = write_all(fd, str_text(&f->bytes), f->bytes.length) ||
	             (!is_new && take_over(f, fd)) || fsync(fd);
	int error = errno;

	if (close(fd) && !failed)
		return -1;
	errno = error;
	return failed ? -1 : 0;
}

static int write_temp(struct file_change *f, struct refusal *why)
{
	bool is_new = strcmp(f->action, "create") == 0;
	struct statvfs v;
	int fd;

	if (fstatvfs(f->dir_fd, &v) == 0 && v.f_blocks > 0 &&
	    v.f_bavail * v.f_frsize < f->bytes.length) {
		errno = ENOSPC;
		return refuse_errno(why, "write", str_text(&f->path));
	}
	fd = openat(f->dir_fd, f->temp_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	            is_new ? f->mode : 0600);
	if (fd < 0)
		return refuse_errno(why, "make a file beside", str_text(&f->path));
	f->staged = true;
	if (fill_temp(f, fd))
		return refuse_errno(why, "write", str_text(&f->path));
	return 0;
}

/* ---- directories ---- */

/* The length of the part of path whose directories are there; 0 if none needs to be made. */
static size_t missing_from(int root_fd, const char *path)
{
	OWNED(str) struct str prefix = STR_INIT;
	struct stat st;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		str_reset(&prefix);
		str_add_bytes(&prefix, path, (size_t)(slash - path));
		if (fstatat(root_fd, str_text(&prefix), &st, 0) && errno == ENOENT)
			return prefix.length;
	}
	return 0;
}

/* Removes directory `path`, if it is empty. */
static int remove_directory(int root_fd, const char *path)
{
	OWNED(str) struct str name = STR_INIT;
	int dir = -1;
	int failed = safe_path_parent(root_fd, path, false, &name, &dir, NULL) ||
	             unlinkat(dir, str_text(&name), AT_REMOVEDIR);

	if (dir >= 0)
		(void)close(dir);
	return failed ? -1 : 0;
}

/* What stage made and nobody has put anything into. Somebody else may have made the same one at
 * the same moment: an empty one goes all the same. */
static void remove_made(int root_fd, const struct file_change *f)
{
	OWNED(str) struct str path = STR_INIT;
	char *slash;

	if (f->made_from == 0)
		return;
	str_add(&path, str_text(&f->path));
	while ((slash = strrchr(path.bytes, '/')) && (size_t)(slash - path.bytes) >= f->made_from) {
		*slash = '\0';
		if (remove_directory(root_fd, path.bytes) && errno != ENOENT)
			return;
	}
}

int file_change_stage(int root_fd, struct file_change *f, struct refusal *why)
{
	bool is_new = strcmp(f->action, "create") == 0;
	struct err e = ERR_INIT;
	int failed;

	if (is_new)
		f->made_from = missing_from(root_fd, str_text(&f->path));
	errno = 0;
	failed = safe_path_parent(root_fd, str_text(&f->path), is_new, &f->name, &f->dir_fd, &e);
	if (failed)
		(void)refuse_err(why, &e);
	else if (*f->temp_name)
		failed = write_temp(f, why);
	if (failed)
		file_change_undo(root_fd, f);
	return failed;
}

void file_change_undo(int root_fd, struct file_change *f)
{
	if (f->staged)
		(void)unlinkat(f->dir_fd, f->temp_name, 0);
	f->staged = false;
	remove_made(root_fd, f);
	f->made_from = 0;
}

/* ---- the change ---- */

static int hash_fd(int fd, char hash[SHA256_BYTES])
{
	char chunk[CHUNK_BYTES];
	struct sha256_state *sum = sha256_begin();
	struct sha256 result;
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			sha256_add(sum, chunk, (size_t)n);
	result = sha256_end(sum);
	memcpy(hash, result.text, SHA256_BYTES);
	return n < 0 ? -1 : 0;
}

/* That the target is what was planned upon: this very file with this content. */
static int check_target(const struct file_change *f, struct refusal *why)
{
	char hash[SHA256_BYTES] = NO_FILE;
	struct stat st;
	int fd = open_regular(f->dir_fd, str_text(&f->name), &st);
	int failed;

	if (fd < 0 && errno == ENOENT)
		return changed_since(why, str_text(&f->path), f->hash_before, NO_FILE);
	if (fd < 0)
		return refuse_errno(why, "look again at", str_text(&f->path));
	failed = hash_fd(fd, hash);
	(void)close(fd);
	if (failed)
		return refuse_errno(why, "read", str_text(&f->path));
	if (strcmp(hash, f->hash_before) != 0)
		return changed_since(why, str_text(&f->path), f->hash_before, hash);
	return 0;
}

int file_change_commit(struct file_change *f, struct refusal *why)
{
	const char *name = str_text(&f->name);
	int failed;

	if (strcmp(f->action, "create") == 0) {
		if (rename_new(f->dir_fd, f->temp_name, f->dir_fd, str_text(&f->name)) == 0)
			goto done;
		if (errno == EEXIST)
			return refuse(
			    why, "patch_conflict",
			    "patch conflict: %.300s: somebody has made this file meanwhile; "
			    "read it and ask anew",
			    str_text(&f->path));
		return refuse_errno(why, "rename the new file to", str_text(&f->path));
	}
	if (check_target(f, why))
		return -1;
	if (strcmp(f->action, "delete") == 0)
		failed = unlinkat(f->dir_fd, name, 0);
	else
		failed = renameat(f->dir_fd, f->temp_name, f->dir_fd, name);
	if (failed)
		return refuse_errno(why, *f->temp_name ? "replace" : "delete", str_text(&f->path));
done:
	f->staged = false;
	f->made_from = 0;
	return 0;
}

int file_change_sync(const struct file_change *f, struct refusal *why)
{
	if (fsync(f->dir_fd))
		return refuse_errno(why, "fsync the directory of", str_text(&f->path));
	return 0;
}

/* ---- after a crash ---- */

/* Whether the refusal tells of the file, rather than of a machine that could not look at it. */
static bool is_told(const struct refusal *why)
{
	return strcmp(why->code, "path_violation") == 0 || strcmp(why->code, "patch_conflict") == 0;
}

int file_change_remove_temp(int root_fd, const char *path, const char *temp_name,
                            struct refusal *why)
{
	OWNED(str) struct str name = STR_INIT;
	struct err e = ERR_INIT;
	struct stat st;
	int dir = -1, failed;

	if (strncmp(temp_name, TEMP_PREFIX, sizeof(TEMP_PREFIX) - 1) != 0 || strchr(temp_name, '/'))
		return 0;
	errno = 0;
	if (safe_path_parent(root_fd, path, false, &name, &dir, &e)) {
		(void)refuse_err(why, &e);
		return is_told(why) ? 0 : -1;
	}
	failed = fstatat(dir, temp_name, &st, AT_SYMLINK_NOFOLLOW);
	if (!failed && S_ISREG(st.st_mode))
		failed = unlinkat(dir, temp_name, 0);
	if (failed && errno == ENOENT)
		failed = 0;
	if (failed)
		(void)refuse_errno(why, "remove the temporary file beside", path);
	(void)close(dir);
	return failed;
}

int file_change_look(int root_fd, const char *path, char hash[SHA256_BYTES], struct refusal *why)
{
	struct sha256 found;
	struct err e = ERR_INIT;
	int exists;

	errno = 0;
	exists = safe_path_hash(root_fd, path, &found, &e);
	if (exists >= 0) {
		(void)snprintf(hash, SHA256_BYTES, "%s", exists ? found.text : NO_FILE);
		return 1;
	}
	(void)refuse_err(why, &e);
	return is_told(why) ? 0 : -1;
}

int file_change_sync_path(int root_fd, const char *path, struct refusal *why)
{
	OWNED(file_change) struct file_change f = FILE_CHANGE_INIT;
	struct err e = ERR_INIT;

	str_add(&f.path, path);
	errno = 0;
	if (safe_path_parent(root_fd, path, false, &f.name, &f.dir_fd, &e))
		return refuse_err(why, &e);
	return file_change_sync(&f, why);
}

void file_change_clear(struct file_change *f)
{
	str_clear(&f->path);
	str_clear(&f->bytes);
	str_clear(&f->name);
	if (f->dir_fd >= 0)
		(void)close(f->dir_fd);
	*f = (struct file_change)FILE_CHANGE_INIT;
}
