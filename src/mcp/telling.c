#include "telling.h"

#include <stdlib.h>

void telling_clear(struct telling *t)
{
	str_clear(&t->result);
	free(t->traceparent);
	steering_clear(&t->steering);
	*t = (struct telling){ 0 };
}

struct mcp_said telling_said(const struct steering *s)
{
	return (struct mcp_said){ .text = str_text(&s->text), .list = str_text(&s->says) };
}
