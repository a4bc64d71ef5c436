#include "install_case.h"

char folder[] = "/tmp/test_install.XXXXXX";

char binary[PATH_MAX];

struct str out, err_out; /* of the last run */

int status;

const char *in(const char *name)
{
	return below(folder, name);
}

void read_file(const char *path, struct str *into)
{
	char bytes[4096];
	size_t n;
	FILE *f = fopen(path, "re");

	ck_assert_msg(f != NULL, "%s is missing:\n%s%s", path, str_text(&out), str_text(&err_out));
	str_reset(into);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add_bytes(into, bytes, n);
	(void)fclose(f);
}

bool shell(const char *format, ...)
{
	char command[2048];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0; /* NOLINT(cert-env33-c) */
}

void given(const char *name, const char *text)
{
	FILE *f;

	ck_assert(shell("mkdir -p \"$(dirname '%s')\"", in(name)));
	f = fopen(in(name), "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

void run(const char *arguments)
{
	ck_assert(shell("cd '%s' && '%s' %s </dev/null >'%s' 2>'%s'; echo $? >'%s'", in("ws"),
	                binary, arguments, in("out"), in("err"), in("status")));
	read_file(in("status"), &out);
	status = atoi(str_text(&out));
	read_file(in("out"), &out);
	read_file(in("err"), &err_out);
}

void does(const char *arguments)
{
	run(arguments);
	ck_assert_msg(status == 0, "%s: exit %d\n%s%s", arguments, status, str_text(&out),
	              str_text(&err_out));
}

void holds(const char *name, const char *text)
{
	OWNED(str) struct str content = { 0 };

	read_file(in(name), &content);
	ck_assert_str_eq(str_text(&content), text);
}

void is_missing(const char *name)
{
	ck_assert_msg(access(in(name), F_OK) != 0, "%s is there", name);
}

void says(const char *text)
{
	ck_assert_msg(strstr(str_text(&out), text), "'%s' is not in:\n%s%s", text, str_text(&out),
	              str_text(&err_out));
}

void setup(void)
{
	static const char *const FOREIGN[] = { "CLAUDE_CONFIG_DIR", "CODEX_HOME",
		                               "COPILOT_HOME",      "XDG_CONFIG_HOME",
		                               "XDG_STATE_HOME",    "INTERCOM_CONFIG" };
	const char *build = getenv("INTERCOM_BUILD");
	char relative[PATH_MAX];

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)umask(022);
	ck_assert_int_eq(mkdir(in("ws"), 0755), 0);
	(void)setenv("HOME", folder, 1);
	for (size_t i = 0; i < COUNT(FOREIGN); i++)
		(void)unsetenv(FOREIGN[i]);
	(void)snprintf(relative, sizeof(relative), "%s/agent-intercom",
	               build ? build : "build/dev");
	ck_assert_msg(realpath(relative, binary) != NULL, "%s is not built", relative);
}

void teardown(void)
{
	ck_assert(shell("rm -rf '%s'", folder));
	str_clear(&out);
	str_clear(&err_out);
}
