#include "calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#if defined(OUR_ARCH) && !defined(__SANITIZE_ADDRESS__)

static const unsigned REFUSED[] = {
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_execve,
	SYS_execveat,
	SYS_clone,
	SYS_clone3,
	SYS_kill,
	SYS_tkill,
	SYS_pidfd_open,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_unshare,
	SYS_setns,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsmount,
	SYS_mount_setattr,
	SYS_mknodat,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_swapon,
	SYS_swapoff,
	SYS_reboot,
	SYS_acct,
	SYS_personality,
	SYS_quotactl,
	SYS_open_by_handle_at,
#ifdef __x86_64__
	SYS_fork,
	SYS_vfork,
	SYS_mknod,
	SYS_modify_ldt,
#endif
};

enum {
	CALLS = sizeof(REFUSED) / sizeof(REFUSED[0]),
	X32_BIT = 0x40000000, /* of the calls of another ABI, which have other numbers */
	HEAD = 5, /* instructions before the list */
};

static void make_filter(struct sock_filter f[HEAD + CALLS + 2])
{
	const struct sock_filter head[HEAD] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, CALLS + 1, 0),
	};
	struct sock_filter *list = f + HEAD;

	memcpy(f, head, sizeof(head));
	for (size_t i = 0; i < CALLS; i++)
		list[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REFUSED[i],
		                                       (unsigned char)(CALLS - i), 0);
	list[CALLS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	list[CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
}

int calls_refuse(struct err *e)
{
	struct sock_filter filter[HEAD + CALLS + 2];
	const struct sock_fprog program = { .len = COUNT(filter), .filter = filter };

	make_filter(filter);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return err_errno(e, ERR_AGAIN, "fence: seccomp does not take it");
	return 0;
}

#else
int calls_refuse(struct err *e)
{
	(void)e;
	return 0;
}
#endif
