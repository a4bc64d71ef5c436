#include "judge.h"

#include "hand.h"
#include "io.h"
#include "log.h"
#include "pack.h"
#include "runner.h"
#include "safe_path.h"
#include "setting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LOOK_MS = 3000, /* how long a disk is waited for; then a person is asked */
	PATHS_MAX = 100, /* a question that names more is not judged */
};

/* Texts, some of them owned. */
struct paths {
	char **items;
	size_t count;
};

static void paths_clear(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct paths){ 0 };
}

static void paths_add(struct paths *p, const char *path)
{
	p->items = xrealloc(p->items, (p->count + 1) * sizeof(*p->items));
	p->items[p->count++] = xstrdup(path);
}

/* ---- what it is about ---- */

enum subject { SUBJECT_UNKNOWN, SUBJECT_COMMAND, SUBJECT_WRITE, SUBJECT_READ };

static bool is_one_of(const char *text, const char *const *names)
{
	for (; text && *names; names++)
		if (strcmp(text, *names) == 0)
			return true;
	return false;
}

static enum subject subject_of(const struct acp_inquiry *q)
{
	static const char *const WRITES[] = { "edit", "delete", "move", NULL };
	static const char *const READS[] = { "read", "search", NULL };
	bool is_stream = !q->options;

	if (q->kind != ACP_INQUIRY_PERMISSION || q->is_unclear)
		return SUBJECT_UNKNOWN;
	if (is_stream || is_one_of(q->tool_kind, WRITES))
		return q->path_count && !q->command.length ? SUBJECT_WRITE : SUBJECT_UNKNOWN;
	if (is_one_of(q->tool_kind, READS))
		return q->path_count && !q->command.length && !q->is_diff ? SUBJECT_READ
		                                                          : SUBJECT_UNKNOWN;
	if (q->tool_kind && strcmp(q->tool_kind, "execute") == 0)
		return q->command.length && !q->is_diff ? SUBJECT_COMMAND : SUBJECT_UNKNOWN;
	return SUBJECT_UNKNOWN;
}

static bool is_inside(const char *root, const char *folder)
{
	OWNED(str) struct str relative = { 0 };

	return !folder || strcmp(folder, root) == 0 ||
	       safe_path_clean(root, folder, strlen(folder), &relative, NULL) == 0;
}

/* The files that its diff names, which the agent may have written itself. False: it cannot be
 * read. */
static bool add_diff_paths(const struct acp_inquiry *q, struct paths *paths)
{
	struct diff d = { 0 };
	struct err e = { 0 };

	if (!q->is_diff || !diff_looks_like(str_text(&q->diff), q->diff.length))
		return true; /* whole content, of the files that it names */
	if (diff_parse(q->diff.bytes, q->diff.length, &d, &e))
		return false;
	for (size_t i = 0; i < d.file_count; i++) {
		if (d.files[i].old_path)
			paths_add(paths, d.files[i].old_path);
		if (d.files[i].new_path)
			paths_add(paths, d.files[i].new_path);
	}
	diff_clear(&d);
	return true;
}

/* All that is touched. False: that is not known. */
static bool find_paths(const struct acp_inquiry *q, enum subject subject, struct paths *paths)
{
	for (size_t i = 0; i < q->path_count && subject != SUBJECT_COMMAND; i++)
		paths_add(paths, q->paths[i]);
	return add_diff_paths(q, paths) && paths->count <= PATHS_MAX;
}

/* ---- looking ---- */

static void open_judge(struct judge *j, struct store *st)
{
	OWNED(str) struct str text = { 0 };
	const cJSON *one;

	j->is_open = true;
	LIST_INIT(&j->policies.all);
	j->trust = policy_trust_read(st);
	j->known = policy_gate_commands(st);
	if (setting_get(st, "policy.always_ask", &text, NULL) > 0)
		j->always_ask = cJSON_Parse(text.bytes);
	str_reset(&text);
	if (setting_get(st, "workspace", &text, NULL) > 0)
		j->workspaces = cJSON_Parse(text.bytes);
	(void)setting_get(st, "default_workspace_root", &j->usual, NULL);
	j->listed = xcalloc((size_t)cJSON_GetArraySize(j->workspaces) + 1, sizeof(*j->listed));
	if (j->usual.length)
		j->listed[j->listed_count++] = j->usual.bytes;
	cJSON_ArrayForEach (one, j->workspaces)
		if (json_text(one, "path"))
			j->listed[j->listed_count++] = json_text(one, "path");
}

/* In the other process. */
static void look(const struct hand_ask *asks, size_t count, int out)
{
	for (size_t i = 0; i < count; i++) {
		OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;
		OWNED(str) struct str message = { 0 };

		hand_work(&asks[i], -1, &found);
		hand_found_write(&asks[i], &found, &message);
		if (io_write_all(out, message.bytes, message.length))
			return;
	}
}

/* It has nothing of ours but the pipe: what it holds open would outlive us. */
static pid_t start_look(const struct hand_ask *asks, size_t count, int ends[2])
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ends[1] > 3)
		(void)close_range(3, (unsigned)ends[1] - 1, 0);
	(void)close_range((unsigned)ends[1] + 1, ~0U, 0);
	look(asks, count, ends[1]);
	_exit(0);
}

/* Until its end. False: it did not come in time. */
static bool read_findings(int fd, struct str *out)
{
	char bytes[8192];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int got = poll(&p, 1, LOOK_MS);
		ssize_t n;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || out->length > HAND_FOUND_BYTES)
			return false;
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return n == 0;
		str_add_bytes(out, bytes, (size_t)n);
	}
}

static void end_look(struct judge *j, pid_t pid, bool in_time)
{
	if (!in_time)
		(void)kill(pid, SIGKILL);
	if (waitpid(pid, NULL, in_time ? 0 : WNOHANG) == 0)
		j->stuck = pid;
}

static bool find_out(struct judge *j, const struct hand_ask *asks, size_t count, struct str *out)
{
	int ends[2];
	pid_t pid;
	bool in_time = false;

	if (j->stuck && waitpid(j->stuck, NULL, WNOHANG) == 0)
		return false;
	j->stuck = 0;
	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid = start_look(asks, count, ends);
	(void)close(ends[1]);
	if (pid > 0) {
		in_time = read_findings(ends[0], out);
		end_look(j, pid, in_time);
	}
	(void)close(ends[0]);
	return in_time;
}

/* The next of the findings; *at goes on behind it. */
static bool take(const struct hand_ask *ask, const struct str *all, size_t *at,
                 struct hand_found *found)
{
	OWNED(str) struct str message = { 0 };
	size_t length;

	if (all->length - *at < PACK_HEAD_BYTES)
		return false;
	length = pack_length(all->bytes + *at);
	*at += PACK_HEAD_BYTES;
	if (all->length - *at < length)
		return false;
	str_add_bytes(&message, all->bytes + *at, length);
	*at += length;
	return hand_found_read(ask, &message, found) == 0;
}

/* Adopts the policy as it was found. */
static void take_policy(struct judge *j, struct runner *r, const struct hand_ask *ask,
                        struct hand_found *found, struct verdict *v)
{
	struct policy_file *f = policy_file_known(&j->policies, ask->root);
	struct err e = { 0 };

	found->policy.known.look = ask->known.look;
	policy_file_take(f, &found->policy);
	if (policy_gate_take(&r->w.store, r->w.machine, j->trust, found->is_listed, f, &e))
		log_warn("what was trusted of %s/" POLICY_FILE ": %s", ask->root, e.text);
	v->file = f;
}

/* Each path and what it stands for, in the same order; and the policy, if v is not NULL there. */
static bool take_all(struct judge *j, struct runner *r, const struct hand_ask *asks, size_t count,
                     const struct str *all, struct paths *names, struct verdict *v)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		OWNED(hand_found) struct hand_found found = HAND_FOUND_INIT;

		if (!take(&asks[i], all, &at, &found))
			return false;
		if (asks[i].policy && found.has_policy)
			take_policy(j, r, &asks[i], &found, v);
		if (asks[i].named && found.names_other)
			return false;
		if (asks[i].named) {
			paths_add(names, found.named_path);
			paths_add(names, found.named_target);
		}
	}
	return v->file != NULL;
}

/* Looks at the policy and at all paths. False: something of that is not as it has to be. */
static bool look_at(struct judge *j, struct runner *r, const char *root, const struct paths *paths,
                    struct paths *names, struct verdict *v)
{
	size_t count = paths->count + 1;
	struct hand_ask *asks = xcalloc(count, sizeof(*asks));
	OWNED(str) struct str all = { 0 };
	bool found;

	for (size_t i = 0; i < count; i++) {
		asks[i].root = root;
		asks[i].named = i ? paths->items[i - 1] : NULL;
	}
	asks[0].policy = true;
	asks[0].listed = j->listed;
	asks[0].listed_count = j->listed_count;
	asks[0].known = policy_file_known(&j->policies, root)->known;
	asks[0].known.look = ++j->policies.looks;
	found = find_out(j, asks, count, &all);
	if (!found)
		log_warn("the policy of %s could not be looked at in time", root);
	found = found && take_all(j, r, asks, count, &all, names, v);
	free(asks);
	return found;
}

void judge_places(struct judge *j, const char *root, struct acp_inquiry *q)
{
	OWNED(paths) struct paths paths = { 0 };
	OWNED(str) struct str all = { 0 };

	(void)find_paths(q, SUBJECT_WRITE, &paths);
	size_t count = paths.count < PATHS_MAX ? paths.count : PATHS_MAX, at = 0;
	struct hand_ask *asks = xcalloc(count + 1, sizeof(*asks));
	bool found = count > 0;

	for (size_t i = 0; i < count; i++)
		asks[i] = (struct hand_ask){ .root = root, .named = paths.items[i] };
	if (found)
		found = find_out(j, asks, count, &all);
	for (size_t i = 0; i < count && found; i++) {
		OWNED(hand_found) struct hand_found one = HAND_FOUND_INIT;

		found = take(&asks[i], &all, &at, &one);
		if (found && one.named_leads)
			acp_inquiry_leads(q, one.root, paths.items[i], one.named_leads);
	}
	free(asks);
}

/* ---- judging ---- */

static void note(struct verdict *v, const struct policy_answer *a)
{
	v->allowed = a->approved;
	if (!v->allowed)
		return;
	policy_gate_add_reason(&v->reason, v->file, a);
	str_add(&v->rule, str_text(&a->rule));
	memcpy(v->hash, v->file->hash, sizeof(v->hash));
	v->logs = policy_logs(v->file->policy, &v->summary_ms);
	v->summary_ms *= 1000;
}

static void judge(struct judge *j, const struct acp_inquiry *q, enum subject subject,
                  const struct paths *names, struct verdict *v)
{
	OWNED(policy_answer) struct policy_answer a = { 0 };
	const struct policy_question question = {
		.tool = subject == SUBJECT_COMMAND ? q->command.bytes
		        : subject == SUBJECT_WRITE ? "check_clearance"
		                                   : q->tool_kind,
		.is_command = subject == SUBJECT_COMMAND,
		.risk_level = acp_risk_name(q->risk),
		.paths = (const char *const *)names->items,
		.path_count = names->count,
		.reads = subject == SUBJECT_READ,
		.known = j->known,
		.always_ask = j->always_ask,
	};

	str_add(&v->subject, subject == SUBJECT_COMMAND ? q->command.bytes : str_text(&q->path));
	v->is_untrusted = policy_gate_judge(v->file, &question, &a);
	note(v, &a);
}

void judge_ask(struct judge *j, struct runner *r, const char *root, const struct acp_inquiry *q,
               struct verdict *v)
{
	OWNED(paths) struct paths paths = { 0 };
	OWNED(paths) struct paths names = { 0 };
	enum subject subject = subject_of(q);

	if (!j->is_open)
		open_judge(j, &r->w.store);
	if (subject == SUBJECT_UNKNOWN || !is_inside(root, q->cwd) ||
	    !find_paths(q, subject, &paths))
		return;
	if (look_at(j, r, root, &paths, &names, v))
		judge(j, q, subject, &names, v);
}

void verdict_clear(struct verdict *v)
{
	str_clear(&v->reason);
	str_clear(&v->rule);
	str_clear(&v->subject);
	*v = (struct verdict){ 0 };
}

void judge_clear(struct judge *j)
{
	if (j->is_open)
		policy_files_clear(&j->policies);
	cJSON_Delete(j->known);
	cJSON_Delete(j->always_ask);
	cJSON_Delete(j->workspaces);
	str_clear(&j->usual);
	free(j->listed);
	*j = (struct judge){ 0 };
}
