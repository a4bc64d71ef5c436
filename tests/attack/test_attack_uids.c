/* Another user of this machine: the system serves them nothing, and they learn nothing. */
#include "attack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As nobody, in Python: what comes of it is printed. */
static void as_nobody(struct str *said, const char *program)
{
	str_reset(said);
	(void)shell(said,
	            "setpriv --reuid=65534 --regid=65534 --clear-groups env "
	            "PATH=/usr/bin:/bin python3 -c \"%s\" 2>&1",
	            program);
}

START_TEST(another_user_is_refused_over_http_and_finds_no_socket_no_database_and_no_token)
{
	OWNED(str) struct str said = { 0 }, run = { 0 };
	OWNED(str) struct str program = { 0 };
	static const char *const NAMES[] = { "mcp.sock", "ipc.sock", "mcp-front", "ipc.token" };

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	attack_begin(NULL, NULL);
	str_addf(&program,
	         "import urllib.request as u, urllib.error as e\n"
	         "try: print(u.urlopen('http://127.0.0.1:%d/health', timeout=20).status)\n"
	         "except e.HTTPError as x: print(x.code, x.read().decode())\n",
	         site.port);
	as_nobody(&said, program.bytes);
	says(said.bytes, "403");
	says(said.bytes, "belongs to another user");
	ck_assert_int_eq(shell(&run, "%s/agent-intercom --config %s --db %s where --json",
	                       getenv("INTERCOM_BUILD"), site.config, test_db()),
	                 0);
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		str_reset(&program);
		str_addf(&program,
		         "import socket\ns = socket.socket(socket.AF_UNIX)\n"
		         "try: s.connect('%s/%s'); print('connected')\n"
		         "except OSError as x: print(type(x).__name__)\n",
		         member(run.bytes, "run_directory"), NAMES[i]);
		as_nobody(&said, program.bytes);
		says(said.bytes, "PermissionError");
	}
	str_reset(&program);
	str_addf(&program, "print(open('%s', 'rb').read(16))", test_db());
	as_nobody(&said, program.bytes);
	says(said.bytes, "Permission");
	expect("SELECT count(*) FROM connection WHERE transport <> 'http'", "0\n");
	attack_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack uids");
	TCase *c = store_case(s, "attack uids", 60);

	tcase_add_test(
	    c, another_user_is_refused_over_http_and_finds_no_socket_no_database_and_no_token);
	return run_suite(s);
}
