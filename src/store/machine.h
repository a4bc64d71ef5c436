/* machine: the name of this machine, as rows carry it. */
#ifndef MACHINE_H
#define MACHINE_H

enum { MACHINE_BYTES = 65 };

/* $INTERCOM_HOST, or else the host name. */
void machine_name(char out[MACHINE_BYTES]);

#endif
