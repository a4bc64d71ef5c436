#include "offline.h"

#include "arch.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

bool offline_can(void)
{
#ifdef OUR_ARCH
	return true;
#else
	return false;
#endif
}

#ifdef OUR_ARCH

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
/* The lower half of an argument: we are little-endian. */
#define LOAD_ARGUMENT(n) LOAD(args[n])
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define DENY(number) ANSWER(SECCOMP_RET_ERRNO | (number))
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
/* The next so many parts only if the value at hand is this, has these bits. */
#define IF(value, parts) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (parts))
#define IF_BITS(bits, parts) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (parts))
/* A call with flags as that argument. */
#define NO_FAST_OPEN(call, n)                                                                      \
	IF(call, 4), LOAD_ARGUMENT(n), IF_BITS(MSG_FASTOPEN, 1), DENY(EACCES), ALLOW

enum { TYPE = 0xF /* without SOCK_CLOEXEC and the like */ };

int offline_restrict(struct err *e)
{
	struct sock_filter parts[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
		DENY(EPERM),
		IF(SYS_io_uring_setup, 1),
		DENY(ENOSYS),
		NO_FAST_OPEN(SYS_sendto, 3),
		NO_FAST_OPEN(SYS_sendmsg, 2),
		NO_FAST_OPEN(SYS_sendmmsg, 3),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
		ALLOW,
		LOAD_ARGUMENT(0),
		IF(AF_UNIX, 1),
		ALLOW,
		IF(AF_NETLINK, 1), /* the C library asks which addresses there are */
		ALLOW,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0),
		DENY(EACCES),
		LOAD_ARGUMENT(1),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, TYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0),
		DENY(EACCES),
		LOAD_ARGUMENT(2),
		IF(0, 1),
		ALLOW,
		IF(IPPROTO_TCP, 1),
		ALLOW,
		DENY(EACCES),
	};
	struct sock_fprog program = { .len = COUNT(parts), .filter = parts };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return err_errno(e, ERR_AGAIN, "fence: seccomp does not take it");
	return 0;
}

#else
int offline_restrict(struct err *e)
{
	return err_set(e, ERR_AGAIN, "fence: the calls of this architecture are not known");
}
#endif
