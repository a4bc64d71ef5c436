#include "applier_case.h"

#include <fnmatch.h>
#include <limits.h>

const char OUTCOME[] =
    "SELECT a.state, a.error_code, r.state, t.state, (SELECT count(*) FROM ended_call"
    " WHERE call_seq = t.seq) FROM apply AS a JOIN request AS r ON r.seq = a.request_seq"
    " JOIN tool_call AS t ON t.apply_seq = a.seq ORDER BY a.seq DESC LIMIT 1";

const char APPLIED[] = "applied||consumed|answered|1\n";

const char MESSAGE[] = "SELECT why FROM apply ORDER BY seq DESC LIMIT 1";

const char CHANGES[] = "SELECT path, action, bytes, state FROM file_change ORDER BY seq";

mode_t mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(lstat(in(name), &st), 0);
	return st.st_mode & 07777;
}

int count_found(const char *what)
{
	char command[WORKSPACE_BYTES + 80];
	FILE *p;
	int n = -1;

	(void)snprintf(command, sizeof(command), "find '%s' -mindepth 1 %s | wc -l", ws, what);
	p = popen(command, "r");
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(fscanf(p, "%d", &n), 1);
	(void)pclose(p);
	return n;
}

int entries(void)
{
	return count_found("");
}

int hidden_entries(void)
{
	return count_found("-name '.intercom-*'");
}

void apply(const char *path, const char *body)
{
	approve(path, body);
	call_check_diff(false);
	run_worker("applier");
}

int count_flushes(const char *pattern)
{
	const char *log = below(test_run(), "../strace");
	char line[2 * PATH_MAX];
	int status, count = 0;
	pid_t pid;
	FILE *f;

	ck_assert_int_eq(setenv("INTERCOM_DRAIN", "1", 1), 0);
	pid = start_traced("applier", "fsync,fdatasync", NULL, log);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	f = fopen(log, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		count += fnmatch(pattern, line, 0) == 0;
	(void)fclose(f);
	return count;
}

void is_refused(const char *code, const char *beginning)
{
	char outcome[100];
	OWNED(char_ptr) char *message = rows(MESSAGE);

	(void)snprintf(outcome, sizeof(outcome), "refused|%s|approved|answered|1\n", code);
	ck_assert_msg(strncmp(message, beginning, strlen(beginning)) == 0, "%s", message);
	expect(OUTCOME, outcome);
	expect("SELECT count(*) FROM file_change WHERE state <> 'undone'"
	       " AND apply_seq = (SELECT max(seq) FROM apply)",
	       "0\n");
}

void many_are_old(void)
{
	file_is("a.txt", "one\ntwo\nthree\n");
	file_is("gone.txt", "bye\n");
	file_is("old.sh", "true\n1\n");
	ck_assert_uint_eq(mode_of("old.sh"), 0750);
	ck_assert_uint_eq(mode_of("run"), 0640);
	ck_assert_int_eq(entries(), 4);
}

void many_are_new(void)
{
	file_is("a.txt", "one\n2\nthree\n");
	file_is("new/dir/b.txt", "hello\n");
	file_is("gone.txt", "(none)");
	file_is("old.sh", "(none)");
	file_is("moved/new.sh", "true\n2\n");
	ck_assert_uint_eq(mode_of("moved/new.sh"), 0750);
	file_is("copy.txt", "one\ntwo\nthree\n");
	file_is("run", "x\n");
	ck_assert_uint_eq(mode_of("run"), 0750);
	ck_assert_int_eq(entries(), 8);
}

void swapped_to(const char *name, const char *target)
{
	(void)remove(in(name));
	ck_assert_int_eq(symlink(target, in(name)), 0);
}

void leave_the_workspace_to_root(void)
{
	char command[2 * WORKSPACE_BYTES + 60];

	(void)snprintf(command, sizeof(command),
	               "cd '%s/..' && find . -path ./ws -prune -o -exec chown %d:%d {} +", ws,
	               NOBODY_ID, NOBODY_ID);
	ck_assert_int_eq(system(command), 0);
	ck_assert(become_nobody());
}

void bring_worker_along(void)
{
	char command[3 * WORKSPACE_BYTES], bin[WORKSPACE_BYTES];

	(void)snprintf(bin, sizeof(bin), "%s-bin", test_run());
	(void)snprintf(command, sizeof(command),
	               "mkdir '%s' && cp \"$INTERCOM_BUILD/applier\" '%s'", bin, bin);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(setenv("INTERCOM_BUILD", bin, 1), 0);
}

int try_beside(int run_fd, struct apply_report *r, int64_t *ret_due_ms)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	int did;
	OWNED(applier)
	struct applier second = { .store = &st,
		                  .machine = "h",
		                  .worker_id = "second",
		                  .database = test_db(),
		                  .run_fd = run_fd };

	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	did = apply_next(&second, r, ret_due_ms, &e);
	ck_assert_msg(did >= 0, "%s", e.text);
	(void)close(run_fd);
	return did;
}

const char CLAIMED[] = "UPDATE OF state ON apply WHEN NEW.state = 'claimed'";

void given_other_claim(const char *when)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "CREATE TRIGGER other AFTER %s BEGIN UPDATE apply SET claim = claim + 1,"
	               " worker_id = 'other'; END",
	               when);
	given(sql);
}

void is_lost(int claim)
{
	OWNED(apply_report) struct apply_report r = { 0 };
	char claimed[60];
	int64_t due_ms;

	ck_assert_int_eq(
	    try_beside(open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r, &due_ms), 1);
	ck_assert_msg(strcmp(r.state, "lost") == 0, "%s: %s", r.state, r.why.text);
	(void)snprintf(claimed, sizeof(claimed), "claimed|%d||other|0\n", claim);
	expect("SELECT state, claim, error_code, worker_id, (SELECT count(*) FROM ended_call)"
	       " FROM apply ORDER BY seq DESC LIMIT 1",
	       claimed);
}

void given_other_workspace(void)
{
	char sql[2 * WORKSPACE_BYTES];

	(void)snprintf(strrchr(ws, '/'), 20, "/other");
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	session = 2;
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (2, 's2', 'h', 'local:tester', '%s', 'active',"
	    " 'local', '%s', '%s')",
	    ws, clock_now().text, clock_now().text);
	given(sql);
}
