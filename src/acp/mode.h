/* mode: which of its modes an agent works in. One that never asks makes a person of no use, so it
 * is set to one that does, and put back when it leaves that. */
#ifndef ACP_MODE_H
#define ACP_MODE_H

#include "err.h"
#include "json.h"

#include <stdbool.h>

struct acp_modes {
	cJSON *options; /* configOptions: the complete list as it was told last; NULL: none */
	cJSON *modes; /* {currentModeId, availableModes} where there are no such options */
};

/* A setting to be made. Texts are valid until the modes change. */
struct acp_mode_step {
	const char *option; /* the config option's id; NULL: it is the mode */
	const char *value;
	bool is_bool;
};

/* Takes over what an answer or an update says; members that it lacks stay. */
void acp_modes_take(struct acp_modes *modes, const cJSON *said);

/* The mode it is in, NULL: it has none. */
const char *acp_modes_current(const struct acp_modes *modes);

/* The next thing that is to be set so that it asks. asking: a JSON object {option: value} (NULL:
 * none); refused: a JSON list of modes (NULL: none). 1 step is filled, 0 it is as it shall be,
 * -1 it cannot be (e: which option or value it lacks). */
int acp_modes_next(const struct acp_modes *modes, const cJSON *asking, const cJSON *refused,
                   struct acp_mode_step *step, struct err *e);

/* Appends the params that make this step in a session, and returns the method's name. */
const char *acp_mode_step_add(struct str *out, const struct acp_mode_step *step,
                              const char *session_id, int version);

void acp_modes_clear(struct acp_modes *modes);

#endif
