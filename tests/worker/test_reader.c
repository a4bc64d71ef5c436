/* reader: what an operator orders to see of a workspace, by agent-intercom-ctl; the answer, and the
 * rows behind it. Uses the real binaries. */
#include "harness.h"
#include "hung.h"
#include "process.h"

#include "agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char ws[600]; /* the default workspace */

static void make(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void make(const char *format, ...)
{
	char command[2000];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_int_eq(shell(NULL, "cd '%s' && %s", ws, command), 0);
}

static void given_workspace(void)
{
	char sql[1000];

	fresh_store();
	/* Where ctl finds the bells: without it reader would look only every 5 s. */
	(void)snprintf(sql, sizeof(sql), "%s-run", test_db());
	ck_assert_int_eq(symlink(test_run(), sql), 0);
	(void)snprintf(ws, sizeof(ws), "%s/web", scratch());
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES"
	               " ('default_workspace_root', '%s', 'file', '2026-01-01T08:00:00.000Z'),"
	               " ('system.machine', 'h', 'system', '2026-01-01T08:00:00.000Z')"
	               " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
	               ws);
	given(sql);
}

static pid_t given_reader(void)
{
	given_workspace();
	return start_worker("reader");
}

static void look(const char *arguments, const char *text)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(ctl(&said, "--text %s", arguments) == 0, "%s", str_text(&said));
	ck_assert_str_eq(str_text(&said), text);
}

static void refuses(const char *arguments, const char *why)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str all = { 0 };

	ck_assert_msg(ctl(&said, "--text %s", arguments) == 1, "%s", str_text(&said));
	str_addf(&all, "Error: %s\n", why);
	ck_assert_str_eq(str_text(&said), all.bytes);
}

/* ---- without a reader ---- */

/* The line is said after some seconds, the waiting goes on: what reads the line ends it. */
START_TEST(who_waits_in_vain_is_told_for_whom)
{
	char program[PROGRAM_BYTES];
	OWNED(str) struct str said = { 0 };

	given_workspace();
	test_program("agent-intercom-ctl", program);
	(void)shell(
	    &said,
	    "{ timeout 60 %s --db %s files 2>&1 & pid=$!; echo $pid >%s/pid; wait $pid; } | "
	    "{ head -n 1; kill $(cat %s/pid); }",
	    program, test_db(), ws, ws);
	ck_assert_str_eq(str_text(&said), "does not run: applier, archivist, commander, reader; "
	                                  "agent-intercom doctor says more\n");
}
END_TEST

/* ---- trees ---- */

START_TEST(a_folder_is_a_tree_of_names)
{
	(void)given_reader();
	make("mkdir -p src/mcp src/slack .git .cache node_modules/x target a/b/c/d"
	     " && touch src/main.rs src/mcp/mod.rs src/mcp/tools.rs .gitignore a/b/c/d/deep"
	     " node_modules/x/y target/z .cache/q README.md");
	look("files", "web/\n"
	              "├── .gitignore\n"
	              "├── README.md\n"
	              "├── a/\n"
	              "│   └── b/\n"
	              "│       └── c/\n"
	              "└── src/\n"
	              "    ├── main.rs\n"
	              "    ├── mcp/\n"
	              "    │   ├── mod.rs\n"
	              "    │   └── tools.rs\n"
	              "    └── slack/\n"
	              "\n6 directories, 5 files, 0 others; depth 3 (--depth N)\n");
	look("files src --depth 1", "src/\n├── main.rs\n├── mcp/\n└── slack/\n"
	                            "\n2 directories, 1 files, 0 others; depth 1 (--depth N)\n");
	look("files node_modules --depth 10",
	     "node_modules/\n└── x/\n    └── y\n"
	     "\n1 directories, 1 files, 0 others; depth 10 (--depth N)\n");
	look("files ./src/../a/ --depth 1",
	     "a/\n└── b/\n\n1 directories, 0 files, 0 others; depth 1 (--depth N)\n");
	expect("SELECT state, what, attempts, detail ->> 'lines' FROM file_look",
	       "done|folder|1|12\ndone|folder|1|4\ndone|folder|1|3\ndone|folder|1|2\n");
	expect("SELECT DISTINCT outcome, operator_id, source FROM command",
	       "done|local:tester|ctl\n");
	expect("SELECT kind, actor, detail ->> 'path' FROM event WHERE kind LIKE 'files.%' LIMIT 2",
	       "files.shown|local:tester|\nfiles.shown|local:tester|src\n");
}
END_TEST

START_TEST(what_is_no_file_is_named_and_not_followed)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)given_reader();
	make("mkdir inside && touch inside/x && mkfifo pipe && ln -s /etc/passwd secret"
	     " && ln -s /etc outside && ln -s inside link && ln -s nowhere lost"
	     " && touch \"$(printf 'a\\033[31m\\342\\200\\256b')\"");
	ck_assert_int_eq(chdir(ws), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "socket");
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(chdir("/"), 0);
	look("files", "web/\n"
	              "├── a\\u{1B}[31m\\u{202E}b\n"
	              "├── inside/\n"
	              "│   └── x\n"
	              "├── link -> inside\n"
	              "├── lost -> nowhere\n"
	              "├── outside -> /etc\n"
	              "├── pipe (FIFO)\n"
	              "├── secret -> /etc/passwd\n"
	              "└── socket (socket)\n"
	              "\n1 directories, 2 files, 6 others; depth 3 (--depth N)\n");
	look("files link",
	     "link/\n└── x\n\n0 directories, 1 files, 0 others; depth 3 (--depth N)\n");
	(void)close(fd);
}
END_TEST

START_TEST(devices_and_mount_points_are_named)
{
	OWNED(str) struct str said = { 0 };

	(void)given_reader();
	ck_assert_int_eq(ctl(&said, "--text files --workspace /dev --depth 2"), 0);
	says(said.bytes, "── null (device)\n");
	says(said.bytes, "── shm/ (mount point)\n");
}
END_TEST

START_TEST(a_huge_folder_is_counted_and_a_long_tree_is_cut)
{
	OWNED(str) struct str said = { 0 };

	(void)given_reader();
	make("mkdir huge few && touch few/x && (cd huge && seq 1 6000 | xargs touch)");
	look("files",
	     "web/\n├── few/\n│   └── x\n└── huge/ (6000 entries, not listed)\n"
	     "\n2 directories, 1 files, 0 others; depth 3 (--depth N); not all is listed\n");
	ck_assert_int_eq(ctl(&said, "--json files huge"), 0);
	has(said.bytes, "cut", "true");
	has(said.bytes, "lines", "5001");
	says(member(said.bytes, "text"), "└── ... and 1001 more\n");
}
END_TEST

/* ---- files ---- */

START_TEST(a_file_is_shown_whole_or_in_part)
{
	OWNED(str) struct str said = { 0 };

	(void)given_reader();
	make("printf 'one\\ntwo\\nthr\\303\\251e\\nfour' > a.txt && : > empty"
	     " && ln -s a.txt link.txt");
	look("file a.txt", "one\ntwo\nthr\xC3\xA9"
	                   "e\nfour\n");
	look("file ./a.txt --lines 2:3", "two\nthr\xC3\xA9"
	                                 "e\n");
	look("file a.txt --lines 4:9", "four\n");
	look("file empty", "");
	ck_assert_int_eq(ctl(&said, "--json file link.txt --lines 2:2"), 0);
	has(said.bytes, "path", "link.txt");
	has(said.bytes, "target", "a.txt");
	has(said.bytes, "lines", "4");
	has(said.bytes, "first", "2");
	has(said.bytes, "last", "2");
	has(said.bytes, "bytes", "19");
	has(said.bytes, "text", "two\n");
}
END_TEST

START_TEST(each_refusal_has_its_text)
{
	(void)given_reader();
	make("mkdir d .git && printf '\\0\\1' > binary && printf '\\377\\376x\\n' > latin"
	     " && printf 'x\\n' > a && mkfifo pipe && ln -s /etc/passwd secret"
	     " && ln -s ../../etc up && ln -s loop loop && truncate -s 1000001 big");
	refuses("file ../../etc/passwd",
	        "permission denied: \"../../etc/passwd\" leads outside the workspace");
	refuses("file /etc/passwd", "permission denied: \"/etc/passwd\" is outside the workspace");
	refuses("file secret", "permission denied: \"secret\" leads outside the workspace");
	refuses("file up/passwd", "permission denied: \"up/passwd\" leads outside the workspace");
	refuses("file loop", "permission denied: \"loop\" is a symlink loop or a magic link");
	refuses("file .git/config",
	        "permission denied: \".git/config\" is inside .git, which is protected");
	refuses("file d", "d: is a directory");
	refuses("file pipe", "pipe: is a FIFO");
	refuses("file none", "none does not exist");
	refuses("file binary", "binary is a binary file, which is not shown");
	refuses("file latin", "latin is no text in UTF-8, and is not shown");
	refuses("file a --lines 2:3", "a has 1 line");
	refuses("file a --lines 3:2", "the lines must look like 10:50, the first and the last one");
	refuses("file a --lines x", "the lines must look like 10:50, the first and the last one");
	refuses("file big", "big is too large: 1000001 bytes, and at most 1000000 are shown; "
	                    "`--lines 1:100` shows some of them");
	refuses("files ..", "permission denied: \"..\" leads outside the workspace");
	refuses("files /", "permission denied: \"/\" is outside the workspace");
	refuses("files up", "permission denied: \"up\" leads outside the workspace");
	refuses("files .git", "permission denied: \".git\" is inside .git, which is protected");
	refuses("files a", "cannot open the directory a: Not a directory");
	refuses("files none", "none does not exist");
	refuses("files --depth 11", "the depth must be a number from 1 to 10");
	refuses("files --depth x", "the depth must be a number from 1 to 10");
	refuses("files --session 0000", "not found: no session has an id that begins with '0000'");
	expect("SELECT count(*) FROM content", "0\n");
	expect("SELECT count(*) FROM event WHERE kind IN ('file.refused', 'files.refused')",
	       "19\n");
}
END_TEST

/* ---- where ---- */

static void given_session(int n, const char *root)
{
	char sql[800];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO session (id, machine, owner_user_id, workspace_root, status,"
	               " mode, client_name, created_at, updated_at) VALUES"
	               " ('0191111%d-0000-7000-8000-000000000001', 'h', 'local:tester', '%s',"
	               " 'active', 'local', 'claude', '2026-01-01T09:00:00.000Z',"
	               " '2026-01-01T09:00:00.000Z')",
	               n, root);
	given(sql);
}

START_TEST(a_workspace_of_a_long_path_is_looked_into)
{
	OWNED(str) struct str folder = { 0 }, line = { 0 };

	(void)given_reader();
	str_addf(&folder, "%s/%0200d/%0200d/%0200d/last", ws, 0, 0, 0);
	ck_assert_int_eq(shell(NULL, "mkdir -p %s && touch %s/here", folder.bytes, folder.bytes),
	                 0);
	str_addf(&line, "files --workspace %s", folder.bytes);
	look(line.bytes, "last/\n└── here\n\n0 directories, 1 files, 0 others; depth 3 (--depth "
	                 "N)\n");
}
END_TEST

START_TEST(a_folder_is_named_with_a_slash_and_a_workspace_of_the_configuration_by_its_id)
{
	OWNED(str) struct str sql = { 0 }, line = { 0 }, said = { 0 };
	char program[PROGRAM_BYTES];

	(void)given_reader();
	make("mkdir shop back && touch shop/here back/there");
	str_addf(&sql,
	         "INSERT INTO setting (name, value, source, updated_at) VALUES ('workspace',"
	         " '[{\"id\":\"shop\",\"path\":\"%s/back\"},{\"id\":\"bare\"}]', 'file',"
	         " '2026-01-01T08:00:00.000Z')",
	         ws);
	given(sql.bytes);
	look("files --workspace shop",
	     "back/\n└── there\n\n0 directories, 1 files, 0 others; depth 3 (--depth N)\n");
	refuses("files --workspace web",
	        "there is no [[workspace]] 'web' with a path; for a folder, "
	        "write ./web");
	refuses("diff --workspace bare",
	        "there is no [[workspace]] 'bare' with a path; for a folder, write ./bare");
	test_program("agent-intercom-ctl", program);
	ck_assert_int_eq(shell(&said, "cd %s && %s --db %s --text files --workspace ./shop 2>&1",
	                       ws, program, test_db()),
	                 0);
	says(said.bytes, "shop/\n└── here\n");
	ck_assert_int_eq(shell(&said, "cd %s && %s --db %s --text files --workspace . 2>&1", ws,
	                       program, test_db()),
	                 0);
	says(said.bytes, "web/\n├── back/\n");
	str_addf(&line, "there is no checkpoint of %s/back; `checkpoint list` lists all", ws);
	refuses("diff --workspace shop", line.bytes);
	refuses("checkpoint list --workspace nowhere",
	        "there is no [[workspace]] 'nowhere' with a path; for a folder, write ./nowhere");
	refuses("run x --workspace nowhere",
	        "there is no [[workspace]] 'nowhere' with a path; for a folder, write ./nowhere");
}
END_TEST

START_TEST(where_several_workspaces_could_be_meant_one_must_be_named)
{
	OWNED(str) struct str said = { 0 };
	char other[700];

	(void)given_reader();
	make("mkdir ../other && touch ../other/there here");
	(void)snprintf(other, sizeof(other), "%s/../other", ws);
	char *real = realpath(other, NULL);
	given_session(1, ws);
	look("files", "web/\n└── here\n\n0 directories, 1 files, 0 others; depth 3 (--depth N)\n");
	given_session(2, ws); /* the same workspace: still the only one */
	look("files", "web/\n└── here\n\n0 directories, 1 files, 0 others; depth 3 (--depth N)\n");
	given_session(3, real);
	ck_assert_int_eq(ctl(&said, "--text files"), 1);
	says(said.bytes, "several workspaces could be meant; name a session, "
	                 "`list-files --session <id>`:\n  01911113-0000-7000 in ");
	ck_assert_int_eq(ctl(&said, "--text file there"), 1);
	says(said.bytes, "name a session, `show-file there --session <id>`:\n");
	look("files --session 01911113",
	     "other/\n└── there\n\n0 directories, 1 files, 0 others; depth 3 (--depth N)\n");
	(void)snprintf(other, sizeof(other), "files --workspace '%s/.'", ws);
	look(other, "web/\n└── here\n\n0 directories, 1 files, 0 others; depth 3 (--depth N)\n");
	refuses("files --workspace /", "permission denied: / is the root of the file system, which "
	                               "is no workspace");
	free(real);
}
END_TEST

START_TEST(nothing_of_agent_intercom_is_shown_in_whatever_folder_it_lies)
{
	char refused[700], credentials[700], database[1400];

	given_workspace();
	char *dir = xstrdup(test_db()), *name = strrchr(dir, '/');

	make("mkdir credentials agent-intercom near && echo x | tee credentials/slack_bot_token "
	     ">agent-intercom/config.toml && ln -s ../credentials near/to");
	(void)snprintf(credentials, sizeof(credentials), "%s/credentials", ws);
	(void)setenv("CREDENTIALS_DIRECTORY", credentials, 1);
	(void)setenv("XDG_CONFIG_HOME", ws, 1);
	(void)start_worker("reader");
	refuses(
	    "file credentials/slack_bot_token",
	    "permission denied: credentials/slack_bot_token is one of agent-intercom's own files");
	refuses("file near/to/slack_bot_token", "permission denied: near/to/slack_bot_token is one "
	                                        "of agent-intercom's own files");
	refuses(
	    "file agent-intercom/config.toml",
	    "permission denied: agent-intercom/config.toml is one of agent-intercom's own files");
	refuses("files agent-intercom",
	        "permission denied: agent-intercom is one of agent-intercom's own files");
	*name = '\0';
	(void)snprintf(database, sizeof(database), "file %s-wal --workspace %s", name + 1, dir);
	(void)snprintf(refused, sizeof(refused),
	               "permission denied: %s-wal belongs to agent-intercom's database", name + 1);
	refuses(database, refused);
	free(dir);
	look("files --depth 2", "web/\n"
	                        "├── agent-intercom/ (is one of agent-intercom's own files)\n"
	                        "├── credentials/ (is one of agent-intercom's own files)\n"
	                        "└── near/\n"
	                        "    └── to -> ../credentials\n"
	                        "\n3 directories, 0 files, 1 others; depth 2 (--depth N)\n");
}
END_TEST

START_TEST(a_bind_mount_of_our_folders_shows_nothing_and_is_no_workspace)
{
	static const char OURS[] = "is one of agent-intercom's own files";
	char base[600], conf[700], mount_point[650], line[1500];

	SKIP_UNLESS(may_mount(), "root");
	given_workspace();
	make("mkdir ../agent-intercom mount && echo x >../agent-intercom/config.toml");
	(void)snprintf(base, sizeof(base), "%s", ws);
	*strrchr(base, '/') = '\0';
	(void)snprintf(conf, sizeof(conf), "%s/agent-intercom", base);
	(void)snprintf(mount_point, sizeof(mount_point), "%s/mount", ws);
	ck_assert_int_eq(mount(conf, mount_point, NULL, MS_BIND, NULL), 0);
	(void)setenv("XDG_CONFIG_HOME", base, 1);
	(void)start_worker("reader");
	(void)snprintf(line, sizeof(line), "permission denied: mount/config.toml %s", OURS);
	refuses("file mount/config.toml", line);
	(void)snprintf(line, sizeof(line), "permission denied: mount %s", OURS);
	refuses("files mount", line);
	(void)snprintf(line, sizeof(line), "permission denied: mount/none %s", OURS);
	refuses("files mount/none", line);
	(void)snprintf(conf, sizeof(conf), "files --workspace '%s'", mount_point);
	(void)snprintf(line, sizeof(line),
	               "permission denied: %s is where agent-intercom keeps its own files, which "
	               "is no workspace",
	               mount_point);
	refuses(conf, line);
}
END_TEST

/* ---- what goes wrong ---- */

START_TEST(a_disk_that_hangs_delays_nobody_else)
{
	char folder[700], sql[1000];

	given_workspace();
	(void)snprintf(folder, sizeof(folder), "%s/../hung", ws);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	char *real = realpath(folder, NULL);
	SKIP_UNLESS(hung_mount(real), "/dev/fuse and the right to mount");
	(void)start_worker("reader");
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO command (verb, argument, source) SELECT 'list-files',"
	               " json_object('workspace', '%s'), 'ctl' FROM (VALUES (1), (2), (3))",
	               real);
	given(sql);
	expect_soon("SELECT count(*) FROM file_look WHERE state = 'claimed'", "2\n");
	look("files", "web/\n\n0 directories, 0 files, 0 others; depth 3 (--depth N)\n");
	advance(11000);
	expect_soon("SELECT state, why LIKE 'not done within 10 s: the disk of %', why LIKE 'the "
	            "disk of % does not answer%' FROM file_look WHERE workspace_root LIKE '%hung'",
	            "refused|1|0\nrefused|1|0\nrefused|0|1\n");
	hung_unmount();
	free(real);
}
END_TEST

/* Whether it is settled, or gone: -1. */
static int is_settled(pid_t tracer)
{
	OWNED(char_ptr) char *open = NULL;
	int status;

	if (waitpid(tracer, &status, WNOHANG) != 0)
		return -1;
	open = rows("SELECT count(*) FROM file_look WHERE settled_at IS NULL");
	return strcmp(open, "0\n") == 0;
}

static bool is_killed(const char *call, int n)
{
	pid_t tracer;
	int settled;

	given_workspace();
	make("touch x");
	given("INSERT INTO command (verb, source) VALUES ('list-files', 'ctl')");
	tracer = start_killed_at("reader", call, n);
	while ((settled = is_settled(tracer)) == 0)
		(void)poll(NULL, 0, 5);
	if (settled > 0) {
		(void)kill(-tracer, SIGKILL);
		(void)waitpid(tracer, NULL, 0);
	}
	run_worker("reader");
	expect("SELECT l.state, l.attempts BETWEEN 1 AND 2, c.outcome, (SELECT count(*) FROM event"
	       " WHERE kind = 'files.shown') FROM file_look AS l JOIN command AS c"
	       " ON c.seq = l.command_seq",
	       "done|1|done|1\n");
	return settled < 0;
}

START_TEST(a_reader_that_is_killed_anywhere_answers_once)
{
	kill_at_each("fdatasync", 1, is_killed);
	kill_at_each("epoll_ctl", 1, is_killed);
}
END_TEST

START_TEST(a_look_that_kills_its_readers_is_given_up)
{
	given_workspace();
	given("INSERT INTO command (verb, source) VALUES ('list-files', 'ctl')");
	given(
	    "UPDATE file_look SET state = 'claimed', claim = 3, attempts = 3, worker_id = 'dead'");
	run_worker("reader");
	expect("SELECT l.state, c.outcome, c.why FROM file_look AS l, command AS c",
	       "refused|refused|crashed worker: reader died 3 times over this look\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader");
	TCase *trees = store_case(s, "reader_trees", 30),
	      *files = store_case(s, "reader_files", 30);
	TCase *wrong = store_case(s, "reader_wrong", 120);

	tcase_add_test(trees, a_folder_is_a_tree_of_names);
	tcase_add_test(trees, what_is_no_file_is_named_and_not_followed);
	tcase_add_test(trees, devices_and_mount_points_are_named);
	tcase_add_test(trees, a_huge_folder_is_counted_and_a_long_tree_is_cut);
	tcase_add_test(files, who_waits_in_vain_is_told_for_whom);
	tcase_add_test(files, a_file_is_shown_whole_or_in_part);
	tcase_add_test(files, each_refusal_has_its_text);
	tcase_add_test(files, a_workspace_of_a_long_path_is_looked_into);
	tcase_add_test(
	    files, a_folder_is_named_with_a_slash_and_a_workspace_of_the_configuration_by_its_id);
	tcase_add_test(files, where_several_workspaces_could_be_meant_one_must_be_named);
	tcase_add_test(files, nothing_of_agent_intercom_is_shown_in_whatever_folder_it_lies);
	tcase_add_test(files, a_bind_mount_of_our_folders_shows_nothing_and_is_no_workspace);
	tcase_add_test(wrong, a_disk_that_hangs_delays_nobody_else);
	tcase_add_test(wrong, a_reader_that_is_killed_anywhere_answers_once);
	tcase_add_test(wrong, a_look_that_kills_its_readers_is_given_up);
	return run_suite(s);
}
