/* Every open goes through open_beneath. It first opens an O_PATH descriptor, which has no side
 * effects whatever the file is; checks its type and its real name; and only opens a regular file or
 * a directory for reading, through that descriptor, so that it is the same file. */
#include "safe_path.h"

#include "files.h"
#include "io.h"
#include "pulse.h"
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	SHOWN_BYTES = 200, /* of a path in an error text */
	CHUNK_BYTES = 65536 /* read at a time */
};

/* A descriptor that closes itself. */
struct fd {
	int number;
};

static void fd_clear(struct fd *fd)
{
	if (fd->number >= 0)
		files_close_quietly(fd->number);
	fd->number = -1;
}

static int fd_take(struct fd *fd)
{
	int number = fd->number;

	fd->number = -1;
	return number;
}

/* ---- error texts ---- */

static int violation(struct err *e, const char *path, size_t length, const char *why)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, length, SHOWN_BYTES);
	(void)err_set(e, ERR_INPUT, "path violation: \"%s\" %s", str_text(&shown), why);
	errno = EXDEV;
	return err_failure();
}

static int bad_file(struct err *e, const char *path, const char *why)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, strlen(path), SHOWN_BYTES);
	return err_set(e, ERR_INPUT, "%s: %s", str_text(&shown), why);
}

/* Reports errno of a failed call on path. */
static int failed(struct err *e, const char *what, const char *path)
{
	OWNED(str) struct str shown = { 0 };
	int saved = errno;
	enum err_kind kind = ERR_INPUT;

	if (files_is_lost())
		return err_set(e, ERR_AGAIN, FILES_LOST);
	if (saved == EXDEV)
		return violation(e, path, strlen(path), "leads outside the workspace");
	if (saved == ELOOP) {
		(void)violation(e, path, strlen(path), "is a symlink, or lies behind one");
		errno = saved;
		return err_failure();
	}
	if (saved == EMFILE || saved == ENFILE || saved == ENOMEM || saved == EIO ||
	    saved == ENOSPC || saved == EDQUOT || saved == EAGAIN || saved == EINTR ||
	    saved == EBUSY)
		kind = ERR_AGAIN;
	str_add_shown(&shown, path, strlen(path), SHOWN_BYTES);
	errno = saved;
	return err_errno(e, kind, "cannot %s %s", what, str_text(&shown));
}

/* ---- the text of a path ---- */

static bool is_component(const char *text, size_t length, const char *name)
{
	return length == strlen(name) && strncasecmp(text, name, length) == 0;
}

bool safe_path_is_temp(const char *name, size_t length)
{
	enum { BEFORE = 10, DIGITS = 16, AFTER = 4 };
	const char *ending;

	if (length != BEFORE + DIGITS + AFTER || memcmp(name, ".intercom-", BEFORE) != 0)
		return false;
	ending = name + BEFORE + DIGITS;
	return strspn(name + BEFORE, "0123456789abcdef") == DIGITS &&
	       (memcmp(ending, ".tmp", AFTER) == 0 || memcmp(ending, ".old", AFTER) == 0);
}

/* Why a path, relative or absolute, is protected, NULL if it is not. */
static const char *protection(const char *path)
{
	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");

		if (is_component(at, length, ".git"))
			return "is inside .git, which is protected";
		if (is_component(at, length, ".intercom"))
			return "is inside .intercom, which is protected";
		if (safe_path_is_temp(at, length))
			return "is named like a temporary file of agent-intercom, which is "
			       "protected";
		at += length;
		at += *at == '/';
	}
	return NULL;
}

bool safe_path_is_beside(const char *a, const char *b)
{
	const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
	size_t length = slash_a ? (size_t)(slash_a - a) : 0;

	return length == (slash_b ? (size_t)(slash_b - b) : 0) && strncmp(a, b, length) == 0;
}

bool safe_path_is_protected(const char *path)
{
	return protection(path) != NULL;
}

/* Appends the components of text to path ("/" before each), resolving "." and ".."; NULL, or the
 * reason for a refusal. climb: ".." at the top stays there, as in an absolute path. */
static const char *normalise(struct str *path, const char *text, bool climb)
{
	while (*text) {
		size_t length = strcspn(text, "/");

		if (length > NAME_MAX)
			return "has a component over 255 bytes";
		if (length == 2 && memcmp(text, "..", 2) == 0) {
			char *slash = path->length > 0 ? strrchr(path->bytes, '/') : NULL;

			if (!slash && !climb)
				return "leads outside the workspace";
			path->length = slash ? (size_t)(slash - path->bytes) : 0;
			if (slash)
				*slash = '\0';
		} else if (length > 0 && !(length == 1 && *text == '.')) {
			str_add_char(path, '/');
			str_add_bytes(path, text, length);
		}
		text += length;
		text += *text == '/';
	}
	return NULL;
}

/* Why the bytes cannot be a path at all; NULL if they can. is_known: of something that exists. */
static const char *bad_bytes(const char *given, size_t length, bool is_known)
{
	if (length == 0)
		return "is empty";
	for (size_t i = 0; i < length; i++)
		if (is_known ? !given[i] : (unsigned char)given[i] < 0x20 || given[i] == 0x7F)
			return "has a control byte";
	if (!utf8_valid(given, length))
		return "is not valid UTF-8";
	if (length >= PATH_MAX)
		return "is too long";
	if (given[length - 1] == '/')
		return "ends in a slash";
	return NULL;
}

static bool ends_in_dots(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;

	return strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/* The part of path below root, both normalised; NULL: it is not below. */
static const char *below(const char *path, const char *root, size_t root_length)
{
	if (strncmp(path, root, root_length) != 0 || path[root_length] != '/')
		return NULL;
	return path + root_length + 1;
}

/* path ("/a/b") becomes the part of the absolute given below root. */
static const char *make_relative(const char *root, const char *given, struct str *path,
                                 struct str *relative)
{
	OWNED(str) struct str top = { 0 };
	const char *why, *rest;

	(void)normalise(&top, root, true);
	why = normalise(path, given, true);
	if (why)
		return why;
	rest = below(str_text(path), str_text(&top), top.length);
	if (!rest)
		return strcmp(str_text(path), str_text(&top)) == 0 ? "is the workspace itself"
		                                                   : "is outside the workspace";
	str_add(relative, rest);
	return NULL;
}

static const char *judge(const char *root, const char *given, struct str *relative)
{
	OWNED(str) struct str path = { 0 };
	const char *why;

	if (ends_in_dots(given))
		return "names a directory";
	if (given[0] == '/') {
		why = make_relative(root, given, &path, relative);
	} else {
		why = normalise(&path, given, false);
		if (!why)
			str_add(relative, path.length > 0 ? path.bytes + 1 : "");
	}
	return why ? why : protection(str_text(relative));
}

static int clean(const char *root, const char *given, size_t length, bool is_known,
                 struct str *relative, struct err *e)
{
	OWNED(str) struct str text = { 0 }, result = { 0 };
	const char *why = bad_bytes(given, length, is_known);

	if (root[0] != '/')
		return err_set(e, ERR_BUG, "workspace root is not absolute: %s", root);
	if (!why) {
		str_add_bytes(&text, given, length);
		why = judge(root, str_text(&text), &result);
	}
	if (why)
		return violation(e, given, length, why);
	str_move(relative, &result);
	return 0;
}

int safe_path_clean(const char *root, const char *given, size_t length, struct str *relative,
                    struct err *e)
{
	return clean(root, given, length, false, relative, e);
}

int safe_path_clean_known(const char *root, const char *given, size_t length, struct str *relative,
                          struct err *e)
{
	return clean(root, given, length, true, relative, e);
}

/* Judges the name of something in that directory, whatever the directory's own name ends in. */
static const char *judge_dir(const char *root, const char *given, struct str *relative)
{
	static const char INSIDE[] = "/x";
	OWNED(str) struct str text = { 0 };
	const char *why;

	str_addf(&text, "%s%s", given, INSIDE);
	why = judge(root, text.bytes, relative);
	if (why)
		return why;
	relative->length -= relative->length < strlen(INSIDE) ? 1 : strlen(INSIDE);
	relative->bytes[relative->length] = '\0';
	return NULL;
}

int safe_path_clean_dir(const char *root, const char *given, size_t length, struct str *relative,
                        struct err *e)
{
	OWNED(str) struct str text = { 0 }, result = { 0 };
	const char *why;

	while (length > 1 && given[length - 1] == '/')
		length--;
	str_add_bytes(&text, given, length);
	why = bad_bytes(length == 1 && *given == '/' ? "." : given, length, false);
	if (!why)
		why = judge_dir(root, text.bytes, &result);
	if (why)
		return violation(e, given, length, why);
	str_move(relative, &result);
	return 0;
}

/* ---- opening ---- */

enum links { LINKS_FOLLOWED, LINKS_REFUSED };

static int open_beneath(int dir_fd, const char *path, uint64_t flags, enum links links)
{
	uint64_t walk = links == LINKS_REFUSED ? RESOLVE_NO_SYMLINKS : RESOLVE_NO_MAGICLINKS;
	return files_open_beneath(dir_fd, path, flags, walk);
}

/* The real path of fd below the workspace ("" for the workspace itself); refused if it is protected
 * or has been moved out. path is for the message. */
static int real_path(int root_fd, int fd, const char *path, struct str *relative, struct err *e)
{
	OWNED(str) struct str root = { 0 }, name = { 0 };
	const char *rest, *why;

	if (files_name(root_fd, &root) || files_name(fd, &name))
		return failed(e, "read the real name of", path);
	if (root.length == 1) /* "/" */
		str_reset(&root);
	rest = below(str_text(&name), str_text(&root), root.length);
	if (!rest && strcmp(str_text(&name), str_text(&root)) != 0)
		return violation(e, path, strlen(path), "leads outside the workspace");
	why = protection(rest ? rest : "");
	if (why)
		return violation(e, path, strlen(path), why);
	str_add(relative, rest ? rest : "");
	return 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* As real_path, of a name that is kept: it leads back to what fd is. To what was deleted, and is
 * there all the same (a mount keeps it), the kernel gives a name with DELETED at its end, which is
 * none, or another file's. */
static int kept_path(int root_fd, int fd, const char *path, struct str *relative, struct err *e)
{
	static const char DELETED[] = " (deleted)";
	const size_t end = sizeof(DELETED) - 1;
	OWNED(fd) struct fd back = { -1 };
	struct stat now, there;

	if (real_path(root_fd, fd, path, relative, e))
		return -1;
	if (relative->length < end ||
	    strcmp(relative->bytes + relative->length - end, DELETED) != 0)
		return 0;
	back.number = open_beneath(root_fd, relative->bytes, O_PATH, LINKS_REFUSED);
	if (back.number >= 0 && files_look(fd, &now) == 0 && files_look(back.number, &there) == 0 &&
	    is_same_file(&now, &there))
		return 0;
	errno = 0; /* no call failed */
	return bad_file(e, path, "was deleted or just replaced; a mount may still show it");
}

static int leads_elsewhere(const char *root, const struct str *name, struct err *e)
{
	OWNED(str) struct str from = { 0 }, to = { 0 };

	str_add_shown(&from, root, strlen(root), SHOWN_BYTES);
	str_add_shown(&to, str_text(name), name->length, SHOWN_BYTES);
	return err_set(e, ERR_INPUT, "the workspace %s leads to another folder by now, to %s",
	               str_text(&from), str_text(&to));
}

int safe_path_open(const char *root, int *ret_fd, struct err *e)
{
	OWNED(str) struct str name = { 0 };
	OWNED(fd) struct fd dir = { files_open_root(root, O_RDONLY) };
	bool is_denied = dir.number < 0 && errno == EACCES;
	const char *why;

	if (is_denied) /* where it leads matters more: a fence lets only the true name be read */
		dir.number = files_open_root(root, O_PATH);
	if (dir.number < 0)
		return failed(e, "open the workspace", root);
	errno = 0;
	if (files_name(dir.number, &name))
		return failed(e, "read the real name of", root);
	why = protection(str_text(&name));
	if (why)
		return violation(e, root, strlen(root), why);
	if (root[0] == '/' && strcmp(root, str_text(&name)) != 0)
		return leads_elsewhere(root, &name, e);
	if (is_denied) {
		errno = EACCES;
		return failed(e, "open the workspace", root);
	}
	*ret_fd = fd_take(&dir);
	return 0;
}

static int bad_type(struct err *e, const char *path, mode_t mode)
{
	const char *what = S_ISDIR(mode) ? "a directory" : io_special(mode);
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "is %s", what ? what : "not a regular file");
	return bad_file(e, path, str_text(&why));
}

/* Opens what an O_PATH descriptor stands for again, for reading. */
static int reopen(int path_fd, int flags)
{
	return files_reopen(path_fd, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
}

/* Opens what an O_PATH descriptor stands for, if that is a file. 1 opened, -1. */
static int open_regular(int path_fd, const char *path, struct fd *file, struct stat *st,
                        struct err *e)
{
	if (files_look(path_fd, st))
		return failed(e, "look at", path);
	if (!S_ISREG(st->st_mode))
		return bad_type(e, path, st->st_mode);
	file->number = reopen(path_fd, 0);
	return file->number < 0 ? failed(e, "open", path) : 1;
}

/* 1 opened, 0 does not exist, -1. */
static int open_file(int root_fd, const char *relative, struct fd *file, struct stat *st,
                     struct err *e)
{
	OWNED(fd) struct fd path = { open_beneath(root_fd, relative, O_PATH, LINKS_REFUSED) };
	OWNED(str) struct str real = { 0 };

	if (path.number < 0)
		return errno == ENOENT ? 0 : failed(e, "open", relative);
	if (real_path(root_fd, path.number, relative, &real, e))
		return -1;
	return open_regular(path.number, relative, file, st, e);
}

/* One read: bytes, 0 at the end, -1. */
static ssize_t read_chunk(int fd, char *chunk)
{
	ssize_t n;

	pulse();
	do {
		n = files_read(fd, chunk, CHUNK_BYTES);
	} while (n < 0 && errno == EINTR);
	return n;
}

static int too_large(struct err *e, const char *relative, size_t max_bytes)
{
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "is larger than %zu bytes", max_bytes);
	(void)bad_file(e, relative, str_text(&why));
	errno = EFBIG;
	return err_failure();
}

int safe_path_read(int root_fd, const char *relative, size_t max_bytes, struct str *bytes,
                   struct stat *st, struct err *e)
{
	OWNED(fd) struct fd file = { -1 };
	OWNED(str) struct str content = { 0 };
	struct stat state = { .st_size = 0 };
	ssize_t n;
	int found = open_file(root_fd, relative, &file, &state, e);

	if (found <= 0)
		return found;
	if (state.st_size > 0 && (uint64_t)state.st_size > max_bytes)
		return too_large(e, relative, max_bytes);
	(void)str_room(&content, (size_t)state.st_size + CHUNK_BYTES);
	while ((n = read_chunk(file.number, str_room(&content, CHUNK_BYTES))) > 0) {
		if ((size_t)n > max_bytes - content.length)
			return too_large(e, relative, max_bytes); /* it grew */
		content.length += (size_t)n;
	}
	content.bytes[content.length] = '\0';
	if (n < 0)
		return failed(e, "read", relative);
	str_move(bytes, &content);
	if (st)
		*st = state;
	return 1;
}

static int hash_open(const struct fd *file, const char *path, struct sha256 *hash, struct err *e)
{
	return regular_hash(file->number, hash->text) ? failed(e, "read", path) : 1;
}

int safe_path_hash(int root_fd, const char *relative, struct sha256 *hash, struct err *e)
{
	OWNED(fd) struct fd file = { -1 };
	struct stat state = { .st_size = 0 };
	int found = open_file(root_fd, relative, &file, &state, e);

	return found > 0 ? hash_open(&file, relative, hash, e) : found;
}

int safe_path_hash_anywhere(const char *path, struct sha256 *hash, struct err *e)
{
	OWNED(fd) struct fd top = { open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	OWNED(fd) struct fd name = { open_beneath(top.number, path + 1, O_PATH, LINKS_REFUSED) };
	OWNED(fd) struct fd file = { -1 };
	struct stat state = { .st_size = 0 };
	int found;

	if (name.number < 0)
		return errno == ENOENT ? 0 : failed(e, "open", path);
	found = open_regular(name.number, path, &file, &state, e);
	return found > 0 ? hash_open(&file, path, hash, e) : found;
}

/* ---- directories ---- */

/* Opens a directory for reading; relative "" is the workspace. 0, -1 with e, or 1: there is
 * none. */
static int open_dir(int root_fd, const char *relative, struct fd *dir, struct err *e)
{
	OWNED(str) struct str real = { 0 };
	OWNED(fd)
	struct fd path = { open_beneath(root_fd, *relative ? relative : ".", O_PATH | O_DIRECTORY,
		                        LINKS_REFUSED) };

	if (path.number < 0)
		return errno == ENOENT ? 1 : failed(e, "open the directory", relative);
	if (real_path(root_fd, path.number, relative, &real, e))
		return -1;
	fd_clear(dir);
	dir->number = reopen(path.number, O_DIRECTORY);
	return dir->number < 0 ? failed(e, "open the directory", relative) : 0;
}

int safe_path_open_file(int root_fd, const char *relative, int *ret_fd, struct stat *st,
                        struct err *e)
{
	OWNED(fd) struct fd file = { -1 };
	int found = open_file(root_fd, relative, &file, st, e);

	if (found > 0)
		*ret_fd = fd_take(&file);
	return found;
}

int safe_path_open_dir(int root_fd, const char *relative, int *ret_fd, struct err *e)
{
	OWNED(fd) struct fd dir = { -1 };
	int missing = open_dir(root_fd, relative, &dir, e);

	if (missing)
		return missing < 0 ? -1 : 0;
	*ret_fd = fd_take(&dir);
	return 1;
}

/* Opens path, whose last component `name` is made in dir if it is missing; dir moves to it. */
static int enter(int root_fd, const char *path, const char *name, struct fd *dir, struct err *e)
{
	OWNED(fd) struct fd next = { -1 };
	int missing = open_dir(root_fd, path, &next, e);

	if (missing > 0) {
		if (files_make_dir(dir->number, name, 0777) && errno != EEXIST)
			return failed(e, "make the directory", path);
		if (files_sync_dir(dir->number))
			return failed(e, "fsync the directory above", path);
		missing = open_dir(root_fd, path, &next, e);
	}
	if (missing > 0)
		return bad_file(e, path, "was made and is gone again");
	if (missing < 0)
		return -1;
	fd_clear(dir);
	dir->number = fd_take(&next);
	return 0;
}

/* Makes and opens the directory path, component by component. */
static int make_dirs(int root_fd, const char *path, struct fd *dir, struct err *e)
{
	OWNED(str) struct str prefix = { 0 };

	if (open_dir(root_fd, "", dir, e))
		return -1;
	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");
		OWNED(str) struct str name = { 0 };

		str_add_bytes(&name, at, length);
		if (prefix.length > 0)
			str_add_char(&prefix, '/');
		str_add(&prefix, str_text(&name));
		if (enter(root_fd, str_text(&prefix), str_text(&name), dir, e))
			return -1;
		at += length;
		at += *at == '/';
	}
	return 0;
}

/* Splits "a/b/c" into "a/b" and "c". */
static void split_last(const char *path, struct str *parent, struct str *last)
{
	const char *slash = strrchr(path, '/');

	str_reset(parent);
	str_reset(last);
	if (slash)
		str_add_bytes(parent, path, (size_t)(slash - path));
	str_add(last, slash ? slash + 1 : path);
}

int safe_path_parent(int root_fd, const char *relative, bool create, struct str *basename,
                     int *ret_dir_fd, struct err *e)
{
	OWNED(str) struct str parent = { 0 }, last = { 0 };
	OWNED(fd) struct fd dir = { -1 };
	int missing;

	split_last(relative, &parent, &last);
	missing = open_dir(root_fd, str_text(&parent), &dir, e);
	if (missing > 0 && !create)
		return bad_file(e, str_text(&parent), "does not exist");
	if (missing > 0)
		missing = make_dirs(root_fd, str_text(&parent), &dir, e);
	if (missing < 0)
		return -1;
	str_move(basename, &last);
	*ret_dir_fd = fd_take(&dir);
	return 0;
}

/* ---- where a name leads ---- */

/* Opens the deepest existing directory of path; rest is the part that is missing. Follows symlinks.
 * 0 or -1. */
static int open_deepest(int root_fd, const char *path, struct fd *dir, const char **rest,
                        struct err *e)
{
	OWNED(str) struct str part = { 0 };

	str_add(&part, path);
	for (;;) {
		char *slash = strrchr(part.bytes, '/');

		*rest = path + (slash ? slash - part.bytes + 1 : 0);
		if (slash)
			*slash = '\0';
		dir->number = open_beneath(root_fd, slash ? part.bytes : ".", O_PATH | O_DIRECTORY,
		                           LINKS_FOLLOWED);
		if (dir->number >= 0)
			return 0;
		if (errno != ENOENT || !slash)
			return failed(e, "open the directory", slash ? part.bytes : path);
	}
}

static void join(struct str *path, const char *name)
{
	if (path->length > 0)
		str_add_char(path, '/');
	str_add(path, name);
}

/* Where path will be once it is made: its existing part resolved, the rest as named. A symlink
 * among the missing names leads nowhere. Returns as safe_path_resolve. */
static int resolve_missing(int root_fd, const char *path, struct str *resolved, struct err *e)
{
	OWNED(str) struct str real = { 0 }, next = { 0 };
	OWNED(fd) struct fd dir = { -1 };
	const char *rest;
	struct stat st;

	if (open_deepest(root_fd, path, &dir, &rest, e) ||
	    kept_path(root_fd, dir.number, path, &real, e))
		return -1;
	str_add_bytes(&next, rest, strcspn(rest, "/"));
	if (files_stat(dir.number, next.bytes, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode)) {
		(void)violation(e, path, strlen(path), "is a symlink to nothing");
		return 1;
	}
	join(&real, rest);
	return safe_path_clean("/", real.bytes, real.length, resolved, e);
}

/* The target of links is shown to people and stored, so it must satisfy the same rules as given
 * names. */
static int check_real(const char *relative, const struct str *real, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	const char *why = real->length ? bad_bytes(real->bytes, real->length, false) : NULL;

	if (!why)
		return 0;
	str_addf(&text, "leads to a name that %s", why);
	return violation(e, relative, strlen(relative), text.bytes);
}

int safe_path_resolve(int root_fd, const char *relative, struct str *resolved, struct err *e)
{
	OWNED(str) struct str real = { 0 };
	OWNED(fd)
	struct fd file = { open_beneath(root_fd, relative, O_PATH, LINKS_FOLLOWED) };

	if (file.number < 0 && errno == ENOENT)
		return resolve_missing(root_fd, relative, resolved, e);
	if (file.number < 0 && errno == ELOOP)
		return violation(e, relative, strlen(relative),
		                 "is a symlink loop or a magic link");
	if (file.number < 0)
		return failed(e, "open", relative);
	if (kept_path(root_fd, file.number, relative, &real, e) || check_real(relative, &real, e))
		return -1;
	str_move(resolved, &real);
	return 0;
}
