#include "policies.h"

#include "content.h"
#include "front.h"
#include "log.h"
#include "sql/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* ---- watching ---- */

static void watch(struct front *f, struct policy_file *p)
{
	static const uint32_t CHANGES =
	    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB;
	char path[4200];

	/* The workspace itself, for a .intercom that comes, goes, or is another; and what is in it.
	 * Where there is no workspace the next question tries again. */
	p->watched = inotify_add_watch(f->policy_fd, p->workspace_root,
	                               IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
	                                   IN_ATTRIB | IN_ONLYDIR) >= 0;
	(void)snprintf(path, sizeof(path), "%.4095s/.intercom", p->workspace_root);
	(void)inotify_add_watch(f->policy_fd, path, CHANGES | IN_ONLYDIR);
}

static void tell(const struct policy_file *p)
{
	if (p->why[0])
		log_warn("%s/" POLICY_FILE " allows nothing: %s", p->workspace_root, p->why);
	else if (p->exists)
		log_info("%s/" POLICY_FILE " is in force", p->workspace_root);
	else
		log_info("%s/" POLICY_FILE " is gone", p->workspace_root);
}

/* A version that is new is told in the log, and the next turn writes its row. */
static void notice(struct front *f, struct policy_file *p)
{
	if (!p->changed || p->told)
		return;
	p->told = true;
	tell(p);
	f->has_notes = true;
	job_turn_soon(f);
}

static bool concerns_us(const struct inotify_event *e)
{
	if (e->len == 0) /* the folder itself */
		return (e->mask & IN_ATTRIB) != 0;
	return strcmp(e->name, ".intercom") == 0 || strcmp(e->name, "settings.json") == 0;
}

/* Takes what has come: true if it may concern a policy. A folder that went took its watch with it.
 */
static bool drain(struct front *f)
{
	char bytes[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool concerned = false;
	ssize_t n;

	while ((n = read(f->policy_fd, bytes, sizeof(bytes))) > 0)
		for (char *at = bytes; at < bytes + n;) {
			const struct inotify_event *e = (const struct inotify_event *)(void *)at;

			concerned =
			    concerned || concerns_us(e) || (e->mask & (IN_Q_OVERFLOW | IN_IGNORED));
			at += sizeof(*e) + e->len;
		}
	return concerned;
}

static void on_change(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct policy_file *p;

	(void)fd;
	(void)what;
	if (!drain(f))
		return;
	LIST_FOREACH (p, &f->policies.all, next) {
		watch(f, p); /* .intercom may have come, or be another */
		(void)policy_file_of(&f->policies, p->workspace_root);
		if (!p->exists || p->seen.file.st_size > 0) /* else it is being written */
			notice(f, p);
	}
}

int policies_start(struct front *f, struct err *e)
{
	f->policy_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (f->policy_fd < 0)
		return err_errno(e, ERR_AGAIN, "inotify");
	f->policy_event = event_new(f->base, f->policy_fd, EV_READ | EV_PERSIST, on_change, f);
	(void)event_add(f->policy_event, NULL);
	return 0;
}

void policies_stop(struct front *f)
{
	if (f->policy_event)
		event_free(f->policy_event);
	f->policy_event = NULL;
	if (f->policy_fd > 0)
		(void)close(f->policy_fd);
	policy_files_clear(&f->policies);
}

struct policy_file *policies_of(struct front *f, const char *workspace_root)
{
	struct policy_file *p = policy_file_of(&f->policies, workspace_root);

	struct err e = ERR_INIT;

	if (!p->watched)
		watch(f, p);
	notice(f, p);
	if (!p->policy)
		return p;
	p->counts = f->settings.trust == POLICY_TRUST_OFF ||
	            (f->settings.trust == POLICY_TRUST_LISTED &&
	             workspaces_list(&f->settings.workspaces, workspace_root));
	if (!p->counts && policy_trust_load(&f->worker.store, f->worker.host, p, &e))
		log_warn("what was trusted of %s/" POLICY_FILE ": %s", workspace_root, e.text);
	return p;
}

/* ---- rows ---- */

static int write_one(struct front *f, const struct policy_file *p, struct err *e)
{
	bool loaded = p->exists && !p->why[0];
	struct policy_insert_args args = {
		.host = f->worker.host,
		.workspace = p->workspace_root,
		.state = p->why[0]   ? POLICY_STATE_BROKEN
		         : p->exists ? POLICY_STATE_LOADED
		                     : POLICY_STATE_GONE,
		.hash = p->hash,
		.why = p->why[0] ? p->why : NULL,
	};

	if (loaded)
		args.content =
		    content_put(&f->worker.store, str_text(&p->bytes), p->bytes.length, e);
	return args.content < 0 ? -1 : sql_policy_insert(&f->worker.store, &args, e);
}

void policies_write(struct front *f)
{
	struct policy_file *p;
	struct err e = ERR_INIT;

	LIST_FOREACH (p, &f->policies.all, next)
		if (p->told && p->changed && write_one(f, p, &e))
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
