#include "event.h"

#include "clock.h"
#include "sql/audit.h"
#include "sql/worker.h"

int64_t event_late(struct store *st, struct err *e)
{
	OWNED(worker_newest_row) struct worker_newest_row watchdog = { 0 };
	int got = sql_worker_newest(st, "watchdog", &watchdog, e);
	int64_t before;

	if (got <= 0)
		return got;
	before = clock_parse(watchdog.heartbeat_at) - EVENT_LATE_MS;
	if (clock_parse(watchdog.started_at) > before)
		return 0;
	return sql_event_unsealed(st, clock_instant(before).text, e);
}
