#include "telling.h"

void telling_clear(struct telling *t)
{
	str_clear(&t->result);
	steering_clear(&t->steering);
	*t = (struct telling)TELLING_INIT;
}
