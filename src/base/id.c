#include "id.h"

#include "clock.h"
#include "random.h"

#include <stdint.h>
#include <stdio.h>
#include <uuid/uuid.h>

struct id id_new(void)
{
	uint64_t ms = (uint64_t)clock_now_ms();
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
