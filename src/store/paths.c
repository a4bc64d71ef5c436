#include "paths.h"

#include "instance.h"
#include "io.h"
#include "path.h"
#include "sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { HASH_DIGITS = 8, NOT_FOR_OTHERS = 077, NOT_WRITTEN_BY_OTHERS = 022 };

static const char DATABASE_FILE[] = "database";
static const char NAME_FILE[] = "name";
static const char CONFIG_FILE[] = "config";

static int open_dir(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool paths_name_fits(const char *ipc_name)
{
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                              "0123456789._-";
	size_t length = strlen(ipc_name);

	return length > 0 && length <= PATHS_NAME_BYTES_MAX &&
	       strspn(ipc_name, ALLOWED) == length && strcmp(ipc_name, ".") != 0 &&
	       strcmp(ipc_name, "..") != 0;
}

const char PATHS_KEPT[] = ".before-restore-";

const char *const PATHS_FILES[] = { "",      "-wal", "-shm",      "-journal",
	                            "-next", "-now", "-instance", NULL };

/* Makes dir and its missing parents, 0700 each, and makes their names durable: what is reported as
 * stored in a database there must be safe. dir is absolute. */
static int make_dirs(const char *dir, struct err *e)
{
	OWNED(str) struct str part = { 0 };

	if (access(dir, F_OK) != 0 && errno == ENOENT && paths_check_new(dir, e))
		return -1;
	for (const char *end = dir; *end;) {
		end = strchrnul(end + 1, '/');
		str_reset(&part);
		str_add_bytes(&part, dir, (size_t)(end - dir));
		if (mkdir(str_text(&part), 0700) == 0)
			(void)io_flush_name(str_text(&part));
		else if (errno != EEXIST && errno != EROFS)
			return err_errno(e, ERR_INPUT, "%s: cannot be created", str_text(&part));
	}
	if (access(dir, F_OK) != 0)
		return err_errno(e, ERR_INPUT, "%s: cannot be created", dir);
	return 0;
}

static int make_ours(const char *dir, mode_t denied, struct err *e)
{
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_errno(e, ERR_INPUT, "%s: cannot be created", dir);
	return paths_check_ours(dir, denied, e);
}

static int add_base(struct str *base, struct err *e)
{
	int usable = paths_runtime_base(base, e);

	if (usable == 0)
		return paths_state_base(base, e);
	return usable > 0 ? 0 : -1;
}

/* The directory part of an absolute path; "/" for an entry of the root. */
static void add_parent(struct str *out, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash && slash > path)
		str_add_bytes(out, path, (size_t)(slash - path));
	else
		str_add_char(out, '/');
}

/* Makes base: all parents, the last of which only we may write to, then base itself. */
static int make_base(const char *base, struct err *e)
{
	OWNED(str) struct str parent = { 0 };

	add_parent(&parent, base);
	if (make_dirs(str_text(&parent), e) ||
	    paths_check_ours(str_text(&parent), NOT_WRITTEN_BY_OTHERS, e))
		return -1;
	return make_ours(base, NOT_FOR_OTHERS, e);
}

static int check_file_name(const char *path, struct err *e)
{
	const char *name = strrchr(path, '/') + 1;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return err_set(
		    e, ERR_INPUT,
		    "database %s: names a directory; name a file, such as %s/intercom.db", path,
		    path);
	if (strchr(path, '\n'))
		return err_set(e, ERR_INPUT, "database: its path holds a line break");
	return 0;
}

/* The file, and folders on the way, need not exist: what was lost is found by its name. */
static int add_canonical(const char *path, struct str *out, struct err *e)
{
	OWNED(char_ptr) char *real = realpath(path, NULL);
	struct stat about;

	if (!real && errno != ENOENT)
		return err_errno(e, ERR_INPUT, "database %s", path);
	if (!real && lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
		return err_set(
		    e, ERR_INPUT,
		    "database %s: is a symbolic link to nothing; remove it or make its target",
		    path);
	if (real && stat(real, &about) == 0 && !S_ISREG(about.st_mode))
		return err_set(e, ERR_INPUT, "database %s: is not a regular file", path);
	if (real)
		str_add(out, real);
	else
		path_real(path, out);
	return 0;
}

static int make_parent(const char *path, struct err *e)
{
	OWNED(str) struct str dir = { 0 };

	add_parent(&dir, path);
	return make_dirs(str_text(&dir), e);
}

static void hash8(const char *database, char out[HASH_DIGITS + 1])
{
	struct sha256 hash = sha256_of(database, strlen(database));

	memcpy(out, hash.text, HASH_DIGITS);
	out[HASH_DIGITS] = '\0';
}

/* Fills base and run from the canonical database path. */
static int place_run(struct paths *p, const char *base, struct err *e)
{
	OWNED(str) struct str run = { 0 };
	char hash[HASH_DIGITS + 1];

	hash8(p->database, hash);
	str_addf(&run, "%s/%s", base, hash);
	if (run.length > PATHS_RUN_BYTES_MAX) {
		(void)err_set(e, ERR_INPUT,
		              "run directory %s: is %zu bytes long, sockets in it allow %d; set "
		              "$XDG_RUNTIME_DIR to a shorter directory",
		              str_text(&run), run.length, (int)PATHS_RUN_BYTES_MAX);
		return -1;
	}
	p->base = xstrdup(base);
	p->run = str_take(&run);
	return 0;
}

/* Whether the run directory's place holds our own link to one elsewhere (link_state). */
static bool is_state_link(const char *run)
{
	char target[PATH_MAX];
	ssize_t length = readlink(run, target, sizeof(target) - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	return target[0] == '/' && strcmp(strrchr(target, '/'), strrchr(run, '/')) == 0;
}

/* An existing run directory must be ours, even for a process that only looks. */
static int settle_run(const struct paths *p, bool create, struct err *e)
{
	struct stat about;

	if (create) {
		if (is_state_link(p->run))
			(void)unlink(p->run);
		return make_base(p->base, e) || make_ours(p->run, NOT_FOR_OTHERS, e) ? -1 : 0;
	}
	if ((lstat(p->run, &about) != 0 && errno == ENOENT) || is_state_link(p->run))
		return 0;
	return err_if(paths_check_ours(p->base, NOT_FOR_OTHERS, e) ||
	              paths_check_ours(p->run, NOT_FOR_OTHERS, e));
}

/* The run directory that the running (or last) system of this database published next to it. This
 * is how a process with another $XDG_RUNTIME_DIR, or with none, such as a child of an agent, finds
 * it. */
static void follow_published(struct paths *p)
{
	OWNED(str) struct str run = { 0 };

	if (!paths_published_run(p->database, &run))
		return;
	xreplace(&p->run, str_text(&run));
	free(p->base);
	p->base = str_take(&run);
	*strrchr(p->base, '/') = '\0';
}

/* Points <database>-run to the run directory. One system at a time does that on a database, so the
 * draft of one that was killed is replaced by the next. */
static int link_run(const struct paths *p, struct err *e)
{
	OWNED(str) struct str draft = { 0 }, link = { 0 };

	str_addf(&link, "%s%s", p->database, PATHS_RUN_LINK);
	str_addf(&draft, "%s.new", str_text(&link));
	(void)unlink(str_text(&draft));
	if (symlink(p->run, str_text(&draft)) != 0 ||
	    rename(str_text(&draft), str_text(&link)) != 0) {
		(void)err_errno(e, ERR_AGAIN,
		                "the directory of the database must be writable for us: %s",
		                str_text(&link));
		(void)unlink(str_text(&draft));
		return -1;
	}
	return 0;
}

int paths_open(const char *database, bool create, struct paths *out, struct err *e)
{
	OWNED(paths) struct paths p = { 0 };
	OWNED(str) struct str absolute = { 0 }, canonical = { 0 }, base = { 0 };

	if (paths_absolute(NULL, database, &absolute, e) ||
	    check_file_name(str_text(&absolute), e) ||
	    (create && make_parent(str_text(&absolute), e)) ||
	    add_canonical(str_text(&absolute), &canonical, e) || add_base(&base, e))
		return -1;
	p.database = str_take(&canonical);
	if (place_run(&p, str_text(&base), e))
		return -1;
	if (!create)
		follow_published(&p);
	if (settle_run(&p, create, e))
		return -1;
	*out = p;
	p = (struct paths){ 0 };
	return 0;
}

void paths_clear(struct paths *p)
{
	free(p->database);
	free(p->base);
	free(p->run);
	*p = (struct paths){ 0 };
}

/* Replaces a file of one line as a whole: a reader sees the old line or the new one. */
static int write_line(const struct paths *p, const char *file, const char *text, struct err *e)
{
	OWNED(str) struct str draft = { 0 }, target = { 0 }, line = { 0 };
	int fd, failed;

	str_addf(&target, "%s/%s", p->run, file);
	str_addf(&draft, "%s.%d", str_text(&target), (int)getpid());
	str_addf(&line, "%s\n", text);
	(void)unlink(str_text(&draft));
	fd = open(str_text(&draft), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, ERR_AGAIN, "%s: cannot be created", str_text(&draft));
	failed = io_write_all(fd, line.bytes, line.length);
	failed |= close(fd);
	if (failed || rename(str_text(&draft), str_text(&target)) != 0) {
		(void)err_errno(e, ERR_AGAIN, "%s: cannot be written", str_text(&target));
		(void)unlink(str_text(&draft));
		return -1;
	}
	return 0;
}

static int check_name(const char *ipc_name, struct err *e)
{
	if (paths_name_fits(ipc_name))
		return 0;
	return err_set(e, ERR_INPUT,
	               "ipc name '%.80s': is not 1 to %d characters of A-Z a-z 0-9 . _ -", ipc_name,
	               (int)PATHS_NAME_BYTES_MAX);
}

static int link_name(const struct paths *p, const char *ipc_name, struct err *e)
{
	OWNED(str) struct str draft = { 0 }, name = { 0 };

	str_addf(&name, "%s/%s", p->base, ipc_name);
	str_addf(&draft, "%s/.link.%d", p->base, (int)getpid());
	(void)unlink(str_text(&draft));
	if (symlink(strrchr(p->run, '/') + 1, str_text(&draft)) != 0)
		return err_errno(e, ERR_AGAIN, "%s: cannot be created", str_text(&draft));
	if (rename(str_text(&draft), str_text(&name)) != 0) {
		(void)err_errno(e, ERR_INPUT, "ipc name '%s': %s is taken; choose another ipc_name",
		                ipc_name, str_text(&name));
		(void)unlink(str_text(&draft));
		return -1;
	}
	return 0;
}

/* A process without $XDG_RUNTIME_DIR, such as a child of an agent, finds the run directory through
 * the state directory. A missing state directory only makes this impossible; it is not an error. */
static void link_state(const struct paths *p)
{
	OWNED(str) struct str base = { 0 }, link = { 0 }, draft = { 0 };

	if (paths_state_base(&base, NULL) || strcmp(str_text(&base), p->base) == 0 ||
	    make_base(str_text(&base), NULL))
		return;
	str_addf(&link, "%s/%s", str_text(&base), strrchr(p->run, '/') + 1);
	str_addf(&draft, "%s/.link.%d", str_text(&base), (int)getpid());
	(void)unlink(str_text(&draft));
	if (symlink(p->run, str_text(&draft)) != 0 ||
	    rename(str_text(&draft), str_text(&link)) != 0)
		(void)unlink(str_text(&draft));
}

int paths_publish(const struct paths *p, const char *ipc_name, const char *config, struct err *e)
{
	if (check_name(ipc_name, e) || write_line(p, DATABASE_FILE, p->database, e) ||
	    write_line(p, NAME_FILE, ipc_name, e) || write_line(p, CONFIG_FILE, config, e) ||
	    link_name(p, ipc_name, e) || link_run(p, e))
		return -1;
	link_state(p);
	return 0;
}

/* Whether base/<ipc_name> links to a run directory; hash gets its 8 digits. */
static bool read_link(const char *base, const char *ipc_name, char hash[HASH_DIGITS + 1])
{
	OWNED(str) struct str name = { 0 };
	char target[HASH_DIGITS + 2];
	ssize_t length;

	str_addf(&name, "%s/%s", base, ipc_name);
	length = readlink(str_text(&name), target, sizeof(target));
	if (length != HASH_DIGITS)
		return false;
	memcpy(hash, target, HASH_DIGITS);
	hash[HASH_DIGITS] = '\0';
	return strspn(hash, "0123456789abcdef") == HASH_DIGITS;
}

/* Reads a file of one line in a run directory; the caller frees *line. */
static int read_line(const char *run, const char *file, char **line, struct err *e)
{
	int dir = open_dir(run);
	int fd = dir < 0 ? -1 : openat(dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char text[PATH_MAX + 1];
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (length < 0)
		(void)err_errno(e, ERR_AGAIN, "%s/%s", run, file);
	io_shut(&fd);
	io_shut(&dir);
	if (length < 0)
		return -1;
	if (length == 0 || text[length - 1] != '\n')
		return err_set(e, ERR_INPUT, "%s/%s: is incomplete; restart agent-intercom", run,
		               file);
	text[length - 1] = '\0';
	*line = xstrdup(text);
	return 0;
}

/* The database's path according to the file in the run directory. */
static int read_database_file(const char *run, char **database, struct err *e)
{
	if (read_line(run, DATABASE_FILE, database, e))
		return -1;
	if ((*database)[0] == '/')
		return 0;
	return err_set(e, ERR_INPUT, "%s/%s: does not hold a path; restart agent-intercom", run,
	               DATABASE_FILE);
}

static int open_run(const char *base, const char *hash, struct paths *out, struct err *e)
{
	OWNED(paths) struct paths p = { 0 };
	OWNED(str) struct str run = { 0 };
	char real[HASH_DIGITS + 1];

	str_addf(&run, "%s/%s", base, hash);
	if (paths_check_ours(base, NOT_FOR_OTHERS, e) ||
	    paths_check_ours(str_text(&run), NOT_FOR_OTHERS, e) ||
	    read_database_file(str_text(&run), &p.database, e))
		return -1;
	hash8(p.database, real);
	if (strcmp(real, hash) != 0)
		return err_set(e, ERR_INPUT,
		               "%s/%s: belongs to another run directory; restart agent-intercom",
		               str_text(&run), DATABASE_FILE);
	if (place_run(&p, base, e))
		return -1;
	*out = p;
	p = (struct paths){ 0 };
	return 0;
}

/* A run directory by its entry in base: itself, or a link to one in another base. */
static int open_entry(const char *base, const char *entry, struct paths *out)
{
	OWNED(str) struct str name = { 0 };
	char target[PATH_MAX];
	ssize_t length;
	char *slash;

	if (strlen(entry) != HASH_DIGITS || strspn(entry, "0123456789abcdef") != HASH_DIGITS)
		return -1;
	str_addf(&name, "%s/%s", base, entry);
	length = readlink(str_text(&name), target, sizeof(target) - 1);
	if (length < 0)
		return open_run(base, entry, out, NULL);
	target[length] = '\0';
	slash = strrchr(target, '/');
	if (target[0] != '/' || strcmp(slash + 1, entry) != 0)
		return -1;
	*slash = '\0';
	return open_run(target, entry, out, NULL);
}

static void each_in(const char *base, void (*each)(const struct paths *p, void *arg), void *arg)
{
	DIR *d = opendir(base);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL) {
		OWNED(paths) struct paths p = { 0 };

		if (open_entry(base, entry->d_name, &p) == 0)
			each(&p, arg);
	}
	if (d)
		(void)closedir(d);
}

void paths_each(void (*each)(const struct paths *p, void *arg), void *arg)
{
	OWNED(str) struct str runtime = { 0 }, state = { 0 };

	if (paths_runtime_base(&runtime, NULL) > 0)
		each_in(str_text(&runtime), each, arg);
	if (paths_state_base(&state, NULL) == 0)
		each_in(str_text(&state), each, arg);
}

int paths_read_published(const struct paths *p, char **ret_name, char **ret_config, struct err *e)
{
	*ret_name = *ret_config = NULL;
	if (read_line(p->run, NAME_FILE, ret_name, e) == 0 &&
	    read_line(p->run, CONFIG_FILE, ret_config, e) == 0)
		return 0;
	char_ptr_clear(ret_name);
	return -1;
}

int paths_find_by_name(const char *ipc_name, struct paths *out, struct err *e)
{
	OWNED(str) struct str runtime = { 0 }, state = { 0 };
	char hash[HASH_DIGITS + 1];

	if (check_name(ipc_name, e))
		return -1;
	if (paths_runtime_base(&runtime, NULL) > 0 && read_link(str_text(&runtime), ipc_name, hash))
		return open_run(str_text(&runtime), hash, out, e);
	if (!paths_state_base(&state, NULL) && read_link(str_text(&state), ipc_name, hash))
		return open_run(str_text(&state), hash, out, e);
	return err_set(
	    e, ERR_INPUT,
	    "no system is named '%s' (looked in %s%s%s); start agent-intercom or name the database",
	    ipc_name, str_text(&runtime), runtime.length && state.length ? " and " : "",
	    str_text(&state));
}

bool paths_is_of(const char *database, uid_t owner)
{
	struct stat about;

	return owner == geteuid() || (stat(database, &about) == 0 && owner == about.st_uid);
}

int paths_check_beside(const char *database, struct err *e)
{
	OWNED(char_ptr) char *real = realpath(database, NULL);

	for (const char *const *suffix = PATHS_FILES + 1; *suffix; suffix++) {
		OWNED(str) struct str name = { 0 };
		struct stat about;

		str_addf(&name, "%s%s", real ? real : database, *suffix);
		if (lstat(str_text(&name), &about) != 0)
			continue;
		if (!paths_is_of(database, about.st_uid))
			return err_set(e, ERR_INPUT,
			               "%s: belongs to uid %u, not to us (uid %u), and would be "
			               "taken for a part of the database; remove it, or have it "
			               "removed",
			               str_text(&name), (unsigned)about.st_uid,
			               (unsigned)geteuid());
		if (!S_ISREG(about.st_mode))
			return err_set(e, ERR_INPUT, "%s: is no regular file; remove it",
			               str_text(&name));
	}
	return 0;
}

bool paths_kept_name(const char *database, struct str *kept)
{
	OWNED(str) struct str dir = { 0 }, begin = { 0 };
	struct stat ours, there;
	const struct dirent *entry;
	bool found = false;
	DIR *d;

	if (lstat(database, &ours) != 0 || ours.st_nlink <= 1)
		return false;
	add_parent(&dir, database);
	str_addf(&begin, "%s%s", strrchr(database, '/') + 1, PATHS_KEPT);
	d = opendir(str_text(&dir));
	while (!found && d && (entry = readdir(d)) != NULL)
		found = strncmp(entry->d_name, str_text(&begin), begin.length) == 0 &&
		        fstatat(dirfd(d), entry->d_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
		        there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
	if (found)
		str_addf(kept, "%s%s", database, entry->d_name + begin.length - strlen(PATHS_KEPT));
	if (d)
		(void)closedir(d);
	return found;
}

int paths_check_one_name(const char *database, struct err *e)
{
	OWNED(char_ptr) char *real = realpath(database, NULL);
	OWNED(str) struct str kept = { 0 };
	struct stat about;

	if (!real || stat(real, &about) != 0)
		return 0;
	if (about.st_nlink <= 1)
		return instance_check_held(real, e);
	if (paths_kept_name(real, &kept))
		return err_set(e, ERR_INPUT,
		               "database %s: a restore of it was interrupted; start agent-intercom "
		               "or restore again: either removes %s, another name of this database",
		               database, str_text(&kept));
	return err_set(
	    e, ERR_INPUT,
	    "database %s: has %lu names (hard links), and is destroyed if it is used under "
	    "two of them; `find / -xdev -inum %lu` shows them, remove all but the one that is used",
	    database, (unsigned long)about.st_nlink, (unsigned long)about.st_ino);
}

int paths_check_right(const char *database, struct err *e)
{
	OWNED(paths) struct paths p = { 0 };
	OWNED(str) struct str lost = { 0 };

	if (paths_check_one_name(database, e))
		return -1;
	if (paths_open(database, false, &p, NULL) || instance_holder(p.database, NULL) > 0 ||
	    !instance_is_lost(p.run, p.database, &lost))
		return 0;
	return err_set(e, ERR_INPUT, "%s", lost.bytes);
}

bool paths_is_there(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

/* File systems without reliable POSIX locks or shared mmap (linux/magic.h and others). */
static const struct {
	unsigned long type;
	const char *name;
} REFUSED[] = {
	{ 0x6969, "NFS" },     { 0x517B, "SMB" },      { 0xFF534D42, "CIFS" },
	{ 0xFE534D42, "SMB" }, { 0x01021997, "9p" },   { 0x65735546, "FUSE" },
	{ 0x5346414F, "AFS" }, { 0x00C36400, "Ceph" },
};

int paths_check_filesystem(const char *dir, struct err *e)
{
	struct statfs about;

	if (statfs(dir, &about) != 0)
		return err_errno(e, ERR_INPUT, "%s", dir);
	for (size_t i = 0; i < COUNT(REFUSED); i++)
		if (((unsigned long)about.f_type & 0xFFFFFFFF) == REFUSED[i].type)
			return err_set(
			    e, ERR_INPUT,
			    "%s: is on %s, where SQLite's locks do not hold; put the database on a "
			    "local disk with --db PATH or database.path in the config",
			    dir, REFUSED[i].name);
	return 0;
}
