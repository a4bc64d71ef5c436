/* gate_version: which version of itself a host names where its hooks can see it. Claude
 * Code 2.1.330, Copilot CLI 1.0.102 and Qwen Code 0.24.4 were seen to do so in the environment of
 * their hooks; Cursor is documented to do so in their input. The others leave it to their MCP
 * client (schema/gate_lapse.sql: gate_client). */
#ifndef GATE_VERSION_H
#define GATE_VERSION_H

#include "gate_host.h"
#include "json.h"

/* Appends the version from the input of a hook and the variables that it passed on
 * (gate_host_add_variables); nothing if neither says. */
void gate_version_add(const struct gate_host *host, const cJSON *input, const cJSON *env,
                      struct str *out);

#endif
