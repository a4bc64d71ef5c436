/* contact: the system that a program of an agent connects to: which it is, where it is by now, and
 * its start if it does not run. */
#ifndef CONTACT_H
#define CONTACT_H

#include "err.h"
#include "locate.h"
#include "start.h"

#include <stdbool.h>
#include <stdint.h>

struct contact {
	struct located is; /* the system that we connect to, or would start */
	bool shared; /* it is that of the machine, for several users: we never start it */
	bool named; /* by --config, --db or $INTERCOM_CONFIG: no other one will do */
	bool fixed; /* its database, by --db: the configuration does not say where it is */
	bool reached; /* once, at least: we stay with it, as it knows what we asked */
	int64_t lost_ms; /* since when it cannot be reached, 0: it can, as far as is known */
	int64_t started_ms; /* when it was started by us */
	int pause_ms; /* between two attempts */
	struct started start; /* by us */
	int failures; /* of our starts in a row */
	struct str lost; /* why nobody but a person starts it; "": is not known, or was told */
};

/* Finds our user's running system, else that of the machine, if it serves us, else the one to be
 * started. config, database: as given by options, or NULL. 0 or -1. */
int contact_find(struct contact *c, const char *config, const char *database, struct err *e);
void contact_clear(struct contact *c);

/* That of the machine does not serve our user: finds one of our own instead. 0 or -1. */
int contact_leave_shared(struct contact *c, struct err *e);

/* Connects to it, where it was or where it is by now; -1: it does not listen. */
int contact_connect(struct contact *c);
/* It has answered. */
void contact_reached(struct contact *c);
/* It cannot be reached, or not any longer. */
void contact_lost(struct contact *c, int64_t now_ms);
/* Starts a system that is lost, if it is time to. Where systemd holds a socket for it, a connection
 * starts it: as a service, which it watches. Returns that connection; -1: there is none. */
int contact_start(struct contact *c, int64_t now_ms);
/* Whether the system that we started refuses to start until somebody mends something, or has failed
 * several times in a row (it is tried again all the same), or lost its database, so that it is not
 * started; said once for each start, with the reason in why. */
enum start_end contact_start_ended(struct contact *c, struct str *why);
/* How long to wait with the next attempt. */
int contact_wait_ms(const struct contact *c, int64_t now_ms);

#endif
