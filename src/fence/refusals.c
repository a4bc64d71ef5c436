#include "refusals.h"

#include "calls.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	PATHS = 8,
	LOWEST_MISSING = 424, /* from here on a call may be unknown to the kernel (Linux 5.1) */
	MINUTE_MS = 60000,
	LOOK_MS = 1000, /* between two looks, once there is anything */
};

/* A path's place: taken by one process, then complete, never changed again. */
enum { FREE, TAKEN, COMPLETE };

struct memory {
	atomic_uint calls[REFUSALS_NUMBERS];
	struct path {
		atomic_int state;
		atomic_uint count;
		char name[REFUSALS_NAME_BYTES];
	} paths[PATHS];
	atomic_uint any; /* grows with each */
};

static struct memory *memory; /* NULL: nothing is counted */
static int memory_fd = -1;

/* What was told, by the process that made the memory. */
static struct told {
	unsigned count;
	long long ms;
} told_calls[REFUSALS_NUMBERS], told_paths[PATHS];
static struct {
	long long began_ms, look_ms;
	int told;
} minute;

/* ---- counting, in any process ---- */

static void count_call(int number)
{
	if (!memory)
		return;
	atomic_fetch_add(
	    &memory
	         ->calls[number >= 0 && number < REFUSALS_NUMBERS ? number : REFUSALS_NUMBERS - 1],
	    1);
	atomic_fetch_add(&memory->any, 1);
}

/* A call outside the filter: it fails. */
static void on_refused(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	int number = info->si_syscall;
	long result = number >= LOWEST_MISSING ? -ENOSYS : -EPERM;

	(void)signal;
	count_call(number);
#if defined(__x86_64__)
	c->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	c->uc_mcontext.regs[0] = (unsigned long long)result;
#else
	(void)c;
	(void)result;
#endif
}

void refusals_add_path(const char *path)
{
	for (size_t i = 0; memory && i < PATHS; i++) {
		struct path *p = &memory->paths[i];
		int is = FREE;

		if (atomic_compare_exchange_strong(&p->state, &is, TAKEN)) {
			(void)snprintf(p->name, sizeof(p->name), "%s", path);
			atomic_store(&p->state, COMPLETE);
		} else if (is != COMPLETE || strncmp(p->name, path, sizeof(p->name) - 1) != 0)
			continue;
		atomic_fetch_add(&p->count, 1);
		atomic_fetch_add(&memory->any, 1);
		return;
	}
}

/* ---- the memory ---- */

/* Test builds leave it where the test finds it. */
static int make_file(const char *process)
{
#ifdef INTERCOM_TEST_CLOCK
	const char *folder = getenv("INTERCOM_REFUSALS");
	char path[400];

	int fd = -1;

	if (folder) {
		(void)snprintf(path, sizeof(path), "%s/%s-%d", folder, process, (int)getpid());
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	}
	if (fd >= 0)
		return fd;
#else
	(void)process;
#endif
	return memfd_create("refusals", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static void map(int fd)
{
	void *at = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	memory = at == MAP_FAILED ? NULL : at;
}

void refusals_listen(void)
{
	struct sigaction action = { .sa_sigaction = on_refused,
		                    .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGSYS, &action, NULL);
}

void refusals_open(const char *process)
{
	int fd = make_file(process);

	if (fd >= 0 && ftruncate(fd, sizeof(*memory)) == 0) {
		/* One that makes it smaller would end all the others with SIGBUS. */
		(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
		map(fd);
		memory_fd = fd;
	} else if (fd >= 0)
		(void)close(fd);
}

void refusals_join(int fd)
{
	struct stat about;

	if (fstat(fd, &about) == 0 && about.st_size == sizeof(*memory))
		map(fd);
	(void)close(fd);
}

int refusals_fd(void)
{
	return memory_fd;
}

/* ---- telling ---- */

/* How many there are since the last time, if that is a minute ago. */
static unsigned take(struct told *t, unsigned now, long long now_ms)
{
	unsigned count = now - t->count;

	if (count == 0 || (t->ms && now_ms - t->ms < MINUTE_MS))
		return 0;
	*t = (struct told){ .count = now, .ms = now_ms ? now_ms : 1 };
	return count;
}

static bool next_call(struct refusals_kind *r, long long now_ms)
{
	for (int i = 0; i < REFUSALS_NUMBERS; i++) {
		const char *name = calls_name(i);

		r->count = take(&told_calls[i], atomic_load(&memory->calls[i]), now_ms);
		if (!r->count)
			continue;
		r->what = "call";
		if (name)
			(void)snprintf(r->name, sizeof(r->name), "%s", name);
		else
			(void)snprintf(r->name, sizeof(r->name), "%d", i);
		return true;
	}
	return false;
}

static bool next_path(struct refusals_kind *r, long long now_ms)
{
	for (int i = 0; i < PATHS; i++) {
		struct path *p = &memory->paths[i];
		OWNED(str) struct str shown = { 0 };

		r->count = take(&told_paths[i], atomic_load(&p->count), now_ms);
		if (!r->count || atomic_load(&p->state) != COMPLETE || !p->name[0])
			continue; /* whoever is fenced can write there, too */
		r->what = "path";
		str_add_shown(&shown, p->name, strnlen(p->name, sizeof(p->name)),
		              sizeof(r->name) - 1 - STR_SHOWN_MORE);
		(void)snprintf(r->name, sizeof(r->name), "%s", str_text(&shown));
		return true;
	}
	return false;
}

bool refusals_next(struct refusals_kind *ret, long long now_ms)
{
	if (!memory || atomic_load(&memory->any) == 0 || now_ms < minute.look_ms)
		return false;
	if (now_ms - minute.began_ms >= MINUTE_MS) {
		minute.began_ms = now_ms;
		minute.told = 0;
	}
	if (minute.told < REFUSALS_TOLD_MAX && (next_call(ret, now_ms) || next_path(ret, now_ms))) {
		minute.told++;
		return true;
	}
	minute.look_ms = now_ms + LOOK_MS;
	return false;
}
