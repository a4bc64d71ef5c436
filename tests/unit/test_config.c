/* Settings: where they come from, what is refused and in which words. Every test has a fresh folder
 * with its own $HOME and $XDG_* and leaves nothing behind. */
#include "config.h"
#include "log.h"
#include "suite.h"
#include "toml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char file[128]; /* config.toml in the folder */
static struct config c;
static struct err e;

/* The path of name in the test's folder; as below. */
static const char *in(const char *name)
{
	return below(folder, name);
}

static void setup(void)
{
	static const char *const DIRS[] = { "home", "home/.config", "home/.config/agent-intercom",
		                            "ws",   "elsewhere",    "conf" };

	strcpy(folder, "/tmp/config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (size_t i = 0; i < COUNT(DIRS); i++)
		ck_assert_int_eq(mkdir(in(DIRS[i]), 0700), 0);
	(void)snprintf(file, sizeof(file), "%s/conf/config.toml", folder);
	(void)setenv("HOME", in("home"), 1);
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)unsetenv("INTERCOM_LOG");
	ck_assert_int_eq(chdir(in("elsewhere")), 0);
	memset(&e, 0, sizeof(e));
}

static void teardown(void)
{
	config_clear(&c);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert(remove_tree(folder));
}

static void write_file(const char *path, const void *bytes, size_t length)
{
	FILE *out = fopen(path, "we");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, length, out), length);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(path, 0600), 0);
}

/* Two settings, in two lines, and then these. */
static void given(const char *toml)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "default_workspace_root = \"%s\"\nhost_cli = \"claude\"\n%s", in("ws"),
	         toml);
	write_file(file, str_text(&text), text.length);
}

static void load_from(const struct config_source *src)
{
	config_clear(&c);
	ck_assert_msg(config_load(src, &c, &e) == 0, "%s", e.text);
}

static void load(void)
{
	load_from(&(struct config_source){ .config = file });
}

static void fails_from(const struct config_source *src, const char *text)
{
	config_clear(&c);
	memset(&e, 0, sizeof(e));
	ck_assert_int_eq(config_load(src, &c, &e), -1);
	ck_assert_ptr_null(c.file);
	ck_assert_int_eq(strncmp(e.text, "config: ", 8), 0);
	ck_assert_msg(strstr(e.text, text) != NULL, "'%s' is not in '%s'", text, e.text);
	ck_assert_int_eq(e.kind, ERR_INPUT);
}

/* The file with these lines from line 3 on is refused, in words that begin "FILE" + text. */
static void refuses(const char *toml, const char *text)
{
	OWNED(str) struct str whole = { 0 };

	given(toml);
	str_addf(&whole, "config: %s%s", file, text);
	fails_from(&(struct config_source){ .config = file }, str_text(&whole));
}

/* The file loads and the only warning is "FILE" + text. */
static void warns(const char *toml, const char *text)
{
	OWNED(str) struct str whole = { 0 };

	given(toml);
	load();
	str_addf(&whole, "%s%s", file, text);
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_str_eq(c.warnings.items[0], str_text(&whole));
}

static void add_row(const char *name, const char *value, const char *source, void *arg)
{
	str_addf(arg, "%s|%s|%s\n", name, value, source);
}

static void has_row(const char *row)
{
	OWNED(str) struct str rows = { 0 };
	OWNED(str) struct str line = { 0 };

	config_settings(&c, add_row, &rows);
	str_addf(&line, "%s\n", row);
	ck_assert_msg(strstr(str_text(&rows), str_text(&line)) != NULL, "'%s' is not in\n%s", row,
	              str_text(&rows));
}

START_TEST(without_a_file_every_setting_has_its_default)
{
	OWNED(str) struct str rows = { 0 };
	OWNED(str) struct str expected = { 0 };

	load_from(&(struct config_source){ .config = NULL });
	str_addf(
	    &expected,
	    "default_workspace_root||default\n"
	    "host_cli||default\nhost_cli_args|[]|default\ndefault_agent||default\n"
	    "max_concurrent_sessions|3|default\nhttp_port|3000|default\n"
	    "ipc_name|agent-intercom|default\nretention_days|30|default\n"
	    "audit_retention_days|365|default\nretention_export_dir||default\n"
	    "checkpoint_retention_days|30|default\n"
	    "undo_limit_bytes|10485760|default\n"
	    "command_timeout_seconds|60|default\ncommand_output_limit_bytes|65536|default\n"
	    "fence|auto|default\n"
	    "database.path|%s/home/.local/state/agent-intercom/intercom.db|default\n"
	    "apply.fuzz_lines|0|default\napply.keep_attributes|true|default\napply.force|allow|"
	    "default\n"
	    "checkpoint.auto|true|default\ncheckpoint.ignored|false|default\n"
	    "checkpoint.keep|20|default\ncheckpoint.max_files|500000|default\n"
	    "checkpoint.max_bytes|10737418240|default\n"
	    "checkpoint.max_added_bytes|2147483648|default\n"
	    "checkpoint.reserve_bytes|268435456|default\ncheckpoint.timeout_seconds|600|default\n"
	    "slack.channel_id||default\nslack.channels|[]|default\nslack.questions|thread|default\n"
	    "slack.reconnect_backoff_max_seconds|300|default\n"
	    "timeouts.approval_seconds|3600|default\ntimeouts.prompt_seconds|1800|default\n"
	    "timeouts.continuation_seconds|0|default\ntimeouts.clarification_seconds|0|default\n"
	    "timeouts.error_recovery_seconds|0|default\n"
	    "timeouts.resource_warning_seconds|0|default\n"
	    "timeouts.wait_seconds|0|default\nstall.enabled|true|default\n"
	    "stall.inactivity_threshold_seconds|300|default\n"
	    "stall.escalation_threshold_seconds|120|default\nstall.max_retries|3|default\n"
	    "stall.default_nudge_message|Continue working on the current task. Pick up where you "
	    "left off.|default\n"
	    "budget.session||default\nbudget.day||default\n"
	    "acp.framing|ndjson|default\nacp.max_line_length|1048576|default\n"
	    "acp.max_sessions|5|default\nacp.startup_timeout_seconds|30|default\n"
	    "acp.max_msg_rate|10|default\nacp.http_port|3001|default\nmcp.wait_cap|240|default\n"
	    "mcp.elicitation|false|default\n"
	    "mcp.hands|8|default\nmcp.allow_uids|[]|default\nipc.require_token|false|"
	    "default\npolicy.require_global_"
	    "allowlist|false|default\npolicy.trust|listed|default\n"
	    "policy.always_ask|[]|default\n"
	    "gate.when_down|deny|default\ngate.reads|allow|default\n"
	    "gate.wait_seconds|0|default\ngate.park_after_seconds|-1|default\n"
	    "gate.standby_at_end|false|default\n"
	    "gate.watch|off|default\ngate.watch_folders|8192|default\n"
	    "modes.agent_may_loosen|true|default\n"
	    "shared.directory||default\nshared.agents|agent-intercom-agents|default\n"
	    "shared.operators|agent-intercom-operators|default\n"
	    "shared.owner_socket|/run/agent-intercom-owner.sock|default\n"
	    "shared.start_socket|/run/agent-intercom-agents.sock|default\n"
	    "shared.open_questions|100|default\nshared.checkpoint_bytes|8589934592|default\n"
	    "shared.recorded_bytes|268435456|default\n"
	    "log.format|text|default\nlog.level|info|default\nworkspaces.allow|any|"
	    "default\ncommands|{}|default\n"
	    "workspace|[]|default\n",
	    folder);
	config_settings(&c, add_row, &rows);
	ck_assert_str_eq(str_text(&rows), str_text(&expected));
	ck_assert_str_eq(c.file, "");
	ck_assert_uint_eq(c.warnings.count, 0);
}
END_TEST

START_TEST(every_setting_is_read_from_the_file)
{
	given(
	    "host_cli_args = [\"--stdio\", \"-x\"]\nmax_concurrent_sessions = 4\n"
	    "http_port = 0\nipc_name = \"other.one\"\nretention_days = 7\n"
	    "audit_retention_days = 8\nretention_export_dir = \".\"\nundo_limit_bytes = 0\n"
	    "checkpoint_retention_days = 9\n"
	    "command_timeout_seconds = 61\ncommand_output_limit_bytes = 1000\nfence = \"require\"\n"
	    "[database]\npath = \"data/x.db\"\n"
	    "[apply]\nfuzz_lines = 2\nkeep_attributes = false\nforce = \"ask\"\n"
	    "[checkpoint]\nauto = false\nignored = true\nkeep = 22\nmax_files = 23\n"
	    "max_bytes = 24\nmax_added_bytes = 28\nreserve_bytes = 268435457\ntimeout_seconds = "
	    "25\n"
	    "[slack]\nchannel_id = \"C0AFXFQP1TJ\"\nchannels = [\"C1\", \"G2\"]\nquestions = "
	    "\"channel\"\n"
	    "reconnect_backoff_max_seconds = 11\n"
	    "[timeouts]\napproval_seconds = 12\nprompt_seconds = 13\nwait_seconds = 14\n"
	    "[stall]\nenabled = false\ninactivity_threshold_seconds = 15\n"
	    "escalation_threshold_seconds = 16\nmax_retries = 0\n"
	    "default_nudge_message = \"go \\\"on\\\"\"\n"
	    "[acp]\nframing = \"lsp\"\nmax_line_length = 2048\nmax_sessions = "
	    "17\nstartup_timeout_seconds = 18\nmax_msg_rate = 19\n"
	    "http_port = 20\n[mcp]\nwait_cap = 21\nelicitation = true\nallow_uids = [1000, "
	    "4294967294]\n"
	    "[ipc]\nrequire_token = true\n[policy]\nrequire_global_allowlist = true\n"
	    "trust = \"ask\"\nalways_ask = [\"*.tf\", \"deploy/keys\"]\n"
	    "[gate]\nwhen_down = \"allow\"\nreads = \"policy\"\nwait_seconds = 26\n"
	    "park_after_seconds = 27\nstandby_at_end = true\nwatch = \"remote\"\n"
	    "watch_folders = 100\n"
	    "[log]\nformat = \"json\"\nlevel = \"debug\"\n"
	    "[modes]\nagent_may_loosen = false\n"
	    "[shared]\ndirectory = \"run\"\nagents = \"ask\"\noperators = \"12\"\n"
	    "owner_socket = \"/x/owner\"\nopen_questions = 7\ncheckpoint_bytes = 9\nrecorded_bytes "
	    "= 1048577\n"
	    "[workspaces]\nallow = \"listed\"\n"
	    "[commands]\nstatus = \"git status\"\nlast-commit = \"git log -1\"\n"
	    "[[workspace]]\nid = \"my-backend\"\nchannel_id = \"C0123\"\n"
	    "[[workspace]]\nworkspace_id = \"front_end\"\nchannel_id = \"G9\"\npath = \"../ws\"\n");
	load();
	ck_assert_str_eq(c.default_workspace_root, in("ws"));
	ck_assert_str_eq(c.host_cli, "claude");
	ck_assert_uint_eq(c.host_cli_args.count, 2);
	ck_assert_str_eq(c.host_cli_args.items[1], "-x");
	ck_assert_int_eq(c.max_concurrent_sessions, 4);
	ck_assert_int_eq(c.http_port, 0);
	ck_assert_str_eq(c.ipc_name, "other.one");
	ck_assert_int_eq(c.retention_days, 7);
	ck_assert_int_eq(c.audit_retention_days, 8);
	ck_assert_int_eq(c.retention_export_dir[0], '/');
	ck_assert_int_eq(c.checkpoint_retention_days, 9);
	ck_assert_int_eq(c.undo_limit_bytes, 0);
	ck_assert_int_eq(c.command_timeout_seconds, 61);
	ck_assert_int_eq(c.command_output_limit_bytes, 1000);
	ck_assert_int_eq(c.fence, CONFIG_FENCE_REQUIRE);
	ck_assert_str_eq(c.database.path, in("conf/data/x.db"));
	ck_assert_int_eq(c.apply.fuzz_lines, 2);
	ck_assert(!c.apply.keep_attributes);
	ck_assert_int_eq(c.apply.force, FORCE_ASK);
	ck_assert(!c.checkpoint.automatic);
	ck_assert(c.checkpoint.ignored);
	ck_assert_int_eq(c.checkpoint.keep, 22);
	ck_assert_int_eq(c.checkpoint.max_files, 23);
	ck_assert_int_eq(c.checkpoint.max_bytes, 24);
	ck_assert_int_eq(c.checkpoint.max_added_bytes, 28);
	ck_assert_int_eq(c.checkpoint.reserve_bytes, 268435457);
	ck_assert_int_eq(c.checkpoint.timeout_seconds, 25);
	ck_assert_str_eq(c.slack.channel_id, "C0AFXFQP1TJ");
	ck_assert_uint_eq(c.slack.channels.count, 2);
	ck_assert_str_eq(c.slack.channels.items[1], "G2");
	ck_assert_int_eq(c.slack.questions, QUESTIONS_CHANNEL);
	ck_assert_int_eq(c.slack.reconnect_backoff_max_seconds, 11);
	ck_assert_int_eq(c.timeouts.approval_seconds, 12);
	ck_assert_int_eq(c.timeouts.prompt_seconds, 13);
	ck_assert_int_eq(c.timeouts.wait_seconds, 14);
	ck_assert(!c.stall.enabled);
	ck_assert_int_eq(c.stall.inactivity_threshold_seconds, 15);
	ck_assert_int_eq(c.stall.escalation_threshold_seconds, 16);
	ck_assert_int_eq(c.stall.max_retries, 0);
	ck_assert_str_eq(c.stall.default_nudge_message, "go \"on\"");
	ck_assert_int_eq(c.acp.max_sessions, 17);
	ck_assert_int_eq(c.acp.startup_timeout_seconds, 18);
	ck_assert_int_eq(c.acp.max_msg_rate, 19);
	ck_assert_int_eq(c.acp.http_port, 20);
	ck_assert_int_eq(c.mcp.wait_cap, 21);
	ck_assert(c.mcp.elicitation);
	ck_assert_uint_eq(c.mcp.allow_uids.count, 2);
	ck_assert_int_eq(c.mcp.allow_uids.items[1], 4294967294);
	ck_assert(c.ipc.require_token);
	ck_assert(c.policy.require_global_allowlist);
	ck_assert_int_eq(c.policy.trust, TRUST_ASK);
	ck_assert_uint_eq(c.policy.always_ask.count, 2);
	ck_assert_str_eq(c.policy.always_ask.items[1], "deploy/keys");
	ck_assert_int_eq(c.gate.when_down, WHEN_DOWN_ALLOW);
	ck_assert_int_eq(c.gate.reads, READS_POLICY);
	ck_assert_int_eq(c.gate.wait_seconds, 26);
	ck_assert_int_eq(c.gate.park_after_seconds, 27);
	ck_assert(c.gate.standby_at_end);
	ck_assert_int_eq(c.gate.watch, WATCH_REMOTE);
	ck_assert_int_eq(c.gate.watch_folders, 100);
	ck_assert_int_eq(c.log.format, LOG_FORMAT_JSON);
	ck_assert_int_eq(c.log.level, LOG_LEVEL_DEBUG);
	ck_assert(!c.modes.agent_may_loosen);
	ck_assert_str_eq(c.shared.directory, in("conf/run"));
	ck_assert_str_eq(c.shared.agents, "ask");
	ck_assert_str_eq(c.shared.operators, "12");
	ck_assert_str_eq(c.shared.owner_socket, "/x/owner");
	ck_assert_int_eq(c.shared.open_questions, 7);
	ck_assert_int_eq(c.shared.checkpoint_bytes, 9);
	ck_assert_int_eq(c.shared.recorded_bytes, 1048577);
	ck_assert_int_eq(c.allow_workspaces, ALLOW_LISTED);
	ck_assert_uint_eq(c.commands.count, 2);
	ck_assert_str_eq(c.commands.items[1].name, "last-commit");
	ck_assert_str_eq(c.commands.items[1].value, "git log -1");
	ck_assert_uint_eq(c.workspaces.count, 2);
	ck_assert_str_eq(c.workspaces.items[0].id, "my-backend");
	ck_assert_str_eq(c.workspaces.items[0].path, "");
	ck_assert_str_eq(c.workspaces.items[1].id, "front_end");
	ck_assert_str_eq(c.workspaces.items[1].path, in("ws"));
	ck_assert_uint_eq(c.warnings.count, 0);
	has_row("host_cli_args|[\"--stdio\",\"-x\"]|file");
	has_row("mcp.allow_uids|[1000,4294967294]|file");
	has_row("commands|{\"status\":\"git status\",\"last-commit\":\"git log -1\"}|file");
	has_row("log.level|debug|file");
}
END_TEST

START_TEST(the_example_of_the_reference_loads_without_a_warning)
{
	given("http_port = 3000\nipc_name = \"agent-intercom\"\nmax_concurrent_sessions = 3\n"
	      "host_cli_args = [\"--stdio\"]\nretention_days = 30\n\n"
	      "[database]\npath = \"data/agent-intercom.db\"\n\n"
	      "[slack]\nchannel_id = \"C0AFXFQP1TJ\"\n\n[stall]\nenabled = true\n\n"
	      "[commands]\nstatus = \"git status\"\n");
	load();
	ck_assert_uint_eq(c.warnings.count, 0);
}
END_TEST

START_TEST(the_file_is_looked_for_in_the_flag_then_the_variable_then_the_home)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "default_workspace_root = \"%s\"\nhost_cli = \"home\"\n", in("ws"));
	write_file(in("home/.config/agent-intercom/config.toml"), text.bytes, text.length);
	load_from(&(struct config_source){ .config = NULL });
	ck_assert_str_eq(c.host_cli, "home");
	given("");
	(void)setenv("INTERCOM_CONFIG", file, 1);
	load_from(&(struct config_source){ .config = NULL });
	ck_assert_str_eq(c.host_cli, "claude");
	load_from(
	    &(struct config_source){ .config = in("home/.config/agent-intercom/config.toml") });
	ck_assert_str_eq(c.host_cli, "home");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)setenv("XDG_CONFIG_HOME", in("conf"), 1);
	load_from(&(struct config_source){ .config = NULL });
	ck_assert_str_eq(c.host_cli, "");
}
END_TEST

START_TEST(the_working_directory_is_never_read)
{
	static const char BAD[] = "this is not toml";

	write_file(in("elsewhere/config.toml"), BAD, strlen(BAD));
	ck_assert_int_eq(mkdir(in("elsewhere/agent-intercom"), 0700), 0);
	write_file(in("elsewhere/agent-intercom/config.toml"), BAD, strlen(BAD));
	(void)setenv("XDG_CONFIG_HOME", ".", 1);
	load_from(&(struct config_source){ .config = NULL });
	ck_assert_str_eq(c.file, "");
	(void)setenv("INTERCOM_CONFIG", "config.toml", 1);
	fails_from(&(struct config_source){ .config = NULL }, "write an absolute path");
	fails_from(&(struct config_source){ .config = "config.toml" }, "elsewhere/config.toml:1: ");
}
END_TEST

START_TEST(a_named_file_must_be_there)
{
	fails_from(&(struct config_source){ .config = in("none.toml") },
	           "none.toml: cannot be opened: No such file or directory");
	fails_from(&(struct config_source){ .config = in("ws") }, "ws: is not a regular file");
	fails_from(&(struct config_source){ .config = "" }, "--config: is empty");
	(void)setenv("INTERCOM_CONFIG", in("none.toml"), 1);
	fails_from(&(struct config_source){ .config = NULL }, "none.toml: cannot be opened");
}
END_TEST

START_TEST(without_any_home_the_error_says_what_to_set)
{
	(void)unsetenv("HOME");
	fails_from(&(struct config_source){ .config = NULL },
	           "neither $XDG_CONFIG_HOME nor $HOME is set");
	(void)setenv("XDG_CONFIG_HOME", in("conf"), 1);
	fails_from(&(struct config_source){ .config = NULL },
	           "database.path: neither $XDG_STATE_HOME nor $HOME is set");
	load_from(&(struct config_source){ .database = in("x.db") });
	(void)setenv("XDG_STATE_HOME", in("state"), 1);
	load_from(&(struct config_source){ .config = NULL });
	ck_assert_str_eq(c.database.path, in("state/agent-intercom/intercom.db"));
}
END_TEST

START_TEST(flags_go_before_the_file)
{
	given("[database]\npath = \"x.db\"\n[log]\nformat = \"text\"\nlevel = \"warn\"\n");
	(void)setenv("INTERCOM_LOG", "error", 1);
	load_from(&(struct config_source){ .config = file,
	                                   .workspace = "../conf/../elsewhere",
	                                   .database = "y.db",
	                                   .log_format = "json" });
	ck_assert_str_eq(c.default_workspace_root, in("elsewhere"));
	ck_assert_str_eq(c.database.path, in("elsewhere/y.db"));
	ck_assert_int_eq(c.log.format, LOG_FORMAT_JSON);
	ck_assert_int_eq(c.log.level, LOG_LEVEL_ERROR);
	has_row("log.format|json|flag");
	has_row("log.level|error|env");
	has_row("host_cli|claude|file");
	has_row("http_port|3000|default");
}
END_TEST

START_TEST(wrong_flags_and_variables_are_named)
{
	fails_from(&(struct config_source){ .workspace = in("none") },
	           "none: No such file or directory; name an existing directory");
	fails_from(&(struct config_source){ .workspace = "" }, "--workspace: is ''");
	given("");
	fails_from(&(struct config_source){ .workspace = file }, "is not a directory");
	fails_from(&(struct config_source){ .database = "" }, "--db: is ''");
	fails_from(&(struct config_source){ .log_format = "xml" },
	           "--log-format: is 'xml'; write \"text\" or \"json\"");
	(void)setenv("INTERCOM_LOG", "trace", 1);
	fails_from(&(struct config_source){ .config = NULL }, "$INTERCOM_LOG: is 'trace'");
}
END_TEST

START_TEST(a_database_path_is_relative_to_the_file_that_names_it)
{
	given("database.path = \"~/x.db\"\n");
	load();
	ck_assert_str_eq(c.database.path, in("home/x.db"));
	given("database.path = \"/var/lib/x.db\"\n");
	load();
	ck_assert_str_eq(c.database.path, "/var/lib/x.db");
	given("database.path = \"y.db\"\n");
	load_from(&(struct config_source){ .config = "../conf/config.toml" });
	ck_assert_ptr_nonnull(strstr(c.database.path, "/conf/y.db"));
	ck_assert_int_eq(c.database.path[0], '/');
}
END_TEST

START_TEST(the_database_is_the_same_with_a_file_that_names_none)
{
	OWNED(char_ptr) char *without = NULL;

	load_from(&(struct config_source){ .config = NULL });
	ck_assert_str_eq(c.database.path, in("home/.local/state/agent-intercom/intercom.db"));
	without = xstrdup(c.database.path);
	given("");
	load();
	ck_assert_str_eq(c.database.path, without);
}
END_TEST

START_TEST(a_file_may_be_empty)
{
	write_file(file, "", 0);
	load();
	ck_assert_str_eq(c.file, file);
	ck_assert_str_eq(c.default_workspace_root, "");
	ck_assert_str_eq(c.host_cli, "");
	ck_assert_uint_eq(c.warnings.count, 0);
}
END_TEST

START_TEST(a_workspace_root_that_is_not_there_is_refused_with_its_line)
{
	static const char TEXT[] = "\nhost_cli = 'x'\ndefault_workspace_root = 'none'\n";

	write_file(file, TEXT, strlen(TEXT));
	fails_from(&(struct config_source){ .config = file },
	           "config.toml:3: default_workspace_root: ");
	ck_assert_ptr_nonnull(strstr(e.text, "/conf/none: No such file"));
}
END_TEST

START_TEST(a_value_of_the_wrong_type_is_told_with_its_place_and_what_to_write)
{
	refuses("http_port = \"3000\"\n",
	        ":3: http_port: is the text \"3000\"; write an integer from 0 to 65535");
	refuses("\nhttp_port = 3.5\n", ":4: http_port: is the float 3.5; write an integer");
	refuses("ipc_name = 7\n", ":3: ipc_name: is the integer 7; write 1 to 64 characters");
	refuses("ipc_name = 2020-01-02\n", ":3: ipc_name: is the date or time \"2020-01-02\"");
	refuses("host_cli_args = \"-x\"\n", ":3: host_cli_args: is the text \"-x\"; write a list");
	refuses("host_cli_args = [\n\"-x\",\n1]\n", ":5: host_cli_args: is the integer 1; write");
	refuses("[stall]\nenabled = \"yes\"\n",
	        ":4: stall.enabled: is the text \"yes\"; write true or false");
	refuses("[stall]\nenabled = 1\n", ":4: stall.enabled: is the integer 1");
	refuses("slack = \"C1\"\n", ":3: slack: is the text \"C1\"; write a table, [slack]");
	refuses("[http_port]\nx = 1\n", ":3: http_port: is a table; write an integer");
	refuses("[mcp]\nallow_uids = 1000\n", ":4: mcp.allow_uids: is the integer 1000; write a");
	refuses("[mcp]\nallow_uids = [\"me\"]\n", ":4: mcp.allow_uids: is the text \"me\"");
	refuses("commands = [\"ls\"]\n", ":3: commands: is an array; write a table of texts");
	refuses("[commands]\nls = true\n", ":4: commands.ls: is the boolean true; write a text");
	refuses("[workspace]\nid = \"x\"\n", ":3: workspace: is a table; write tables that begin");
	refuses("workspace = [1]\n", ":3: workspace: is the integer 1; write tables");
}
END_TEST

START_TEST(a_value_out_of_range_is_refused)
{
	refuses("max_concurrent_sessions = 0\n",
	        ":3: max_concurrent_sessions: is the integer 0; write an integer from 1 to 1000");
	refuses("http_port = 65536\n", ":3: http_port: is the integer 65536; write");
	refuses("http_port = -1\n", ":3: http_port: is the integer -1; write");
	refuses("retention_days = 0\n", ":3: retention_days: is the integer 0");
	refuses("audit_retention_days = 0\n", ":3: audit_retention_days: is the integer 0");
	refuses("[apply]\nfuzz_lines = 3\n", ":4: apply.fuzz_lines: is the integer 3; write an "
	                                     "integer from 0 to 2");
	refuses("[timeouts]\napproval_seconds = 0\n", ":4: timeouts.approval_seconds: is the");
	refuses("[timeouts]\nwait_seconds = 9223372036854775807\n",
	        ":4: timeouts.wait_seconds: is the integer 9223372036854775807; write");
	refuses("[timeouts]\nwait_seconds = 9223372036854775808\n",
	        ":4: the integer does not fit into 64 bits");
	refuses("http_port = 0xFFFF_FFFF_FFFF_FFFF\n", ":3: the integer does not fit");
	refuses(
	    "http_port = 0b1111111111111111111111111111111111111111111111111111111111111111111\n",
	    ":3: the integer does not fit");
	refuses("http_port = -9223372036854775809\n", ":3: the integer does not fit");
	refuses("http_port = -9223372036854775808\n", ":3: http_port: is the integer -9223372");
	refuses("[mcp]\nallow_uids = [4294967295]\n", ":4: mcp.allow_uids: is the integer 42949");
}
END_TEST

START_TEST(a_text_that_breaks_its_rule_is_refused)
{
	refuses("ipc_name = \"a/b\"\n", ":3: ipc_name: is the text \"a/b\"; write 1 to 64");
	refuses("ipc_name = \"..\"\n", ":3: ipc_name: is the text \"..\"");
	refuses("[policy]\nalways_ask = [\"..x\", \"../x\"]\n",
	        ":4: policy.always_ask: is the text \"../x\"; write a name, or names");
	refuses("[policy]\nalways_ask = [\"a/./x\"]\n",
	        ":4: policy.always_ask: is the text \"a/./x\"");
	refuses("[policy]\nalways_ask = [\"/abs\"]\n",
	        ":4: policy.always_ask: is the text \"/abs\"");
	refuses("[slack]\nquestions = \"dm\"\n",
	        ":4: slack.questions: is the text \"dm\"; write \"thread\" or \"channel\"");
	refuses("[log]\nformat = \"xml\"\n", ":4: log.format: is the text \"xml\"");
	refuses("[log]\nlevel = \"INFO\"\n",
	        ":4: log.level: is the text \"INFO\"; write \"debug\"");
	refuses("[slack]\nchannel_id = \"general\"\n", ":4: slack.channel_id: is the text \"gen");
	refuses("[slack]\nchannel_id = \"\"\n", ":4: slack.channel_id: is the text \"\"; write a");
	refuses("[slack]\nchannel_id = \"C\"\n", ":4: slack.channel_id: is the text \"C\"");
	refuses("[stall]\ndefault_nudge_message = \"\"\n", ":4: stall.default_nudge_message: is");
	refuses("[commands]\n\"git status\" = \"x\"\n",
	        ":4: commands: the name 'git status' does not fit; write one word without blanks");
	refuses("[commands]\nx = \"\"\n", ":4: commands.x: is the text \"\"; write a text that");
	refuses("ipc_name = \"0123456789012345678901234567890123456789012345678901234567890123456"
	        "7890123456789012345678901234567890\"\n",
	        ":3: ipc_name: is the text \"0123456789");
	ck_assert_ptr_nonnull(strstr(e.text, "...; write"));
}
END_TEST

START_TEST(a_workspace_needs_an_id_of_its_own_and_a_channel_or_a_path)
{
	refuses("[[workspace]]\nchannel_id = \"C1\"\n", ":3: workspace.id: is missing; write let");
	refuses("[[workspace]]\nid = \"x\"\n", ":3: workspace.channel_id: is missing; write a ch");
	refuses("[[workspace]]\nid = \"a b\"\nchannel_id = \"C1\"\n",
	        ":4: workspace.id: is the text \"a b\"; write letters");
	refuses("[[workspace]]\nid = \"a\"\nchannel_id = \"U1\"\n",
	        ":5: workspace.channel_id: is the text \"U1\"; write a channel id");
	refuses("[[workspace]]\nid = \"a\"\nchannel_id = \"c1\"\n", ":5: workspace.channel_id");
	refuses("[[workspace]]\nid = \"a\"\nworkspace_id = \"b\"\nchannel_id = \"C1\"\n",
	        ":5: workspace.workspace_id: stands beside id");
	refuses("[[workspace]]\nid = \"a\"\nchannel_id = \"C1\"\n"
	        "[[workspace]]\nworkspace_id = \"a\"\nchannel_id = \"C2\"\n",
	        ":6: workspace.id: 'a' is there twice");
	refuses("[[workspace]]\nid = \"a\"\nchannel_id = \"C1\"\npath = \"\"\n",
	        ":6: workspace.path: is the text \"\"");
	given("[[workspace]]\nid = \"a\"\npath = \"ws\"\n");
	load();
	ck_assert_uint_eq(c.workspaces.count, 1);
	ck_assert_ptr_null(c.workspaces.items[0].channel_id);
}
END_TEST

START_TEST(syntax_errors_have_line_and_reason)
{
	refuses("http_port 3000\n", ":3: expected '=' after the key");
	refuses("[slack\n", ":3: ");
	ck_assert_ptr_null(strstr(e.text, "appeared"));
	refuses("= 1\n", ":3: ");
	ck_assert_ptr_null(strstr(e.text, "allowed."));
	refuses("\nhttp_port = \n", ":4: expected a value");
	refuses("http_port = 1\nhttp_port = 2\n", ":4: this key or table is already defined");
	refuses("[slack]\n[log]\n[slack]\n", ":5: this key or table is already defined");
	refuses("a = \"x\n", ":3: invalid string; check its quotes and escapes");
	refuses("http_port = 07\n", ":3: invalid integer; write it like 42, -7");
	refuses("a = tru\n", ":3: expected true or false; a text needs quotes");
	refuses("a = 1\na.b = 2\n", ":4: this key or table is already defined");
	refuses("a = 0b2\n", ":3: invalid integer; write it like 42, -7");
	refuses("a = 1 b = 2\n", ":3: ");
	ck_assert_ptr_null(strchr(e.text, '\n'));
	ck_assert_ptr_nonnull(strstr(e.text, "expected"));
	refuses("ipc_name = \"a\\u0000b\"\n", ":3: a text must not hold a NUL character");
	refuses("a = \"\xff\"\n", ": is not UTF-8");
	write_file(file, "a=1\0b", 5);
	fails_from(&(struct config_source){ .config = file }, "config.toml: holds a NUL byte");
}
END_TEST

START_TEST(a_huge_or_deep_file_is_refused)
{
	OWNED(str) struct str text = { 0 };

	str_add(&text, "# first\n# \"[[[[ 'brackets' do not count here\na = ");
	for (int i = 0; i < 100000; i++)
		str_add_char(&text, '[');
	write_file(file, text.bytes, text.length);
	fails_from(&(struct config_source){ .config = file },
	           "config.toml:3: is nested deeper than 32 levels");
	str_reset(&text);
	for (int i = 0; i < 100000; i++)
		str_add(&text, "a.");
	write_file(file, text.bytes, text.length);
	fails_from(&(struct config_source){ .config = file }, "config.toml:1: is nested deeper");
	str_reset(&text);
	for (int i = 0; i <= TOML_FILE_BYTES_MAX; i++)
		str_add_char(&text, '#');
	write_file(file, text.bytes, text.length);
	fails_from(&(struct config_source){ .config = file }, "is larger than 1048576 bytes");
	given("[commands]\nx = \"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ ..........................."
	      "..............................\"\ny = '''[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n'''\n");
	load();
}
END_TEST

START_TEST(an_unknown_key_is_a_warning_with_the_nearest_known_one)
{
	warns("[mcp]\nhttp_port = 1\n",
	      ":4: unknown key 'mcp.http_port'; did you mean 'http_port'?");
	warns("htp_port = 1\n", ":3: unknown key 'htp_port'; did you mean 'http_port'?");
	warns("[slak]\nchannel_id = 1\n", ":3: unknown key 'slak'; did you mean 'slack'?");
	warns("[slack]\n\nchanel_id = 1\n",
	      ":5: unknown key 'slack.chanel_id'; did you mean 'slack.channel_id'?");
	warns("approval_seconds = 1\n",
	      ":3: unknown key 'approval_seconds'; did you mean 'timeouts.approval_seconds'?");
	warns("colour = \"blue\"\n", ":3: unknown key 'colour'; it is ignored");
	warns("x = 1\n", ":3: unknown key 'x'; it is ignored");
	given("\"log.level\" = \"warn\"\n"); /* a dot in quotes is part of a name */
	load();
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_int_eq(c.log.level, LOG_LEVEL_INFO);
}
END_TEST

START_TEST(an_unknown_key_in_a_workspace_is_a_warning)
{
	warns("[[workspace]]\nid = \"a\"\nchannel_id = \"C1\"\npaht = \"x\"\n",
	      ":6: unknown key 'workspace.paht'; it is ignored");
	warns("[[workspace]]\nid = \"a\"\nchannel_id = \"C1\"\nchanel_id = \"x\"\n",
	      ":6: unknown key 'workspace.chanel_id'; did you mean 'workspace.channel_id'?");
}
END_TEST

START_TEST(keys_of_older_versions_are_told_where_they_went)
{
	warns("[slack]\nbot_token = \"xoxb-secret\"\n",
	      ":4: unknown key 'slack.bot_token'; tokens come from the keychain or "
	      "$SLACK_BOT_TOKEN; remove it");
	warns("[remote_commands]\nx = \"y\"\n",
	      ":3: unknown key 'remote_commands'; it is called [commands] now");
}
END_TEST

START_TEST(all_unknown_keys_are_told_in_the_order_of_the_file)
{
	given("b1 = 1\na1 = 2\n[log]\nzz = 1\nyy = 2\n");
	load();
	ck_assert_uint_eq(c.warnings.count, 4);
	ck_assert_ptr_nonnull(strstr(c.warnings.items[0], ":3: unknown key 'b1'"));
	ck_assert_ptr_nonnull(strstr(c.warnings.items[1], ":4: unknown key 'a1'"));
	ck_assert_ptr_nonnull(strstr(c.warnings.items[2], ":6: unknown key 'log.zz'"));
	ck_assert_ptr_nonnull(strstr(c.warnings.items[3], ":7: unknown key 'log.yy'"));
}
END_TEST

START_TEST(a_workspace_path_that_is_not_there_is_a_warning)
{
	given("[[workspace]]\nid = \"a\"\nchannel_id = \"C1\"\npath = \"none\"\n");
	load();
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_ptr_nonnull(strstr(c.warnings.items[0], ":3: workspace.path: "));
	ck_assert_str_eq(c.workspaces.items[0].path, in("conf/none"));
}
END_TEST

START_TEST(an_export_folder_that_is_not_there_is_a_warning)
{
	given("retention_export_dir = \"none\"\n");
	load();
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_ptr_nonnull(strstr(c.warnings.items[0], ":3: retention_export_dir: "));
	ck_assert_str_eq(c.retention_export_dir, in("conf/none"));
}
END_TEST

START_TEST(an_export_folder_into_which_others_may_write_is_a_warning)
{
	given("retention_export_dir = \"none\"\n");
	ck_assert_int_eq(mkdir(in("conf/none"), 0700) | chmod(in("conf/none"), 01777), 0);
	load();
	ck_assert_uint_eq(c.warnings.count, 1);
	ck_assert_ptr_nonnull(strstr(c.warnings.items[0], "has mode 1777: others may put files"));
	ck_assert_int_eq(rmdir(in("conf/none")), 0);
}
END_TEST

START_TEST(the_sample_loads_and_shows_the_defaults)
{
	OWNED(str) struct str sample = { 0 };
	OWNED(str) struct str before = { 0 };
	OWNED(str) struct str after = { 0 };

	config_sample(&sample);
	write_file(file, sample.bytes, sample.length);
	load_from(&(struct config_source){ .config = file, .workspace = in("ws") });
	ck_assert_uint_eq(c.warnings.count, 0);
	has_row("host_cli||default");
	config_settings(&c, add_row, &before);
	for (char *at = sample.bytes; (at = strstr(at, "\n#")); at++)
		if (at[2] != ' ')
			at[1] = ' ';
	write_file(file, sample.bytes, sample.length);
	load_from(&(struct config_source){ .config = file, .workspace = in("ws") });
	has_row("log.level|info|file");
	has_row("slack.channel_id|C0123456789|file");
	has_row("commands|{\"status\":\"git status\"}|file");
	has_row("timeouts.approval_seconds|3600|file");
	config_settings(&c, add_row, &after);
	ck_assert_ptr_nonnull(strstr(str_text(&after), "workspace|[{\"id\":\"my-backend\""));
	ck_assert_ptr_null(strstr(str_text(&after), "|default"));
	ck_assert_uint_eq(c.warnings.count, 2); /* workspace and export folder of the example */
}
END_TEST

START_TEST(clearing_leaves_a_config_that_can_be_filled_again)
{
	config_clear(&c);
	config_clear(&c);
	given("");
	load();
	load();
	ck_assert_str_eq(c.host_cli, "claude");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tests = tcase_create("config");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 20);
	tcase_add_test(tests, syntax_errors_have_line_and_reason);
	tcase_add_test(tests, a_huge_or_deep_file_is_refused);
	tcase_add_test(tests, without_a_file_every_setting_has_its_default);
	tcase_add_test(tests, every_setting_is_read_from_the_file);
	tcase_add_test(tests, the_example_of_the_reference_loads_without_a_warning);
	tcase_add_test(tests, the_file_is_looked_for_in_the_flag_then_the_variable_then_the_home);
	tcase_add_test(tests, the_working_directory_is_never_read);
	tcase_add_test(tests, a_named_file_must_be_there);
	tcase_add_test(tests, without_any_home_the_error_says_what_to_set);
	tcase_add_test(tests, flags_go_before_the_file);
	tcase_add_test(tests, wrong_flags_and_variables_are_named);
	tcase_add_test(tests, a_database_path_is_relative_to_the_file_that_names_it);
	tcase_add_test(tests, the_database_is_the_same_with_a_file_that_names_none);
	tcase_add_test(tests, a_file_may_be_empty);
	tcase_add_test(tests, a_workspace_root_that_is_not_there_is_refused_with_its_line);
	tcase_add_test(tests, a_value_of_the_wrong_type_is_told_with_its_place_and_what_to_write);
	tcase_add_test(tests, a_value_out_of_range_is_refused);
	tcase_add_test(tests, a_text_that_breaks_its_rule_is_refused);
	tcase_add_test(tests, a_workspace_needs_an_id_of_its_own_and_a_channel_or_a_path);
	tcase_add_test(tests, an_unknown_key_is_a_warning_with_the_nearest_known_one);
	tcase_add_test(tests, an_unknown_key_in_a_workspace_is_a_warning);
	tcase_add_test(tests, keys_of_older_versions_are_told_where_they_went);
	tcase_add_test(tests, all_unknown_keys_are_told_in_the_order_of_the_file);
	tcase_add_test(tests, a_workspace_path_that_is_not_there_is_a_warning);
	tcase_add_test(tests, an_export_folder_that_is_not_there_is_a_warning);
	tcase_add_test(tests, an_export_folder_into_which_others_may_write_is_a_warning);
	tcase_add_test(tests, the_sample_loads_and_shows_the_defaults);
	tcase_add_test(tests, clearing_leaves_a_config_that_can_be_filled_again);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
