/* The child, before it executes a program: it becomes the user, with nothing left of as-owner's own
 * rights, and only then touches a file.
 *
 * The order is: find the user and their groups; close what is not the program's; groups, gid, uid;
 * capabilities; no_new_privs; try to get back, which must fail; open the workspace, whose owner the
 * kernel names; execute.
 *
 * The bounding set stays (dropping it would need CAP_SETPCAP): under no_new_privs nothing that is
 * executed can gain what is in it. */
#include "as_owner.h"
#include "err.h"
#include "io.h"
#include "limit.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	GROUPS_MOST = 1024,
	NAME_BYTES = 256,
	ABOVE = 32, /* above all descriptors that a program gets */
	CAP_WORDS = 2,
};

struct person {
	uid_t uid;
	gid_t gid;
	char name[NAME_BYTES];
	char home[PATH_MAX];
	gid_t groups[GROUPS_MOST];
	int group_count;
};

struct child {
	const struct parties *who;
	const struct wish *wish;
	int conn;
	struct person person;
};

__attribute__((noreturn, format(printf, 3, 4))) static void refuse(const struct child *c, int error,
                                                                   const char *format, ...)
{
	struct owner_said said = { .what = OWNER_REFUSED, .number = error };
	va_list args;

	va_start(args, format);
	(void)vsnprintf(said.text, sizeof(said.text), format, args);
	va_end(args);
	said_send(c->conn, &said, -1);
	_exit(EX_NOPERM);
}

/* ---- who ---- */

static void find_person(struct child *c)
{
	struct person *p = &c->person;
	const struct passwd *found;

	errno = 0;
	found = getpwuid(c->wish->uid);
	if (!found)
		refuse(c, errno, "user %u has no account on this machine", (unsigned)c->wish->uid);
	p->uid = found->pw_uid;
	p->gid = found->pw_gid;
	(void)snprintf(p->name, sizeof(p->name), "%s", found->pw_name);
	(void)snprintf(p->home, sizeof(p->home), "%s", found->pw_dir);
	p->group_count = GROUPS_MOST;
	if (getgrouplist(p->name, p->gid, p->groups, &p->group_count) < 0)
		refuse(c, 0, "user %s is in more than %d groups", p->name, GROUPS_MOST);
}

/* Whether they are in a group; if it is to be dropped, they are not any more. */
static bool has_group(struct person *p, gid_t group, bool drop)
{
	bool found = false;
	int kept = 0;

	for (int i = 0; i < p->group_count; i++) {
		found = found || p->groups[i] == group;
		if (!drop || p->groups[i] != group)
			p->groups[kept++] = p->groups[i];
	}
	p->group_count = kept;
	return found;
}

static void judge_person(struct child *c)
{
	struct person *p = &c->person;

	if (p->uid == 0 || p->gid == 0)
		refuse(c, EPERM, "nothing runs as root, or in its group");
	if (p->uid == geteuid() || p->uid == c->who->service)
		refuse(c, EPERM, "nothing runs as a user of the system's own");
	if (!has_group(p, c->who->agents, false))
		refuse(c, EPERM, "user %s is not in the group %s", p->name, c->who->agents_name);
	if (p->gid == c->who->operators)
		refuse(c, EPERM, "the group of user %s is that of the operators", p->name);
	(void)has_group(p, c->who->operators, true);
}

/* ---- becoming them ---- */

static int take_capabilities_away(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[CAP_WORDS] = { { 0 } };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return (int)syscall(SYS_capset, &head, none);
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[CAP_WORDS];
	unsigned any = 0;

	if (syscall(SYS_capget, &head, have))
		return true;
	for (int i = 0; i < CAP_WORDS; i++)
		any |= have[i].effective | have[i].permitted | have[i].inheritable;
	return any;
}

/* Whether anything of what we were can be had again; if so, we are it now. */
static bool can_go_back(const struct person *p, uid_t before, gid_t group_before)
{
	uid_t real, effective, saved;
	gid_t real_group, effective_group, saved_group;

	if (setresuid(before, before, before) == 0 || setresuid(0, 0, 0) == 0 || setuid(0) == 0 ||
	    setresgid(group_before, group_before, group_before) == 0 || setgroups(0, NULL) == 0)
		return true;
	return getresuid(&real, &effective, &saved) ||
	       getresgid(&real_group, &effective_group, &saved_group) || real != p->uid ||
	       effective != p->uid || saved != p->uid || real_group != p->gid ||
	       effective_group != p->gid || saved_group != p->gid || has_capabilities() ||
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static void become(struct child *c)
{
	const struct person *p = &c->person;
	uid_t before = geteuid();
	gid_t group_before = getegid();

	if (setgroups((size_t)p->group_count, p->groups) || setresgid(p->gid, p->gid, p->gid) ||
	    setresuid(p->uid, p->uid, p->uid))
		refuse(c, errno, "cannot become user %s: %s", p->name, strerror(errno));
	if (take_capabilities_away() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || can_go_back(p, before, group_before))
		refuse(c, EPERM, "the rights of as-owner cannot be given up");
}

/* ---- the workspace ---- */

/* Opened by its own user, through no link: a directory that only they can reach is found, and one
 * that they cannot reach is not. */
static int open_workspace(const struct child *c)
{
	const char *path = c->wish->workspace;
	int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = io_open_beneath(top, path + 1, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	struct stat st;

	if (fd < 0)
		refuse(c, errno, "user %s cannot open the workspace %.200s: %s", c->person.name,
		       path, errno == ELOOP ? "there is a symlink on its way" : strerror(errno));
	if (fstat(fd, &st))
		refuse(c, errno, "cannot look at the workspace %.200s", path);
	if (st.st_uid != c->person.uid)
		refuse(c, EPERM, "the workspace %.200s does not belong to user %s, but to user %u",
		       path, c->person.name, (unsigned)st.st_uid);
	return fd;
}

/* ---- the program ---- */

static void close_others(const struct child *c, int from)
{
	(void)close_range((unsigned)from, (unsigned)c->conn - 1, 0);
	(void)close_range((unsigned)c->conn + 1, ~0U, 0);
}

/* Numbers them from OWNER_FIRST_FD on, and closes all others but the connection, which closes
 * itself when the program is executed. */
static void arrange(struct child *c)
{
	int conn = fcntl(c->conn, F_DUPFD_CLOEXEC, ABOVE), next = OWNER_FIRST_FD;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), above[OWNER_FDS];

	if (conn < 0 || null < 0)
		refuse(c, errno, "too many files are open");
	for (size_t i = 0; i < c->wish->fd_count; i++) {
		above[i] = fcntl(c->wish->fds[i], F_DUPFD_CLOEXEC, ABOVE);
		if (above[i] < 0)
			refuse(c, errno, "too many files are open");
	}
	c->conn = conn;
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
	for (size_t i = 0; i < c->wish->fd_count; i++)
		(void)dup2(above[i], next++);
	for (size_t i = 0; i < c->wish->fd_count; i++)
		(void)close(above[i]);
	close_others(c, next);
}

/* Nothing of ours, and nothing of the asker's. */
static char **environment_of(const struct child *c)
{
	static char home[PATH_MAX + 8], user[NAME_BYTES + 8], path[] = "PATH=/usr/bin:/bin";
	static char *out[16];
	size_t count = 0;
#ifdef INTERCOM_TEST_CLOCK
	static const char *const PASSED[] = { "INTERCOM_FENCE=", "INTERCOM_LANDLOCK_ABI=",
		                              "ASAN_OPTIONS=",   "UBSAN_OPTIONS=",
		                              "LSAN_OPTIONS=",   "INTERCOM_CLOCK_PAGE=" };

	for (size_t i = 0; i < COUNT(PASSED); i++)
		for (char **one = environ; *one; one++)
			if (strncmp(*one, PASSED[i], strlen(PASSED[i])) == 0)
				out[count++] = *one;
#endif
	(void)snprintf(home, sizeof(home), "HOME=%s", c->person.home);
	(void)snprintf(user, sizeof(user), "USER=%s", c->person.name);
	out[count++] = home;
	out[count++] = user;
	out[count] = path;
	return out;
}

__attribute__((noreturn)) static void execute(const struct child *c, const char *programs)
{
	const struct owner_said ready = { .what = OWNER_READY };
	char path[PATH_MAX];
	char *argv[OWNER_WORDS + 2] = { path };

	(void)snprintf(path, sizeof(path), "%.4000s/%s", programs,
	               WISH_KINDS[c->wish->kind].program);
	for (size_t i = 0; c->wish->words[i]; i++)
		argv[i + 1] = (char *)c->wish->words[i];
	if (access(path, X_OK))
		refuse(c, errno, "user %s cannot execute %s: %s", c->person.name, path,
		       strerror(errno));
	said_send(c->conn, &ready, -1);
	(void)execve(path, argv, environment_of(c));
	refuse(c, errno, "cannot execute %s: %s", path, strerror(errno));
}

void child_become(const struct parties *who, const struct wish *w, int conn, const char *programs)
{
	struct child c = { .who = who, .wish = w, .conn = conn };
	const struct wish_kind *kind = &WISH_KINDS[w->kind];
	int next = OWNER_FIRST_FD + (int)w->fd_count;

	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	arrange(&c);
	find_person(&c);
	judge_person(&c);
	become(&c);
	signals_reset();
	limit_to(RLIMIT_CORE, 0);
	if (kind->has_workspace) {
		int fd = open_workspace(&c);

		if (fd == next)
			(void)fcntl(fd, F_SETFD, 0);
		else
			(void)dup2(fd, next);
		next++;
	}
	close_others(&c, next); /* what the user database has left open */
	execute(&c, programs);
}
