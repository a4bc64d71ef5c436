/* The doctor: checks everything that a start needs, and a running system. Prints one line each:
 *
 *   ok|warn|FAIL what: detail; what to do
 *
 * It creates nothing and repairs nothing. (SQLite makes -wal and -shm next to a database that no
 * other process has open, and removes them again.) */
#include "doctor.h"

#include "clock.h"
#include "event.h"
#include "fence.h"
#include "group_id.h"
#include "instance.h"
#include "locate.h"
#include "owner.h"
#include "program.h"
#include "proof.h"
#include "reach.h"
#include "setting.h"
#include "sql/setting.h"
#include "sql/slack_outbox.h"
#include "sql/worker.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	STARTING_MS = 10000, /* a worker may take so long, and a system until it starts it */
	OWNER_MS = 2000, /* within which as-owner answers */
	NOT_WRITTEN_BY_OTHERS = 022,
};

/* ---- environment ---- */

static void check_home(struct doctor *d)
{
	const char *home = paths_from_env("HOME");

	if (home && access(home, W_OK | X_OK) == 0)
		doctor_tell(d, OK, "home", "%s", home);
	else if (home && errno == EROFS)
		doctor_tell(d, WARN, "home", "%s: %s; mount it so that it can be written", home,
		            strerror(errno));
	else if (home)
		doctor_tell(d, WARN, "home", "%s: %s; set $HOME to your home directory", home,
		            strerror(errno));
	else if (paths_from_env("XDG_STATE_HOME") && paths_from_env("XDG_CONFIG_HOME"))
		doctor_tell(d, OK, "home", "not set; $XDG_STATE_HOME and $XDG_CONFIG_HOME are");
	else
		doctor_tell(d, FAIL, "home", "$HOME is not an absolute path; set it");
}

static void check_xdg(struct doctor *d)
{
	static const char *const VARIABLES[] = { "XDG_CONFIG_HOME", "XDG_STATE_HOME",
		                                 "XDG_RUNTIME_DIR" };

	for (size_t i = 0; i < COUNT(VARIABLES); i++) {
		const char *value = getenv(VARIABLES[i]);

		if (value && *value && *value != '/')
			doctor_tell(
			    d, WARN, "environment",
			    "$%s is '%.80s' and not absolute: it counts as unset; correct it",
			    VARIABLES[i], value);
	}
}

static void check_kernel(struct doctor *d)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));

	if (fd >= 0) {
		(void)close((int)fd);
		doctor_tell(d, OK, "kernel", "openat2 works");
	} else if (errno == ENOSYS || errno == EPERM) {
		doctor_tell(
		    d, FAIL, "kernel",
		    "openat2 is missing or forbidden, files cannot be written safely; use Linux "
		    "5.6 or later, and allow it where a container's seccomp profile does not");
	} else {
		doctor_tell(d, WARN, "kernel",
		            "openat2 does not open the working directory: %s; run me "
		            "elsewhere",
		            strerror(errno));
	}
}

/* Programs that workers, relays, editors and hosts start: how many there are. */
static int count_others(struct doctor *d)
{
	static const char *const OTHERS[] = { "hand",      "mcp-stdio", "acp-proxy", "hook",
		                              "hook-ends", "keeper",    "filer",     "as-owner" };
	int count = 0;

	for (size_t i = 0; i < COUNT(OTHERS); i++) {
		OWNED(str) struct str path = { 0 };
		struct err e = { 0 };

		if (paths_program(OTHERS[i], &path, &e))
			doctor_tell(d, FAIL, "binaries", "%s", e.text);
		else
			count++;
	}
	return count;
}

static void check_workers(struct doctor *d)
{
	struct supervisor s = SUPERVISOR_INIT;
	struct err e = { 0 };
	int others = count_others(d);

	if (workers_find(&s, &e)) /* all of them, including those for Slack */
		doctor_tell(d, FAIL, "binaries", "%s", e.text);
	else
		doctor_tell(d, OK, "binaries", "%d workers and %d other programs beside %s",
		            CHILD_COUNT, others, s.children[0].path);
	workers_clear(&s);
}

/* ---- configuration ---- */

static bool check_config(struct doctor *d, const struct config_source *source)
{
	static const char AREA[] = "config: "; /* doctor_tell prints it, too */
	struct err e = { 0 };

	if (config_load(source, &d->config, &e)) {
		bool twice = strncmp(e.text, AREA, strlen(AREA)) == 0;

		doctor_tell(d, FAIL, "config", "%s", e.text + (twice ? strlen(AREA) : 0));
		return false;
	}
	if (d->config.file[0])
		doctor_tell(d, OK, "config", "%s", d->config.file);
	else
		doctor_tell(d, OK, "config",
		            "no file, the defaults apply (`agent-intercom config sample`)");
	for (size_t i = 0; i < d->config.warnings.count; i++)
		doctor_tell(d, WARN, "config", "%s", d->config.warnings.items[i]);
	return true;
}

static void check_fence(struct doctor *d)
{
	int abi = fence_abi(), mode = d->config.fence;

	if (mode == CONFIG_FENCE_OFF)
		doctor_tell(d, WARN, "fence",
		            "off: our processes may reach whatever you may; remove fence from %s",
		            d->config.file);
	else if (abi == 0)
		doctor_tell(d, mode == CONFIG_FENCE_REQUIRE ? FAIL : WARN, "fence",
		            "this kernel offers no Landlock; it needs Linux 5.13 and landlock "
		            "among its security modules (lsm=)");
	else
		doctor_tell(d, OK, "fence", "Landlock, ABI %d%s", abi,
		            abi < 6 ? ": an older one, which holds less (src/fence/fence.h)" : "");
}

/* The profile for sessions that name no agent. */
static void check_agent(struct doctor *d)
{
	const struct config_agents *all = &d->config.agents;
	OWNED(str) struct str path = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		const struct config_agent *a = &all->items[i];

		if (!a->is_default)
			continue;
		if (program_find(a->command, &path))
			doctor_tell(d, OK, "agent", "%s: %s", a->name, str_text(&path));
		else
			doctor_tell(d, WARN, "agent",
			            "%s, the default profile: %s is not installed, no session can "
			            "be started; see `agent-intercom agents`",
			            a->name, a->command);
		return;
	}
	doctor_tell(d, OK, "agent",
	            "no default: a session starts the agent that it names "
	            "(`agent-intercom agents`); to change that set default_agent");
}

/* What follows is about a system of our own, even if we run none because that one serves us. */
static void check_shared(struct doctor *d, const struct config_source *source)
{
	if (locate_is_named(source))
		return;
	if (reach_shared_excludes())
		doctor_tell(d, OK, "shared",
		            "a system of this machine for several users does not serve you (%s): "
		            "join its group of agents, or of operators",
		            reach_shared_directory());
	if (!reach_shared_serves())
		return;
	doctor_tell(d, OK, "shared",
	            "while you run no system, that of this machine for several users serves you "
	            "(%s); the lines below are about one of your own%s",
	            reach_shared_directory(),
	            geteuid() == 0
	                ? "; to check that one: runuser -u agent-intercom -- env "
	                  "HOME=/var/lib/agent-intercom "
	                  "XDG_STATE_HOME=/var/lib XDG_CONFIG_HOME=/etc agent-intercom doctor"
	                : "");
}

/* ---- where the files live ---- */

/* Finds the directory of the database, or its nearest ancestor that exists. */
static void find_dir(struct doctor *d)
{
	OWNED(char_ptr) char *path = xstrdup(d->config.database.path);
	char *slash = strrchr(path, '/');

	d->dir_exists = true;
	while (slash && slash > path) {
		*slash = '\0';
		d->dir = realpath(path, NULL);
		if (d->dir)
			return;
		d->dir_exists &= errno != ENOENT && errno != ENOTDIR;
		slash = strrchr(path, '/');
	}
	d->dir = xstrdup("/");
}

static void check_filesystem(struct doctor *d)
{
	enum { TMPFS = 0x01021994 };
	struct err e = { 0 };
	struct statfs about;

	if (paths_check_filesystem(d->dir, &e))
		doctor_tell(d, FAIL, "file system", "%s", e.text);
	else if (statfs(d->dir, &about) == 0 && about.f_type == TMPFS)
		doctor_tell(
		    d, WARN, "file system",
		    "%s is in memory and lost at a reboot; choose another place with --db PATH",
		    d->dir);
	else
		doctor_tell(d, OK, "file system", "%s is local", d->dir);
}

static void check_space(struct doctor *d)
{
	int64_t bytes = store_free_bytes(d->dir);

	if (bytes < 0)
		doctor_tell(d, WARN, "free space", "unknown at %s", d->dir);
	else if (bytes < STORE_MIN_FREE_BYTES)
		doctor_tell(d, FAIL, "free space",
		            "%lld MiB at %s: new questions are refused below %d MiB; free some",
		            (long long)(bytes >> 20), d->dir, STORE_MIN_FREE_BYTES >> 20);
	else
		doctor_tell(d, OK, "free space", "%lld MiB at %s", (long long)(bytes >> 20),
		            d->dir);
}

static bool is_closed(struct doctor *d, const char *path, bool must, mode_t wanted)
{
	struct stat about;

	if (lstat(path, &about) != 0) {
		if (must || errno != ENOENT)
			doctor_tell(d, FAIL, "permissions", "%s: %s", path, strerror(errno));
		return !must && errno == ENOENT;
	}
	if (about.st_uid != geteuid()) {
		doctor_tell(d, FAIL, "permissions",
		            "%s belongs to uid %u, we are uid %u; run me as its owner, or chown it",
		            path, (unsigned)about.st_uid, (unsigned)geteuid());
		return false;
	}
	if (access(path, W_OK) != 0) {
		doctor_tell(d, FAIL, "permissions", "%s cannot be written: %s; chmod %o it", path,
		            strerror(errno), wanted);
		return false;
	}
	if (!(about.st_mode & NOT_FOR_OTHERS))
		return true;
	doctor_tell(d, WARN, "permissions", "%s has mode %04o, open to others; chmod %o it", path,
	            about.st_mode & 07777U, wanted);
	return false;
}

static void check_permissions(struct doctor *d)
{
	struct err e = { 0 };
	struct stat about;
	bool closed;

	if (paths_check_beside(d->paths.database, &e)) {
		doctor_tell(d, FAIL, "permissions", "%s", e.text);
		return;
	}
	closed = stat(d->dir, &about) != 0 || !(about.st_mode & S_ISVTX);
	if (!closed)
		doctor_tell(d, WARN, "permissions",
		            "%s has mode %04o: everybody may create files there; take a folder of "
		            "your own with --db PATH or database.path",
		            d->dir, about.st_mode & 07777U);
	closed = closed && is_closed(d, d->dir, true, 0700);
	for (const char *const *suffix = PATHS_FILES; *suffix; suffix++) {
		OWNED(str) struct str name = { 0 };

		str_addf(&name, "%s%s", d->paths.database, *suffix);
		closed &= is_closed(d, str_text(&name), !**suffix, 0600);
	}
	if (closed)
		doctor_tell(d, OK, "permissions", "%s and its files are private", d->dir);
}

static void check_run(struct doctor *d)
{
	if (access(d->paths.run, F_OK) != 0)
		doctor_tell(d, OK, "run directory",
		            "%s does not exist yet; the first start creates it", d->paths.run);
	else
		doctor_tell(d, OK, "run directory", "%s", d->paths.run);
}

/* ---- the database ---- */

struct checked {
	struct str text;
	int rows;
};

static void take_row(int columns, const char *const *names, const char *const *values, void *arg)
{
	struct checked *c = arg;

	(void)columns;
	(void)names;
	if (c->rows++ == 0)
		str_add(&c->text, values[0] ? values[0] : "NULL");
}

static void check_integrity(struct doctor *d)
{
	struct checked found = { 0 };
	struct err e = { 0 };

	if (store_query(&d->store, "PRAGMA quick_check(1)", take_row, &found, &e))
		doctor_tell(d, FAIL, "integrity", "%s", e.text);
	else if (strcmp(str_text(&found.text), "ok") != 0)
		doctor_tell(
		    d, FAIL, "integrity",
		    "%s; stop the system, then restore a backup: agent-intercom restore FILE",
		    str_text(&found.text));
	else
		doctor_tell(d, OK, "integrity", "quick_check found nothing");
	str_clear(&found.text);
}

/* Triggers and views: the next start recreates them, but until then they decide what is allowed. */
static void check_rules(struct doctor *d)
{
	OWNED(str) struct str found = { 0 };
	struct err e = { 0 };
	int same = store_check_rules(&d->store, &found, &e);

	if (same >= 0 && store_check_tables(&d->store, d->paths.database, &e))
		same = -1; /* the next start refuses them */
	if (same < 0)
		doctor_tell(d, FAIL, "rules", "%s", e.text);
	else if (same == 0)
		doctor_tell(d, FAIL, "rules",
		            "not those of this program: %s; restart the system, which restores "
		            "them, and run agent-intercom audit verify",
		            found.bytes);
	else
		doctor_tell(d, OK, "rules", "those of this program");
}

/* Answers in the name of Slack, given by a program that can write the database. */
static void check_answers(struct doctor *d)
{
	OWNED(str) struct str forged = { 0 };
	struct err e = { 0 };
	int64_t count = proof_forged(&d->store, &forged, &e);

	if (count < 0)
		doctor_tell(d, FAIL, "answers", "%s", e.text);
	else if (count)
		doctor_tell(d, FAIL, "answers",
		            "%lld in the name of Slack did not come from there: %s; a program of "
		            "your user wrote them: see agent-intercom-ctl log",
		            (long long)count, forged.bytes);
	else
		doctor_tell(d, OK, "answers", "none was forged in the name of Slack");
}

static void check_questions(struct doctor *d)
{
	OWNED(str) struct str swapped = { 0 };
	struct err e = { 0 };
	int64_t count = proof_swapped(&d->store, &swapped, &e);

	if (count < 0)
		doctor_tell(d, FAIL, "questions", "%s", e.text);
	else if (count)
		doctor_tell(d, FAIL, "questions",
		            "%lld were changed in the database after they were asked: %s; see "
		            "agent-intercom-ctl log",
		            (long long)count, swapped.bytes);
}

static void check_seals(struct doctor *d)
{
	struct err e = { 0 };
	int64_t late = event_late(&d->store, &e);

	if (late < 0)
		doctor_tell(d, FAIL, "seals", "%s", e.text);
	else if (late)
		doctor_tell(d, FAIL, "seals", EVENT_LATE, late);
}

static void check_database(struct doctor *d)
{
	struct err e = { 0 };
	OWNED(str) struct str lost = { 0 };
	struct stat about;

	if (paths_check_right(d->paths.database, &e)) {
		doctor_tell(d, FAIL, "database", "%s", e.text);
		return;
	}
	/* As another user (root), opening it would leave files that its owner cannot use. */
	if (lstat(d->paths.database, &about) != 0 || about.st_uid != geteuid())
		return; /* the check of permissions reports it */
	if (about.st_size == 0) {
		if (instance_is_lost(d->paths.run, d->paths.database, &lost))
			doctor_tell(d, FAIL, "database", "%s", lost.bytes);
		else
			doctor_tell(d, OK, "database", "%s is empty; the first start fills it",
			            d->paths.database);
		return;
	}
	if (store_open(&d->store, d->paths.database, NULL, &e)) {
		doctor_tell(d, e.kind == ERR_AGAIN ? WARN : FAIL, "database", "%s", e.text);
		return;
	}
	doctor_tell(d, OK, "database", "%s, schema version %d", d->paths.database,
	            store_schema_version());
	check_integrity(d);
	check_rules(d);
	check_answers(d);
	check_questions(d);
	check_seals(d);
}

/* The next start makes the default operator, and makes it active. */
static void check_operator(struct doctor *d)
{
	OWNED(operator_fault_of_default_row) struct operator_fault_of_default_row row = { 0 };

	if (d->pid > 0 && d->store.db && sql_operator_fault_of_default(&d->store, &row, NULL) > 0)
		doctor_tell(d, WARN, "operator", "answers typed on this machine are refused: %s",
		            row.why);
}

/* ---- what runs ---- */

static void check_instance(struct doctor *d)
{
	OWNED(str) struct str lost = { 0 };
	struct err e = { 0 };

	d->pid = instance_holder(d->paths.database, &e);
	if (d->pid < 0)
		doctor_tell(d, FAIL, "system", "%s", e.text);
	else if (d->pid > 0 && access(d->paths.run, F_OK) != 0)
		doctor_tell(
		    d, FAIL, "system",
		    "runs (pid %d), but its run directory %s has vanished; agents cannot reach "
		    "it until it has made another, else restart it",
		    (int)d->pid, d->paths.run);
	else if (d->pid > 0)
		doctor_tell(d, OK, "system", "runs (pid %d)", (int)d->pid);
	else if (instance_is_lost(d->paths.run, d->paths.database, &lost))
		doctor_tell(d, FAIL, "system", "is stopped: %s", lost.bytes);
	else if (instance_is_stopped(d->paths.run))
		doctor_tell(d, OK, "system", "is stopped; `agent-intercom` starts it");
	else
		doctor_tell(d, OK, "system", "does not run; `agent-intercom` starts it");
}

static void check_worker(struct doctor *d, const struct worker_live_row *w, bool seen[CHILD_COUNT])
{
	const char *name = w->name, *detail = w->detail;
	int64_t now = clock_now_ms(), age = now - clock_parse(w->heartbeat_at);
	bool starts =
	    w->state == WORKER_STATE_STARTING && now - clock_parse(w->started_at) < STARTING_MS;
	bool silent = age > INSTANCE_SILENT_MS, slack = strncmp(name, "slack-", 6) == 0;
	bool cut_off = slack && detail && strncmp(detail, "not connected", 13) == 0;
	bool front = strcmp(name, CHILD_NAMES[CHILD_FRONT]) == 0;
	bool http_off = front && detail && strncmp(detail, "HTTP is off", 11) == 0;

	for (int i = 0; i < CHILD_COUNT; i++)
		seen[i] |= strcmp(name, CHILD_NAMES[i]) == 0;
	if (front && !http_off && !d->address && detail)
		d->address = xstrdup(detail);
	doctor_tell(
	    d,
	    silent || cut_off || http_off || (w->state != WORKER_STATE_READY && !starts) ? WARN
	                                                                                 : OK,
	    "worker", "%s is %s (pid %lld, last heartbeat %lld s ago, fence: %s)%s%s%s", name,
	    worker_state_name(w->state), (long long)w->pid, (long long)(age < 0 ? 0 : age / 1000),
	    w->fence ? w->fence : "not yet",
	    silent ? "; it may hang: kill it, and it is restarted" : "",
	    (slack || http_off) && detail ? ": " : "", (slack || http_off) && detail ? detail : "");
}

/* Whether the running system has its Slack workers. */
static bool serves_slack(struct doctor *d)
{
	return setting_is_on(&d->store, "slack.configured", false);
}

/* Whether the running system serves several users; if none runs, whether the next will. */
static bool is_shared(struct doctor *d)
{
	OWNED(str) struct str value = { 0 };

	if (d->pid <= 0)
		return *d->config.shared.directory;
	return d->store.db && setting_get(&d->store, "shared.directory", &value, NULL) > 0 &&
	       value.length;
}

/* One of the two units of as-owner, by the setting that names its socket, which must be ours. */
static void check_as_owner(struct doctor *d, const char *setting, const char *configured,
                           const char *what, const char *there, const char *missing,
                           const char *unit)
{
	OWNED(str) struct str socket = { 0 };
	struct err e = { 0 };

	if (!is_shared(d))
		return;
	if (d->pid <= 0)
		str_add(&socket, configured);
	else if (setting_get(&d->store, setting, &socket, NULL) < 0)
		return;
	if (!socket.length || !owner_is_there(socket.bytes))
		doctor_tell(d, WARN, what, "as-owner is not there (%s): %s.socket",
		            str_text(&socket), missing);
	else if (owner_answers(socket.bytes, OWNER_MS, &e))
		doctor_tell(d, FAIL, what, "%s; see: systemctl status %s", e.text, unit);
	else
		doctor_tell(d, OK, what, "%s, by as-owner at %s", there, socket.bytes);
}

/* That of the next start: whoever named it with --shared will do so again. */
static void find_shared(struct doctor *d)
{
	OWNED(setting_get_row) struct setting_get_row row = { 0 };

	if (d->store.db && sql_setting_get(&d->store, "shared.directory", &row, NULL) > 0 &&
	    row.source == SETTING_SOURCE_FLAG)
		xreplace(&d->config.shared.directory, row.value);
}

/* As the next start will; where /run is not ours, systemd makes the folder. */
static void check_directory(struct doctor *d)
{
	OWNED(char_ptr) char *parent = xstrdup(d->config.shared.directory);
	const char *dir = d->config.shared.directory;
	struct err e = { 0 };

	*strrchr(parent, '/') = '\0';
	if (access(dir, F_OK) == 0)
		(void)paths_check_ours(dir, NOT_WRITTEN_BY_OTHERS, &e);
	else if (*parent && access(parent, F_OK) != 0)
		(void)err_errno(&e, ERR_INPUT, "%s: cannot be created", dir);
	if (e.text[0])
		doctor_tell(d, FAIL, "groups",
		            "shared.directory: %s; the next start ends with that", e.text);
}

static void check_group(struct doctor *d, const char *setting, const char *name)
{
	struct err e = { 0 };
	gid_t group;

	if (group_id_find(name, &group, &e))
		doctor_tell(d, FAIL, "groups", "%s: %s; the next start ends with that", setting,
		            e.text);
}

static void check_owners(struct doctor *d)
{
	find_shared(d);
	if (*d->config.shared.directory) {
		check_directory(d);
		check_group(d, "shared.agents", d->config.shared.agents);
		check_group(d, "shared.operators", d->config.shared.operators);
	}
	check_as_owner(
	    d, "shared.owner_socket", d->config.shared.owner_socket, "owners",
	    "files are read and written as their owner",
	    "our own user needs access to the files of each workspace; start " OWNER_UNIT_FILES,
	    OWNER_UNIT_FILES);
	check_as_owner(d, "shared.start_socket", d->config.shared.start_socket, "starts",
	               "agents and commands run as the owners of their workspaces",
	               "agents and commands are not started; start " OWNER_UNIT_AGENTS,
	               OWNER_UNIT_AGENTS);
}

static bool is_wanted(struct doctor *d, int child)
{
	if (child == CHILD_DESK)
		return is_shared(d);
	return child < CHILD_SLACK_POSTER || serves_slack(d);
}

static int64_t ms_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The lock's file was last written when the system started, which read its configuration then. */
static void check_is_read(struct doctor *d)
{
	OWNED(str) struct str lock = { 0 };
	struct stat config, start;

	str_addf(&lock, "%s-instance", d->paths.database);
	if (d->config.file[0] && stat(d->config.file, &config) == 0 &&
	    stat(str_text(&lock), &start) == 0 && ms_of(config.st_mtim) > ms_of(start.st_mtim))
		doctor_tell(d, WARN, "config",
		            "%s was changed after the system had started; it takes effect at the "
		            "next start",
		            d->config.file);
}

/* If none is configured, a system takes the folder in which it is started. */
static void check_workspace(struct doctor *d)
{
	OWNED(str) struct str root = { 0 };

	if (*d->config.default_workspace_root)
		doctor_tell(d, OK, "workspace", "%s", d->config.default_workspace_root);
	else if (d->pid > 0 && d->store.db &&
	         setting_get(&d->store, "default_workspace_root", &root, NULL) > 0 && root.length)
		doctor_tell(d, OK, "workspace",
		            "%s, where the running system was started: agents that name no folder "
		            "(over HTTP) work there; to choose another set default_workspace_root",
		            root.bytes);
	else
		doctor_tell(d, OK, "workspace",
		            "no default: agents on stdio work where they are started; for the "
		            "others set default_workspace_root");
}

/* Its tokens may be others than those here. */
static void check_slack_serves(struct doctor *d)
{
	OWNED(slack_gate_refusal_row) struct slack_gate_refusal_row row = { 0 };

	if (sql_slack_gate_refusal(&d->store, &row, NULL) > 0 && row.why)
		doctor_tell(d, FAIL, "worker",
		            "slack-poster: %s; what the running system has to say there waits",
		            row.why);
}

static void check_running(struct doctor *d)
{
	bool seen[CHILD_COUNT] = { false };
	char machine[MACHINE_BYTES];
	struct err e = { 0 };
	OWNED(worker_live_row) struct worker_live_row live = { 0 };
	int64_t started_ms = INT64_MAX;
	bool is_young;
	int got;

	if (d->pid <= 0 || !d->store.db)
		return;
	check_is_read(d);
	machine_name(machine);
	sql_worker_live(&d->store, machine, &live);
	while ((got = row_next(&live.row, &e)) > 0) {
		int64_t at_ms = clock_parse(live.started_at);

		check_worker(d, &live, seen);
		started_ms = at_ms < started_ms ? at_ms : started_ms;
	}
	is_young = clock_now_ms() - started_ms < STARTING_MS;
	if (got < 0)
		doctor_tell(d, FAIL, "worker", "%s", e.text);
	check_slack_serves(d);
	for (int i = 0; got == 0 && i < CHILD_COUNT; i++)
		if (!seen[i] && is_wanted(d, i))
			doctor_tell(d, is_young ? OK : FAIL, "worker", "%s %s", CHILD_NAMES[i],
			            is_young ? "is about to be started"
			                     : "does not run; the log of agent-intercom says why");
}

static void check_no_database(struct doctor *d, const char *path)
{
	OWNED(paths) struct paths named = { 0 };
	OWNED(str) struct str lost = { 0 };
	struct err e = { 0 };

	if (!d->paths.run && paths_find_by_name(d->config.ipc_name, &named, NULL) == 0 &&
	    strcmp(named.database, path) == 0) {
		d->paths = named;
		named = (struct paths){ 0 };
	}
	if (d->paths.run && instance_is_lost(d->paths.run, path, &lost))
		doctor_tell(d, FAIL, "database", "%s", lost.bytes);
	else if (paths_check_new(path, &e))
		doctor_tell(d, FAIL, "database", "the first start will fail: %s", e.text);
	else
		doctor_tell(d, OK, "database", "%s does not exist yet; the first start creates it",
		            path);
}

static void check_system(struct doctor *d)
{
	struct err e = { 0 };

	find_dir(d);
	check_filesystem(d);
	check_space(d);
	if (!d->dir_exists) {
		check_no_database(d, d->config.database.path);
	} else if (paths_open(d->config.database.path, false, &d->paths, &e)) {
		doctor_tell(d, FAIL, "database", "%s", e.text);
	} else {
		check_run(d);
		if (access(d->paths.database, F_OK) != 0) {
			check_no_database(d, d->paths.database);
		} else {
			check_permissions(d);
			check_database(d);
			check_instance(d);
			check_operator(d);
			check_running(d);
		}
	}
	check_owners(d);
	doctor_check_port(d, is_shared(d));
}

int doctor_look(const struct config_source *source)
{
	OWNED(doctor)
	struct doctor d = { .store = STORE_INIT };

	(void)umask(NOT_FOR_OTHERS);
	check_home(&d);
	check_xdg(&d);
	check_kernel(&d);
	check_workers(&d);
	if (!check_config(&d, source))
		return EX_CONFIG;
	check_fence(&d);
	check_agent(&d);
	check_shared(&d, source);
	doctor_check_slack(&d);
	check_system(&d);
	check_workspace(&d);
	doctor_check_hooks(&d);
	return d.failures ? EXIT_FAILURE : EX_OK;
}
