/* doctor: agent-intercom has read the command line, and becomes this program. Apart, because what
 * it asks Slack and the hosts with (libcurl, libevent) would cost each start of the system and of a
 * relay more than all else that they link. */
#include "doctor.h"

#include "instance.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

int main(int argc, char **argv)
{
	struct cli_arguments args = { .flag = false };
	int parsed;

	if (instance_says_version(argc, argv, "doctor"))
		return EX_OK;
	parsed = cli_read(&args, "gate", argc, argv);
	if (parsed) {
		(void)fputs("usage: agent-intercom [OPTIONS] doctor [--gate [HOST]]\n",
		            parsed > 0 ? stdout : stderr);
		return parsed > 0 ? EX_OK : EX_USAGE;
	}
	return cli_end("agent-intercom", args.flag ? doctor_look_at_gate(&args.source, args.operand)
	                                           : doctor_look(&args.source));
}
