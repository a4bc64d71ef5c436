/* `agent-intercom audit export` and `agent-intercom audit verify`: writes the sealed timeline as
 * JSON lines, and checks that it has not changed since. Both work whether or not the system
 * runs. */
#include "system.h"

#include "audit.h"
#include "audit_verify.h"
#include "backup.h"
#include "event.h"
#include "options.h"
#include "proof.h"
#include "sql/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum { BROKEN = 1 };

static const char PROGRAM[] = "agent-intercom";

struct audit_arguments {
	struct config_source source;
	const char *verb, *file;
	struct instant since; /* "": from the first event */
	struct audit_kept kept;
};

static int help(void)
{
	(void)printf(
	    "usage: %s audit export [--since TIME] [FILE]\n"
	    "       %s audit verify [--head SEQ:HASH] [FILE]\n\n"
	    "export writes what happened, sealed event by sealed event, as JSON lines to FILE,\n"
	    "which must be new, or to stdout. verify checks that the events of the database, or "
	    "of\n"
	    "an export, match their seals, and names the first one that does not. It reports what\n"
	    "retention cut off, events that stay unsealed for more than a minute, answers that "
	    "only\n"
	    "claim to be from Slack, and questions that are not what was shown, or not answered "
	    "as\n"
	    "their events tell. An answer that came with\n"
	    "its event is not told from yours, however it was written. Keep the head that "
	    "verify\n"
	    "prints elsewhere: it shows whether everything was resealed.\n\n"
	    "  --since TIME       from then on: 2026-02-08 or 2026-02-08T09:30:00.123Z (UTC)\n"
	    "  --head SEQ:HASH    what an earlier verify has printed\n"
	    "  --config FILE, --db PATH\n\n"
	    "Exit status: 0 done, or all is as it was sealed; 1 it is not; 64 wrong usage;\n"
	    "75 try later; 78 FILE is no export, or cannot be read or made.\n",
	    PROGRAM, PROGRAM);
	return EX_OK;
}

/* ---- arguments ---- */

static bool read_since(const char *text, struct instant *ret)
{
	size_t length = strlen(text);
	int64_t ms;

	if (length == 10)
		(void)snprintf(ret->text, sizeof(ret->text), "%.10sT00:00:00.000Z", text);
	else
		(void)snprintf(ret->text, sizeof(ret->text), "%.24s", text);
	ms = length == 10 || length == 24 ? clock_parse(ret->text) : -1;
	/* February has no 30th. */
	return ms >= 0 && strcmp(clock_instant(ms).text, ret->text) == 0;
}

static bool read_kept(const char *text, struct audit_kept *ret)
{
	char *colon;

	ret->seq = strtoll(text, &colon, 10);
	if (ret->seq <= 0 || *colon != ':' || strlen(colon + 1) != SHA256_BYTES - 1)
		return false;
	(void)snprintf(ret->hash.text, sizeof(ret->hash.text), "%s", colon + 1);
	return true;
}

static int wrong(const char *option, const char *value, struct err *e)
{
	return err_set(e, ERR_INPUT, "audit: --%s %.80s is not one; see %s audit --help", option,
	               value, PROGRAM);
}

static int take_since(void *arg, const char *value, struct err *e)
{
	struct audit_arguments *a = arg;

	return read_since(value, &a->since) ? 0 : wrong("since", value, e);
}

static int take_head(void *arg, const char *value, struct err *e)
{
	struct audit_arguments *a = arg;

	return read_kept(value, &a->kept) ? 0 : wrong("head", value, e);
}

/* Returns 0, 1 after --help, -1 if they are wrong (and says so). */
static int parse(struct audit_arguments *a, int argc, char **argv)
{
	bool help = false;
	const struct options_row rows[] = {
		{ "since", .take = take_since },         { "head", .take = take_head },
		{ "config", .text = &a->source.config }, { "db", .text = &a->source.database },
		{ "help", .flag = &help, .ends = true }, { NULL },
	};
	struct err e = { 0 };

	optind = 0; /* getopt_long has already run over the words before */
	if (options_read(rows, "", a, argc, argv, &e)) {
		if (e.kind != ERR_NONE)
			(void)cli_say(&e);
		return -1;
	}
	if (help)
		return 1;
	a->verb = optind < argc ? argv[optind] : "";
	a->file = optind + 1 < argc ? argv[optind + 1] : NULL;
	if (optind + 2 < argc ||
	    (strcmp(a->verb, "export") != 0 && strcmp(a->verb, "verify") != 0)) {
		(void)fprintf(stderr,
		              "%s: write audit export or audit verify; see %s audit --help\n",
		              PROGRAM, PROGRAM);
		return -1;
	}
	return 0;
}

/* ---- export ---- */

/* The first event to export. */
static int find_first(struct store *st, const struct audit_arguments *a, int64_t *ret,
                      struct err *e)
{
	int64_t seq = *a->since.text ? sql_event_since(st, a->since.text, e) : 0;

	*ret = *a->since.text && seq == 0 ? INT64_MAX : seq;
	return seq < 0 ? -1 : 0;
}

static int write_all_of(struct store *st, const struct audit_arguments *a, FILE *out,
                        struct audit_export *x, struct err *e)
{
	int64_t first;
	int did;

	while ((did = audit_seal(st, e)) > 0)
		;
	if (did < 0 || find_first(st, a, &first, e) ||
	    audit_export_begin(x, st, out, first, INT64_MAX, e))
		return -1;
	while ((did = audit_export_some(x, e)) > 0)
		;
	return did;
}

static int export_to_file(struct store *st, const struct audit_arguments *a, struct err *e)
{
	OWNED(staging) struct staging n = STAGING_INIT;
	struct audit_export x;
	struct stat about;
	FILE *out;
	int result;

	if (lstat(a->file, &about) == 0)
		return err_set(e, ERR_INPUT, "%s already exists; choose another name", a->file);
	if (staging_open(&n, a->file, e))
		return -1;
	out = staging_create(&n, e);
	if (!out)
		return -1;
	result = write_all_of(st, a, out, &x, e);
	if (fclose(out) != 0 && result == 0)
		result = err_errno(e, ERR_AGAIN, "cannot write %s", a->file);
	if (result || staging_publish(&n, a->file, e))
		return -1;
	(void)printf("%s: %" PRId64 " events, head %" PRId64 ":%s\n", a->file, x.count, x.after,
	             x.last.text);
	return fflush(stdout) ? err_errno(e, ERR_AGAIN, "stdout") : 0;
}

static int export(struct store *st, const struct audit_arguments *a, struct err *e)
{
	struct audit_export x;

	return a->file ? export_to_file(st, a, e) : write_all_of(st, a, stdout, &x, e);
}

/* ---- verify ---- */

static int tell(const struct audit_report *report, struct err *e)
{
	OWNED(str) struct str words = { 0 };

	audit_verify_tell(report, &words);
	(void)puts(words.bytes);
	if (fflush(stdout))
		return err_errno(e, ERR_AGAIN, "stdout");
	return report->fault == AUDIT_WHOLE ? 0 : BROKEN;
}

/* Also lists answers in the name of Slack that did not come from there, questions that are not what
 * the timeline says was asked and answered, and events that nobody seals. */
static int tell_all(struct store *st, const struct audit_report *report, struct err *e)
{
	OWNED(str) struct str forged = { 0 }, swapped = { 0 };
	int64_t count = proof_forged(st, &forged, e), changed = proof_swapped(st, &swapped, e);
	int64_t late = event_late(st, e);
	int status;

	if (count < 0 || changed < 0 || late < 0)
		return -1;
	if (count)
		(void)printf("%" PRId64 " answers in the name of Slack did not come from Slack: "
		             "%s\n",
		             count, forged.bytes);
	if (changed)
		(void)printf("%" PRId64 " questions were changed after they were asked: %s\n",
		             changed, swapped.bytes);
	if (late)
		(void)printf(EVENT_LATE "\n", late);
	status = tell(report, e);
	return status == 0 && (count || changed || late) ? BROKEN : status;
}

/* ---- both ---- */

static int on_database(const struct audit_arguments *a, struct err *e)
{
	OWNED(paths) struct paths places = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	struct config config = { 0 };
	OWNED(audit_report) struct audit_report report = { .fault = AUDIT_WHOLE };
	int64_t cut_days;
	int result = config_load(&a->source, &config, e) ||
	             cli_find_database(&a->source, &config, &places, e);

	cut_days = config.audit_retention_days;
	config_clear(&config);
	if (result || paths_check_right(places.database, e) ||
	    store_open(&st, places.database, access(places.run, F_OK) == 0 ? places.run : NULL, e))
		return -1;
	if (strcmp(a->verb, "export") == 0)
		return export(&st, a, e);
	return audit_verify_store(&st, &a->kept, cut_days, &report, e) ? -1
	                                                               : tell_all(&st, &report, e);
}

int intercom_audit(const struct config_source *source, int argc, char **argv)
{
	struct audit_arguments a = { .source = *source };
	OWNED(audit_report) struct audit_report report = { .fault = AUDIT_WHOLE };
	struct err e = { 0 };
	int result = parse(&a, argc, argv);

	if (result)
		return result > 0 ? help() : EX_USAGE;
	(void)umask(NOT_FOR_OTHERS);
	if (strcmp(a.verb, "verify") == 0 && a.file)
		result = audit_verify_file(a.file, &a.kept, &report, &e) ? -1 : tell(&report, &e);
	else if (cli_find(&a.source))
		result = EX_CONFIG;
	else
		result = on_database(&a, &e);
	return result < 0 ? cli_say(&e) : result;
}
