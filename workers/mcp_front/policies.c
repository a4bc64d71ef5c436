#include "policies.h"

#include "front.h"
#include "inotify_limit.h"
#include "log.h"
#include "policy_gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

/* ---- reporting ---- */

static void tell(const struct policy_file *p)
{
	if (p->why[0])
		log_warn("%s/" POLICY_FILE " allows nothing: %s", p->workspace_root, p->why);
	else if (p->exists)
		log_info("%s/" POLICY_FILE " is in force", p->workspace_root);
	else
		log_info("%s/" POLICY_FILE " is gone", p->workspace_root);
}

/* Logs a new version; the next turn writes its row. */
static void notice(struct front *f, struct policy_file *p)
{
	if (!p->changed || p->told)
		return;
	p->told = true;
	tell(p);
	f->has_notes = true;
	job_turn_soon(f);
}

/* ---- looking after a change ---- */

static void look_again(struct front *f, struct policy_file *p);

/* One policy being read again. */
struct second_look {
	struct hand_task task;
	char *workspace_root;
};

static void look_free(struct second_look *look)
{
	free(look->workspace_root);
	free(look);
}

static void on_look(struct front *f, struct hand_task *t, struct hand_found *found)
{
	struct second_look *look = (struct second_look *)t;
	struct policy_file *p = policy_file_known(&f->policies, look->workspace_root);

	found->policy.known.look = t->ask.known.look;
	policy_file_take(p, &found->policy);
	p->is_looked_at = false;
	p->looks_again |= t->ask.known.look <= f->policies.missed;
	if (!p->exists || p->known.seen.file.st_size > 0) /* an empty file is still being written */
		notice(f, p);
	if (p->looks_again) {
		p->looks_again = false;
		look_again(f, p);
	}
	look_free(look);
}

static void on_no_look(struct front *f, struct hand_task *t, const struct refusal *why)
{
	struct second_look *look = (struct second_look *)t;

	log_warn("%s/" POLICY_FILE ": %s", look->workspace_root, why->text);
	policy_file_known(&f->policies, look->workspace_root)->is_looked_at = false;
	look_free(look);
}

/* A change during a look causes exactly one more look. */
static void look_again(struct front *f, struct policy_file *p)
{
	static const struct hand_asker LOOK = { .done = on_look, .failed = on_no_look };
	struct second_look *look;

	p->looks_again = p->is_looked_at;
	if (p->is_looked_at)
		return;
	p->is_looked_at = true;
	look = xcalloc(1, sizeof(*look));
	look->workspace_root = xstrdup(p->workspace_root);
	look->task = (struct hand_task){ .by = &LOOK, .asker = "policies" };
	look->task.ask.root = look->workspace_root;
	look->task.ask.policy = true;
	look->task.ask.known = p->known;
	look->task.ask.known.look = ++f->policies.looks;
	hands_ask(f, &look->task);
}

/* ---- watching ---- */

static bool concerns_us(const struct inotify_event *e)
{
	if (e->len == 0) /* the folder itself */
		return (e->mask & (IN_ATTRIB | IN_IGNORED)) != 0;
	return strcmp(e->name, ".intercom") == 0 || strcmp(e->name, "settings.json") == 0;
}

/* Looks at the policies of these folders; at all of them if the kernel has dropped events. A look
 * that is under way may have begun to watch a folder that it has not told of yet. */
static void look_at_watched(struct front *f, const struct inotify_event *e)
{
	bool all = (e->mask & IN_Q_OVERFLOW) != 0;
	bool is_known = all;
	struct policy_file *p;

	if (!all && !concerns_us(e))
		return;
	LIST_FOREACH (p, &f->policies.all, next)
		if (all || p->root_watch == e->wd || p->folder_watch == e->wd) {
			is_known = true;
			look_again(f, p);
		}
	if (!is_known)
		f->policies.missed = f->policies.looks;
}

/* One read at a time: an agent that writes there without a pause keeps nobody else waiting. */
static void on_change(evutil_socket_t fd, short what, void *arg)
{
	char bytes[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(fd, bytes, sizeof(bytes));

	(void)what;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e =
		    (const struct inotify_event *)(const void *)(bytes + at);

		look_at_watched(arg, e);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
}

int policies_start(struct front *f, struct err *e)
{
	f->policy_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (f->policy_fd < 0) {
		log_warn("a change of a policy is reported only once somebody asks there: %s",
		         inotify_limit(errno));
		/* A hand of our user gets a descriptor; this one tells of nothing. */
		f->policy_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	}
	if (f->policy_fd < 0)
		return err_errno(e, ERR_AGAIN, "eventfd");
	f->policy_event = event_new(f->base, f->policy_fd, EV_READ | EV_PERSIST, on_change, f);
	(void)event_add(f->policy_event, NULL);
	return 0;
}

void policies_stop(struct front *f)
{
	front_drop(&f->policy_event);
	if (f->policy_fd > 0)
		(void)close(f->policy_fd);
	policy_files_clear(&f->policies);
}

struct policy_file *policies_take(struct front *f, const char *workspace_root,
                                  struct hand_found *found)
{
	struct policy_file *p = policy_file_known(&f->policies, workspace_root);
	struct err e = { 0 };

	policy_file_take(p, &found->policy);
	notice(f, p);
	if (found->policy.known.look <= f->policies.missed)
		look_again(f, p);
	if (policy_gate_take(&f->worker.store, f->worker.machine, f->settings.trust,
	                     found->is_listed, p, &e))
		log_warn("what was trusted of %s/" POLICY_FILE ": %s", workspace_root, e.text);
	return p;
}

/* ---- rows ---- */

void policies_write(struct front *f)
{
	struct policy_file *p;
	struct err e = { 0 };

	LIST_FOREACH (p, &f->policies.all, next)
		if (p->told && p->changed &&
		    policy_gate_record(&f->worker.store, f->worker.machine, p, &e))
			log_warn("the policy of %s: %s", p->workspace_root, e.text);
}

void policies_written(struct front *f)
{
	struct policy_file *p;

	LIST_FOREACH (p, &f->policies.all, next)
		if (p->told) {
			p->changed = p->told = false;
			str_clear(&p->bytes);
		}
	f->has_notes = false;
}
