/* choice: which one a text means of what an agent offers to choose from. A person sees a numbered
 * list of names: an id, which only the agent sees, never decides what "3" or "no" means. */
#ifndef CHOICE_H
#define CHOICE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* By its number in the list, from 1 ("2", and "2." where that is also the name of another), or by
 * its name in any case. choices: an array of {"id", "name"}. NULL: it means none, or (*ret_many)
 * several. */
const cJSON *choice_find(const cJSON *choices, const char *text, bool *ret_many);

#endif
