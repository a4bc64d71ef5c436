/* machine: the name of this machine, as in rows. */
#ifndef MACHINE_H
#define MACHINE_H

enum { MACHINE_BYTES = 65 };

/* $INTERCOM_HOST, or otherwise the host name. */
void machine_name(char out[MACHINE_BYTES]);

#endif
