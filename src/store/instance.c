#include "instance.h"

#include "clock.h"
#include "io.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef INTERCOM_VERSION
#define INTERCOM_VERSION "unknown" /* a build without CMake: fuzzing */
#endif
#ifndef INTERCOM_COMMIT
#define INTERCOM_COMMIT "unknown"
#endif
const char INSTANCE_BUILD[] = INTERCOM_VERSION "+" INTERCOM_COMMIT;

bool instance_says_version(int argc, char **argv, const char *name)
{
	if (argc != 2 || strcmp(argv[1], "--version") != 0)
		return false;
	(void)printf("%s %s\n", name, INSTANCE_BUILD);
	return true;
}

enum {
	TAKE_MS = 100,
	TRY_MS = 10,
	PID_BYTES = 30, /* and RESTORES */
	SIGN_BYTES = 100,
	RUNNER_BYTES = 60,
	LOST_BYTES = 2 * PATH_MAX,
	LOG_MS = 2000, /* a system that begins makes them in a tenth of that */
	/* What SQLite locks as long as it has a database open: this byte of its -shm, and one of
	 * these of the database itself. */
	SHM_IN_USE = 128,
	DATABASE_IN_USE = 0x40000002,
	DATABASE_IN_USE_BYTES = 510,
};

static const char SUFFIX[] = "-instance";
static const char RESTORES[] = " restore";
static const char STOPPED[] = "stopped";
static const char LOCK[] = ".lock";
static const char RUNNER[] = "runner-";

/* The pid in the file of a held lock, which its holder writes at once; 1 if it has not. */
static pid_t read_pid(int fd)
{
	int64_t give_up = clock_monotonic_ms() + TAKE_MS;

	while (true) {
		char text[PID_BYTES] = "";
		long pid = pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;

		if (pid > 0 && pid <= INT_MAX)
			return (pid_t)pid;
		if (clock_monotonic_ms() >= give_up)
			return 1;
		(void)poll(NULL, 0, TRY_MS);
	}
}

static bool says_restores(int fd)
{
	char text[PID_BYTES] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 && strstr(text, RESTORES);
}

static int write_pid(int fd, bool restores, struct err *e)
{
	char text[PID_BYTES];
	int length =
	    snprintf(text, sizeof(text), "%d%s\n", (int)getpid(), restores ? RESTORES : "");

	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length)
		return err_errno(e, ERR_AGAIN, "cannot write the instance lock");
	return 0;
}

/* Keeps trying: who only looks also takes the lock for a moment. */
static bool take_lock(int fd)
{
	int64_t give_up = clock_monotonic_ms() + TAKE_MS;

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (clock_monotonic_ms() >= give_up)
			return false;
		(void)poll(NULL, 0, TRY_MS);
	}
	return true;
}

int instance_take(const char *database, bool restores, int *ret_fd, struct err *e)
{
	OWNED(str) struct str name = { 0 };
	int fd, running;
	bool held, is_restore;

	str_addf(&name, "%s%s", database, SUFFIX);
	fd = open(str_text(&name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, err_kind_of_file(errno),
		                 "the directory of the database must be writable for us, or choose "
		                 "another with database.path or --db: %s",
		                 str_text(&name));
	held = take_lock(fd);
	if (held && write_pid(fd, restores, e) == 0) {
		*ret_fd = fd;
		return 0;
	}
	running = held ? 0 : (int)read_pid(fd);
	is_restore = says_restores(fd);
	(void)close(fd);
	if (held)
		return -1;
	if (running == 1)
		return err_set(e, ERR_AGAIN, "another one is just starting on %s", database);
	if (is_restore)
		return err_set(
		    e, ERR_AGAIN,
		    "agent-intercom restore (pid %d) is at work on %s, or waits for your "
		    "yes; let it end first",
		    running, database);
	return err_set(e, ERR_AGAIN,
	               "already running (pid %d) on %s; stop it with `kill %d`, or start another "
	               "system with --config (its own database.path and ipc_name)",
	               running, database, running);
}

pid_t instance_holder(const char *database, struct err *e)
{
	OWNED(str) struct str name = { 0 };
	pid_t pid = 0;
	int fd;

	str_addf(&name, "%s%s", database, SUFFIX);
	fd = open(str_text(&name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_INPUT, "%s", str_text(&name));
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		pid = read_pid(fd);
	(void)close(fd);
	return pid;
}

static int refuse_name(const char *database, struct err *e)
{
	return err_set(e, ERR_AGAIN,
	               "database %s: a system that runs has this file open under another name, and "
	               "it is destroyed if it is used under two of them; stop that system first "
	               "(`fuser -v %s` shows it)",
	               database, database);
}

int instance_hold(const char *database, int *ret_fd, struct err *e)
{
	int fd = open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_errno(e, err_kind_of_file(errno), "%s", database);
	if (!take_lock(fd)) {
		(void)close(fd);
		return refuse_name(database, e);
	}
	*ret_fd = fd;
	return 0;
}

static int refuse_file(const char *database, pid_t holder, struct err *e)
{
	return err_set(e, ERR_AGAIN,
	               "database %s: the system that runs (pid %d) has another file open, which "
	               "was here before; what is written into this one does not reach it: put "
	               "that file back, or stop the system (`kill %d`); then agent-intercom "
	               "restore FILE puts a copy here, and a start goes on with what is here",
	               database, (int)holder, (int)holder);
}

/* The pid of another process that runs on this path and does not hold this file; 0: none. One that
 * begins holds it after a moment. */
static pid_t other_holder(const char *database, int fd)
{
	int64_t give_up = clock_monotonic_ms() + TAKE_MS;
	pid_t pid;

	while ((pid = instance_holder(database, NULL)) > 0 && pid != getpid()) {
		if (flock(fd, LOCK_SH | LOCK_NB) != 0)
			return 0;
		(void)flock(fd, LOCK_UN);
		if (clock_monotonic_ms() >= give_up)
			return pid;
		(void)poll(NULL, 0, TRY_MS);
	}
	return 0;
}

const char *const INSTANCE_SUFFIXES[INSTANCE_FILES] = { "", "-wal", "-shm" };

static const ino_t UNSEEN = (ino_t)-1; /* a folder on the way is closed to us, or its disk fails */

void instance_look(const char *database, struct instance_files *ret)
{
	for (size_t i = 0; i < INSTANCE_FILES; i++) {
		OWNED(str) struct str name = { 0 };
		struct stat about;

		str_addf(&name, "%s%s", database, INSTANCE_SUFFIXES[i]);
		ret->ids[i] = lstat(str_text(&name), &about) == 0   ? about.st_ino
		              : errno == ENOENT || errno == ENOTDIR ? 0
		                                                    : UNSEEN;
	}
}

bool instance_is_same(const char *database, const struct instance_files *before)
{
	struct instance_files now;

	instance_look(database, &now);
	for (size_t i = 0; i < INSTANCE_FILES; i++)
		if (before->ids[i] != 0 && before->ids[i] != UNSEEN && now.ids[i] != UNSEEN &&
		    before->ids[i] != now.ids[i])
			return false;
	return true;
}

/* Whether another process holds a lock on some of these bytes of a file, and which: 0 where it
 * cannot be seen from here. */
static bool is_used(const char *path, off_t start, off_t length, pid_t *ret_pid)
{
	struct flock use = { .l_type = F_WRLCK, .l_start = start, .l_len = length };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool used = fd >= 0 && fcntl(fd, F_GETLK, &use) == 0 && use.l_type != F_UNLCK;

	io_shut(&fd);
	*ret_pid = used ? use.l_pid : 0;
	return used;
}

/* Whether a process uses the -wal and the -shm that are beside the database. */
static bool has_log(const char *database)
{
	OWNED(str) struct str log = { 0 }, shm = { 0 };
	pid_t pid;

	str_addf(&log, "%s-wal", database);
	str_addf(&shm, "%s-shm", database);
	return is_used(str_text(&shm), SHM_IN_USE, 1, &pid) && access(str_text(&log), F_OK) == 0;
}

int instance_check_alone(const char *database, struct err *e)
{
	int64_t give_up = clock_monotonic_ms() + LOG_MS;
	pid_t pid;

	/* One that begins has both after a moment. */
	while (is_used(database, DATABASE_IN_USE, DATABASE_IN_USE_BYTES, &pid) &&
	       !has_log(database)) {
		if (clock_monotonic_ms() >= give_up)
			return err_set(e, ERR_AGAIN,
			               "database %s: process %d has it open beside a -wal or -shm "
			               "that was removed; end that process first (`fuser %s`)",
			               database, (int)pid, database);
		(void)poll(NULL, 0, TRY_MS);
	}
	return 0;
}

/* The system that runs on a database would not see what is written to another log. */
static int check_log(const char *database, struct err *e)
{
	int64_t give_up = clock_monotonic_ms() + LOG_MS;
	pid_t pid;

	while ((pid = instance_holder(database, NULL)) > 0 && pid != getpid() &&
	       !has_log(database)) {
		if (clock_monotonic_ms() >= give_up)
			return err_set(e, ERR_AGAIN,
			               "database %s: its -wal or -shm, which the system that runs "
			               "(pid %d) has open, was removed or moved: what is written "
			               "now does not reach it; it stops by itself, or stop it "
			               "(`kill %d`), and start agent-intercom again",
			               database, (int)pid, (int)pid);
		(void)poll(NULL, 0, TRY_MS);
	}
	return 0;
}

int instance_check_held(const char *database, struct err *e)
{
	int fd = open(database, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
	pid_t other = 0;

	if (fd >= 0 && !held) {
		(void)flock(fd, LOCK_UN);
		other = other_holder(database, fd);
	}
	io_shut(&fd);
	if (other)
		return refuse_file(database, other, e);
	if (held && instance_holder(database, NULL) == 0)
		return refuse_name(database, e);
	return held ? check_log(database, e) : 0;
}

static bool is_held(int run_fd, const char *file)
{
	int fd = openat(run_fd, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;

	io_shut(&fd);
	return held;
}

/* The run of a runner's lock; 0: another file. */
static int64_t run_of(const char *file)
{
	size_t n = sizeof(RUNNER) - 1;
	char *end;

	if (strncmp(file, RUNNER, n) != 0)
		return 0;
	int64_t run = strtoll(file + n, &end, 10);
	return strcmp(end, LOCK) == 0 && run > 0 ? run : 0;
}

bool instance_worker_left(int run_fd, char file[NAME_MAX + 1])
{
	DIR *d = open_listing(run_fd);
	const struct dirent *entry;
	bool left = false;

	if (!d)
		return false;
	while (!left && (entry = readdir(d)) != NULL) {
		size_t n = strlen(entry->d_name);

		left = n >= sizeof(LOCK) && run_of(entry->d_name) == 0 &&
		       strncmp(entry->d_name, INSTANCE_WORKSPACE, sizeof(INSTANCE_WORKSPACE) - 1) !=
		           0 &&
		       strcmp(entry->d_name + n - (sizeof(LOCK) - 1), LOCK) == 0 &&
		       is_held(run_fd, entry->d_name);
		if (left)
			(void)snprintf(file, NAME_MAX + 1, "%s", entry->d_name);
	}
	(void)closedir(d);
	return left;
}

/* ---- runners ---- */

int instance_sign_lock(int lock_fd, struct err *e)
{
	char text[SIGN_BYTES];
	int length = snprintf(text, sizeof(text), "%d %.60s\n", (int)getpid(), INSTANCE_BUILD);

	if (ftruncate(lock_fd, 0) != 0 || pwrite(lock_fd, text, (size_t)length, 0) != length)
		return err_errno(e, ERR_AGAIN, "cannot write the lock file");
	return 0;
}

size_t instance_runs(int run_fd, int64_t **ret)
{
	DIR *d = open_listing(run_fd);
	const struct dirent *entry;
	size_t count = 0;

	*ret = NULL;
	while (d && (entry = readdir(d)) != NULL) {
		int64_t run = run_of(entry->d_name);

		if (!run)
			continue;
		*ret = xrealloc(*ret, (count + 1) * sizeof(**ret));
		(*ret)[count++] = run;
	}
	if (d)
		(void)closedir(d);
	return count;
}

pid_t instance_runner(int run_fd, int64_t run, bool *same_build)
{
	char file[RUNNER_BYTES], text[SIGN_BYTES] = "", ours[SIGN_BYTES];
	int fd;

	(void)snprintf(file, sizeof(file), "%s%lld%s", RUNNER, (long long)run, LOCK);
	if (!is_held(run_fd, file))
		return 0;
	fd = openat(run_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	(void)!pread(fd, text, sizeof(text) - 1, 0);
	pid_t pid = read_pid(fd);
	(void)close(fd);
	(void)snprintf(ours, sizeof(ours), "%d %.60s\n", (int)pid, INSTANCE_BUILD);
	if (same_build)
		*same_build = strcmp(text, ours) == 0;
	return pid;
}

void instance_forget_runner(int run_fd, int64_t run)
{
	static const char *const SUFFIXES[] = { ".lock", ".bell" };
	char file[RUNNER_BYTES];

	for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
		(void)snprintf(file, sizeof(file), "%s%lld%s", RUNNER, (long long)run, SUFFIXES[i]);
		(void)unlinkat(run_fd, file, 0);
	}
}

int instance_mark_stopped(int run_fd, const char *lost, struct err *e)
{
	int fd =
	    openat(run_fd, STOPPED, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int failed =
	    fd < 0 || io_write_all(fd, lost, strlen(lost))
	        ? err_errno(e, ERR_AGAIN, "cannot write the file %s in the run directory", STOPPED)
	        : 0;

	io_shut(&fd);
	return failed;
}

int instance_unmark_stopped(int run_fd, struct err *e)
{
	if (unlinkat(run_fd, STOPPED, 0) != 0 && errno != ENOENT)
		return err_errno(e, ERR_INPUT, "cannot remove the file %s in the run directory",
		                 STOPPED);
	return 0;
}

bool instance_is_stopped(const char *run)
{
	OWNED(str) struct str name = { 0 };

	str_addf(&name, "%s/%s", run, STOPPED);
	return access(str_text(&name), F_OK) == 0;
}

bool instance_is_stopped_on_purpose(const char *run)
{
	OWNED(str) struct str name = { 0 };
	struct stat about;

	str_addf(&name, "%s/%s", run, STOPPED);
	return stat(str_text(&name), &about) == 0 && about.st_size == 0;
}

/* Appends the start of a file of the run directory. */
static void add_file(const char *run, const char *file, struct str *out)
{
	OWNED(str) struct str name = { 0 };
	char words[LOST_BYTES];
	ssize_t n = -1;
	int fd;

	str_addf(&name, "%s/%s", run, file);
	fd = open(str_text(&name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, words, sizeof(words));
		(void)close(fd);
	}
	if (n > 0)
		str_add_bytes(out, words, (size_t)n);
}

/* Whether a system had a database, which is not there; path gets its name. One that was moved with
 * the link to the run directory is at database. */
static bool is_gone(const char *run, const char *database, struct str *path)
{
	OWNED(str) struct str link = { 0 };
	struct stat about;

	if (database && stat(database, &about) == 0 && about.st_size > 0)
		return false;
	add_file(run, "database", path);
	if (path->length) {
		path->length = strcspn(path->bytes, "\n");
		path->bytes[path->length] = '\0';
	} else {
		str_addf(&link, "%s-run", database ? database : "");
		if (!database || lstat(str_text(&link), &about) != 0)
			return false;
		str_add(path, database);
	}
	return stat(str_text(path), &about) == 0 ? about.st_size == 0
	                                         : errno == ENOENT || errno == ENOTDIR;
}

bool instance_is_lost(const char *run, const char *database, struct str *why)
{
	OWNED(str) struct str words = { 0 }, path = { 0 };

	add_file(run, STOPPED, &words);
	if (!words.length && is_gone(run, database, &path))
		str_addf(&words, "%s is not there any more: %s; put it back" INSTANCE_BACK,
		         path.bytes,
		         instance_is_stopped(run)
		             ? "it was moved or removed while its system was stopped"
		             : "a system had it open, and was killed");
	if (why)
		str_add(why, str_text(&words));
	return words.length > 0;
}
