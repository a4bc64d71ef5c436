/* hook-ends HOST EVENT: whether the host's process can end with the call of a tool whose hook got
 * the JSON on stdin, instead of waiting for the answer (src/gate/gate_defer.h). hook runs it,
 * seldom, because it must read JSON: the host's transcript.
 *
 * Reads and writes no table. Outside: stdin, the transcript. Exit status: 0 it can, 1 it cannot. */
#include "gate_defer.h"
#include "gate_input.h"
#include "instance.h"

#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, CANNOT = 1 };

/* Reads stdin, of which the hook has checked the length. */
static int read_input(struct str *out)
{
	char bytes[READ_BYTES];
	ssize_t n;

	while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		str_add_bytes(out, bytes, (size_t)n);
	return n < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	const struct gate_host *host = argc == 3 ? gate_host_named(argv[1]) : NULL;
	OWNED(gate_input) struct gate_input in = { 0 };
	OWNED(str) struct str bytes = { 0 };

	if (instance_says_version(argc, argv, "hook-ends"))
		return EX_OK;
	if (!host) {
		(void)fputs("usage: hook-ends HOST EVENT; hook runs it\n", stderr);
		return EX_USAGE;
	}
	if (read_input(&bytes) ||
	    gate_input_read(host, argv[2], str_text(&bytes), bytes.length, &in, NULL))
		return CANNOT;
	return gate_defer_may(&in) ? EX_OK : CANNOT;
}
