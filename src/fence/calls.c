#include "calls.h"

#include "arch.h"
#include "texts.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "fence_calls.h" /* made by CMake: NAMES, all calls that the headers know; ALLOWED */

const char *calls_name(int number)
{
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (NAMES[i].number == number)
			return NAMES[i].name;
	return NULL;
}

int calls_number(const char *name)
{
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i].name, name) == 0)
			return NAMES[i].number;
	return -1;
}

static bool is_for(const char *processes, const char *process)
{
	return strcmp(processes, "all") == 0 || texts_has_word(processes, process) ||
	       (texts_has_word(processes, "workers") && strcmp(process, CALLS_LOOKER) != 0 &&
	        strcmp(process, CALLS_FILER) != 0);
}

bool calls_allowed(const char *process, int number)
{
	for (size_t i = 0; i < COUNT(ALLOWED); i++)
		if (ALLOWED[i].number == number)
			return is_for(ALLOWED[i].processes, process);
	return false;
}

#if defined(OUR_ARCH) && !defined(__SANITIZE_ADDRESS__)

/* Made by libraries with all signals blocked, where a trap would end the process. */
static const struct {
	unsigned number;
	int error;
} QUIET[] = {
	{ SYS_clone3, ENOSYS },
	{ SYS_clone, EPERM },
#ifdef __x86_64__
	{ SYS_fork, EPERM },
	{ SYS_vfork, EPERM },
#endif
};

enum {
	FIRST_ARGUMENT =
	    offsetof(struct seccomp_data, args), /* its lower half: we are little-endian */
	PARTS = 16 + 2 * (COUNT(ALLOWED) + COUNT(QUIET)), /* at most */
};

struct program {
	struct sock_filter parts[PARTS];
	unsigned short count;
};

static void add(struct program *p, struct sock_filter part)
{
	p->parts[p->count++] = part;
}

/* If the value at hand passes the test, the answer is this. */
static void add_answer(struct program *p, unsigned short test, unsigned value, unsigned answer)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 1));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* A socket of the machine alone, if the row has no other. Without either, its refusal is not
 * counted: the C library asks for a daemon of names before it reads the files with them. */
static void add_unix_socket(struct program *p, const char *process)
{
	bool may = is_for(UNIX_SOCKETS, process);

	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4));
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST_ARGUMENT));
	add_answer(p, BPF_JEQ, AF_UNIX, may ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
}

static unsigned newest(void)
{
	int most = 0;

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (NAMES[i].number > most)
			most = NAMES[i].number;
	return (unsigned)most;
}

static void make_program(struct program *p, const char *process)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                    offsetof(struct seccomp_data, arch)));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0));
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                    offsetof(struct seccomp_data, nr)));
	add_answer(p, BPF_JGE, X32_BIT, SECCOMP_RET_ERRNO | EPERM);
	add_answer(p, BPF_JGT, newest(), SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < COUNT(ALLOWED); i++)
		if (is_for(ALLOWED[i].processes, process))
			add_answer(p, BPF_JEQ, (unsigned)ALLOWED[i].number, SECCOMP_RET_ALLOW);
	if (!calls_allowed(process, SYS_socket))
		add_unix_socket(p, process);
	for (size_t i = 0; i < COUNT(QUIET); i++)
		add_answer(p, BPF_JEQ, QUIET[i].number,
		           SECCOMP_RET_ERRNO | (unsigned)QUIET[i].error);
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
}

int calls_restrict(const char *process, struct err *e)
{
	struct program p = { .count = 0 };
	struct sock_fprog program = { .filter = p.parts };

	make_program(&p, process);
	program.len = p.count;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return err_errno(e, ERR_AGAIN, "fence: seccomp does not take it");
	return 1;
}

#else
int calls_restrict(const char *process, struct err *e)
{
	(void)process;
	(void)e;
	return 0;
}
#endif
