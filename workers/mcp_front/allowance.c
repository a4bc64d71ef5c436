#include "allowance.h"

#include "clock.h"
#include "front.h"
#include "peer.h"
#include "rpc.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	HOUR_S = 3600,
	ROWS_BYTES = 1024, /* of the rows of a call without a text */
	CALLER_BYTES = 16384, /* of those of a caller who is new: connection, session, events */
	KEPT = 3, /* times a text is kept at most: as it came, its diff, what it does */
	SCARCE = 16, /* times as much costs what is recorded when little of the disk is left */
	TOO_MANY_REQUESTS = 429,
};

static struct allowance *of_user(struct front *f, uid_t uid)
{
	struct allowance *a = f->allowances;

	for (size_t i = 0; i < f->allowance_count; i++)
		if (a[i].uid == uid)
			return &a[i];
	f->allowances = a = xrealloc(a, (f->allowance_count + 1) * sizeof(*a));
	a += f->allowance_count++;
	*a = (struct allowance){ .uid = uid,
		                 .left = f->recorded_bytes,
		                 .at_ms = clock_monotonic_ms() };
	return a;
}

static void fill(const struct front *f, struct allowance *a)
{
	int64_t seconds = (clock_monotonic_ms() - a->at_ms) / 1000;

	a->at_ms += seconds * 1000;
	if (seconds > HOUR_S)
		seconds = HOUR_S;
	a->left += f->recorded_bytes / HOUR_S * seconds;
	if (a->left > f->recorded_bytes)
		a->left = f->recorded_bytes;
}

/* What is recorded when so much of the disk is left costs so many times its bytes; 0: nothing is.
 * Before new questions are refused there is room for what is on its way. */
static int64_t price(const struct front *f)
{
	int64_t room = store_free_bytes(f->settings.db_path);

	if (room < 0 || room >= STORE_RESERVE_BYTES)
		return 1;
	return room < STORE_MIN_FREE_BYTES / 4 ? 0 : SCARCE;
}

/* Takes cost from what is left to p's user; otherwise why says that it is too much. */
static bool pay(struct front *f, const struct peer *p, int64_t cost, char *why, size_t size)
{
	struct allowance *a;
	int64_t times;

	if (!p->has_user)
		return true;
	a = of_user(f, p->user);
	fill(f, a);
	times = price(f);
	cost *= times;
	if (times && cost <= a->left) {
		a->left -= cost;
		return true;
	}
	if (times == 0) {
		(void)snprintf(why, size, "not recorded: the disk of agent-intercom is full");
		return false;
	}
	(void)snprintf(why, size,
	               "not recorded: your user's agents have filled %" PRId64
	               " bytes within an hour, as much as they may here (shared.recorded_bytes%s); "
	               "call again in %" PRId64 " s",
	               f->recorded_bytes, times > 1 ? "; little of the disk is left" : "",
	               (cost - a->left) / (f->recorded_bytes / HOUR_S) + 1);
	return false;
}

bool allowance_take(struct front *f, const struct peer *p, size_t bytes, struct mcp_fault *fault)
{
	int64_t rows = p->seq ? ROWS_BYTES : CALLER_BYTES;

	*fault = (struct mcp_fault){ .status = TOO_MANY_REQUESTS, .code = RPC_INTERNAL_ERROR };
	return pay(f, p, (int64_t)bytes * KEPT + rows, fault->text, sizeof(fault->text));
}

bool allowance_take_effect(void *front, const struct peer *p, size_t bytes, char *why, size_t size)
{
	return pay(front, p, (int64_t)bytes, why, size);
}
