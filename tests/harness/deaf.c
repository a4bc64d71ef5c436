#include "deaf.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NODES = 200, /* numbered from 1, the root; none is used twice */
	HELD = 16,
	WRITE_BYTES = 64 << 10,
	REQUEST_BYTES = WRITE_BYTES + 4096,
	FILE_BYTES = 4 << 20,
	LOOK_MS = 5,
	BLOCK = 4096,
};

/* Shared with the process that serves. */
static struct {
	atomic_uint deaf;
	atomic_int waiting;
} * say;

static char mounted[700]; /* "": nothing is mounted */
static pid_t server;

struct node {
	uint64_t parent; /* 0: it has no name */
	char name[256];
	mode_t mode;
	uid_t uid;
	gid_t gid;
	char *bytes;
	size_t size;
	uint64_t changed;
};

/* ---- in the process that serves ---- */

static struct node nodes[NODES];
static uint64_t last = 1, now = 1000000000;
static int fuse;

static void answer(const struct fuse_in_header *in, int error, const void *bytes, size_t size)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + (error ? 0 : size)),
		                        .error = -error,
		                        .unique = in->unique };
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)bytes, error ? 0 : size } };

	(void)!writev(fuse, parts, 2);
}

static struct fuse_attr attributes(uint64_t id)
{
	const struct node *n = &nodes[id];

	return (struct fuse_attr){ .ino = id,
		                   .size = n->size,
		                   .blocks = (n->size + 511) / 512,
		                   .mtime = n->changed,
		                   .ctime = n->changed,
		                   .mode = n->mode,
		                   .nlink = n->parent || id == 1 ? 1 : 0,
		                   .uid = n->uid,
		                   .gid = n->gid,
		                   .blksize = BLOCK };
}

static uint64_t find(uint64_t parent, const char *name)
{
	for (uint64_t i = 2; i <= last; i++)
		if (nodes[i].parent == parent && strcmp(nodes[i].name, name) == 0)
			return i;
	return 0;
}

static struct fuse_entry_out entry(uint64_t id)
{
	return (struct fuse_entry_out){ .nodeid = id, .generation = 1, .attr = attributes(id) };
}

static uint64_t make(const struct fuse_in_header *in, const char *name, mode_t mode)
{
	if (last + 1 == NODES)
		_exit(1);
	nodes[++last] = (struct node){
		.parent = in->nodeid, .mode = mode, .uid = in->uid, .gid = in->gid, .changed = now++
	};
	(void)snprintf(nodes[last].name, sizeof(nodes[last].name), "%s", name);
	return last;
}

static void answer_init(const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
		                      .minor = FUSE_KERNEL_MINOR_VERSION,
		                      .max_write = WRITE_BYTES };

	answer(in, 0, &init, sizeof(init));
}

static void answer_attributes(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr = attributes(in->nodeid) };

	answer(in, 0, &out, sizeof(out));
}

static void answer_entry(const struct fuse_in_header *in, uint64_t id)
{
	struct fuse_entry_out out = entry(id);

	answer(in, id ? 0 : ENOENT, &out, sizeof(out));
}

static void set(const struct fuse_in_header *in, const struct fuse_setattr_in *to)
{
	struct node *n = &nodes[in->nodeid];

	if (to->valid & FATTR_MODE)
		n->mode = (n->mode & S_IFMT) | (to->mode & 07777);
	if (to->valid & FATTR_UID)
		n->uid = to->uid;
	if (to->valid & FATTR_GID)
		n->gid = to->gid;
	if (to->valid & FATTR_SIZE)
		n->size = to->size < n->size ? to->size : n->size;
	n->changed = now++;
	answer_attributes(in);
}

static void create(const struct fuse_in_header *in, const struct fuse_create_in *how)
{
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = { .entry = entry(make(in, (const char *)(how + 1), how->mode)) };

	answer(in, 0, &out, sizeof(out));
}

static void write_bytes(const struct fuse_in_header *in, const struct fuse_write_in *what)
{
	struct node *n = &nodes[in->nodeid];
	struct fuse_write_out out = { .size = what->size };

	if (what->offset + what->size > FILE_BYTES) {
		answer(in, EFBIG, NULL, 0);
		return;
	}
	if (!n->bytes)
		n->bytes = calloc(1, FILE_BYTES);
	memcpy(n->bytes + what->offset, what + 1, what->size);
	if (n->size < what->offset + what->size)
		n->size = what->offset + what->size;
	n->changed = now++;
	answer(in, 0, &out, sizeof(out));
}

static void read_bytes(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	const struct node *n = &nodes[in->nodeid];
	size_t left = what->offset < n->size ? n->size - what->offset : 0;

	answer(in, 0, n->bytes ? n->bytes + what->offset : NULL,
	       left < what->size ? left : what->size);
}

static void read_names(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	char bytes[WRITE_BYTES] = { 0 };
	size_t had = 0;

	for (uint64_t i = what->offset < 1 ? 2 : what->offset + 1; i <= last; i++) {
		struct fuse_dirent one = { .ino = i,
			                   .off = i,
			                   .namelen = (uint32_t)strlen(nodes[i].name),
			                   .type = nodes[i].mode >> 12 };

		if (nodes[i].parent != in->nodeid)
			continue;
		if (had + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + one.namelen) > what->size)
			break;
		memcpy(bytes + had, &one, FUSE_NAME_OFFSET);
		memcpy(bytes + had + FUSE_NAME_OFFSET, nodes[i].name, one.namelen);
		had += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + one.namelen);
	}
	answer(in, 0, bytes, had);
}

static void remove_name(const struct fuse_in_header *in, const char *name)
{
	uint64_t id = find(in->nodeid, name);

	for (uint64_t i = 2; id && in->opcode == FUSE_RMDIR && i <= last; i++)
		if (nodes[i].parent == id) {
			answer(in, ENOTEMPTY, NULL, 0);
			return;
		}
	if (id)
		nodes[id].parent = 0;
	answer(in, id ? 0 : ENOENT, NULL, 0);
}

static void place(uint64_t id, uint64_t dir, const char *name)
{
	nodes[id].parent = dir;
	(void)snprintf(nodes[id].name, sizeof(nodes[id].name), "%s", name);
	nodes[id].changed = now++;
}

static void rename_it(const struct fuse_in_header *in, uint64_t dir, unsigned flags,
                      const char *from)
{
	const char *to = from + strlen(from) + 1;
	uint64_t id = find(in->nodeid, from), there = find(dir, to);

	if (!id || (flags & RENAME_EXCHANGE && !there)) {
		answer(in, ENOENT, NULL, 0);
		return;
	}
	if (flags & RENAME_NOREPLACE && there) {
		answer(in, EEXIST, NULL, 0);
		return;
	}
	if (there && flags & RENAME_EXCHANGE)
		place(there, in->nodeid, from);
	else if (there)
		nodes[there].parent = 0;
	place(id, dir, to);
	answer(in, 0, NULL, 0);
}

static void make_dir(const struct fuse_in_header *in, const struct fuse_mkdir_in *how)
{
	answer_entry(in, make(in, (const char *)(how + 1), S_IFDIR | how->mode));
}

static void answer_open(const struct fuse_in_header *in)
{
	struct fuse_open_out out = { .fh = 0 };

	answer(in, 0, &out, sizeof(out));
}

static void answer_free(const struct fuse_in_header *in)
{
	struct fuse_statfs_out out = { .st = { .blocks = 1 << 20,
		                               .bfree = 1 << 20,
		                               .bavail = 1 << 20,
		                               .bsize = BLOCK,
		                               .frsize = BLOCK,
		                               .namelen = 255 } };

	answer(in, 0, &out, sizeof(out));
}

static void serve(const char *request)
{
	const struct fuse_in_header *in = (const struct fuse_in_header *)(const void *)request;
	const void *body = in + 1;
	const struct fuse_rename2_in *to = body;

	switch (in->opcode) {
	case FUSE_INIT:
		answer_init(in);
		break;
	case FUSE_LOOKUP:
		answer_entry(in, find(in->nodeid, body));
		break;
	case FUSE_GETATTR:
		answer_attributes(in);
		break;
	case FUSE_SETATTR:
		set(in, body);
		break;
	case FUSE_MKDIR:
		make_dir(in, body);
		break;
	case FUSE_CREATE:
		create(in, body);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer_open(in);
		break;
	case FUSE_READ:
		read_bytes(in, body);
		break;
	case FUSE_READDIR:
		read_names(in, body);
		break;
	case FUSE_WRITE:
		write_bytes(in, body);
		break;
	case FUSE_UNLINK:
	case FUSE_RMDIR:
		remove_name(in, body);
		break;
	case FUSE_RENAME:
		rename_it(in, to->newdir, 0, (const char *)body + sizeof(struct fuse_rename_in));
		break;
	case FUSE_RENAME2:
		rename_it(in, to->newdir, to->flags, (const char *)(to + 1));
		break;
	case FUSE_STATFS:
		answer_free(in);
		break;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in, ENOSYS, NULL, 0);
	}
}

__attribute__((noreturn)) static void serve_all(int fd, uid_t uid)
{
	static char request[REQUEST_BYTES], *held[HELD];
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int count = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuse = fd;
	nodes[1] =
	    (struct node){ .mode = S_IFDIR | 0755, .uid = uid, .gid = uid, .changed = now++ };
	for (;;) {
		ssize_t n = poll(&wait, 1, LOOK_MS) > 0 ? read(fd, request, sizeof(request)) : 0;
		const struct fuse_in_header *in = (const struct fuse_in_header *)(void *)request;

		if (n < 0 && errno != EINTR && errno != ENOENT && errno != EAGAIN)
			_exit(0);
		for (int i = 0; i < count && !atomic_load(&say->deaf); i++) {
			serve(held[i]);
			free(held[i]);
		}
		if (!atomic_load(&say->deaf))
			atomic_store(&say->waiting, count = 0);
		if (n <= 0)
			continue;
		if (in->opcode != atomic_load(&say->deaf)) {
			serve(request);
			continue;
		}
		if (count == HELD)
			_exit(1);
		held[count] = malloc(sizeof(request));
		memcpy(held[count++], request, sizeof(request));
		atomic_store(&say->waiting, count);
	}
}

/* ---- in the test ---- */

void deaf_to(uint32_t opcode)
{
	atomic_store(&say->deaf, opcode);
}

int deaf_waiting(void)
{
	return atomic_load(&say->waiting);
}

void deaf_unmount(void)
{
	if (!mounted[0])
		return;
	(void)kill(server, SIGKILL); /* closing its descriptor ends the connection */
	(void)waitpid(server, NULL, 0);
	(void)umount2(mounted, MNT_DETACH);
	mounted[0] = '\0';
}

bool deaf_mount(const char *folder, uid_t uid, bool for_all)
{
	char options[120];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	(void)snprintf(options, sizeof(options),
	               "fd=%d,rootmode=40000,user_id=%u,group_id=%u,default_permissions%s", fd,
	               (unsigned)uid, (unsigned)uid, for_all ? ",allow_other" : "");
	if (mount("deaf", folder, "fuse", MS_NOSUID | MS_NODEV, options)) {
		(void)close(fd);
		return false;
	}
	(void)snprintf(mounted, sizeof(mounted), "%s", folder);
	(void)atexit(deaf_unmount);
	say = mmap(NULL, sizeof(*say), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(say, MAP_FAILED);
	server = fork();
	if (server == 0)
		serve_all(fd, uid);
	(void)close(fd);
	return true;
}
