/* The doctor on gates: whether the hooks that install wrote are there and would start, and by a
 * canary whether the host heeds them. */
#include "canary.h"
#include "doctor.h"

#include "gate_hooks.h"
#include "hosts.h"
#include "instance.h"
#include "json.h"
#include "json_edit.h"
#include "others.h"
#include "sql/gate_canary.h"
#include "textfile.h"
#include "texts.h"
#include "toml_edit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

/* What is looked at. */
struct look {
	struct doctor *d;
	const struct gate *gate;
	const struct gate_place *place;
	const char *path;
	const char *what; /* of the lines printed: "gate claude" */
	int failures_before;
	struct texts programs; /* of hooks in the file: those that were looked at */
	bool is_plain; /* what has no hooks of ours is not looked at */
};

/* ---- the file ---- */

/* The program that a command line starts. */
static void add_program(struct str *out, const char *line)
{
	bool quoted = *line == '\'';
	size_t length = strcspn(line += quoted, quoted ? "'" : " ");

	str_add_bytes(out, line, length);
}

/* What is for all users has to be there for them. Whoever installed it, root above all, may read
 * more than they. */
static void check_others(struct look *l, const char *path, mode_t wanted)
{
	char real[PATH_MAX];
	struct stat about;
	size_t length;

	if (l->place != &l->gate->system || !realpath(path, real))
		return;
	length = others_stop(real, 0, wanted, &about);
	if (length)
		doctor_tell(l->d, FAIL, l->what,
		            "%s: other users cannot get to it, so for them there is no gate: chmod "
		            "o+rX %.*s",
		            path, (int)length, real);
}

static void check_program(struct look *l, const char *path)
{
	if (texts_has(&l->programs, path))
		return;
	texts_add(&l->programs, path);
	if (access(path, X_OK) != 0)
		doctor_tell(l->d, FAIL, l->what,
		            "%s: its hooks start %s: %s; install the gate again: agent-intercom "
		            "install %s --%s",
		            l->path, path, strerror(errno), l->gate->host,
		            l->place == &l->gate->system ? "managed" : "gate");
	check_others(l, path, S_IXOTH);
}

/* A hook that a person is asked by has to answer before the host gives it up. */
static void check_handler(struct look *l, const char *event, const cJSON *handler)
{
	const struct gate *g = l->gate;
	const char *line = cJSON_GetStringValue(json_get(handler, g->command));
	const cJSON *timeout = json_get(handler, g->timeout.name);
	const char *deadline = strstr(line, " --deadline ");
	double seconds = deadline ? strtod(deadline + strlen(" --deadline "), NULL) : 0;
	OWNED(str) struct str program = { 0 };

	add_program(&program, line);
	check_program(l, str_text(&program));
	if (!cJSON_IsNumber(timeout) || seconds <= 0)
		doctor_tell(l->d, FAIL, l->what, "%s: %s has no %s; install the gate again",
		            l->path, event, deadline ? g->timeout.name : "deadline");
	else if (timeout->valuedouble <= seconds * g->timeout.unit)
		doctor_tell(l->d, FAIL, l->what,
		            "%s: %s is given up before it answers (%s %g, deadline %g s): the tool "
		            "would run; install the gate again",
		            l->path, event, g->timeout.name, timeout->valuedouble, seconds);
}

/* Our handler in the list of an event; NULL: there is none. group, handler: its place, from 0. */
static const cJSON *find_handler(const struct look *l, const cJSON *list, int *group, int *handler)
{
	const cJSON *outer, *inner;
	const char *line;

	*group = 0;
	cJSON_ArrayForEach (outer, list) {
		const cJSON *handlers = json_get(outer, "hooks");

		*handler = 0;
		line = cJSON_GetStringValue(json_get(outer, l->gate->command));
		if (line && gate_hooks_are_ours(l->gate->host, line))
			return outer;
		cJSON_ArrayForEach (inner, handlers) {
			line = cJSON_GetStringValue(json_get(inner, l->gate->command));
			if (line && gate_hooks_are_ours(l->gate->host, line))
				return inner;
			++*handler;
		}
		++*group;
	}
	return NULL;
}

/* Codex skips what its user has not trusted, and notes in its config.toml what they have. */
static void check_trust(struct look *l, int group, int handler)
{
	static const struct host_file CONFIG = { .variable = "CODEX_HOME",
		                                 .home = ".codex/",
		                                 .name = "config.toml" };
	OWNED(str) struct str path = { 0 }, key = { 0 };
	OWNED(textfile) struct textfile file = { 0 };
	OWNED(cJSON_ptr) cJSON *root = NULL;

	if (strcmp(l->gate->host, "codex") != 0 || l->place != &l->gate->user)
		return;
	str_addf(&key, "%s:pre_tool_use:%d:%d", l->path, group, handler);
	if (host_path(&CONFIG, false, &path, NULL) == 0 &&
	    textfile_read(str_text(&path), &file, NULL) == 0)
		root = toml_edit_parse(&file.bytes, str_text(&path), NULL);
	const char *const place[] = { "hooks", "state", str_text(&key), "trusted_hash", NULL };
	if (!json_edit_find(root, place))
		doctor_tell(l->d, FAIL, l->what,
		            "%s: you have not trusted it, so Codex skips it: start codex, type "
		            "/hooks, look at the hooks and trust them",
		            l->path);
}

static bool check_events(struct look *l, const cJSON *root)
{
	const cJSON *hooks = json_get(root, "hooks");
	const struct gate_event_name *hook;
	bool any = false;
	int group, at;

	for (int i = 0; (hook = gate_hook(l->gate, i)); i++) {
		const cJSON *handler = find_handler(l, json_get(hooks, hook->name), &group, &at);

		any = any || handler;
		if (!gate_event_asks(hook->event))
			continue;
		if (handler)
			check_handler(l, hook->name, handler);
		if (handler && i == 0)
			check_trust(l, group, at);
	}
	for (int i = 0; any && (hook = gate_hook(l->gate, i)); i++)
		if (gate_event_asks(hook->event) &&
		    !find_handler(l, json_get(hooks, hook->name), &group, &at))
			doctor_tell(l->d, FAIL, l->what, "%s: %s is gone; install the gate again",
			            l->path, hook->name);
	return any;
}

/* opencode's plugin names the program in a line of its own. */
static bool check_plugin(struct look *l, const struct textfile *file)
{
	static const char LINE[] = "\nconst HOOK = ";
	const char *mark = gate_mark(GATE_PLUGIN), *at;
	OWNED(cJSON_ptr) cJSON *path = NULL;

	if (strncmp(str_text(&file->bytes), mark, strlen(mark)) != 0)
		return false;
	at = strstr(file->bytes.bytes, LINE);
	path = at ? cJSON_ParseWithOpts(at + strlen(LINE), NULL, 0) : NULL;
	if (path && cJSON_IsString(path))
		check_program(l, path->valuestring);
	else
		doctor_tell(l->d, FAIL, l->what, "%s: was changed; install the gate again",
		            l->path);
	return true;
}

/* Whether the file at l->path has hooks of ours; tells what is wrong with them. */
static bool check_file(struct look *l)
{
	OWNED(textfile) struct textfile file = { 0 };
	OWNED(cJSON_ptr) cJSON *root = NULL;
	struct err e = { 0 };

	if (textfile_read(l->path, &file, &e)) {
		doctor_tell(l->d, FAIL, l->what, "%s", e.text);
		return false;
	}
	if (!file.exists ||
	    (l->is_plain && !gate_hooks_are_ours(l->gate->host, str_text(&file.bytes))))
		return false;
	if (l->place->shape == GATE_PLUGIN)
		return check_plugin(l, &file);
	if (l->place->shape == GATE_TABLES)
		root = toml_edit_parse(&file.bytes, l->path, &e);
	else if (json_edit_parse(&file.bytes, l->path, &root, &e) < 0)
		root = NULL;
	if (!root && e.text[0])
		doctor_tell(l->d, FAIL, l->what, "%s", e.text);
	return check_events(l, root);
}

/* Whether a gate is there; prints where. */
static bool check_place(struct look *l, const struct gate_place *place, bool managed)
{
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };
	int before = l->d->failures;
	bool there;

	if (!gate_hooks_exist(l->gate->host, managed))
		return false;
	if (gate_hooks_path(l->gate->host, managed, "", &path, &e)) {
		doctor_tell(l->d, FAIL, l->what, "%s", e.text);
		return false;
	}
	l->place = place;
	l->path = str_text(&path);
	there = check_file(l);
	texts_clear(&l->programs);
	if (there)
		check_others(l, l->path, S_IROTH);
	if (there && l->d->failures == before)
		doctor_tell(l->d, OK, l->what, "hooks are in %s", l->path);
	return there;
}

/* ---- the canary ---- */

static void record(struct doctor *d, const struct canary *c)
{
	struct err e = { 0 };

	if (!d->store.db || !c->version.length)
		return;
	const struct gate_canary_put_args put = { .host = c->host,
		                                  .version = str_text(&c->version),
		                                  .state = c->state,
		                                  .detail = str_text(&c->detail),
		                                  .helper = INSTANCE_BUILD };
	if (store_begin(&d->store, &e) ||
	    store_end(&d->store, sql_gate_canary_put(&d->store, &put, &e), &e))
		doctor_tell(d, WARN, "gate", "cannot note what was seen: %s", e.text);
}

static enum gate_canary_state try_canary(struct look *l, bool managed)
{
	static const enum verdict VERDICTS[] = { [GATE_CANARY_STATE_CLOSED] = OK,
		                                 [GATE_CANARY_STATE_OPEN] = FAIL,
		                                 [GATE_CANARY_STATE_UNKNOWN] = WARN };
	static const char *const WORDS[] = { [GATE_CANARY_STATE_CLOSED] = "closed",
		                             [GATE_CANARY_STATE_OPEN] = "OPEN",
		                             [GATE_CANARY_STATE_UNKNOWN] = "not tried" };
	OWNED(canary) struct canary c = { .host = l->gate->host, .managed = managed };

	(void)fflush(stdout);
	canary_look(&c);
	if (c.by_hand.length)
		doctor_judge_by_hand(l->d, &c);
	doctor_tell(l->d, VERDICTS[c.state], l->what, "%s%s%s%s: %s", WORDS[c.state],
	            c.version.length ? " (" : "", str_text(&c.version), c.version.length ? ")" : "",
	            str_text(&c.detail));
	if (c.by_hand.length)
		(void)printf("     %s\n", c.by_hand.bytes);
	record(l->d, &c);
	return c.state;
}

/* ---- all of it ---- */

/* asked: the user named this host. */
static void check_gate(struct doctor *d, const char *host, bool asked)
{
	OWNED(str) struct str what = { 0 };
	struct look l = { .d = d, .gate = gate_find(host), .failures_before = d->failures };
	bool there, managed;

	str_addf(&what, "gate %s", host);
	l.what = str_text(&what);
	there = check_place(&l, &l.gate->user, false);
	managed = check_place(&l, &l.gate->system, true);
	if (there || managed) {
		enum gate_canary_state state = try_canary(&l, managed);

		doctor_check_own(d, host, managed, state == GATE_CANARY_STATE_CLOSED);
		doctor_check_workspaces(d, host, managed);
	} else if (d->failures == l.failures_before) {
		doctor_tell(d, asked ? FAIL : OK, l.what,
		            "there is none: its agent is asked for nothing that it does not ask of "
		            "itself; agent-intercom install %s --gate",
		            host);
	}
}

void doctor_check_hooks(struct doctor *d)
{
	const char *host;

	for (size_t i = 0; (host = gate_hooks_host(i)) != NULL; i++) {
		OWNED(str) struct str what = { 0 };
		struct look l = { .d = d, .gate = gate_find(host), .is_plain = true };
		bool there, managed;

		str_addf(&what, "gate %s", host);
		l.what = str_text(&what);
		there = paths_from_env("HOME") && check_place(&l, &l.gate->user, false);
		managed = check_place(&l, &l.gate->system, true);
		if (there || managed)
			doctor_check_own(d, host, managed, false);
	}
}

static void open_store(struct doctor *d, const struct config_source *source)
{
	struct err e = { 0 };

	if (config_load(source, &d->config, &e) ||
	    paths_open(d->config.database.path, false, &d->paths, &e) ||
	    access(d->paths.database, F_OK) != 0 || paths_check_right(d->paths.database, &e) ||
	    store_open(&d->store, d->paths.database, NULL, &e))
		doctor_tell(d, WARN, "gate", "there is no database to note what is seen%s%s",
		            e.text[0] ? ": " : "", e.text);
}

int doctor_look_at_gate(const struct config_source *source, const char *host)
{
	OWNED(doctor) struct doctor d = { .store = STORE_INIT };
	const char *one;

	(void)umask(NOT_FOR_OTHERS);
	if (host && !gate_find(host)) {
		OWNED(str) struct str names = { 0 };

		host_names(&names);
		(void)fprintf(stderr,
		              "agent-intercom: doctor --gate takes one of %s, not '%.40s'\n",
		              str_text(&names), host);
		return EX_USAGE;
	}
	open_store(&d, source);
	for (size_t i = 0; (one = gate_hooks_host(i)) != NULL; i++)
		if (!host || strcmp(host, one) == 0)
			check_gate(&d, one, host != NULL);
	return d.failures ? EXIT_FAILURE : EX_OK;
}
