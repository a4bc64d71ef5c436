/* gate_canary: how `agent-intercom doctor --gate` tells a hook that its host runs as a canary. */
#ifndef GATE_CANARY_H
#define GATE_CANARY_H

/* A variable of the host's environment, which its hooks inherit. If it is set, a hook denies every
 * tool and permission by itself, asks nobody, and has its value in the reason. It can only close a
 * gate: whoever sets it gains nothing. */
#define GATE_CANARY_VARIABLE "INTERCOM_CANARY"

#endif
