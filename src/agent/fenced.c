#include "fenced.h"

#include "io.h"
#include "json.h"
#include "offline.h"
#include "path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	RENAMES_ABI = 2, /* without it no file can be moved from one folder to another */
	NETWORK_ABI = 4,
	FOLDER_MODE = 0700, /* of one that is made */
};

/* What most programs use, wherever else they may read. */
static const char *const DEVICES[] = { "/dev/full", "/dev/null",    "/dev/random",
	                               "/dev/tty",  "/dev/urandom", "/dev/zero" };
static const char *const SYSTEM[] = { "/bin",  "/etc", "/lib",  "/lib64",
	                              "/nix",  "/opt", "/proc", "/run/systemd/resolve",
	                              "/sbin", "/sys", "/usr" };

/* The workspace and the program's folders are in the fence, too. */
enum { FOLDERS_MAX = FENCE_PATHS - (int)COUNT(DEVICES) - (int)COUNT(SYSTEM) - 3 };

static void allow(struct fenced *f, const char *path, unsigned may)
{
	texts_add(&f->paths, path);
	fence_allow(&f->fence, f->paths.items[f->paths.count - 1], may);
}

/* ---- what is ours ---- */

/* The real path of a file's folder, or of a folder. */
static bool find_folder(const char *path, bool is_file, char out[PATH_MAX])
{
	char *slash;

	if (!realpath(path, out))
		return false;
	slash = strrchr(out, '/');
	if (is_file && slash > out)
		*slash = '\0';
	return true;
}

/* What no agent writes, and whether a name is that of a file there. */
struct ours {
	const char *path, *what;
	bool is_file;
};

static int check_one(const char *written, const char *real, const struct ours *o, struct err *e)
{
	char ours[PATH_MAX];

	if (!*o->path || !find_folder(o->path, o->is_file, ours) || !path_is_within(ours, real))
		return 0;
	return err_set(e, ERR_INPUT,
	               "the agent's fence would let it write %.300s, where %s; take %.300s out of "
	               "[agent.fence], or move one of them",
	               ours, o->what, written);
}

static int check_ours(const char *written, const char *real, const struct fenced_place *place,
                      struct err *e)
{
	const struct ours all[] = {
		{ place->database, "the database is", true },
		{ place->run_dir, "the run directory is", false },
		{ place->config, "the configuration is", true },
		{ "/proc/self/exe", "our programs are", true },
	};

	for (size_t i = 0; i < COUNT(all); i++)
		if (check_one(written, real, &all[i], e))
			return -1;
	return 0;
}

/* ---- the fence ---- */

/* Where the agent writes, it can put a link in the place of a name, which then says what it may
 * reach the next time. */
static int check_above(const struct fenced *f, const char *path, struct err *e)
{
	OWNED(str) struct str above = { 0 };
	char folder[PATH_MAX];
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	while (length > 1 && path[length - 1] != '/')
		length--;
	str_add_bytes(&above, path, length);
	if (!realpath(str_text(&above), folder))
		return 0; /* it is not there */
	for (size_t i = 0; i < f->written.count; i++)
		if (path_is_within(folder, f->written.items[i]))
			return err_set(e, ERR_INPUT,
			               "[agent.fence] names %.300s, which is in %.300s: there the "
			               "agent can put a link in its place; take it out",
			               path, f->written.items[i]);
	return 0;
}

/* What is not there stays out of reach. */
static int allow_write(struct fenced *f, const char *path, const struct fenced_place *place,
                       struct err *e)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return 0;
	if (check_ours(path, real, place, e))
		return -1;
	allow(f, real,
	      FENCE_WRITE | FENCE_RUN | (path_is_within(real, "/dev") ? FENCE_DEVICES : 0U));
	texts_add(&f->written, real);
	return 0;
}

/* It may not have become a link since its session began. */
static int allow_workspace(struct fenced *f, const struct fenced_place *place, struct err *e)
{
	char real[PATH_MAX];

	if (realpath(place->workspace, real) && strcmp(real, place->workspace) != 0)
		return err_set(e, ERR_INPUT, "the workspace %.300s leads to %.300s now",
		               place->workspace, real);
	return allow_write(f, place->workspace, place, e);
}

static int allow_writes(struct fenced *f, const cJSON *rules, const struct fenced_place *place,
                        struct err *e)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(rules, "write"), *one;

	if (allow_workspace(f, place, e))
		return -1;
	cJSON_ArrayForEach (one, list) {
		size_t length = strlen(one->valuestring);

		if (length > 1 && one->valuestring[length - 1] == '/')
			(void)io_make_parents(one->valuestring, FOLDER_MODE);
		if (allow_write(f, one->valuestring, place, e))
			return -1;
	}
	cJSON_ArrayForEach (one, list)
		if (check_above(f, one->valuestring, e))
			return -1;
	for (size_t i = 0; i < COUNT(DEVICES); i++)
		allow(f, DEVICES[i], FENCE_WRITE | FENCE_DEVICES);
	return 0;
}

/* The folder of its program, and where that leads if it is a link. */
static void allow_program(struct fenced *f, const char *program)
{
	char real[PATH_MAX];
	const char *slash = strrchr(program, '/');

	if (slash && slash > program) {
		OWNED(str) struct str folder = { 0 };

		str_add_bytes(&folder, program, (size_t)(slash - program));
		allow(f, str_text(&folder), FENCE_READ | FENCE_RUN);
	}
	if (find_folder(program, true, real))
		allow(f, real, FENCE_READ | FENCE_RUN);
}

static int allow_reads(struct fenced *f, const cJSON *rules, const struct fenced_place *place,
                       struct err *e)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(rules, "read"), *one;

	if (!list) {
		allow(f, "/", FENCE_READ | FENCE_RUN);
		return 0;
	}
	for (size_t i = 0; i < COUNT(SYSTEM); i++)
		allow(f, SYSTEM[i], FENCE_READ | FENCE_RUN);
	allow_program(f, place->program);
	cJSON_ArrayForEach (one, list) {
		if (check_above(f, one->valuestring, e))
			return -1;
		allow(f, one->valuestring, FENCE_READ | FENCE_RUN);
	}
	return 0;
}

/* Without a network it still calls our MCP server. */
static int allow_network(struct fenced *f, const cJSON *rules, const struct fenced_place *place,
                         int abi, struct err *e)
{
	const char *port = strrchr(place->url, ':');

	f->fence.any_port = !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(rules, "network"));
	f->fence.listens = f->fence.any_port;
	f->is_offline = !f->fence.any_port;
	if (f->fence.any_port)
		return 0;
	if (!offline_can())
		return err_set(e, ERR_INPUT,
		               "the agent's fence leaves it no network, which is not known how on "
		               "this architecture");
	if (abi < NETWORK_ABI)
		return err_set(e, ERR_INPUT,
		               "the agent's fence leaves it no network, which needs Linux 6.7 "
		               "(Landlock's ABI %d; this kernel has %d)",
		               NETWORK_ABI, abi);
	if (port)
		fence_allow_port(&f->fence, (uint16_t)strtol(port + 1, NULL, 10));
	return 0;
}

int fenced_make(const char *json, const struct fenced_place *place, struct fenced *out,
                struct err *e)
{
	OWNED(cJSON_ptr) cJSON *rules = json ? cJSON_Parse(json) : NULL;
	int abi = fence_abi();

	if (!json)
		return 0;
	if (!rules)
		return err_set(e, ERR_INPUT, "the fence of the agent's profile cannot be read");
	if (abi < RENAMES_ABI)
		return err_set(e, ERR_INPUT,
		               "the agent's profile has a fence, for which this kernel lacks "
		               "Landlock (Linux 5.19, and `landlock` in the list of lsm=)");
	out->fence.moves = true;
	if (allow_network(out, rules, place, abi, e) || allow_writes(out, rules, place, e) ||
	    allow_reads(out, rules, place, e))
		return -1;
	if (out->fence.path_count > FENCE_PATHS)
		return err_set(e, ERR_INPUT, "[agent.fence] names more than %d folders",
		               FOLDERS_MAX);
	str_addf(&out->holds, "landlock %d", abi);
	return 0;
}

int fenced_enter(const void *fenced)
{
	const struct fenced *f = fenced;
	struct err e = { 0 };

	if (!f->holds.length)
		return 0;
	errno = 0;
	if (fence_raise(&f->fence, &e) > 0 && (!f->is_offline || offline_restrict(&e) == 0))
		return 0;
	if (!errno)
		errno = ENOTSUP;
	return -1;
}

void fenced_clear(struct fenced *f)
{
	texts_clear(&f->paths);
	texts_clear(&f->written);
	str_clear(&f->holds);
}
