#include "workspace.h"

#include "effect.h"
#include "harness.h"
#include "proposal.h"
#include "safe_path.h"
#include "sha256.h"
#include "str.h"

#include <endian.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

char ws[WORKSPACE_BYTES];
int asked;
const char *risk = "low";
int session;

/* ---- files ---- */

const char *in(const char *name)
{
	return below(ws, name);
}

void write_bytes(const char *name, const char *bytes, size_t length)
{
	FILE *f = fopen(in(name), "wb");

	ck_assert_msg(f != NULL, "cannot write %s", in(name));
	ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
	ck_assert_int_eq(fclose(f), 0);
}

void file(const char *name, const char *text)
{
	write_bytes(name, text, strlen(text));
}

char *content(const char *name)
{
	struct str out = { 0 };
	char chunk[4096];
	size_t n;
	FILE *f = fopen(in(name), "rb");

	if (!f)
		return xstrdup("(none)");
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		str_add_bytes(&out, chunk, n);
	(void)fclose(f);
	return str_take(&out);
}

void file_is(const char *name, const char *text)
{
	OWNED(char_ptr) char *have = content(name);

	ck_assert_str_eq(have, text);
}

static const char ACCESS[] = "system.posix_acl_access";

static bool gets_list(const char *name, const char *kind, uint16_t user, uint16_t mask,
                      uint16_t other)
{
	struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry owner, user, group, mask, other;
	} list = {
		.head = { htole32(POSIX_ACL_XATTR_VERSION) },
		.owner = { htole16(0x01), htole16(user), htole32(UINT32_MAX) },
		.user = { htole16(0x02), htole16(user), htole32(4242) },
		.group = { htole16(0x04), 0, htole32(UINT32_MAX) },
		.mask = { htole16(0x10), htole16(mask), htole32(UINT32_MAX) },
		.other = { htole16(0x20), htole16(other), htole32(UINT32_MAX) },
	};

	return setxattr(in(name), kind, &list, sizeof(list), 0) == 0;
}

bool gets_access_list(const char *name)
{
	struct stat st;
	const uint16_t may = stat(in(name), &st) == 0 && S_ISDIR(st.st_mode) ? 7 : 6;

	return gets_list(name, ACCESS, may, may, 0);
}

bool gets_masked_list(const char *name)
{
	return gets_list(name, ACCESS, 7, 4, 6);
}

bool gives_access_list(const char *folder)
{
	return gets_list(folder, "system.posix_acl_default", 7, 7, 0);
}

bool has_access_list(const char *name)
{
	return getxattr(in(name), ACCESS, NULL, 0) > 0;
}

bool set_append_only(const char *name, bool is)
{
	int fd = open(in(name), O_RDONLY | O_CLOEXEC), flags = 0;
	bool can = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;

	flags = is ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
	can = can && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
	(void)close(fd);
	return can;
}

/* ---- rows ---- */

void begin(void)
{
	char sql[2 * WORKSPACE_BYTES];

	fresh_store();
	asked = 0;
	session = 1;
	(void)snprintf(ws, sizeof(ws), "%.600s", test_db());
	memcpy(strrchr(ws, '/') + 1, "ws", sizeof("ws"));
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's', 'h', 'local:tester', '%s', 'active',"
	    " 'local', '%s', '%s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (1, 'k', 'h', 'stdio', '2025-06-18', 1, '{}', '%s')",
	    ws, clock_now().text, clock_now().text, clock_now().text);
	given(sql);
}

static void add_quoted(struct str *sql, const char *text)
{
	str_add_char(sql, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			str_add_char(sql, '\'');
		str_add_char(sql, *text);
	}
	str_add_char(sql, '\'');
}

/* As a value for the row itself and one for content. */
static void add_body(struct str *sql, const char *body)
{
	if (strlen(body) <= 2048) {
		add_quoted(sql, body);
		str_add(sql, ", NULL");
	} else {
		str_addf(sql, "NULL, (SELECT seq FROM content WHERE hash = '%s')",
		         sha256_of(body, strlen(body)).text);
	}
}

static void store_body(const char *body)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql, "INSERT INTO content (hash, size, bytes) VALUES ('%s', %zu, CAST(",
	         sha256_of(body, strlen(body)).text, strlen(body));
	add_quoted(&sql, body);
	str_add(&sql, " AS BLOB))");
	given(sql.bytes);
}

static void add_text_or_null(struct str *sql, const char *text)
{
	if (text)
		add_quoted(sql, text);
	else
		str_add(sql, "NULL");
}

static void insert_shown(const char *path, const char *body, const char *effect,
                         const struct touched *files, size_t count, size_t primary)
{
	const struct shown shown = { .title = "t",
		                     .risk_level = risk,
		                     .file_path = path,
		                     .body = body,
		                     .body_length = strlen(body),
		                     .effect = effect,
		                     .effect_length = strlen(effect),
		                     .files = files,
		                     .file_count = count };
	OWNED(str) struct str sql = { 0 };
	struct instant now = clock_now();
	int n = ++asked;

	if (strlen(body) > 2048)
		store_body(body);
	if (strlen(effect) > 2048)
		store_body(effect);
	str_addf(&sql,
	         "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, file_path,"
	         " risk_level, original_hash, created_at, updated_at, body, body_seq, effect, "
	         "effect_seq) VALUES (%d,"
	         " 'request-%d', %d, 'clearance', 'pending', '%s', 't', ",
	         n, n, session, proposal_digest(&shown).text);
	add_quoted(&sql, path);
	str_addf(&sql, ", '%s', '%s', '%s', '%s', ", risk, files[primary].hash, now.text, now.text);
	add_body(&sql, body);
	str_add(&sql, ", ");
	if (*effect)
		add_body(&sql, effect);
	else
		str_add(&sql, "NULL, NULL");
	str_add(&sql, ")");
	for (size_t i = 0; i < count; i++) {
		str_addf(&sql,
		         "; INSERT INTO request_file (request_seq, mode, original_hash, "
		         "result_hash, action, path, target, other_path) VALUES (%d, %u, '%s', "
		         "'%s', '%s', ",
		         n, files[i].mode, files[i].hash, files[i].result_hash, files[i].action);
		add_quoted(&sql, files[i].path);
		str_add(&sql, ", ");
		add_quoted(&sql, files[i].target);
		str_add(&sql, ", ");
		add_text_or_null(&sql, files[i].other);
		str_add(&sql, ")");
	}
	given(sql.bytes);
}

void insert_request(const char *path, const char *body, const struct touched *files, size_t count,
                    size_t primary)
{
	insert_shown(path, body, "", files, count, primary);
}

void say_yes(void)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO decision (request_id, verdict, operator_id, source, "
	               "created_at) VALUES ('request-%d', 'approve', 'local:tester', 'ctl', '%s')",
	               asked, clock_now().text);
	given(sql);
}

/* Plans a proposal for path against the current files. False: it cannot be accepted. */
static bool is_plan(const char *path, const char *body, struct plan *plan)
{
	OWNED(char_ptr)
	char *fuzz = rows("SELECT value FROM setting WHERE name = 'apply.fuzz_lines'");
	const struct own_places ours = { .database = (char *)test_db() };
	const struct proposal p = { .workspace_root = ws,
		                    .file_path = path,
		                    .body = body,
		                    .body_length = strlen(body),
		                    .fuzz = (size_t)atoi(fuzz),
		                    .ours = &ours };
	struct refusal why = { .code = NULL };
	int root, failed;

	ck_assert_int_eq(safe_path_open(ws, &root, NULL), 0);
	failed = proposal_look(root, &p, plan, &why) || proposal_work(&p, plan, &why);
	(void)close(root);
	return failed == 0;
}

void ask(const char *path, const char *body)
{
	OWNED(plan) struct plan plan = { 0 };
	OWNED(str) struct str effect = { 0 };

	if (is_plan(path, body, &plan)) {
		struct touched *files = xcalloc(plan.count, sizeof(*files));

		for (size_t i = 0; i < plan.count; i++)
			files[i] = plan.files[i].is;
		effect_of(&plan, &effect);
		insert_shown(path, body, str_text(&effect), files, plan.count, plan.primary);
		free(files);
	} else {
		struct touched one = { .path = (char *)path,
			               .target = (char *)path,
			               .action = "create",
			               .hash = NO_FILE };

		insert_request(path, body, &one, 1, 0);
	}
}

void approve(const char *path, const char *body)
{
	ask(path, body);
	say_yes();
}

void call_check_diff(bool force)
{
	char sql[900];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "BEGIN IMMEDIATE;" /* as mcp-front does: an applier may be running */
	    "INSERT INTO apply (request_seq, machine, force, state, created_at, updated_at)"
	    " VALUES (%d, 'h', %d, 'queued', '%s', '%s');"
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest,"
	    " state, apply_seq, created_at) VALUES (1, 1, '1', 'legacy', 'check_diff', '',"
	    " 'waiting', last_insert_rowid(), '%s');"
	    "COMMIT",
	    asked, force, now.text, now.text, now.text);
	given(sql);
}

/* ---- many files at once ---- */

const char MANY[] =
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    "diff --git a/new/dir/b.txt b/new/dir/b.txt\nnew file mode 100644\n--- /dev/null\n"
    "+++ b/new/dir/b.txt\n@@ -0,0 +1 @@\n+hello\n"
    "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n"
    "+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
    "diff --git a/old.sh b/moved/new.sh\nsimilarity index 50%\nrename from old.sh\n"
    "rename to moved/new.sh\n--- a/old.sh\n+++ b/moved/new.sh\n@@ -1,2 +1,2 @@\n true\n-1\n+2\n"
    "diff --git a/a.txt b/copy.txt\ncopy from a.txt\ncopy to copy.txt\n"
    "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n";

void given_many(void)
{
	begin();
	(void)umask(0022);
	file("a.txt", "one\ntwo\nthree\n");
	file("gone.txt", "bye\n");
	file("old.sh", "true\n1\n");
	file("run", "x\n");
	ck_assert_int_eq(chmod(in("old.sh"), 0750), 0);
	ck_assert_int_eq(chmod(in("run"), 0640), 0);
}
