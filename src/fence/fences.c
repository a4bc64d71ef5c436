#include "fences.h"

#include "calls.h"
#include "fence.h"
#include "limit.h"
#include "recorder.h"
#include "refusals.h"
#include "str.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum {
	DATABASE = 1, /* the folders of the database and of bells, locks and sockets */
	LOOKS = 2, /* reads everywhere: its children look into workspaces */
	WRITES = 4, /* writes into the workspaces that are known */
	EXPORTS = 8, /* the folder of the exports */
	SLACK = 16, /* connects to ports 443 and 53; reads certificates, and where names resolve */
	MOVES = 32, /* renames from one folder to another */
	ALONE = 64, /* starts no process */
	HAND = 128, /* starts hand, and listens on TCP */
	MOVING = 256, /* moves with the run directory, wherever the next one is made */
	OPEN = 512, /* has no fence, because */
};

/* The table of processes. None of those that are fenced makes a device, or signals or traces a
 * process that it did not start; none but the one with HAND executes anything or listens on TCP. */
static const struct process {
	const char *name;
	unsigned reaches;
} PROCESSES[] = {
	{ "applier", DATABASE | WRITES | MOVES },
	{ "archivist", DATABASE | LOOKS | MOVES },
	{ "commander", OPEN }, /* the operator's commands would inherit it */
	{ "desk", OPEN }, /* agent-intercom-ctl would inherit it */
	{ "mcp-front", DATABASE | LOOKS | HAND | MOVING },
	{ "reader", DATABASE | LOOKS },
	{ "retention", DATABASE | EXPORTS | ALONE },
	{ "runner", OPEN }, /* its agent would inherit it */
	{ "sentry", DATABASE | LOOKS },
	{ "slack-listener", DATABASE | SLACK },
	{ "slack-poster", DATABASE | SLACK },
	{ "watchdog", DATABASE | ALONE },
};

enum { HTTPS = 443, DNS = 53, LINK_BYTES = 64 };

static const char *for_children = "off"; /* the setting, once a fence stands */

/* The setting in force: a whole test run may require what otherwise is best effort. */
static const char *mode_of(const char *setting)
{
#ifdef INTERCOM_TEST_CLOCK
	const char *run = getenv("INTERCOM_FENCE");

	if (run && strcmp(setting, "auto") == 0)
		return run;
#endif
	return setting;
}

/* What the C library and libcrypto read on their own. */
static void allow_system(struct fence *f)
{
	static const char *const READ[] = {
		"/dev/urandom", "/etc/group",         "/etc/ld.so.cache",     "/etc/localtime",
		"/etc/passwd",  "/etc/nsswitch.conf", "/etc/ssl/openssl.cnf", "/lib",
		"/lib64",       "/usr/lib",           "/usr/lib64",           "/usr/share/zoneinfo",
#ifdef __SANITIZE_ADDRESS__
		"/proc",
#endif
	};

	for (size_t i = 0; i < COUNT(READ); i++)
		fence_allow(f, READ[i], FENCE_READ);
	fence_allow(f, "/dev/null", FENCE_WRITE);
}

/* The folder that a file is really in, since an update puts another file there. */
static void allow_folder_of(struct fence *f, const char *file, unsigned may, char folder[PATH_MAX])
{
	char *slash = realpath(file, folder) ? strrchr(folder, '/') : NULL;

	if (!slash || slash == folder)
		return;
	*slash = '\0';
	fence_allow(f, folder, may);
}

/* Whether libcurl or libwebsockets, which take them from the environment, go through a proxy: its
 * port may be any. */
static bool has_proxy(void)
{
	static const char *const NAMES[] = { "https_proxy", "HTTPS_PROXY", "http_proxy",
		                             "all_proxy", "ALL_PROXY" };

	for (size_t i = 0; i < COUNT(NAMES); i++) {
		const char *proxy = getenv(NAMES[i]);

		if (proxy && *proxy)
			return true;
	}
	return false;
}

static void allow_slack(struct fence *f, bool any_port)
{
	static const char *const READ[] = { "/etc",
		                            "/gnu/store",
		                            "/nix/store",
		                            "/run/NetworkManager",
		                            "/run/resolvconf",
		                            "/run/systemd/resolve",
		                            "/usr" };
	static const char *const FILES[] = { "/etc/resolv.conf", "/etc/hosts",
		                             "/etc/ssl/certs/ca-certificates.crt",
		                             "/etc/pki/tls/certs/ca-bundle.crt" };
	static char folders[COUNT(FILES)][PATH_MAX];

	for (size_t i = 0; i < COUNT(READ); i++)
		fence_allow(f, READ[i], FENCE_READ);
	for (size_t i = 0; i < COUNT(FILES); i++)
		allow_folder_of(f, FILES[i], FENCE_READ, folders[i]);
	fence_allow(f, getenv("SSL_CERT_FILE"), FENCE_READ);
	fence_allow(f, getenv("SSL_CERT_DIR"), FENCE_READ);
	f->any_port = any_port || has_proxy();
	fence_allow_port(f, HTTPS);
	fence_allow_port(f, DNS);
}

/* The sanitizers start a process of their own at the end. */
static void limit(bool is_alone)
{
	limit_to(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
	if (is_alone)
		limit_to(RLIMIT_NPROC, 0);
#else
	(void)is_alone;
#endif
}

/* The ABI in force; 0: none, which only "require" refuses, and why. */
static int raise_it(const struct fence *f, const char *mode, const char *name, struct err *why)
{
	int abi = fence_raise(f, why);

	if (abi == 0)
		(void)err_set(why, ERR_INPUT,
		              "this kernel offers %s no Landlock; it needs Linux %s and landlock "
		              "among its security modules (lsm=)",
		              name, f->moves ? "5.19" : "5.13");
	if (abi > 0)
		return abi;
	return strcmp(mode, "require") == 0 ? -1 : 0;
}

/* What the kernel needs for starting a program of ours that links dynamically, as this one does. */
static const char *interpreter(void)
{
	static char path[PATH_MAX];
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR); /* NOLINT: an address */
	const char *base = (const char *)headers;

	for (size_t i = 0; headers && i < getauxval(AT_PHNUM); i++) {
		if (headers[i].p_type == PT_PHDR)
			base -= headers[i].p_vaddr;
		if (headers[i].p_type == PT_INTERP)
			(void)snprintf(path, sizeof(path), "%s", base + headers[i].p_vaddr);
	}
	return path;
}

static const struct process *find(const char *name)
{
	for (size_t i = 0; i < COUNT(PROCESSES); i++) {
		size_t length = strlen(PROCESSES[i].name);

		if (strncmp(PROCESSES[i].name, name, length) == 0 &&
		    (!name[length] || name[length] == '-')) /* runner-12 */
			return &PROCESSES[i];
	}
	return NULL;
}

/* folder: of the database. */
static void allow_row(struct fence *f, unsigned reaches, const char *folder,
                      const struct fence_ground *ground)
{
	static char loader[PATH_MAX], hand[PATH_MAX], is_in[PATH_MAX];

	*f = (struct fence){ .moves = reaches & MOVES, .listens = reaches & HAND };
	allow_system(f);
	fence_allow(f, *folder ? folder : "/", FENCE_WRITE);
	fence_allow(f, ground->run_dir, FENCE_WRITE);
	if (reaches & LOOKS)
		fence_allow(f, "/", FENCE_READ);
	if (reaches & WRITES)
		f->roots = ground->workspaces;
	if (reaches & EXPORTS)
		fence_allow(f, ground->exports, FENCE_WRITE);
	if (reaches & SLACK)
		allow_slack(f, ground->any_port);
	if (reaches & HAND) {
		(void)snprintf(hand, sizeof(hand), "%s/hand", ground->programs);
		fence_allow(f, ground->programs, FENCE_RUN);
		allow_folder_of(f, hand, FENCE_RUN, is_in); /* it may be a link */
		allow_folder_of(f, interpreter(), FENCE_RUN, loader);
		fence_allow(f, ground->shared, FENCE_WRITE);
	}
	for (size_t i = 0; reaches & MOVING && i < COUNT(ground->moves_to); i++)
		fence_allow(f, ground->moves_to[i], FENCE_WRITE);
}

static void tell_state(int abi, bool restricted, const char *why, char state[FENCE_STATE_BYTES])
{
	if (abi > 0)
		(void)snprintf(state, FENCE_STATE_BYTES, "landlock %d%s", abi,
		               restricted ? ", seccomp" : "");
	else
		(void)snprintf(state, FENCE_STATE_BYTES, "%s: %.170s",
		               restricted ? "seccomp, no Landlock" : "none", why);
}

/* Whether the process makes no other calls than those of its row in calls.txt; -1: it cannot be
 * kept from it, which only "require" refuses. */
static int restrict_calls(const char *process, const char *mode, struct err *e)
{
	int done;

	refusals_listen();
	done = calls_restrict(process, e);
	return done < 0 && strcmp(mode, "require") != 0 ? 0 : done;
}

/* The fence of a row that has one. */
static int raise_row(const struct process *p, const char *mode, const struct fence *f,
                     char state[FENCE_STATE_BYTES], struct err *e)
{
	struct err why = { 0 };
	int abi, restricted = 0;

	refusals_open(p->name);
	recorder_open(p->name);
	abi = raise_it(f, mode, p->name, &why);
	if (abi >= 0 && !recorder_start())
		restricted = restrict_calls(p->name, mode, abi > 0 ? &why : NULL);
	if (abi < 0 || restricted < 0)
		return err_set(e, why.kind, "fence = \"require\", but %s", why.text);
	if (abi > 0 || restricted)
		for_children = strcmp(mode, "require") == 0 ? "require" : "auto";
	tell_state(abi, restricted, why.text, state);
	return 0;
}

int fence_worker(const char *name, const char *setting, const struct fence_ground *ground,
                 char state[FENCE_STATE_BYTES], struct err *e)
{
	const char *mode = mode_of(setting);
	const struct process *p = find(name);
	OWNED(char_ptr) char *folder = realpath(ground->database, NULL);
	bool is_off = strcmp(mode, "off") == 0;
	struct fence f;

	if (!p)
		return err_set(e, ERR_BUG, "%s is not in the table of fences", name);
	(void)snprintf(state, FENCE_STATE_BYTES, "%s", is_off ? "off" : "open");
	if (is_off || p->reaches & OPEN)
		return 0;
	if (!folder)
		return err_errno(e, err_kind_of_file(errno), "cannot find %s", ground->database);
	*strrchr(folder, '/') = '\0';
	limit(p->reaches & ALONE);
	allow_row(&f, p->reaches, folder, ground);
	return raise_row(p, mode, &f, state, e);
}

int fence_workspace(const char *setting, const struct fence_view *view, struct err *e)
{
	const char *mode = mode_of(setting);
	struct fence f = { .moves = view->is_kept };

	if (strcmp(mode, "off") == 0)
		return 0;
	allow_system(&f);
	fence_allow(&f, view->root, FENCE_READ);
	fence_allow(&f, view->objects, view->is_kept ? FENCE_WRITE : FENCE_READ);
	return err_if(raise_it(&f, mode, "the process that reads a workspace", e) < 0 ||
	              (!recorder_is_looker() && restrict_calls(CALLS_LOOKER, mode, e) < 0));
}

int fence_files(const char *setting, int root, struct err *e)
{
	const char *mode = mode_of(setting);
	struct fence f = { .moves = true };
	char path[LINK_BYTES];

	if (strcmp(mode, "off") == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	allow_system(&f);
	fence_allow(&f, path, FENCE_WRITE);
	return err_if(raise_it(&f, mode, "the process that changes files", e) < 0 ||
	              restrict_calls(CALLS_FILER, mode, e) < 0);
}

const char *fence_mode_of_child(void)
{
	return for_children;
}
