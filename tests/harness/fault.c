#include "fault.h"

#include "harness.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What writes can lack room, too. */
#define READS                                                                                      \
	"read,pread64,readlinkat,readlink,newfstatat,fstatfs,getdents64,lseek,faccessat2,"         \
	"flistxattr,fgetxattr"
#define WRITES                                                                                     \
	"openat,openat2,write,pwrite64,mkdirat,renameat,renameat2,linkat,unlinkat,symlinkat,"      \
	"fchmod,fchown,fsetxattr,fsync,fdatasync,syncfs,sync_file_range,ftruncate"

#define WRITES_BY_NAME "mkdir,rename,symlink,unlink,chmod"

const char FAULT_CALLS[] = READS "," WRITES;
const char FAULT_CALLS_BY_NAME[] = READS "," WRITES ",access,statfs," WRITES_BY_NAME;

static const char *const ERRORS[] = { "EIO", "EACCES", "ENOSPC", "EDQUOT" };

enum { READ_ERRORS = 2, COUNTS = 400, LINE_BYTES = 8000 };

void faults_clear(struct faults *f)
{
	free(f->list);
	*f = (struct faults){ .list = NULL };
}

static bool is_write(const char *call)
{
	char word[30];

	(void)snprintf(word, sizeof(word), ",%s,", call);
	return strstr("," WRITES "," WRITES_BY_NAME ",", word) != NULL;
}

static bool is_there(const struct faults *f, const char *call, int n)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].n == n && strcmp(f->list[i].call, call) == 0)
			return true;
	return false;
}

static void add(struct faults *f, const char *call, int n)
{
	size_t errors = is_write(call) ? COUNT(ERRORS) : READ_ERRORS;

	if (is_there(f, call, n))
		return;
	f->list = xrealloc(f->list, (f->count + 2 * errors) * sizeof(*f->list));
	for (size_t i = 0; i < 2 * errors; i++) {
		struct fault *one = &f->list[f->count++];

		*one = (struct fault){ .n = n, .error = ERRORS[i / 2], .stays = (i & 1) != 0 };
		(void)snprintf(one->call, sizeof(one->call), "%s", call);
	}
}

/* How often each process has made each call; strace counts likewise. */
static int next_number(int pid, const char *call)
{
	static struct {
		int pid, n;
		char call[20];
	} counts[COUNTS];
	size_t i = 0;

	if (!call) {
		memset(counts, 0, sizeof(counts));
		return 0;
	}
	while (i < COUNTS && counts[i].pid &&
	       (counts[i].pid != pid || strcmp(counts[i].call, call) != 0))
		i++;
	ck_assert_uint_lt(i, COUNTS);
	counts[i].pid = pid;
	(void)snprintf(counts[i].call, sizeof(counts[i].call), "%s", call);
	return ++counts[i].n;
}

static void shuffle(struct faults *f)
{
	unsigned seed = 1;

	for (size_t i = f->count; i > 1; i--) {
		size_t k = (size_t)rand_r(&seed) % i;
		struct fault kept = f->list[i - 1];

		f->list[i - 1] = f->list[k];
		f->list[k] = kept;
	}
}

/* What INTERCOM_FAULTS asks for: "all", "2/8" (the second eighth of all), otherwise a sample. */
static void choose(struct faults *f, size_t sample)
{
	const char *wanted = getenv("INTERCOM_FAULTS");
	unsigned piece, pieces;

	if (sample == 0 || (wanted && strcmp(wanted, "all") == 0))
		return;
	if (!wanted || sscanf(wanted, "%u/%u", &piece, &pieces) != 2) {
		f->count = sample;
		return;
	}
	ck_assert_msg(piece > 0 && piece <= pieces, "INTERCOM_FAULTS=%s", wanted);
	size_t first = f->count * (piece - 1) / pieces, end = f->count * piece / pieces;

	memmove(f->list, f->list + first, (end - first) * sizeof(*f->list));
	f->count = end - first;
}

void faults_read(struct faults *f, const char *log, const char *path, size_t sample)
{
	FILE *from = fopen(log, "re");
	char line[LINE_BYTES], call[20];
	int pid;

	ck_assert_ptr_nonnull(from);
	(void)next_number(0, NULL);
	while (fgets(line, sizeof(line), from)) {
		bool alone = *line < '0' || *line > '9'; /* one process: its lines have no pid */

		pid = 1;
		if ((alone ? sscanf(line, "%19[a-z0-9_](", call) != 1
		           : sscanf(line, "%d %19[a-z0-9_](", &pid, call) != 2) ||
		    strstr(line, "resumed>"))
			continue;
		int n = next_number(pid, call);

		if (strstr(line, path))
			add(f, call, n);
	}
	(void)fclose(from);
	ck_assert_msg(f->count > sample, "only %zu calls can fail", f->count);
	shuffle(f);
	choose(f, sample);
}

pid_t fault_start(const struct fault *f, const char *worker, const char *log)
{
	char how[60];

	(void)snprintf(how, sizeof(how), "error=%s:when=%d%s", f->error, f->n, f->stays ? "+" : "");
	return start_traced(worker, f->call, how, log);
}

bool fault_hit_outside(const char *log, const char *path)
{
	FILE *from = fopen(log, "re");
	char line[LINE_BYTES];
	bool hit = false;

	ck_assert_ptr_nonnull(from);
	while (!hit && fgets(line, sizeof(line), from))
		hit = strstr(line, "(INJECTED)") && !strstr(line, path);
	(void)fclose(from);
	return hit;
}

const char *fault_name(const struct fault *f)
{
	static char name[80];

	(void)snprintf(name, sizeof(name), "%s at %s %d%s", f->error, f->call, f->n,
	               f->stays ? ", and from then on" : "");
	return name;
}

void writes_are_short(bool are)
{
	OWNED(str) struct str library = { 0 };

	if (!are) {
		(void)unsetenv("LD_PRELOAD");
		return;
	}
	str_addf(&library, "%s/tests/short_write.so", getenv("INTERCOM_BUILD"));
	(void)setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
	(void)setenv("LD_PRELOAD", library.bytes, 1);
}
