/* hand_effect: what a plan does to the files, for a person to read. Part of the work of a hand. */
#ifndef HAND_EFFECT_H
#define HAND_EFFECT_H

#include "hand.h"

/* Computes the effect of found->plan: 0, or -1 with why too_large. */
int hand_effect_compute(struct hand_found *found);

#endif
