#include "disk.h"

#include "io.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, SECTOR_BYTES = 512, PATH_BYTES = 1024 };

/* A change of one name, or of two. */
struct disk_change {
	enum record_op op;
	size_t dir, other_dir; /* node numbers; equal if there is one name */
	char *name, *name2;
	size_t node; /* the node that gets the name */
	bool done;
};

static const size_t NO_NODE = (size_t)-1;

size_t disk_random(uint64_t *seed, size_t limit)
{
	uint64_t x = *seed += 0x9E3779B97F4A7C15U;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
	return (size_t)((x ^ (x >> 31)) % limit);
}

static bool survives_never(size_t dir, const char *name)
{
	size_t length = strlen(name);

	return (dir == 0 && strcmp(name, "run") == 0) ||
	       (length > 4 && strcmp(name + length - 4, "-shm") == 0);
}

/* ---- nodes and names ---- */

/* A new inode has the number: what had it before is gone. */
static void take_number(struct disk *d, uint64_t inode)
{
	for (size_t i = 0; i < d->node_count; i++)
		if (d->nodes[i].inode == inode)
			d->nodes[i].inode = 0;
}

static size_t add_node(struct disk *d, uint64_t inode, bool is_dir, unsigned mode, const char *name)
{
	take_number(d, inode);
	d->nodes = xrealloc(d->nodes, (d->node_count + 1) * sizeof(*d->nodes));
	d->nodes[d->node_count] = (struct disk_node){ .inode = inode,
		                                      .is_dir = is_dir,
		                                      .mode = mode,
		                                      .kept_mode = mode,
		                                      .first_name = xstrdup(name) };
	return d->node_count++;
}

static size_t find_node(const struct disk *d, uint64_t inode)
{
	for (size_t i = 0; i < d->node_count; i++)
		if (inode && d->nodes[i].inode == inode)
			return i;
	return NO_NODE;
}

static struct disk_name *find_name(const struct disk *d, size_t dir, const char *name)
{
	struct disk_node *n = &d->nodes[dir];

	for (size_t i = 0; i < n->name_count; i++)
		if (strcmp(n->names[i].name, name) == 0)
			return &n->names[i];
	return NULL;
}

static void take_name(struct disk *d, size_t dir, const char *name)
{
	struct disk_node *n = &d->nodes[dir];
	struct disk_name *there = find_name(d, dir, name);

	if (!there)
		return;
	free(there->name);
	*there = n->names[--n->name_count];
}

static void give_name(struct disk *d, size_t dir, const char *name, size_t node)
{
	struct disk_node *n = &d->nodes[dir];

	take_name(d, dir, name);
	n->names = xrealloc(n->names, (n->name_count + 1) * sizeof(*n->names));
	n->names[n->name_count++] = (struct disk_name){ xstrdup(name), node };
}

void disk_clear(struct disk *d)
{
	for (size_t i = 0; i < d->node_count; i++) {
		struct disk_node *n = &d->nodes[i];

		for (size_t k = 0; k < n->name_count; k++)
			free(n->names[k].name);
		free(n->names);
		free(n->first_name);
		free(n->pending);
		str_clear(&n->kept);
	}
	for (size_t i = 0; i < d->change_count; i++) {
		free(d->changes[i].name);
		free(d->changes[i].name2);
	}
	free(d->nodes);
	free(d->changes);
	*d = (struct disk){ 0 };
}

void disk_copy(const struct disk *from, struct disk *into)
{
	for (size_t i = 0; i < from->node_count; i++) {
		const struct disk_node *n = &from->nodes[i];

		(void)add_node(into, n->inode, n->is_dir, n->mode, n->first_name);
		str_add_bytes(&into->nodes[i].kept, n->kept.bytes, n->kept.length);
	}
	for (size_t i = 0; i < from->node_count; i++)
		for (size_t k = 0; k < from->nodes[i].name_count; k++)
			give_name(into, i, from->nodes[i].names[k].name,
			          from->nodes[i].names[k].node);
}

/* ---- loading ---- */

static void load_content(struct str *content, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	char chunk[65536];
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		str_add_bytes(content, chunk, (size_t)n);
	ck_assert_int_eq(n, 0);
	(void)close(fd);
}

static void load_dir(struct disk *d, size_t dir, int dir_fd)
{
	DIR *listing = fdopendir(dir_fd);
	const struct dirent *entry;

	ck_assert_ptr_nonnull(listing);
	while ((entry = readdir(listing)) != NULL) {
		const char *name = entry->d_name;
		struct stat st;
		size_t node;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || survives_never(dir, name))
			continue;
		ck_assert_int_eq(fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
		node = add_node(d, st.st_ino, S_ISDIR(st.st_mode), st.st_mode & 07777, name);
		give_name(d, dir, name, node);
		if (S_ISDIR(st.st_mode))
			load_dir(d, node, openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		else
			load_content(&d->nodes[node].kept, dir_fd, name);
	}
	(void)closedir(listing);
}

void disk_load(struct disk *d, const char *root)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	(void)add_node(d, st.st_ino, true, st.st_mode & 07777, "");
	load_dir(d, 0, fd);
}

/* ---- playing ---- */

static void do_change(struct disk *d, struct disk_change *c)
{
	struct disk_name *from = find_name(d, c->dir, c->name), *to;
	size_t node;

	c->done = true;
	switch (c->op) {
	case RECORD_CREATE:
	case RECORD_MKDIR:
	case RECORD_LINK:
		give_name(d, c->dir, c->name, c->node);
		break;
	case RECORD_UNLINK:
		take_name(d, c->dir, c->name);
		break;
	case RECORD_RENAME:
		if (!from)
			break; /* it was never created */
		node = from->node;
		take_name(d, c->dir, c->name);
		give_name(d, c->other_dir, c->name2, node);
		break;
	case RECORD_EXCHANGE:
		to = find_name(d, c->other_dir, c->name2);
		if (!from || !to)
			break;
		node = from->node;
		from->node = to->node;
		to->node = node;
		break;
	case RECORD_WRITE:
	case RECORD_TRUNCATE:
	case RECORD_MODE:
	case RECORD_SYNC:
	case RECORD_SAID:
	default:
		ck_abort_msg("no change of names");
	}
}

static void forget_done(struct disk *d)
{
	size_t left = 0;

	for (size_t i = 0; i < d->change_count; i++) {
		if (!d->changes[i].done) {
			d->changes[left++] = d->changes[i];
			continue;
		}
		free(d->changes[i].name);
		free(d->changes[i].name2);
	}
	d->change_count = left;
}

static void extend(struct str *content, size_t size)
{
	while (content->length < size) {
		static const char zeroes[PAGE_BYTES];
		size_t left = size - content->length;

		str_add_bytes(content, zeroes, left < sizeof(zeroes) ? left : sizeof(zeroes));
	}
}

static const char *data_of(const struct record *r)
{
	return (const char *)(r + 1) + r->name_length + r->name2_length;
}

/* Writes the part of a write from `from` on; extends the file as needed. */
static void write_part(struct str *content, const struct record *r, size_t from, size_t size)
{
	if (size == 0)
		return;
	extend(content, (size_t)r->offset + from + size);
	memcpy(content->bytes + r->offset + from, data_of(r) + from, size);
}

static void do_record(struct disk_node *n, const struct record *r)
{
	size_t size = (size_t)r->offset;

	if (r->op == RECORD_WRITE) {
		write_part(&n->kept, r, 0, r->data_length);
	} else if (r->op == RECORD_MODE) {
		n->kept_mode = (unsigned)r->offset;
	} else {
		extend(&n->kept, size);
		n->kept.length = size;
	}
}

static void flush(struct disk *d, size_t node)
{
	struct disk_node *n = &d->nodes[node];

	for (size_t i = 0; i < n->pending_count; i++)
		do_record(n, n->pending[i]);
	n->pending_count = 0;
	for (size_t i = 0; i < d->change_count && n->is_dir; i++)
		if (d->changes[i].dir == node || d->changes[i].other_dir == node)
			do_change(d, &d->changes[i]);
	forget_done(d);
}

static char *text_of(const char *bytes, size_t length)
{
	struct str text = { 0 };

	str_add_bytes(&text, bytes, length);
	return str_take(&text);
}

static void add_change(struct disk *d, const struct record *r, size_t dir)
{
	const char *names = (const char *)(r + 1);
	bool two = r->op == RECORD_RENAME || r->op == RECORD_EXCHANGE;
	struct disk_change c = { .op = r->op, .dir = dir, .other_dir = dir, .node = NO_NODE };

	c.name = text_of(names, r->name_length);
	c.name2 = text_of(names + r->name_length, r->name2_length);
	if (two)
		c.other_dir = find_node(d, r->other);
	else if (r->op == RECORD_CREATE || r->op == RECORD_MKDIR)
		c.node = add_node(d, r->other, r->op == RECORD_MKDIR, (unsigned)r->offset, c.name);
	else if (r->op == RECORD_LINK)
		c.node = find_node(d, r->other);
	ck_assert_msg(c.other_dir != NO_NODE, "%s is renamed to where nobody looks", c.name);
	d->changes = xrealloc(d->changes, (d->change_count + 1) * sizeof(*d->changes));
	d->changes[d->change_count++] = c;
}

static void play_one(struct disk *d, const struct record *r,
                     bool (*loses)(const struct disk_node *))
{
	size_t node = find_node(d, r->node);
	struct disk_node *n;

	if (r->op == RECORD_SYNC && r->node == 0) {
		for (size_t i = 0; i < d->node_count; i++)
			if (!loses || !loses(&d->nodes[i]))
				flush(d, i);
		return;
	}
	if (node == NO_NODE) { /* outside the recorded tree */
		if (r->op == RECORD_CREATE || r->op == RECORD_MKDIR)
			take_number(d, r->other);
		return;
	}
	n = &d->nodes[node];
	if (r->op == RECORD_SYNC) {
		if (!loses || !loses(n))
			flush(d, node);
	} else if (n->is_dir && r->op != RECORD_MODE) {
		add_change(d, r, node);
	} else {
		n->pending = xrealloc(n->pending, (n->pending_count + 1) * sizeof(*n->pending));
		n->pending[n->pending_count++] = r;
	}
}

size_t disk_play(struct disk *d, const struct str *log, size_t count,
                 bool (*loses)(const struct disk_node *))
{
	size_t done = 0;

	for (size_t at = 0; at < log->length && done < count; done++) {
		/* Aligned: each record is padded. */
		const struct record *r = (const struct record *)(const void *)(log->bytes + at);

		if (r->op != RECORD_SAID)
			play_one(d, r, loses);
		at += sizeof(*r) + RECORD_PADDED(r->name_length + r->name2_length + r->data_length);
	}
	return done;
}

/* ---- cutting ---- */

void disk_keep_all(struct disk *d)
{
	for (size_t i = 0; i < d->node_count; i++)
		flush(d, i);
}

/* Keeps any pieces of the writes, in order, and any other changes. */
static void cut_pieces(struct disk_node *n, size_t piece, uint64_t *seed)
{
	for (size_t i = 0; i < n->pending_count; i++) {
		const struct record *r = n->pending[i];

		if (r->op != RECORD_WRITE) {
			if (disk_random(seed, 2))
				do_record(n, r);
			continue;
		}
		for (size_t at = 0; at < r->data_length;) {
			size_t size = piece - ((size_t)r->offset + at) % piece;

			size = size < r->data_length - at ? size : r->data_length - at;
			if (disk_random(seed, 2))
				write_part(&n->kept, r, at, size);
			at += size;
		}
		if (disk_random(seed, 4) == 0) /* its length was kept, its data was not */
			extend(&n->kept, (size_t)r->offset + r->data_length);
	}
}

/* Keeps everything up to some point; the write at that point is torn between two sectors. */
static void cut_behind(struct disk_node *n, uint64_t *seed)
{
	size_t end = disk_random(seed, n->pending_count + 1);
	const struct record *torn = end < n->pending_count ? n->pending[end] : NULL;

	for (size_t i = 0; i < end; i++)
		do_record(n, n->pending[i]);
	if (torn && torn->op == RECORD_WRITE && torn->data_length > SECTOR_BYTES)
		write_part(&n->kept, torn, 0,
		           SECTOR_BYTES * disk_random(seed, torn->data_length / SECTOR_BYTES));
}

static void cut_node(struct disk_node *n, size_t how, uint64_t *seed)
{
	switch (how) {
	case 0:
		break; /* nothing was kept */
	case 1:
		for (size_t i = 0; i < n->pending_count; i++)
			do_record(n, n->pending[i]);
		break;
	case 2:
		cut_behind(n, seed);
		break;
	case 3:
		cut_pieces(n, PAGE_BYTES, seed);
		break;
	default:
		cut_pieces(n, SECTOR_BYTES, seed);
	}
	n->pending_count = 0;
}

/* For each directory, by node: how many of its changes are kept. */
static size_t *ends_by_dir(const struct disk *d, uint64_t *seed)
{
	size_t *ends = xcalloc(d->node_count, sizeof(*ends));

	for (size_t i = 0; i < d->node_count; i++)
		ends[i] = disk_random(seed, d->change_count + 1);
	return ends;
}

static void cut_names(struct disk *d, size_t how, uint64_t *seed)
{
	size_t end = disk_random(seed, d->change_count + 1);
	size_t *ends = ends_by_dir(d, seed);

	for (size_t i = 0; i < d->change_count; i++) {
		struct disk_change *c = &d->changes[i];
		const bool comes[] = { false, true, i < end,
			               i < ends[c->dir] && i < ends[c->other_dir],
			               disk_random(seed, 2) };

		if (comes[how])
			do_change(d, c);
		c->done = true;
	}
	free(ends);
	forget_done(d);
}

void disk_cut(struct disk *d, uint64_t seed)
{
	enum { WAYS = 5 };
	size_t all_files = disk_random(&seed, 2 * WAYS); /* one way for all files, or one each */

	cut_names(d, disk_random(&seed, WAYS), &seed);
	for (size_t i = 0; i < d->node_count; i++)
		cut_node(&d->nodes[i], all_files < WAYS ? all_files : disk_random(&seed, WAYS),
		         &seed);
}

/* ---- writing ---- */

static void note_inode(struct disk_node *n, int fd)
{
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	n->written = st.st_ino;
}

static void write_node(struct disk *d, size_t node, const char *path)
{
	struct disk_node *n = &d->nodes[node];
	int fd;

	if (!n->is_dir) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		ck_assert_msg(fd >= 0, "cannot make %s: %s", path, strerror(errno));
		ck_assert_int_eq(io_write_all(fd, str_text(&n->kept), n->kept.length), 0);
		ck_assert_int_eq(fchmod(fd, n->kept_mode), 0);
		note_inode(n, fd);
		(void)close(fd);
		return;
	}
	ck_assert_int_eq(node ? mkdir(path, n->kept_mode) : 0, 0);
	for (size_t i = 0; i < n->name_count; i++) {
		char inside[PATH_BYTES];

		(void)snprintf(inside, sizeof(inside), "%s/%s", path, n->names[i].name);
		write_node(d, n->names[i].node, inside);
	}
}

/* The inode that has taken the place of the one with this number; 1, which no file has: none. */
static uint64_t renumbered(const struct disk *d, uint64_t number)
{
	size_t node = number ? find_node(d, number) : NO_NODE;

	return number == 0                                  ? 0
	       : node == NO_NODE || !d->nodes[node].written ? 1
	                                                    : d->nodes[node].written;
}

/* A list of inodes, as a restore writes it: decimal, each ends in NUL. */
static void renumber(const struct disk *d, const struct disk_node *n, const char *path)
{
	OWNED(str) struct str list = { 0 };
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	for (const char *at = str_text(&n->kept), *end = at + n->kept.length; at < end;
	     at += strlen(at) + 1) {
		str_addf(&list, "%" PRIu64, renumbered(d, strtoull(at, NULL, 10)));
		str_add_char(&list, '\0');
	}
	ck_assert_int_eq(io_write_all(fd, str_text(&list), list.length), 0);
	(void)close(fd);
}

static void renumber_below(const struct disk *d, size_t node, const char *path)
{
	const struct disk_node *n = &d->nodes[node];

	if (!n->is_dir && strcmp(n->first_name, "list") == 0)
		renumber(d, n, path);
	for (size_t i = 0; i < n->name_count; i++) {
		char inside[PATH_BYTES];

		(void)snprintf(inside, sizeof(inside), "%s/%s", path, n->names[i].name);
		renumber_below(d, n->names[i].node, inside);
	}
}

void disk_write(struct disk *d, const char *root)
{
	DIR *listing = opendir(root);
	const struct dirent *entry;

	ck_assert_ptr_nonnull(listing);
	while ((entry = readdir(listing)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, "run") != 0)
			ck_assert(remove_tree(below(root, entry->d_name)));
	(void)closedir(listing);
	write_node(d, 0, root);
	renumber_below(d, 0, root);
}
