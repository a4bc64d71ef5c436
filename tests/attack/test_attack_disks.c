/* Disks of owners in a system that serves several users: file systems that answer all but one kind
 * of request, or nobody but their owner (FUSE). They keep nobody else waiting. */
#include "agent.h"
#include "attack.h"
#include "deaf.h"
#include "files.h"
#include "hand_process.h"
#include "owner.h"
#include "process.h"
#include "users.h"
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct users users;
static char place[100]; /* where it is mounted: a workspace of the agent's */

static bool given_disk(bool for_all)
{
	users = users_make("");
	if (!users_have_accounts(&users))
		return false;
	users_start_owner(&users);
	(void)snprintf(place, sizeof(place), "%s/far", users.base);
	ck_assert_int_eq(mkdir(place, 0755), 0);
	return deaf_mount(place, USER_IDS[AGENT], for_all);
}

#define GIVEN_DISK(for_all)                                                                        \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "root, who can become several users");                 \
		SKIP_UNLESS(given_disk(for_all), "mount namespaces and /dev/fuse");                \
	} while (0)

static void end(void)
{
	deaf_unmount();
	ck_assert_int_eq(users_stop_owner(&users), 0);
	users_remove(&users);
}

/* ---- the calls of a filer ---- */

static void start_filer(struct owner_process *p, int *ours)
{
	int pair[2], fds[2], got;
	struct owner_ask question = { .kind = OWNER_FILER,
		                      .uid = USER_IDS[AGENT],
		                      .workspace = place,
		                      .words = { "auto" },
		                      .fds = fds,
		                      .fd_count = 2 };
	struct err e = { 0 };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	fds[0] = pair[1];
	fds[1] = STDERR_FILENO;
	ck_assert_int_eq(seteuid(USER_IDS[SERVICE]), 0);
	got = owner_start(users.owner_socket, &question, AGENT_PATIENCE_MS, p, &e);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_msg(got == 0, "%s", e.text);
	(void)close(pair[1]);
	*ours = pair[0];
}

static void ends(struct owner_process *p)
{
	struct pollfd wait = { .fd = p->pidfd, .events = POLLIN };

	ck_assert_int_eq(poll(&wait, 1, AGENT_PATIENCE_MS), 1);
	owner_process_clear(p);
}

/* One of the calls that wait for it. */
static int call_on(uint32_t opcode, int root, int fd)
{
	OWNED(str) struct str names = { 0 };
	char bytes[10];
	struct stat st;
	uint64_t room;

	switch (opcode) {
	case FUSE_LOOKUP:
		return files_stat(root, "other", &st, 0);
	case FUSE_READ:
		return (int)files_read(fd, bytes, sizeof(bytes));
	case FUSE_WRITE:
		return files_write_all(fd, "more", 4);
	case FUSE_FSYNC:
		return files_sync(fd);
	case FUSE_FSYNCDIR:
		return files_sync(root);
	case FUSE_FLUSH:
		return files_close(fd);
	case FUSE_GETATTR:
		return files_look(fd, &st);
	case FUSE_SETATTR:
		return files_chmod(fd, 0600);
	case FUSE_STATFS:
		return files_free_bytes(fd, &room);
	default:
		return files_list(root, &names);
	}
}

/* Whether this process has anything open below a folder. */
static bool has_open_there(void)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_le(shell(&said, "ls -l /proc/%d/fd", (int)getpid()), 1);
	return strstr(said.bytes, place) != NULL;
}

static void loses_filer(uint32_t opcode)
{
	struct owner_process p;
	int ours, root, fd;

	start_filer(&p, &ours);
	files_use(ours, NULL);
	root = files_open_root("", O_RDONLY);
	ck_assert_int_ge(root, FILES_FIRST);
	fd = files_open(root, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, FILES_FIRST);
	ck_assert_int_eq(files_write_all(fd, "text", 4), 0);
	ck_assert_int_eq(files_rewind(fd), 0);
	deaf_to(opcode);
	files_wait(0);
	ck_assert_int_eq(call_on(opcode, root, fd), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_msg(files_is_lost(), "opcode %u", opcode);
	ck_assert(!has_open_there());
	files_use(-1, NULL);
	ck_assert_int_eq(files_close(fd), -1); /* without waiting for anyone */
	(void)close(ours);
	deaf_to(0);
	ends(&p);
}

START_TEST(no_call_on_a_disk_that_leaves_one_kind_unanswered_makes_its_asker_wait)
{
	static const uint32_t KINDS[] = { FUSE_LOOKUP,   FUSE_READ,   FUSE_WRITE,   FUSE_FSYNC,
		                          FUSE_FSYNCDIR, FUSE_FLUSH,  FUSE_GETATTR, FUSE_SETATTR,
		                          FUSE_STATFS,   FUSE_READDIR };

	GIVEN_DISK(true);
	for (size_t i = 0; i < COUNT(KINDS); i++)
		loses_filer(KINDS[i]);
	end();
}
END_TEST

/* Not one that leaves out what was not read, as if that could not be read. */
START_TEST(a_disk_that_stops_answering_while_a_checkpoint_is_taken_leaves_none)
{
	const struct walk_options options = { .most_files = 100, .most_bytes = 1 << 20 };
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct walk_result result;
	struct owner_process p;
	struct err e = { 0 };
	int ours;

	GIVEN_DISK(true);
	put_file(place, "a.txt", "text");
	put_file(place, "b.txt", "text");
	ck_assert_int_eq(objects_open(below(users.base, "objects"), true, &o, &e), 0);
	start_filer(&p, &ours);
	files_use(ours, NULL);
	ck_assert_msg(walk_workspace(place, &o, &options, &result, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(result.sum.files, 2);
	deaf_to(FUSE_READ);
	files_wait(0);
	put_file(place, "b.txt", "text"); /* changed: it is read again */
	ck_assert_int_eq(walk_workspace(place, &o, &options, &result, &e), -1);
	ck_assert_int_eq(e.kind, ERR_AGAIN);
	ck_assert(files_is_lost());
	files_use(-1, NULL);
	(void)close(ours);
	deaf_to(0);
	ends(&p);
	end();
}
END_TEST

/* ---- stories ---- */

/* The system's user may not even look at what is open there. */
START_TEST(a_workspace_that_answers_its_owner_alone_is_written_too)
{
	OWNED(str) struct str said = { 0 };
	struct relay r;

	GIVEN_DISK(false);
	users_start(&users);
	r = users_relay_in(&users, AGENT, place);
	for (int i = 0; i < 2; i++) { /* made, then changed */
		OWNED(char_ptr) char *arguments = proposal("a.txt", i ? "two\n" : "one\n");
		OWNED(char_ptr) char *answer = NULL, *written = NULL;
		char id[40], call[80];

		relay_begin(&r, "check_clearance", arguments);
		users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
		(void)snprintf(id, sizeof(id), "%.36s", users_sql(&users, "SELECT id FROM inbox"));
		ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %s", id), 0);
		answer = relay_end(&r);
		has(answer, "status", "approved");
		(void)snprintf(call, sizeof(call), "{\"request_id\":\"%s\"}", id);
		written = relay_call(&r, "check_diff", call);
		has(written, "status", "applied");
	}
	str_reset(&said);
	ck_assert_int_eq(users_run(&users, AGENT, &said, "cat %s/a.txt; ls -A %s", place, place),
	                 0);
	ck_assert_str_eq(said.bytes, "two\na.txt\n");
	ck_assert_int_ne(access(below(place, "a.txt"), F_OK), 0); /* not even for root */
	relay_kill(&r);
	ck_assert_int_eq(users_stop(&users), 0);
	end();
}
END_TEST

/* A process that has a file there open, sends it as what a hand tells of its job, and stays. */
static pid_t send_file(int control, uint32_t opcode)
{
	struct hand_told told = { .number = UINT32_MAX, .pid = 1 };
	char control_bytes[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { .iov_base = &told, .iov_len = sizeof(told) };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control_bytes,
		            .msg_controllen = sizeof(control_bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	pid_t pid = fork();
	int file;

	if (pid)
		return pid;
	file = open(below(place, "file"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		               .cmsg_type = SCM_RIGHTS,
		               .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &file, sizeof(file));
	deaf_to(opcode);
	if (file < 0 || sendmsg(control, &m, 0) < 0)
		_exit(1);
	for (;;)
		(void)pause();
}

/* Closing it, or asking whether it can be read, waits for its file system. */
START_TEST(a_hand_that_sends_a_file_of_such_a_disk_keeps_nobody_waiting)
{
	static const uint32_t KINDS[] = { FUSE_FLUSH, FUSE_POLL };
	OWNED(str) struct str said = { 0 };
	struct relay r;

	GIVEN_DISK(true);
	users_start(&users);
	r = users_relay(&users, AGENT);
	for (size_t i = 0; i < COUNT(KINDS); i++) {
		OWNED(char_ptr) char *arguments = proposal(i ? "b.txt" : "a.txt", "text\n");
		OWNED(char_ptr) char *answer = NULL;
		int hand, control;
		pid_t sender;

		relay_begin(&r, "check_clearance", arguments);
		users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
		str_reset(&said);
		ck_assert_int_eq(shell(&said, "pgrep -P %d -x hand", (int)users.owner_pid), 0);
		hand = pidfd_open((pid_t)atoi(said.bytes), 0);
		control = pidfd_getfd(hand, HAND_FRONT_FD, 0);
		ck_assert_int_ge(control, 0);
		sender = send_file(control, KINDS[i]);
		ck_assert_int_eq(users_ctl(&users, OPERATOR, &said, "approve %.36s",
		                           users_sql(&users, "SELECT id FROM inbox")),
		                 0);
		answer = relay_end(&r);
		has(answer, "status", "approved");
		deaf_to(0);
		(void)kill(sender, SIGKILL);
		ck_assert_int_eq(end_of(sender), 128 + SIGKILL);
		(void)close(control);
		(void)close(hand);
	}
	relay_kill(&r);
	ck_assert_int_eq(users_stop(&users), 0);
	end();
}
END_TEST

/* An agent of its owner works there, which is how the system learns whose it is. */
static struct relay work_in(const char *folder)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "text\n");
	struct relay r = users_relay_in(&users, AGENT, folder);

	relay_begin(&r, "check_clearance", arguments);
	users_expect_soon(&users, "SELECT count(*) FROM inbox", "1\n");
	ck_assert_int_eq(users_ctl(&users, OPERATOR, NULL, "reject %.36s",
	                           users_sql(&users, "SELECT id FROM inbox")),
	                 0);
	free(relay_end(&r));
	return r;
}

static void looks(const char *folder, int status, const char *answer)
{
	char arguments[200];

	(void)snprintf(arguments, sizeof(arguments), "files --workspace %s", folder);
	users_operator_sees(&users, arguments, status, answer);
}

static void ends_of_filers(void)
{
	OWNED(str) struct str said = { 0 };

	while (shell(&said, "pgrep -P %d -x filer", (int)users.owner_pid) == 0)
		(void)poll(NULL, 0, 20);
}

static void is_settled(int seq, const char *why)
{
	char query[200];

	(void)snprintf(query, sizeof(query),
	               "SELECT state, why LIKE '%s' FROM file_look WHERE seq = %d", why, seq);
	users_expect_soon(&users, query, "refused|1\n");
}

START_TEST(a_look_into_a_disk_that_stops_answering_ends_in_time_and_keeps_nobody_else_waiting)
{
	struct relay r, other;
	OWNED(str) struct str order = { 0 };

	GIVEN_DISK(true);
	users_start(&users);
	other = work_in(users.project);
	r = work_in(place);
	looks(place, 0, "far/\n");
	deaf_to(FUSE_READDIR);
	for (int i = 0; i < 3; i++)
		str_addf(&order, "%s/agent-intercom-ctl files --workspace %s >/dev/null 2>&1 & ",
		         getenv("INTERCOM_BUILD"), place);
	ck_assert_int_eq(users_run(&users, OPERATOR, NULL, "%s", order.bytes), 0);
	users_expect_soon(&users,
	                  "SELECT count(*), sum(state = 'claimed') FROM file_look WHERE seq > 1",
	                  "3|2\n");
	looks(users.project, 0, "project/\n");
	is_settled(2, "not done within 10 s: the disk of %");
	is_settled(3, "not done within 10 s: the disk of %");
	is_settled(4, "the disk of % does not answer, or its owner has stopped %");
	looks(place, 1, "far does not answer");
	looks(users.project, 0, "project/\n");
	deaf_to(0);
	users_expect_soon(&users, "SELECT count(*) FROM file_look WHERE settled_at IS NULL", "0\n");
	ends_of_filers();
	looks(place, 0, "far/\n");
	deaf_to(FUSE_OPENDIR); /* its filer cannot even begin */
	looks(place, 1, "far does not answer\n");
	deaf_to(0);
	relay_kill(&r);
	relay_kill(&other);
	ck_assert_int_eq(users_stop(&users), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_disks");
	TCase *c = tcase_create("attack_disks");

	tcase_add_test(c, no_call_on_a_disk_that_leaves_one_kind_unanswered_makes_its_asker_wait);
	tcase_add_test(c, a_disk_that_stops_answering_while_a_checkpoint_is_taken_leaves_none);
	tcase_add_test(c, a_workspace_that_answers_its_owner_alone_is_written_too);
	tcase_add_test(c, a_hand_that_sends_a_file_of_such_a_disk_keeps_nobody_waiting);
	tcase_add_test(
	    c, a_look_into_a_disk_that_stops_answering_ends_in_time_and_keeps_nobody_else_waiting);
	suite_add_tcase(s, c);
	return run_suite(s);
}
