#include "fenced.h"

#include "io.h"
#include "json.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RENAMES_ABI = 2, /* without it no file can be moved from one folder to another */
	NETWORK_ABI = 4,
	FOLDER_MODE = 0700, /* of one that is made */
};

/* What most programs use, wherever else they may read. */
static const char *const DEVICES[] = { "/dev/full",   "/dev/null", "/dev/ptmx",    "/dev/pts",
	                               "/dev/random", "/dev/tty",  "/dev/urandom", "/dev/zero" };
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

/* Whether the folder is, or is below, another one. Both are real paths. */
static bool is_within(const char *folder, const char *other)
{
	size_t length = strlen(other);

	return strncmp(folder, other, length) == 0 &&
	       (!folder[length] || folder[length] == '/' || other[length - 1] == '/');
}

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

static int check_ours(const char *written, const char *real, const struct fenced_place *place,
                      struct err *e)
{
	char ours[PATH_MAX];

	for (int i = 0; i < 2; i++) {
		if (!find_folder(i ? place->run_dir : place->database, !i, ours) ||
		    !is_within(ours, real))
			continue;
		return err_set(e, ERR_INPUT,
		               "the agent's fence would let it write %.300s, where %s is; take "
		               "%.300s out of [agent.fence], or move one of them",
		               ours, i ? "the run directory" : "the database", written);
	}
	return 0;
}

/* ---- the fence ---- */

/* What a name leads to now, so that no link decides later. */
static int allow_write(struct fenced *f, const char *path, const struct fenced_place *place,
                       struct err *e)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return 0; /* it stays out of reach */
	if (check_ours(path, real, place, e))
		return -1;
	allow(f, real, FENCE_WRITE | FENCE_RUN);
	return 0;
}

static int allow_writes(struct fenced *f, const cJSON *rules, const struct fenced_place *place,
                        struct err *e)
{
	const cJSON *one;

	if (allow_write(f, place->workspace, place, e))
		return -1;
	cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(rules, "write")) {
		size_t length = strlen(one->valuestring);

		if (length > 1 && one->valuestring[length - 1] == '/')
			(void)io_make_parents(one->valuestring, FOLDER_MODE);
		if (allow_write(f, one->valuestring, place, e))
			return -1;
	}
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

static void allow_reads(struct fenced *f, const cJSON *rules, const struct fenced_place *place)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(rules, "read"), *one;

	if (!list) {
		allow(f, "/", FENCE_READ | FENCE_RUN);
		return;
	}
	for (size_t i = 0; i < COUNT(SYSTEM); i++)
		allow(f, SYSTEM[i], FENCE_READ | FENCE_RUN);
	allow_program(f, place->program);
	cJSON_ArrayForEach (one, list)
		allow(f, one->valuestring, FENCE_READ | FENCE_RUN);
}

/* Without a network it still calls our MCP server. */
static int allow_network(struct fenced *f, const cJSON *rules, const struct fenced_place *place,
                         int abi, struct err *e)
{
	const char *port = strrchr(place->url, ':');

	f->fence.any_port = !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(rules, "network"));
	f->fence.listens = f->fence.any_port;
	if (f->fence.any_port)
		return 0;
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
	if (allow_network(out, rules, place, abi, e) || allow_writes(out, rules, place, e))
		return -1;
	allow_reads(out, rules, place);
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
	if (fence_raise(&f->fence, &e) > 0)
		return 0;
	if (!errno)
		errno = ENOTSUP;
	return -1;
}

void fenced_clear(struct fenced *f)
{
	texts_clear(&f->paths);
	str_clear(&f->holds);
}
