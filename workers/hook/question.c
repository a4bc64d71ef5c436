#include "question.h"

#include "clock.h"
#include "gate_answer.h"
#include "instance.h"
#include "io.h"
#include "json_writer.h"
#include "lines.h"
#include "paths.h"
#include "reach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
	struct lines lines;
	bool greeted;
	cJSON *reply; /* the whole answer */
	struct err why; /* of kind ERR_NONE: none; else it is broken for good */
};

/* ---- the system ---- */

/* Our user's system, which may be restarting, or else that of the machine, for several users. */
static int connect_usual(const struct str *run)
{
	if (run->length && !instance_is_stopped(run->bytes))
		return reach_front(run->bytes);
	return reach_shared(REACH_AGENTS, SOCK_STREAM);
}

static int connect_to(const struct question *q)
{
	OWNED(str) struct str run = { 0 };
	OWNED(char_ptr) char *real = NULL;

	if (q->system->run)
		return reach_front(q->system->run);
	if (q->system->database) {
		real = realpath(q->system->database, NULL);
		if (!paths_published_run(real ? real : q->system->database, &run))
			return -1;
	} else {
		(void)reach_usual(&run);
		return connect_usual(&run);
	}
	return reach_front(str_text(&run));
}

/* ---- what we say ---- */

/* The greeting and the question; no answer is awaited in between. */
static void word(const struct question *q, struct str *out)
{
	json_object(out);
	json_member_int(out, "agent-intercom", 1);
	json_member(out, "hook", q->host->name);
	json_object_end(out);
	str_add_char(out, '\n');
	json_object(out);
	json_member(out, "jsonrpc", "2.0");
	json_member_int(out, "id", 1);
	json_member(out, "method", "intercom/hook");
	json_member_object(out, "params");
	json_member(out, "host", q->host->name);
	json_member(out, "event", q->event);
	json_member(out, "helper", INSTANCE_BUILD);
	json_member_int(out, "deadline_ms", q->deadline_ms - clock_monotonic_ms());
	if (q->process)
		json_member_int(out, "process", q->process);
	json_member_raw(out, "input", str_text(&q->bytes));
	gate_host_add_variables(q->host, out);
	json_object_end(out);
	json_object_end(out);
	str_add_char(out, '\n');
}

/* ---- what we hear ---- */

static void tell_progress(struct wire *w, const cJSON *message)
{
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(message, "params");
	const char *text = json_text(params, "message");
	OWNED(str) struct str line = { 0 };

	if (!text)
		return;
	gate_answer_progress(w->q->host, text, &line);
	if (line.length && io_write_all(STDOUT_FILENO, line.bytes, line.length))
		w->q->abandoned = true;
}

static bool is_ours(const cJSON *message)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(message, "id");

	return cJSON_IsNumber(id) && id->valuedouble == 1;
}

static bool take_line(void *arg, const char *line, size_t length)
{
	struct wire *w = arg;
	OWNED(cJSON_ptr) cJSON *message = NULL;
	const char *method;

	if (!line) {
		err_tell(&w->why, ERR_BUG, "its answer is longer than %d MiB", REPLY_BYTES >> 20);
		return false;
	}
	message = json_read(line, length, NULL);
	if (!cJSON_IsObject(message)) {
		err_tell(&w->why, ERR_BUG, "its answer is not valid JSON");
		return false;
	}
	method = json_text(message, "method");
	if (method && strcmp(method, "notifications/progress") == 0)
		tell_progress(w, message);
	if (method || !is_ours(message)) {
		w->greeted |= cJSON_HasObjectItem(message, "agent-intercom");
		return !w->q->abandoned;
	}
	w->reply = message;
	message = NULL;
	return false;
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
	char bytes[READ_BYTES];
	ssize_t n;
	int got;

	while (!w->reply) {
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
		if (!lines_feed(&w->lines, bytes, (size_t)n, take_line, w) && !w->reply)
			return err_set(e, ERR_BUG, "agent-intercom could not be understood: %s",
			               w->q->abandoned ? "the host is gone" : w->why.text);
	}
	return 1;
}

static void wire_clear(struct wire *w)
{
	cJSON_Delete(w->reply);
	lines_clear(&w->lines);
	if (w->fd >= 0)
		(void)close(w->fd);
}

static int take_result(struct wire *w, cJSON **ret, struct err *e)
{
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(w->reply, "error");
	const char *text = json_text(error, "message");
	cJSON *result;

	if (error)
		return err_set(e, ERR_INPUT, "%s",
		               text ? text : "agent-intercom refused without a reason");
	result = cJSON_DetachItemFromObjectCaseSensitive(w->reply, "result");
	if (!cJSON_IsObject(result)) {
		cJSON_Delete(result);
		return err_set(e, ERR_BUG, "agent-intercom's answer has no result");
	}
	*ret = result;
	return 0;
}

/* A front that does not read must not hold us longer than the deadline. */
static int send_all(const struct wire *w, const struct str *text)
{
	const struct timeval limit = { .tv_sec = FIRST_MS / 1000 };

	(void)setsockopt(w->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return io_write_all(w->fd, text->bytes, text->length);
}

/* Asks once. 1 answered, 0 no front or one that was lost, -1 there will be no answer. */
static int ask_once(struct question *q, bool *ret_heard, cJSON **ret, struct err *e)
{
	OWNED(wire)
	struct wire w = { .q = q, .fd = connect_to(q), .lines = LINES_INIT(REPLY_BYTES) };
	OWNED(str) struct str text = { 0 };
	int got;

	if (w.fd < 0)
		return 0;
	word(q, &text);
	if (send_all(&w, &text))
		return 0;
	str_clear(&text);
	got = hear(&w, e);
	*ret_heard = w.greeted;
	if (got == 1 && take_result(&w, ret, e))
		got = -1;
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

int question_ask(struct question *q, cJSON **ret, struct err *e)
{
	int64_t until = clock_monotonic_ms() + (q->waits ? FIRST_MS : 0);
	int nap_ms = TRY_MS, losses = 0;

	for (;;) {
		bool heard = false;
		int got = ask_once(q, &heard, ret, e);
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
			return err_set(e, ERR_AGAIN,
			               "agent-intercom is not running%s; start it and call the "
			               "same again",
			               q->reached ? " any more" : "");
		rest(nap_ms);
		nap_ms = nap_ms * 2 < TRY_MAX_MS ? nap_ms * 2 : TRY_MAX_MS;
	}
}
