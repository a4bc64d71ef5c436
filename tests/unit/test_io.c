/* io: what is sent over a Unix socket with descriptors, and received; what a child keeps open; a
 * file that is read to its end. */
#include "harness.h"
#include "io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void given_a_socket(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	ck_assert_int_eq(closedir(dir), 0);
	return count;
}

static void sends(const char *text, size_t count)
{
	const int fds[IO_FDS] = { 0, 1, 2, 0, 1, 2, 0, 1 };

	ck_assert_int_eq(io_send_fds(ends[0], text, strlen(text), fds, count, 0),
	                 (ssize_t)strlen(text));
}

START_TEST(descriptors_arrive_in_their_order_and_exec_closes_them)
{
	char text[8] = "";
	int fds[3] = { 7, 7, 7 };
	struct stat sent, got;

	given_a_socket();
	sends("hello", 2);
	ck_assert_int_eq(io_receive_fds(ends[1], text, sizeof(text), fds, 3, 0), 5);
	ck_assert_str_eq(text, "hello");
	ck_assert_int_eq(fds[2], -1);
	for (int i = 0; i < 2; i++) {
		ck_assert(fstat(i, &sent) == 0 && fstat(fds[i], &got) == 0);
		ck_assert(sent.st_ino == got.st_ino && sent.st_dev == got.st_dev);
		ck_assert_int_eq(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
	}
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_leaves_no_descriptor_open)
{
	char text[8];
	int fds[3];
	size_t before;

	given_a_socket();
	before = open_files();
	for (size_t count = 4; count <= IO_FDS; count++) {
		sends("hello", count);
		ck_assert_int_eq(io_receive_fds(ends[1], text, sizeof(text), fds, 3, 0), -1);
		ck_assert_int_eq(errno, EMSGSIZE);
		ck_assert(fds[0] == -1 && fds[1] == -1 && fds[2] == -1);
	}
	sends("too long", 3);
	ck_assert_int_eq(io_receive_fds(ends[1], text, 7, fds, 3, 0), -1);
	ck_assert_int_eq(errno, EMSGSIZE);
	ck_assert_uint_eq(open_files(), before);
}
END_TEST

START_TEST(a_message_without_descriptors_and_the_end_have_none)
{
	char text[8];
	int fds[2] = { 7, 7 };

	given_a_socket();
	ck_assert_int_eq(io_receive_fds(ends[1], text, sizeof(text), fds, 2, MSG_DONTWAIT), -1);
	ck_assert_int_eq(errno, EAGAIN);
	sends("hello", 0);
	ck_assert_int_eq(io_receive_fds(ends[1], text, sizeof(text), fds, 2, 0), 5);
	ck_assert(fds[0] == -1 && fds[1] == -1);
	ck_assert_int_eq(close(ends[0]), 0);
	ck_assert_int_eq(io_receive_fds(ends[1], text, sizeof(text), fds, 2, 0), 0);
}
END_TEST

START_TEST(no_more_than_the_limit_are_sent_or_received)
{
	int fds[IO_FDS + 1] = { 0 };
	char text[8];

	given_a_socket();
	ck_assert_int_eq(io_send_fds(ends[0], "x", 1, fds, IO_FDS + 1, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(io_receive_fds(ends[1], text, sizeof(text), fds, IO_FDS + 1, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* Whether of the descriptors 40 to 44 these are open in a child that closes all from first on but
 * two. */
static int left_open(int first, int one, int other)
{
	int status = 0, kept = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = 40; fd < 45; fd++)
			(void)dup2(STDERR_FILENO, fd);
		io_close_all_but(first, one, other);
		for (int fd = 40; fd < 45; fd++)
			kept |= (fcntl(fd, F_GETFD) >= 0) << (fd - 40);
		_exit(kept);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

START_TEST(a_child_keeps_what_it_names_and_what_comes_before_and_nothing_else)
{
	ck_assert_int_eq(left_open(0, 41, -1), 2);
	ck_assert_int_eq(left_open(0, 43, 41), 2 | 8);
	ck_assert_int_eq(left_open(0, 41, 42), 2 | 4);
	ck_assert_int_eq(left_open(0, 44, 44), 16);
	ck_assert_int_eq(left_open(42, 43, -1), 1 | 2 | 8);
	ck_assert_int_eq(left_open(42, 42, 40), 1 | 2 | 4);
	ck_assert_int_eq(left_open(0, -1, -1), 0);
}
END_TEST

START_TEST(a_file_is_read_to_its_end_or_to_the_most_that_was_asked_for)
{
	OWNED(str) struct str bytes = { 0 };
	int fds[2];

	for (size_t most = 4; most <= 6; most++) {
		str_reset(&bytes);
		ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
		ck_assert_int_eq(write(fds[1], "hello", 5), 5);
		ck_assert_int_eq(close(fds[1]), 0);
		ck_assert_int_eq(io_read_all(fds[0], most, &bytes), most < 5);
		ck_assert_str_eq(str_text(&bytes), most < 5 ? "hell" : "hello");
		ck_assert_int_eq(close(fds[0]), 0);
	}
	ck_assert_int_eq(io_read_all(-1, 1, &bytes), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("io");
	TCase *c = tcase_create("io");

	tcase_add_test(c, descriptors_arrive_in_their_order_and_exec_closes_them);
	tcase_add_test(c, what_does_not_fit_is_refused_and_leaves_no_descriptor_open);
	tcase_add_test(c, a_message_without_descriptors_and_the_end_have_none);
	tcase_add_test(c, no_more_than_the_limit_are_sent_or_received);
	tcase_add_test(c, a_child_keeps_what_it_names_and_what_comes_before_and_nothing_else);
	tcase_add_test(c, a_file_is_read_to_its_end_or_to_the_most_that_was_asked_for);
	suite_add_tcase(s, c);
	return run_suite(s);
}
