#include "clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef INTERCOM_TEST_CLOCK
static int64_t offset_ms(void)
{
	static volatile const int64_t *page;
	static bool looked;

	if (!looked) {
		const char *path = getenv("INTERCOM_CLOCK_PAGE");
		int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

		looked = true;
		if (fd >= 0) {
			void *map = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);

			if (map != MAP_FAILED)
				page = map;
			(void)close(fd);
		}
	}
	return page ? *page : 0;
}
#else
static int64_t offset_ms(void)
{
	return 0;
}
#endif

static int64_t read_ms(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + offset_ms();
}

int64_t clock_now_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

int64_t clock_monotonic_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

struct instant clock_instant(int64_t unix_ms)
{
	struct instant i;
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || tm.tm_year < 0 || tm.tm_year > 9999 - 1900) {
		memcpy(i.text, "9999-12-31T23:59:59.999Z", INSTANT_BYTES);
		return i;
	}
	(void)snprintf(i.text, sizeof(i.text), "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
	               (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
	               (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
	               (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100,
	               (unsigned)(unix_ms % 1000) % 1000);
	return i;
}

struct instant clock_now(void)
{
	return clock_instant(clock_now_ms());
}

int64_t clock_parse(const char *text)
{
	struct tm tm = { 0 };
	int ms;
	char z, end;

	if (!text || strlen(text) != INSTANT_BYTES - 1 ||
	    sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3d%c%c", &tm.tm_year, &tm.tm_mon,
	           &tm.tm_mday, /* NOLINT(cert-err34-c) */
	           &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, &z, &end) != 8 ||
	    z != 'Z')
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * 1000 + ms;
}
