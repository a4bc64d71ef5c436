#include "peer_uid.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* One socket for all questions; each answer is read at once, so none is left over. */
static int diag_socket(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return fd;
}

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

/* Seen from the other end, its own address is our peer address. */
static int ask(int diag, int fd)
{
	struct sockaddr_in ours = { 0 }, theirs = { 0 };
	socklen_t size = sizeof(ours);
	struct question q = { .head = { .nlmsg_len = sizeof(q),
		                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		                        .nlmsg_flags = NLM_F_REQUEST },
		              .body = { .sdiag_family = AF_INET,
		                        .sdiag_protocol = IPPROTO_TCP,
		                        .idiag_states = ~0U } };

	if (getsockname(fd, (struct sockaddr *)&ours, &size) != 0 || ours.sin_family != AF_INET)
		return -1;
	size = sizeof(theirs);
	if (getpeername(fd, (struct sockaddr *)&theirs, &size) != 0)
		return -1;
	q.body.id.idiag_sport = theirs.sin_port;
	q.body.id.idiag_dport = ours.sin_port;
	q.body.id.idiag_src[0] = theirs.sin_addr.s_addr;
	q.body.id.idiag_dst[0] = ours.sin_addr.s_addr;
	q.body.id.idiag_cookie[0] = q.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	return send(diag, &q, sizeof(q), 0) == (ssize_t)sizeof(q) ? 0 : -1;
}

int peer_uid_socket(int fd, uid_t *ret_uid, unsigned *ret_inode, struct err *e)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	int diag = diag_socket();
	const struct inet_diag_msg *found;
	ssize_t n;

	if (diag < 0 || ask(diag, fd))
		return err_errno(e, ERR_AGAIN, "cannot ask the kernel who is connected");
	n = recv(diag, &answer, sizeof(answer), 0);
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
	    answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return err_set(e, ERR_INPUT, "the other end is not a socket of this machine");
	found = NLMSG_DATA(&answer.head);
	if (found->idiag_inode == 0) /* for a socket without a process the kernel reports uid 0 */
		return err_set(e, ERR_INPUT, "the other end has been closed");
	*ret_uid = found->idiag_uid;
	*ret_inode = found->idiag_inode;
	return 0;
}

int peer_uid(int fd, uid_t *ret_uid, struct err *e)
{
	unsigned inode;

	return peer_uid_socket(fd, ret_uid, &inode, e);
}
