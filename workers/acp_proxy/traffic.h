/* traffic: what happens to each line, in both directions: it passes as it is, unless it is one that
 * is held, or belongs to one. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "proxy.h"

/* The takers of the two channels; arg: the struct proxy. */
void traffic_take_agent(void *arg, const char *line, size_t length, const struct json_peek *peek);
void traffic_refuse_agent(void *arg, const struct json_peek *peek);
void traffic_take_editor(void *arg, const char *line, size_t length, const struct json_peek *peek);
void traffic_refuse_editor(void *arg, const struct json_peek *peek);

#endif
