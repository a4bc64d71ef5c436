#include "hand_effect.h"

#include "effect.h"

#include <string.h>

/* Nobody reads a diff of this size: it is not computed. Each byte by which a file grows or shrinks
 * is one of its bytes. */
static bool is_unseen(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *f = &plan->files[i];
		size_t old = f->old.length, new = f->new.length;

		if (strcmp(f->is.action, "modify") == 0 &&
		    (old > new ? old - new : new - old) > HAND_EFFECT_BYTES)
			return true;
	}
	return false;
}

int hand_effect_compute(struct hand_found *found)
{
	bool unseen = is_unseen(&found->plan);

	if (!unseen)
		effect_of(&found->plan, &found->effect);
	if (!unseen && found->effect.length <= HAND_EFFECT_BYTES)
		return 0;
	str_clear(&found->effect);
	return refusal_set(
	    &found->why, "too_large",
	    "what this does to the files is a diff of more than %d MiB, which nobody "
	    "can look at; propose it in parts, or have a command do it "
	    "(auto_check, kind terminal_command)",
	    HAND_EFFECT_BYTES >> 20);
}
