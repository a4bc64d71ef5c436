/* http: MCP over HTTP. */
#ifndef HTTP_H
#define HTTP_H

#include "err.h"

struct front;

int http_start(struct front *f, struct err *e);
void http_stop(struct front *f);

#endif
