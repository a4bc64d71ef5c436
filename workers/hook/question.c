#include "question.h"

#include "clock.h"
#include "gate_wire.h"
#include "instance.h"
#include "io.h"
#include "json_writer.h"
#include "paths.h"
#include "reach.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
	REPLY_BYTES = 8 << 20, /* may carry the tool's input back, edited */
	READ_BYTES = 16 << 10,
	FIRST_MS = 3000, /* to find a front at first: it may be restarting */
	RETURN_MS = 30000, /* the same when one has heard the question */
	LOSSES_MAX = 10, /* fronts that may go away while they have it */
	TRY_MS = 10, /* between two attempts to connect, initially */
	TRY_MAX_MS = 250,
	NS_PER_MS = 1000000,
};

/* One connection. */
struct wire {
	struct question *q;
	int fd;
	struct str heard; /* that is not taken yet */
	bool greeted, is_whole;
	struct gate_answer *answer;
};

/* ---- the system ---- */

/* Our user's system, which may be restarting, or else that of the machine, for several users. */
static int connect_usual(const struct str *run)
{
	if (run->length && !instance_is_stopped(run->bytes))
		return reach_front(run->bytes);
	return reach_shared(REACH_AGENTS, SOCK_STREAM);
}

/* Appends the run directory of the system, if there is one. */
static void find_run(const struct question *q, struct str *run)
{
	OWNED(char_ptr) char *real = NULL;

	if (q->system->run) {
		str_add(run, q->system->run);
	} else if (q->system->database) {
		real = realpath(q->system->database, NULL);
		(void)paths_published_run(real ? real : q->system->database, run);
	} else {
		(void)reach_usual(run);
	}
}

static int connect_to(const struct question *q)
{
	OWNED(str) struct str run = { 0 };

	find_run(q, &run);
	if (!q->system->run && !q->system->database)
		return connect_usual(&run);
	return run.length ? reach_front(run.bytes) : -1;
}

/* Where a database was lost, a start by whoever reads this is not what helps. */
static int tell_down(const struct question *q, struct err *e)
{
	OWNED(str) struct str run = { 0 }, why = { 0 };

	find_run(q, &run);
	if (run.length && instance_is_lost(run.bytes, q->system->database, &why))
		return err_set(e, ERR_AGAIN, "agent-intercom is not running: %s", why.bytes);
	return err_set(e, ERR_AGAIN,
	               "agent-intercom is not running%s; start it and call the same again",
	               q->reached ? " any more" : "");
}

/* ---- what we say ---- */

/* All at once: no answer is awaited in between. */
static void word(const struct question *q, struct str *out)
{
	json_object(out);
	json_member_int(out, "agent-intercom", 1);
	json_member(out, "hook", q->host->name);
	json_member(out, "event", q->event);
	json_object_end(out);
	str_add_char(out, '\n');
	json_object(out);
	json_member(out, "host", q->host->name);
	json_member(out, "event", q->event);
	json_member(out, "helper", INSTANCE_BUILD);
	json_member_int(out, "deadline_ms", q->deadline_ms - clock_monotonic_ms());
	if (q->process)
		json_member_int(out, "process", q->process);
	gate_host_add_variables(q->host, out);
	json_object_end(out);
	str_add_char(out, '\n');
	str_add_bytes(out, q->bytes.bytes, q->bytes.length);
	str_add_char(out, '\n');
}

/* ---- what we hear ---- */

static int take_status(struct wire *w, const char *line, size_t length)
{
	if (length != 2 || line[1] < '0' || line[1] > '9')
		return -1;
	w->answer->status = line[1] - '0';
	w->is_whole = true;
	return 0;
}

/* Takes a line with its end. 0, or -1: it makes no sense. */
static int take_line(struct wire *w, const char *line, size_t length)
{
	switch (line[0]) {
	case GATE_WIRE_GREETING:
		if (w->greeted)
			return -1; /* one of another version */
		w->greeted = true;
		return 0;
	case GATE_WIRE_NOW:
		w->q->abandoned |= io_write_all(STDOUT_FILENO, line + 1, length) != 0;
		return 0;
	case GATE_WIRE_OUT:
		str_add_bytes(&w->answer->out, line + 1, length);
		return 0;
	case GATE_WIRE_WHY:
		str_add_bytes(&w->answer->err, line + 1, length);
		return 0;
	case GATE_WIRE_ENDS:
		w->q->ends = true;
		return 0;
	case GATE_WIRE_STATUS:
		return take_status(w, line, length);
	default:
		return -1;
	}
}

/* Takes the lines that are whole. 0, or -1 with e: they make no sense. */
static int take_lines(struct wire *w, struct err *e)
{
	const char *at = str_text(&w->heard), *all = at + w->heard.length, *end;

	for (; !w->is_whole && (end = memchr(at, '\n', (size_t)(all - at))); at = end + 1) {
		if (take_line(w, at, (size_t)(end - at)))
			return err_set(e, ERR_BUG, "agent-intercom could not be understood");
		if (w->q->abandoned)
			return err_set(e, ERR_AGAIN, "the host no longer waits for an answer");
	}
	w->heard.length = (size_t)(all - at);
	memmove(w->heard.bytes, at, w->heard.length);
	return 0;
}

static int take_bytes(struct wire *w, const char *bytes, size_t length, struct err *e)
{
	str_add_bytes(&w->heard, bytes, length);
	if (w->heard.length + w->answer->out.length + w->answer->err.length > REPLY_BYTES)
		return err_set(e, ERR_BUG, "agent-intercom's answer is longer than %d MiB",
		               REPLY_BYTES >> 20);
	return memchr(bytes, '\n', length) ? take_lines(w, e) : 0;
}

/* ---- waiting ---- */

/* Waits for bytes, but not for a host that is gone. 1 there are some, 0 the time is up, -1. */
static int await(struct wire *w, int64_t until_ms)
{
	struct pollfd fds[] = { { .fd = w->fd, .events = POLLIN },
		                { .fd = STDOUT_FILENO, .events = 0 } }; /* errors only */

	for (;;) {
		int64_t left = until_ms - clock_monotonic_ms();
		int got = poll(fds, COUNT(fds), left > 0 ? (int)left : 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		if (fds[1].revents & (POLLERR | POLLHUP)) {
			w->q->abandoned = true;
			return -1;
		}
		if (fds[0].revents)
			return 1;
		fds[1].fd = -1; /* not a descriptor that can be watched */
	}
}

/* Reads until the answer is whole. 1 it is, 0 the connection is lost, -1 no more is to come. */
static int hear(struct wire *w, struct err *e)
{
	static char bytes[READ_BYTES];
	ssize_t n;
	int got;

	while (!w->is_whole) {
		got = await(w, w->q->deadline_ms);
		if (got < 0)
			return err_set(e, ERR_AGAIN, "the host no longer waits for an answer");
		if (got == 0)
			return err_set(e, ERR_AGAIN,
			               "there was no answer in time; "
			               "call the same again to ask again");
		n = read(w->fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (take_bytes(w, bytes, (size_t)n, e))
			return -1;
	}
	return 1;
}

static void wire_clear(struct wire *w)
{
	str_clear(&w->heard);
	io_shut(&w->fd);
}

/* A front that does not read must not hold us longer than the deadline. */
static int send_all(const struct wire *w, const struct str *text)
{
	const struct timeval limit = { .tv_sec = FIRST_MS / 1000 };

	(void)setsockopt(w->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return io_write_all(w->fd, text->bytes, text->length);
}

/* Asks once. 1 answered, 0 no front or one that was lost, -1 there will be no answer. */
static int ask_once(struct question *q, bool *ret_heard, struct gate_answer *answer, struct err *e)
{
	OWNED(wire) struct wire w = { .q = q, .fd = connect_to(q), .answer = answer };
	OWNED(str) struct str text = { 0 };
	int got;

	if (w.fd < 0)
		return 0;
	word(q, &text);
	if (send_all(&w, &text))
		return 0;
	str_clear(&text);
	gate_answer_clear(answer); /* of what one that was lost had begun to say */
	q->ends = false;
	got = hear(&w, e);
	*ret_heard = w.greeted;
	return got;
}

static void rest(int ms)
{
	const struct timespec nap = { .tv_nsec = (long)ms * NS_PER_MS };

	(void)nanosleep(&nap, NULL);
}

/* Whether to try again after a failure. A question that ends each front is not asked for ever. */
static bool may_retry(const struct question *q, int64_t now, int losses, int64_t until)
{
	if (q->reached && !q->waits)
		return false;
	return losses <= LOSSES_MAX && now < until && now < q->deadline_ms;
}

int question_ask(struct question *q, struct gate_answer *answer, struct err *e)
{
	int64_t until = clock_monotonic_ms() + (q->waits ? FIRST_MS : 0);
	int nap_ms = TRY_MS, losses = 0;

	for (;;) {
		bool heard = false;
		int got = ask_once(q, &heard, answer, e);
		int64_t now = clock_monotonic_ms();

		q->reached |= heard;
		if (got)
			return got > 0 ? 0 : -1;
		if (heard) {
			losses++;
			until = now + RETURN_MS;
			nap_ms = TRY_MS;
		}
		if (!may_retry(q, now, losses, until))
			return tell_down(q, e);
		rest(nap_ms);
		nap_ms = nap_ms * 2 < TRY_MAX_MS ? nap_ms * 2 : TRY_MAX_MS;
	}
}
