#include "as_owner.h"

#include <string.h>
#include <sys/socket.h>

void said_send(int conn, const struct owner_said *said, int pidfd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { .iov_base = (void *)said, .iov_len = sizeof(*said) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (pidfd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			               .cmsg_type = SCM_RIGHTS,
			               .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(c), &pidfd, sizeof(pidfd));
	}
	(void)sendmsg(conn, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}
