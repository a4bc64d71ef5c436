/* SQLite's small blocks. Each process reads the whole schema when it opens the database, which is
 * a hundred thousand blocks, nearly all of which stay; some SQLite's (Debian's) have no pool of
 * their own for them. malloc would be a quarter of the time that it takes.
 *
 * A block is never given back alone: freed, it waits in the list of its size. All go back at once,
 * when SQLite is shut down. SQLite calls this from one thread, as its connections are opened. */
#include "store_core.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	STEP = 8, /* sizes are multiples of this, which is all the alignment that SQLite wants */
	SMALL = 512, /* larger blocks are malloc's */
	CHUNK = 64 << 10,
};

/* In front of each block. */
struct head {
	size_t bytes; /* of the block, without this */
};
_Static_assert(sizeof(struct head) == STEP, "what follows a head is aligned");

struct chunk {
	struct chunk *next;
};

static struct {
	void *freed[SMALL / STEP + 1]; /* of each size; a block holds the next one's address */
	char *at, *end; /* of what is left of the last chunk */
	struct chunk *chunks;
} pool;

static struct head *head_of(void *block)
{
	return (struct head *)block - 1;
}

static int rounded(int bytes)
{
	return (bytes + STEP - 1) & ~(STEP - 1);
}

/* With its pages, because they will be needed: each would cost a fault. */
static bool add_chunk(void)
{
	struct chunk *c = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (c == MAP_FAILED)
		return false;
	c->next = pool.chunks;
	pool.chunks = c;
	pool.at = (char *)(c + 1);
	pool.end = (char *)c + CHUNK;
	return true;
}

static void *take_small(size_t bytes)
{
	void **list = &pool.freed[bytes / STEP];
	void *block = *list;

	if (block) {
		memcpy(list, block, sizeof(*list));
		return block;
	}
	if ((size_t)(pool.end - pool.at) < sizeof(struct head) + bytes && !add_chunk())
		return NULL;
	((struct head *)pool.at)->bytes = bytes; /* NOLINT: aligned as all are */
	block = pool.at + sizeof(struct head);
	pool.at += sizeof(struct head) + bytes;
	return block;
}

static void *take(int wanted)
{
	size_t bytes = (size_t)rounded(wanted);
	struct head *head;

	if (bytes <= SMALL)
		return take_small(bytes);
	head = malloc(sizeof(*head) + bytes);
	if (!head)
		return NULL;
	head->bytes = bytes;
	return head + 1;
}

static void give(void *block)
{
	size_t bytes = head_of(block)->bytes;

	if (bytes > SMALL) {
		free(head_of(block));
		return;
	}
	memcpy(block, &pool.freed[bytes / STEP], sizeof(void *));
	pool.freed[bytes / STEP] = block;
}

static int size_of(void *block)
{
	return block ? (int)head_of(block)->bytes : 0;
}

static void *resize(void *block, int wanted)
{
	size_t bytes = (size_t)rounded(wanted), had = head_of(block)->bytes;
	void *other;

	if (bytes == had)
		return block;
	if (bytes > SMALL && had > SMALL) {
		struct head *head = realloc(head_of(block), sizeof(*head) + bytes);

		if (!head)
			return NULL;
		head->bytes = bytes;
		return head + 1;
	}
	other = take(wanted);
	if (!other)
		return NULL;
	memcpy(other, block, had < bytes ? had : bytes);
	give(block);
	return other;
}

static int begin(void *arg)
{
	(void)arg;
	return SQLITE_OK;
}

static void end(void *arg)
{
	(void)arg;
	while (pool.chunks) {
		struct chunk *c = pool.chunks;

		pool.chunks = c->next;
		(void)munmap(c, CHUNK);
	}
	memset(&pool, 0, sizeof(pool));
}

void store_set_up_memory(void)
{
/* A sanitizer sees the use of a block that was freed only if it is malloc's. */
#ifndef __SANITIZE_ADDRESS__
	static const struct sqlite3_mem_methods METHODS = { .xMalloc = take,
		                                            .xFree = give,
		                                            .xRealloc = resize,
		                                            .xSize = size_of,
		                                            .xRoundup = rounded,
		                                            .xInit = begin,
		                                            .xShutdown = end };

	(void)sqlite3_config(SQLITE_CONFIG_MALLOC, &METHODS);
#endif
}
