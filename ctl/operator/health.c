/* health: what runs, and what is queued. */
#include "ctl.h"
#include "via_desk.h"

#include "event.h"
#include "instance.h"
#include "owner.h"
#include "setting.h"
#include "sql/slack_outbox.h"
#include "sql/worker.h"
#include "start.h"

#include "clock.h"
#include "io.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	HEALTH_STARTING_MS = 10000, /* a system that is younger may still start workers */
};

/* Those that every system has. */
static const char *const EXPECTED[] = { "mcp-front", "applier",   "reader",    "watchdog",
	                                "retention", "archivist", "commander", "sentry" };
static const char PREFIX[] = "worker ";

struct findings {
	bool has_started[COUNT(EXPECTED)];
	bool serves[COUNT(EXPECTED)];
	bool is_young; /* the system was started a moment ago */
	bool damaged; /* the database failed its last integrity check */
	bool impaired; /* HTTP is off, or Slack is not connected, or refuses us */
	bool silent; /* as-owner does not answer */
	bool unsealed; /* events stay without a seal */
	bool full; /* there is no room for new questions */
	cJSON *rows;
	struct table table;
};

enum { OWNER_MS = 2000 };

/* A worker serves if its row says ready and it was heard from recently: after the whole system was
 * killed, its rows still say ready. */
static void note_worker(struct findings *f, const char *what, const char *state, const char *at)
{
	bool fresh = clock_now_ms() - clock_parse(at) <= INSTANCE_SILENT_MS;
	bool serves = fresh && state && strcmp(state, "ready") == 0;

	if (strncmp(what, PREFIX, sizeof(PREFIX) - 1) != 0)
		return;
	for (size_t i = 0; i < COUNT(EXPECTED); i++) {
		if (strcmp(what + sizeof(PREFIX) - 1, EXPECTED[i]) != 0)
			continue;
		f->has_started[i] |= !state || strcmp(state, "starting") != 0;
		f->serves[i] |= serves;
	}
}

/* Whether a worker reports that it serves only in part, after "pid 4711, fence landlock 7,
 * seccomp".
 */
static bool is_impaired(const char *what, const char *state, const char *detail)
{
	const char *says = detail ? detail : "";

	if (!state || strcmp(state, "ready") != 0)
		return false;
	if (strcmp(what, "worker mcp-front") == 0)
		return strstr(says, ", HTTP is off") != NULL;
	return strcmp(what, "worker slack-listener") == 0 && !strstr(says, ", connected");
}

static void add(struct findings *f, const char *what, const char *state, const char *detail,
                const char *at)
{
	struct age age = age_of(at);
	cJSON *o = cJSON_CreateObject();

	json_add_text(o, "what", what);
	json_add_text(o, "state", state);
	json_add_text(o, "detail", detail);
	json_add_text(o, "at", at);
	(void)cJSON_AddItemToArray(f->rows, o);
	table_add(&f->table, what);
	table_add(&f->table, state);
	table_add(&f->table, at ? age.text : NULL);
	table_add(&f->table, detail);
}

static void take_row(struct findings *f, const struct health_list_row *row)
{
	const char *what = row->what, *state = row->state, *detail = row->detail, *at = row->at;

	note_worker(f, what, state, at);
	if (strcmp(what, "database") == 0 && strcmp(state, "damaged") == 0)
		f->damaged = true;
	f->impaired |= is_impaired(what, state, detail);
	add(f, what, state, detail, at);
}

/* One of the two units of as-owner. Without it (no socket), and so as that text says, the system is
 * another one, not a broken one. */
static int ask_owner(struct ctl *c, struct findings *f, const char *setting, const char *unit,
                     const char *without, struct err *e)
{
	OWNED(str) struct str socket = { 0 }, detail = { 0 };
	struct err why = { 0 };

	if (setting_get(&c->store, setting, &socket, e) < 0)
		return -1;
	if (!socket.length || !owner_is_there(socket.bytes)) {
		add(f, unit, "missing", without, NULL);
		return 0;
	}
	if (owner_answers(socket.bytes, OWNER_MS, &why) == 0) {
		add(f, unit, "ready", NULL, NULL);
		return 0;
	}
	f->silent = true;
	str_addf(&detail, "%s; see: systemctl status %s", why.text, unit);
	add(f, unit, "silent", detail.bytes, NULL);
	return 0;
}

static int ask_owners(struct ctl *c, struct findings *f, struct err *e)
{
	OWNED(str) struct str directory = { 0 };

	if (setting_get(&c->store, "shared.directory", &directory, e) < 0)
		return -1;
	if (!directory.length)
		return 0;
	return err_if(ask_owner(c, f, "shared.owner_socket", OWNER_UNIT_FILES,
	                        "files are reached as agent-intercom's own user", e) ||
	              ask_owner(c, f, "shared.start_socket", OWNER_UNIT_AGENTS,
	                        "agents and commands are not started", e));
}

static void look_at_disk(struct ctl *c, struct findings *f)
{
	OWNED(str) struct str detail = { 0 };
	int64_t bytes = store_free_bytes(c->paths.database), least = STORE_MIN_FREE_BYTES;
	int64_t reserve = setting_int(&c->store, "checkpoint.reserve_bytes", STORE_RESERVE_BYTES);
	int fd = open(c->paths.database, O_PATH | O_CLOEXEC);
	unsigned long files = io_too_few_files(fd);

	io_shut(&fd);
	if (files) {
		str_addf(&detail, "fewer than %lu files more can be made: checkpoints are refused",
		         files);
		add(f, "disk", "short", detail.bytes, NULL);
		str_reset(&detail);
	}
	f->full = bytes >= 0 && bytes < least;
	if (bytes < 0 || (!f->full && bytes >= reserve))
		return;
	str_addf(&detail, "%" PRId64 " MiB are free: %s are refused below %" PRId64 " MiB",
	         bytes >> 20, f->full ? "new questions" : "checkpoints",
	         (f->full ? least : reserve) >> 20);
	add(f, "disk", f->full ? "full" : "short", detail.bytes, NULL);
}

static int look_at_seals(struct ctl *c, struct findings *f, struct err *e)
{
	OWNED(str) struct str detail = { 0 };
	int64_t late = event_late(&c->store, e);

	if (late <= 0)
		return late < 0 ? -1 : 0;
	f->unsealed = true;
	str_addf(&detail, EVENT_LATE, late);
	add(f, "seals", "late", detail.bytes, NULL);
	return 0;
}

/* What it is, the row of Slack says already. */
static int look_at_slack(struct ctl *c, struct findings *f, struct err *e)
{
	OWNED(slack_gate_refusal_row) struct slack_gate_refusal_row row = { 0 };
	int got = sql_slack_gate_refusal(&c->store, &row, e);

	f->impaired |= got > 0 && row.why;
	return got < 0 ? -1 : 0;
}

static int collect(struct ctl *c, struct findings *f, struct err *e)
{
	OWNED(health_list_row) struct health_list_row row = { 0 };
	OWNED(instant_row) struct instant_row oldest = { 0 };
	int got;

	sql_health_list(&c->store, &row);
	while ((got = row_next(&row.row, e)) > 0)
		take_row(f, &row);
	if (got == 0)
		got = sql_worker_oldest(&c->store, &oldest, e);
	f->is_young =
	    got > 0 && oldest.at && clock_now_ms() - clock_parse(oldest.at) < HEALTH_STARTING_MS;
	return got < 0 ? -1 : 0;
}

/* The first workers are ready before the others are started. */
static int missing(const struct findings *f, cJSON *names, cJSON *starting)
{
	int count = 0;

	for (size_t i = 0; i < COUNT(EXPECTED); i++) {
		bool starts = f->is_young && !f->has_started[i];

		if (f->serves[i])
			continue;
		(void)cJSON_AddItemToArray(starts ? starting : names,
		                           cJSON_CreateString(EXPECTED[i]));
		count += !starts;
	}
	return count;
}

static void tell_start(const struct ctl *c)
{
	OWNED(str) struct str command = { 0 };

	start_command(c->config, c->database, &command);
	if (instance_holder(c->paths.database, NULL) > 0)
		(void)puts("the system runs and restarts what has ended; its log says why");
	else
		(void)printf("start the system with: %s\n", str_text(&command));
}

static void print_text(const struct ctl *c, const struct findings *f, const cJSON *names,
                       const cJSON *starting)
{
	const cJSON *name;

	table_print(c, &f->table);
	cJSON_ArrayForEach (name, starting)
		(void)printf("starting: %s\n", name->valuestring);
	cJSON_ArrayForEach (name, names) {
		print_look(c, LOOK_RED);
		(void)printf("missing: %s does not serve\n", name->valuestring);
		print_look(c, LOOK_PLAIN);
	}
	if (cJSON_GetArraySize(names) > 0)
		tell_start(c);
	if (f->damaged) {
		print_look(c, LOOK_RED);
		(void)puts("the database is damaged: stop the system, then agent-intercom restore "
		           "FILE");
		print_look(c, LOOK_PLAIN);
	}
}

static int run_health(struct ctl *c, struct err *e)
{
	static const char *const HEADINGS[] = { "WHAT", "STATE", "AGE", "DETAIL" };
	struct findings f = { .rows = cJSON_CreateArray() };
	cJSON *names = cJSON_CreateArray(), *starting = cJSON_CreateArray();
	int status;

	table_begin(&f.table, HEADINGS, COUNT(HEADINGS));
	status = collect(c, &f, e);
	if (status == 0)
		status = err_if(ask_owners(c, &f, e) || look_at_seals(c, &f, e) ||
		                look_at_slack(c, &f, e));
	if (status == 0) {
		look_at_disk(c, &f);
		status = missing(&f, names, starting) || f.damaged || f.impaired || f.silent ||
		                 f.full || f.unsealed
		             ? 1
		             : 0;
	}
	if (status >= 0 && c->json) {
		cJSON *o = cJSON_CreateObject();

		(void)cJSON_AddBoolToObject(o, "ok", status == 0);
		(void)cJSON_AddItemToObject(o, "missing", names);
		(void)cJSON_AddItemToObject(o, "starting", starting);
		(void)cJSON_AddItemToObject(o, "health", f.rows);
		json_print(c, o);
		table_clear(&f.table);
		return status;
	}
	if (status >= 0) {
		print_text(c, &f, names, starting);
		via_desk_tell_of_it(c, "health");
	}
	cJSON_Delete(names);
	cJSON_Delete(starting);
	cJSON_Delete(f.rows);
	table_clear(&f.table);
	return status;
}

const struct command_spec cmd_health = {
	"health",
	HELP(
	    "", "what runs, and what is queued",
	    "Exit status 1 if a worker that every system has does not serve: its row does not say\n"
	    "ready, or nothing was heard of it for 90 seconds; if HTTP is off; if Slack is not\n"
	    "connected, or refuses the bot or a channel; if the disk has no room for new "
	    "questions;\n"
	    "if events stay unsealed; or if the database was damaged at the last weekly integrity\n"
	    "check. In the first 10 s of a system, a worker that is still starting is no "
	    "fault.\n"),
	ARGUMENTS(0, 0, 0), .run = run_health
};
