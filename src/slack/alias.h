/* slack_alias: a command of [commands] that runs, as one message that is edited: its state, the
 * first and last lines of its output, and a button to stop it. */
#ifndef SLACK_ALIAS_H
#define SLACK_ALIAS_H

#include "blocks.h"
#include "sql/alias_run.h"

void slack_alias_say(const struct alias_run_row *run, struct slack_said *out);

#endif
