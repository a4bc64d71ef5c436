#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void machine_name(char out[MACHINE_BYTES])
{
	const char *given = getenv("INTERCOM_HOST");

	if (given && *given)
		(void)snprintf(out, MACHINE_BYTES, "%s", given);
	else if (gethostname(out, MACHINE_BYTES) != 0)
		(void)snprintf(out, MACHINE_BYTES, "localhost");
	out[MACHINE_BYTES - 1] = '\0';
}
