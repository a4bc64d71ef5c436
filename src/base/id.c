#include "id.h"

#include "clock.h"
#include "random.h"

#include <stdint.h>
#include <stdio.h>
#include <uuid/uuid.h>

enum { AHEAD_MS = 200 };

/* The instant of the next id: never that of another one of this process, as long as they do not
 * come faster than one a millisecond for long. People read only that part of an id. */
static uint64_t next_ms(void)
{
	static uint64_t last;
	uint64_t ms = (uint64_t)clock_now_ms();

	if (ms <= last && last - ms < AHEAD_MS)
		ms = last + 1;
	last = ms;
	return ms;
}

struct id id_new(void)
{
	uint64_t ms = next_ms();
	struct id id;
	uuid_t raw;

	random_bytes(raw, sizeof(raw));
	for (int i = 0; i < 6; i++)
		raw[i] = (unsigned char)(ms >> (8 * (5 - i)));
	raw[6] = (unsigned char)((raw[6] & 0x0F) | 0x70);
	raw[8] = (unsigned char)((raw[8] & 0x3F) | 0x80);
	uuid_unparse_lower(raw, id.text);
	return id;
}

struct secret id_new_secret(void)
{
	unsigned char raw[(SECRET_BYTES - 1) / 2];
	struct secret key;

	random_bytes(raw, sizeof(raw));
	for (size_t i = 0; i < sizeof(raw); i++)
		(void)snprintf(key.text + 2 * i, 3, "%02x", raw[i]);
	return key;
}
