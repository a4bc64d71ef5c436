#include "sentry.h"
#include "tree.h"

#include "clock.h"
#include "inotify_limit.h"
#include "log.h"
#include "setting.h"
#include "sql/gate_lapse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
	TREES_MAX = 32, /* workspaces under inotify */
	SETTLE_MS =
	    3000, /* after the first change: what explains it has been written down by then */
	BEFORE_MS = 2000, /* a hook that tells of a tool's end may be late, or early */
	DEFAULT_FOLDERS = 8192,
	SHOWN_BYTES = 200,
	EVENTS_BYTES = 64 << 10,
};

/* Of a workspace. */
struct watched {
	struct tree *tree;
	bool wanted; /* at this look */
	int64_t first_ms, last_ms; /* unix: of what changed and was not judged yet; 0: nothing */
	int count;
	struct str path; /* the first */
};

struct changes {
	int inotify; /* also w->extra_fd; -1: the kernel gives us none */
	bool has_told; /* of that */
	struct watched watched[TREES_MAX];
	int count;
};

struct changes *changes_new(void)
{
	struct changes *c = xcalloc(1, sizeof(*c));

	c->inotify = -1;
	return c;
}

static bool open_inotify(struct changes *c, struct worker *w)
{
	if (c->inotify >= 0)
		return true;
	c->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (c->inotify < 0 && !c->has_told)
		log_warn("changes in workspaces that no tool explains go unnoticed (gate.watch): "
		         "%s",
		         inotify_limit(errno));
	c->has_told = c->inotify < 0;
	w->extra_fd = c->inotify; /* worker_close closes it */
	return c->inotify >= 0;
}

static void drop(struct changes *c, int i)
{
	tree_free(c->watched[i].tree);
	str_clear(&c->watched[i].path);
	c->watched[i] = c->watched[--c->count];
}

void changes_free(struct changes *c)
{
	while (c && c->count > 0)
		drop(c, 0);
	free(c);
}

/* ---- which workspaces ---- */

static struct watched *find(struct changes *c, const char *root)
{
	for (int i = 0; i < c->count; i++)
		if (strcmp(tree_root(c->watched[i].tree), root) == 0)
			return &c->watched[i];
	return NULL;
}

static size_t folders_left(const struct changes *c, struct store *st)
{
	int64_t most = setting_int(st, "gate.watch_folders", DEFAULT_FOLDERS);

	for (int i = 0; i < c->count; i++) {
		bool more;

		most -= (int64_t)tree_count(c->watched[i].tree, &more);
	}
	return most > 0 ? (size_t)most : 0;
}

static void begin(struct changes *c, struct worker *w, const char *root)
{
	struct tree *tree;
	bool more;
	size_t count;

	if (c->count == TREES_MAX)
		return;
	tree = tree_open(c->inotify, root, folders_left(c, &w->store));
	if (!tree)
		return;
	count = tree_count(tree, &more);
	c->watched[c->count++] = (struct watched){ .tree = tree, .wanted = true };
	if (more)
		log_warn("%s: only %zu folders are watched (gate.watch_folders, or sysctl "
		         "fs.inotify.max_user_watches)",
		         root, count);
}

int changes_watch(struct changes *c, struct worker *w, struct err *e)
{
	OWNED(gate_watched_row) struct gate_watched_row row = { 0 };
	int got;

	for (int i = 0; i < c->count; i++)
		c->watched[i].wanted = false;
	sql_gate_watched(&w->store, w->machine, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		struct watched *one = find(c, row.workspace_root);

		if (one)
			one->wanted = true;
		else if (open_inotify(c, w))
			begin(c, w, row.workspace_root);
	}
	for (int i = c->count; i-- > 0;)
		if (!c->watched[i].wanted)
			drop(c, i);
	return got;
}

/* ---- what changes ---- */

static void note(struct watched *one, const char *path)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, strlen(path), SHOWN_BYTES);
	one->last_ms = clock_now_ms();
	if (one->count && strcmp(str_text(&shown), str_text(&one->path)) == 0)
		return; /* it is made, then closed */
	if (one->count++ > 0)
		return;
	one->first_ms = one->last_ms;
	str_reset(&one->path);
	str_add(&one->path, str_text(&shown));
}

/* More happened than the kernel kept: what was made meanwhile is not watched, so begin again. */
static void start_over(struct changes *c, struct worker *w)
{
	log_warn("too many changes at once: some were not seen");
	for (int i = 0; i < c->count; i++) {
		OWNED(char_ptr) char *root = xstrdup(tree_root(c->watched[i].tree));
		struct watched *one = &c->watched[i];

		tree_free(one->tree);
		one->tree = tree_open(c->inotify, root, folders_left(c, &w->store));
		if (one->tree)
			note(one, "(too many to name)");
		else
			drop(c, i--);
	}
}

static void hear(struct changes *c, struct worker *w, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW) {
		start_over(c, w);
		return;
	}
	for (int i = 0; i < c->count; i++) {
		OWNED(str) struct str path = { 0 };

		if (tree_hear(c->watched[i].tree, event, &path))
			note(&c->watched[i], str_text(&path));
	}
}

static void drain(struct changes *c, struct worker *w)
{
	static char buffer[EVENTS_BYTES]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	ssize_t n = read(c->inotify, buffer, sizeof(buffer));

	for (const char *at = buffer; n > 0 && at < buffer + n; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(const void *)at;
		hear(c, w, event);
	}
}

/* ---- what explains it ---- */

static int tell(struct worker *w, const struct watched *one, struct err *e)
{
	const struct instant from = clock_instant(one->first_ms - BEFORE_MS);
	const struct instant upto = clock_instant(one->last_ms);
	OWNED(gate_unexplained_row) struct gate_unexplained_row row = { 0 };
	OWNED(str) struct str detail = { 0 };
	int got = sql_gate_unexplained(&w->store, upto.text, tree_root(one->tree), w->machine,
	                               from.text, &row, e);

	if (got <= 0)
		return got;
	str_addf(&detail, "%s", str_text(&one->path));
	if (one->count > 1)
		str_addf(&detail, " and more (%d changes)", one->count);
	str_add(&detail,
	        " changed while no tool ran that was allowed: its agent may act without its "
	        "hooks, an earlier command may have left a program running, or a person "
	        "works there (gate.watch)");
	return gates_note(w,
	                  &(struct lapse){ .kind = GATE_LAPSE_KIND_UNEXPLAINED,
	                                   .host = row.host,
	                                   .subject = row.session_id,
	                                   .session = row.session_seq,
	                                   .detail = str_text(&detail) },
	                  e);
}

int changes_step(struct changes *c, struct worker *w, struct err *e)
{
	int64_t now = clock_now_ms();

	drain(c, w);
	for (int i = 0; i < c->count; i++) {
		struct watched *one = &c->watched[i];

		if (!one->count || now < one->first_ms + SETTLE_MS)
			continue;
		if (tell(w, one, e) < 0)
			return -1;
		one->count = 0;
	}
	return 0;
}

void changes_due(const struct changes *c, struct worker *w)
{
	for (int i = 0; i < c->count; i++)
		if (c->watched[i].count && c->watched[i].first_ms + SETTLE_MS < w->due_ms)
			w->due_ms = c->watched[i].first_ms + SETTLE_MS;
}
