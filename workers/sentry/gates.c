#include "sentry.h"

#include "clock.h"
#include "gate_hooks.h"
#include "gate_switch.h"
#include "log.h"
#include "sql/gate_lapse.h"
#include "textfile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_BYTES_MAX = 4 << 20, /* of a file with hooks; what is after that is not looked at */
	TOLD_AGAIN_MS = 60 * 60 * 1000, /* of changes in one session */
};

/* One look at all gates. */
struct round {
	struct worker *w;
	const struct texts *roots;
	struct texts installs; /* "host path": hooks of ours are there */
	struct texts known; /* the same, of rows */
	struct texts switches; /* "host path": keeps hooks from running */
	struct texts
	    broken; /* "host path": a program that hooks of ours start, and cannot be run */
	const char *root; /* that is looked at; NULL: the user's own settings */
	struct err *e;
	bool failed;
};

static void add_pair(struct texts *list, const char *host, const char *path)
{
	OWNED(str) struct str pair = { 0 };

	str_addf(&pair, "%s %s", host, path);
	texts_add(list, str_text(&pair));
}

static bool has_pair(const struct texts *list, const char *host, const char *path)
{
	OWNED(str) struct str pair = { 0 };

	str_addf(&pair, "%s %s", host, path);
	return texts_has(list, str_text(&pair));
}

static bool has_host(const struct texts *list, const char *host)
{
	size_t length = strlen(host);

	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], host, length) == 0 && list->items[i][length] == ' ')
			return true;
	return false;
}

/* ---- rows ---- */

int gates_note(struct worker *w, const struct lapse *l, struct err *e)
{
	int64_t session = l->session;
	int known = sql_gate_lapse_known(&w->store, w->machine, l->kind, l->host, l->subject, e);

	if (known)
		return known < 0 ? -1 : 0;
	if (store_begin(&w->store, e))
		return -1;
	if (l->root)
		session = sql_gate_lapse_session(&w->store, l->root, w->machine, e);
	const struct gate_lapse_insert_args lapse = { .kind = l->kind,
		                                      .machine = w->machine,
		                                      .host = l->host,
		                                      .subject = l->subject,
		                                      .session = session,
		                                      .detail = l->detail };
	if (store_end(&w->store, session < 0 || sql_gate_lapse_insert(&w->store, &lapse, e), e))
		return -1;
	log_warn("%s: %s", l->host, l->detail);
	return 1;
}

static int end_lapse(struct worker *w, int64_t seq, struct err *e)
{
	if (store_begin(&w->store, e))
		return -1;
	return store_end(&w->store, sql_gate_lapse_end(&w->store, seq, e), e);
}

/* ---- hooks in the hosts' files ---- */

static const char *why_not_run(const char *program)
{
	struct stat about;

	if (stat(program, &about) == 0 && !S_ISREG(about.st_mode))
		return "it is no file";
	return access(program, X_OK) == 0 ? NULL
	                                  : strerror(errno); /* NOLINT(concurrency-mt-unsafe) */
}

static void note_broken(struct round *r, const char *host, const char *path, const char *program,
                        const char *why)
{
	OWNED(str) struct str detail = { 0 };

	add_pair(&r->broken, host, program);
	str_addf(&detail,
	         "the hooks in %s start %s, which cannot be run (%s): many hosts then run their "
	         "tools unasked; agent-intercom install %s --gate",
	         path, program, why, host);
	r->failed |= gates_note(r->w,
	                        &(struct lapse){ .kind = GATE_LAPSE_KIND_BROKEN,
	                                         .host = host,
	                                         .subject = program,
	                                         .detail = str_text(&detail) },
	                        r->e) < 0;
}

static void look_at_programs(struct round *r, const char *host, const char *path, const char *text)
{
	OWNED(texts) struct texts programs = { 0 };

	gate_hooks_programs(host, text, &programs);
	for (size_t i = 0; i < programs.count; i++) {
		const char *why = why_not_run(programs.items[i]);

		if (why)
			note_broken(r, host, path, programs.items[i], why);
	}
}

static void look_at_hooks(struct round *r, const char *host, bool managed)
{
	OWNED(str) struct str path = { 0 };
	OWNED(str) struct str text = { 0 };

	if (!gate_hooks_exist(host, managed) || gate_hooks_path(host, managed, "", &path, NULL))
		return;
	(void)textfile_look(str_text(&path), FILE_BYTES_MAX, &text);
	if (!gate_hooks_are_ours(host, str_text(&text)))
		return;
	add_pair(&r->installs, host, str_text(&path));
	look_at_programs(r, host, str_text(&path), str_text(&text));
}

static int note_removed(struct round *r, const char *host, const char *path)
{
	OWNED(str) struct str detail = { 0 };

	str_addf(
	    &detail,
	    "our hooks are no longer in %s: its agents are asked for nothing that they do not ask "
	    "of themselves; agent-intercom install %s --gate",
	    path, host);
	return gates_note(r->w,
	                  &(struct lapse){ .kind = GATE_LAPSE_KIND_REMOVED,
	                                   .host = host,
	                                   .subject = path,
	                                   .detail = str_text(&detail) },
	                  r->e);
}

/* Compares the rows with what is there. */
static int note_installs(struct round *r)
{
	OWNED(gate_install_list_row) struct gate_install_list_row row = { 0 };
	int got;

	sql_gate_install_list(&r->w->store, r->w->machine, &row);
	while ((got = row_next(&row.row, r->e)) > 0)
		add_pair(&r->known, row.host, row.path);
	if (got < 0)
		return -1;
	for (size_t i = 0; i < r->known.count; i++) {
		char *host = r->known.items[i], *path = strchr(host, ' ');

		if (texts_has(&r->installs, host))
			continue;
		*path = '\0';
		got = note_removed(r, host, path + 1);
		*path = ' ';
		if (got < 0)
			return -1;
	}
	return 0;
}

static int put_install(struct round *r, char *pair)
{
	char *path = strchr(pair, ' ');
	int failed;

	if (texts_has(&r->known, pair))
		return 0;
	if (store_begin(&r->w->store, r->e))
		return -1;
	*path = '\0';
	failed = sql_gate_install_put(&r->w->store, r->w->machine, pair, path + 1, r->e);
	*path = ' ';
	if (store_end(&r->w->store, failed, r->e))
		return -1;
	texts_add(&r->known, pair);
	return 0;
}

static int look_at_installs(struct round *r)
{
	const char *host;

	for (size_t i = 0; (host = gate_hooks_host(i)) != NULL; i++) {
		look_at_hooks(r, host, false);
		look_at_hooks(r, host, true);
	}
	if (r->failed || note_installs(r))
		return -1;
	for (size_t i = 0; i < r->installs.count; i++)
		if (put_install(r, r->installs.items[i]))
			return -1;
	return 0;
}

/* ---- files that switch hooks off ---- */

/* Whether the host has our hooks for all users: then most other settings do not count. */
static bool is_managed(const struct round *r, const char *host)
{
	OWNED(str) struct str path = { 0 };

	return gate_hooks_exist(host, true) && gate_hooks_path(host, true, "", &path, NULL) == 0 &&
	       has_pair(&r->installs, host, str_text(&path));
}

static void note_switch(void *arg, const struct gate_switch_found *found)
{
	struct round *r = arg;
	OWNED(str) struct str path = { 0 };
	OWNED(str) struct str detail = { 0 };

	if (!found->for_all && is_managed(r, found->host))
		return;
	if (r->root)
		str_addf(&path, "%s%s", r->root, *found->file ? "/" : "");
	str_add(&path, found->file);
	add_pair(&r->switches, found->host, str_text(&path));
	str_addf(&detail,
	         "%s keeps our hooks from running%s (%s), so its agents are not asked; "
	         "agent-intercom doctor --gate %s tries it",
	         str_text(&path), r->root ? " there" : "", str_text(&found->what), found->host);
	r->failed |= gates_note(r->w,
	                        &(struct lapse){ .kind = GATE_LAPSE_KIND_SWITCHED_OFF,
	                                         .host = found->host,
	                                         .subject = str_text(&path),
	                                         .root = r->root,
	                                         .detail = str_text(&detail) },
	                        r->e) < 0;
}

static int look_at_switches(struct round *r)
{
	const char *host;

	for (size_t k = 0; !r->failed && (host = gate_hooks_host(k)) != NULL; k++)
		if (has_host(&r->known, host))
			gate_switch_look_own(host, note_switch, r);
	for (size_t i = 0; i < r->roots->count; i++) {
		r->root = r->roots->items[i];
		for (size_t k = 0; !r->failed && (host = gate_hooks_host(k)) != NULL; k++)
			if (has_host(&r->known, host))
				gate_switch_look(host, r->root, note_switch, r);
	}
	return r->failed ? -1 : 0;
}

/* ---- what the database knows ---- */

static int note_silent(struct round *r)
{
	OWNED(gate_silent_list_row) struct gate_silent_list_row row = { 0 };
	int got;

	sql_gate_silent_list(&r->w->store, r->w->machine, &row);
	got = row_next(&row.row, r->e);
	if (got <= 0)
		return got;
	OWNED(char_ptr) char *host = xstrdup(row.host);
	OWNED(char_ptr) char *session = xstrdup(row.session_id);
	const struct lapse l = { .kind = GATE_LAPSE_KIND_SILENT,
		                 .host = host,
		                 .subject = session,
		                 .session = row.session_seq,
		                 .detail = "its agent calls our tools, but none of its hooks has "
		                           "called: something keeps them from running, and its own "
		                           "tools run unasked" };

	gate_silent_list_row_clear(&row);
	return gates_note(r->w, &l, r->e);
}

static int note_untried(struct round *r)
{
	OWNED(gate_untried_list_row) struct gate_untried_list_row row = { 0 };
	OWNED(str) struct str detail = { 0 };
	int got;

	sql_gate_untried_list(&r->w->store, r->w->machine, &row);
	got = row_next(&row.row, r->e);
	if (got <= 0)
		return got;
	OWNED(char_ptr) char *host = xstrdup(row.host);
	OWNED(char_ptr) char *version = xstrdup(row.version);
	const int64_t session = row.session_seq;

	gate_untried_list_row_clear(&row);
	str_addf(&detail,
	         "nobody has tried whether the gate holds in its version %s; agent-intercom doctor "
	         "--gate %s",
	         version, host);
	return gates_note(r->w,
	                  &(struct lapse){ .kind = GATE_LAPSE_KIND_UNTRIED,
	                                   .host = host,
	                                   .subject = version,
	                                   .session = session,
	                                   .detail = str_text(&detail) },
	                  r->e);
}

/* One at a time: a statement that reads must be over before a row is written. */
static int note_all(struct round *r, int (*note)(struct round *r))
{
	int did;

	while ((did = note(r)) > 0)
		;
	return did;
}

/* ---- the end of lapses ---- */

/* Whether it is one of these folders, or in it. */
static bool is_below(const struct texts *roots, const char *path)
{
	for (size_t i = 0; i < roots->count; i++) {
		size_t length = strlen(roots->items[i]);

		if (strncmp(path, roots->items[i], length) == 0 &&
		    (path[length] == '/' || !path[length]))
			return true;
	}
	return false;
}

static bool is_over(const struct round *r, const struct gate_lapse_list_row *l)
{
	struct stat about;

	if (l->kind == GATE_LAPSE_KIND_REMOVED) /* back, or uninstalled */
		return has_pair(&r->installs, l->host, l->subject) ||
		       !has_pair(&r->known, l->host, l->subject);
	if (l->kind == GATE_LAPSE_KIND_BROKEN) /* it runs again, or no hook of ours starts it */
		return !has_pair(&r->broken, l->host, l->subject);
	if (l->kind != GATE_LAPSE_KIND_SWITCHED_OFF)
		return false;
	if (is_below(r->roots, l->subject) || gate_switch_is_own(l->host, l->subject))
		return !has_pair(&r->switches, l->host, l->subject);
	return stat(l->subject, &about) != 0 ? errno == ENOENT : S_ISDIR(about.st_mode);
}

static int end_found(struct round *r)
{
	OWNED(gate_lapse_list_row) struct gate_lapse_list_row row = { 0 };
	int64_t over = 0;
	int got;

	sql_gate_lapse_list(&r->w->store, r->w->machine, &row);
	while ((got = row_next(&row.row, r->e)) > 0 && !over)
		if (is_over(r, &row))
			over = row.seq;
	gate_lapse_list_row_clear(&row);
	if (got < 0 || (over && end_lapse(r->w, over, r->e)))
		return -1;
	return over != 0;
}

static int end_past(struct round *r)
{
	const struct instant before = clock_instant(clock_now_ms() - TOLD_AGAIN_MS);
	int64_t seq = sql_gate_lapse_past(&r->w->store, r->w->machine, before.text, r->e);

	if (seq <= 0)
		return (int)seq;
	return end_lapse(r->w, seq, r->e) ? -1 : 1;
}

int gates_look(struct worker *w, const struct texts *roots, struct err *e)
{
	struct round r = { .w = w, .roots = roots, .e = e };
	int failed = look_at_installs(&r) || look_at_switches(&r) ||
	             note_all(&r, note_silent) < 0 || note_all(&r, note_untried) < 0 ||
	             note_all(&r, end_found) < 0 || note_all(&r, end_past) < 0;

	texts_clear(&r.installs);
	texts_clear(&r.known);
	texts_clear(&r.switches);
	texts_clear(&r.broken);
	return failed ? -1 : 0;
}
