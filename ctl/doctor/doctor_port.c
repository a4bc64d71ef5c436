#include "doctor.h"

#include "port_holder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only root can have opened systemd's sockets. */
static bool is_roots(int port)
{
	uid_t uid;

	return port_holder(port, &uid) && uid == 0;
}

/* The port of "http://127.0.0.1:3000/mcp". */
static int port_of(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

static void tell_other(struct doctor *d, int port, const char *next)
{
	OWNED(str) struct str who = { 0 };

	port_holder_tell(port, &who);
	doctor_tell(d, FAIL, "port",
	            "%d on 127.0.0.1 is held by %s, who can pose as this system to agents that use "
	            "HTTP; stop that program (`ss -ltnp`, as root, shows it) %s",
	            port, str_text(&who), next);
}

/* Several users are served: each of them could pose as the system at its port. */
static bool check_shared(struct doctor *d, int port, int failed)
{
	if (d->address && !is_roots(port_of(d->address))) {
		doctor_tell(d, WARN, "port",
		            "we serve %s, but systemd does not hold the port: any user of this "
		            "machine can take it at a restart, and pose as this system; "
		            "under systemd agent-intercom-http.socket holds it from the service's "
		            "next start",
		            d->address);
		return true;
	}
	if (d->address || failed != EADDRINUSE)
		return false;
	if (d->pid <= 0 && is_roots(port)) {
		doctor_tell(d, OK, "port", "%d on 127.0.0.1 is held by root, as systemd does",
		            port);
		return true;
	}
	tell_other(d, port, "and we serve HTTP as soon as the port is free");
	return true;
}

void doctor_check_port(struct doctor *d, bool shared)
{
	int port = (int)d->config.http_port;
	int failed = port ? port_try(port) : 0;
	char ours[16];

	(void)snprintf(ours, sizeof(ours), ":%d/", port);
	if (shared && check_shared(d, port, failed))
		return;
	if (d->address && (!port || strstr(d->address, ours)))
		doctor_tell(d, OK, "port", "we serve %s", d->address);
	else if (d->address)
		doctor_tell(d, WARN, "port", "we serve %s; %d on 127.0.0.1 %s", d->address, port,
		            failed ? "is taken" : "from the next start");
	else if (!port)
		doctor_tell(d, OK, "port", "any free one");
	else if (failed == 0)
		doctor_tell(d, OK, "port", "%d on 127.0.0.1 is free", port);
	else if (failed == EADDRINUSE && port_holder_is_other(port))
		tell_other(d, port, "or set another http_port");
	else if (failed == EADDRINUSE)
		doctor_tell(d, FAIL, "port",
		            "%d on 127.0.0.1 is used by another program (`ss -ltnp`, as root, "
		            "shows which); stop it or set another http_port",
		            port);
	else
		doctor_tell(d, FAIL, "port", "%d on 127.0.0.1: %s; set another http_port", port,
		            strerror(failed));
}
