/* filer: makes all calls in one workspace, as the user who owns it, for the applier, the archivist
 * or the reader of a system of another user (files.h). as-owner starts it.
 *
 * Reads:   the workspace
 * Writes:  the workspace
 * Outside: only the socket to its asker
 * Argument: the setting `fence`
 *
 * Descriptors: 3 its asker (SOCK_SEQPACKET); 4 the lock of the workspace, which it only holds: so
 * whoever comes after its asker gets the lock when the last call has ended; 5 the workspace. */
#include "fences.h"
#include "files.h"
#include "instance.h"
#include "io.h"
#include "limit.h"
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sysexits.h>

enum {
	ASKER_FD = 3,
	ROOT_FD = 5,
	MEMORY = 256 << 20, /* of address space */
	FDS_MAX = 1024, /* a write of PROPOSAL_FILES, or folders below each other */
};

static void confine(void)
{
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit_to(RLIMIT_CORE, 0);
	limit_to(RLIMIT_NOFILE, FDS_MAX);
	limit_memory(MEMORY);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (instance_says_version(argc, argv, "filer"))
		return EX_OK;
	if (argc != 2 || !io_has_messages(ASKER_FD)) {
		(void)fputs("filer: changes files for the system, as their owner; as-owner starts "
		            "it\n",
		            argc > 1 ? stdout : stderr);
		return argc > 1 ? EX_OK : EX_USAGE;
	}
	log_open("filer", 0, LOG_LEVEL_INFO);
	confine();
	if (fence_files(argv[1], ROOT_FD, &e)) {
		log_error("%s", e.text);
		return EX_CONFIG;
	}
	files_serve(ASKER_FD, ROOT_FD);
	return EX_OK;
}
