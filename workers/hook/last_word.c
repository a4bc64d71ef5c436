#include "last_word.h"

#include "clock.h"
#include "err.h"

#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { MS_PER_S = 1000, US_PER_MS = 1000, STACK_BYTES = 32 << 10 };

static struct {
	char out[LAST_WORD_BYTES], why[LAST_WORD_BYTES];
	size_t out_length, why_length;
	int status;
	volatile sig_atomic_t withheld;
} word;

static char stack[STACK_BYTES]; /* for the handler, where ours has overflowed */

static void say(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);

		if (n <= 0)
			return;
		bytes += n;
		length -= (size_t)n;
	}
}

static _Noreturn void end(void)
{
	say(STDOUT_FILENO, word.out, word.out_length);
	say(STDERR_FILENO, word.why, word.why_length);
	_exit(word.status);
}

static void on_asked(int signal)
{
	(void)signal;
	if (!word.withheld)
		end();
}

static void on_broken(int signal)
{
	(void)signal;
	if (!word.withheld)
		end();
	_exit(word.status);
}

/* No memory, or an exit that nobody expects. While the answer is written, it is finished by nobody
 * else. */
static void on_end(void)
{
	if (!word.withheld)
		end();
}

static void on_exhaustion(void)
{
	on_end();
	_exit(word.status);
}

static bool is_ignored(int signal)
{
	static const int IGNORED[] = { SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
		                       SIGCONT, SIGCHLD, SIGURG,  SIGWINCH };

	for (size_t i = 0; i < COUNT(IGNORED); i++)
		if (IGNORED[i] == signal)
			return true;
	return false;
}

static bool is_ours(int signal)
{
	static const int OURS[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP };

	for (size_t i = 0; i < COUNT(OURS); i++)
		if (OURS[i] == signal)
			return true;
	return false;
}

/* Every signal whose default is to end us; two that the C library keeps for itself are refused. */
static void hear_signals(void)
{
	struct sigaction action = { .sa_flags = SA_ONSTACK | SA_RESTART };

	(void)sigfillset(&action.sa_mask);
	for (int signal = 1; signal < NSIG; signal++) {
		action.sa_handler = is_ours(signal) ? on_broken : on_asked;
		if (signal == SIGPIPE)
			action.sa_handler = SIG_IGN;
		if (!is_ignored(signal))
			(void)sigaction(signal, &action, NULL);
	}
}

void last_word_begin(const char *why, int status)
{
	word.why_length = strlen(why);
	assert(word.why_length <= sizeof(word.why));
	memcpy(word.why, why, word.why_length);
	word.status = status;
	str_on_exhaustion(on_exhaustion);
}

void last_word_prepare(const struct str *out, const struct str *why, int status)
{
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	sigset_t none;

	assert(out->length <= sizeof(word.out) && why->length <= sizeof(word.why));
	memcpy(word.out, str_text(out), out->length);
	memcpy(word.why, str_text(why), why->length);
	word.out_length = out->length;
	word.why_length = why->length;
	word.status = status;
	(void)sigaltstack(&own, NULL);
	hear_signals();
	/* A host may start us with signals blocked. */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)atexit(on_end);
}

void last_word_at(int64_t ms)
{
	int64_t left = ms - clock_monotonic_ms();
	struct itimerval timer = { 0 };

	if (left < 1)
		left = 1;
	timer.it_value.tv_sec = left / MS_PER_S;
	timer.it_value.tv_usec = left % MS_PER_S * US_PER_MS;
	(void)setitimer(ITIMER_REAL, &timer, NULL);
}

void last_word_withhold(void)
{
	word.withheld = 1;
}
