/* activation_fds: where systemd's sockets are in a process that it starts, sd_listen_fds(3). */
#ifndef ACTIVATION_FDS_H
#define ACTIVATION_FDS_H

enum {
	ACTIVATION_FIRST_FD = 3, /* SD_LISTEN_FDS_START */
	ACTIVATION_SOCKETS_MAX = 16, /* more are left alone */
};

#endif
