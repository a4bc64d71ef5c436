#include "as_owner.h"

#include "io.h"

#include <sys/socket.h>

void said_send(int conn, const struct owner_said *said, int pidfd)
{
	(void)io_send_fds(conn, said, sizeof(*said), &pidfd, pidfd >= 0, MSG_DONTWAIT);
}
