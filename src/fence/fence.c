#include "fence.h"

#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not all headers have these yet. */
enum {
	FS_EXECUTE = LANDLOCK_ACCESS_FS_EXECUTE,
	FS_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	FS_REFER = 1 << 13, /* ABI 2 */
	FS_TRUNCATE = 1 << 14, /* ABI 3 */
	FS_IOCTL_DEV = 1 << 15, /* ABI 5 */
	FS_WRITE = FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
	           LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
	           LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
	           LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | FS_REFER |
	           FS_TRUNCATE,
	FS_DEVICES = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | FS_IOCTL_DEV,
	FS_ALL = FS_EXECUTE | FS_WRITE | FS_DEVICES,
	/* What a rule for a file that is no folder may name. */
	FS_OF_FILE = FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
	             FS_TRUNCATE | FS_IOCTL_DEV,
	NET_BIND = 1 << 0, /* ABI 4, as all of NET_ */
	NET_CONNECT = 1 << 1,
	SCOPE_ABSTRACT_SOCKETS = 1 << 0, /* ABI 6, as all of SCOPE_ */
	SCOPE_SIGNALS = 1 << 1,
	RULE_PATH = 1, /* LANDLOCK_RULE_PATH_BENEATH */
	RULE_PORT = 2, /* LANDLOCK_RULE_NET_PORT */
};

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct port_attr {
	uint64_t allowed, port;
};

void fence_allow(struct fence *f, const char *path, unsigned may)
{
	if (!path || !*path)
		return;
	if (f->path_count < FENCE_PATHS)
		f->paths[f->path_count] = (struct fence_path){ .path = path, .may = may };
	f->path_count++;
}

void fence_allow_port(struct fence *f, uint16_t port)
{
	if (f->port_count < FENCE_PORTS)
		f->ports[f->port_count] = port;
	f->port_count++;
}

int fence_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
#ifdef INTERCOM_TEST_CLOCK
	const char *older = getenv("INTERCOM_LANDLOCK_ABI");

	if (older && strtol(older, NULL, 10) < abi)
		abi = strtol(older, NULL, 10);
#endif
	return abi > 0 ? (int)abi : 0;
}

/* The rights on paths that an ABI knows. */
static uint64_t known_to(int abi)
{
	uint64_t unknown =
	    (abi < 2 ? FS_REFER : 0) | (abi < 3 ? FS_TRUNCATE : 0) | (abi < 5 ? FS_IOCTL_DEV : 0);

	return FS_ALL & ~unknown;
}

static int make_ruleset(const struct fence *f, int abi, struct err *e)
{
	const struct ruleset_attr attr = {
		.fs = known_to(abi),
		.net = abi < 4 ? 0 : (f->listens ? 0 : NET_BIND) | (f->any_port ? 0 : NET_CONNECT),
		.scoped = abi < 6 ? 0 : SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS,
	};
	/* An older kernel refuses members that it does not know. */
	size_t size = abi < 4   ? offsetof(struct ruleset_attr, net)
	              : abi < 6 ? offsetof(struct ruleset_attr, scoped)
	                        : sizeof(attr);
	long fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);

	if (fd < 0)
		return err_errno(e, ERR_AGAIN, "fence: cannot make Landlock's rules");
	return (int)fd;
}

static uint64_t rights_of(unsigned may)
{
	return (may & FENCE_READ ? FS_READ : 0) | (may & FENCE_WRITE ? FS_WRITE : 0) |
	       (may & FENCE_RUN ? FS_EXECUTE : 0) | (may & FENCE_DEVICES ? FS_IOCTL_DEV : 0);
}

static int add_path(int ruleset, int abi, const struct fence_path *p, struct err *e)
{
	struct landlock_path_beneath_attr rule = { .allowed_access =
		                                       rights_of(p->may) & known_to(abi) };
	struct stat about;
	int failed = 0;

	rule.parent_fd = open(p->path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0 || fstat(rule.parent_fd, &about))
		failed = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
	else if (!S_ISDIR(about.st_mode))
		rule.allowed_access &= FS_OF_FILE;
	if (rule.parent_fd >= 0 && !failed)
		failed = syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0) != 0;
	if (failed)
		(void)err_errno(e, ERR_AGAIN, "fence: %s", p->path);
	if (rule.parent_fd >= 0)
		(void)close(rule.parent_fd);
	return failed ? -1 : 0;
}

static int add_port(int ruleset, uint16_t port, struct err *e)
{
	const struct port_attr rule = { .allowed = NET_CONNECT, .port = port };

	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &rule, 0))
		return err_errno(e, ERR_AGAIN, "fence: port %u", (unsigned)port);
	return 0;
}

static int add_rules(int ruleset, int abi, const struct fence *f, struct err *e)
{
	for (size_t i = 0; i < f->path_count; i++)
		if (add_path(ruleset, abi, &f->paths[i], e))
			return -1;
	if (f->roots && roots_allow(f->roots, ruleset, rights_of(FENCE_WRITE) & known_to(abi), e))
		return -1;
	for (size_t i = 0; i < f->port_count && abi >= 4 && !f->any_port; i++)
		if (add_port(ruleset, f->ports[i], e))
			return -1;
	return 0;
}

int fence_raise(const struct fence *f, struct err *e)
{
	int abi = fence_abi(), ruleset, failed;

	if (f->path_count > FENCE_PATHS || f->port_count > FENCE_PORTS)
		return err_set(e, ERR_BUG, "fence: %zu paths and %zu ports are too many",
		               f->path_count, f->port_count);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_errno(e, ERR_AGAIN, "fence: no_new_privs");
	/* ABI 1 refuses every rename from one folder to another. */
	if (abi == 0 || (f->moves && abi < 2))
		return 0;
	ruleset = make_ruleset(f, abi, e);
	if (ruleset < 0)
		return -1;
	failed = add_rules(ruleset, abi, f, e);
	if (!failed && syscall(SYS_landlock_restrict_self, ruleset, 0)) {
		failed = -1;
		(void)err_errno(e, ERR_AGAIN, "fence: Landlock does not take it");
	}
	(void)close(ruleset);
	if (failed)
		return -1;
	if (f->roots)
		f->roots->is_fenced = true;
	explain_fence(f);
	return abi;
}
