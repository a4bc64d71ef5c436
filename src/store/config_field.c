/* The table of settings, and the operations on the value of one. */
#include "config_field.h"

#include "budget.h"

#include "log.h"
#include "paths.h"
#include "store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_BYTES_MAX = 60 /* of a wrong value, in a message */ };
enum { SECONDS_MAX = 315360000 /* ten years: deadlines stay within four-digit years */ };

static bool not_empty(const char *text)
{
	return *text != '\0';
}

static bool slack_channel(const char *text)
{
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	return (text[0] == 'C' || text[0] == 'G') && text[1] &&
	       strspn(text, ALLOWED) == strlen(text);
}

static bool workspace_id(const char *text)
{
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                              "0123456789_-";

	return *text && strspn(text, ALLOWED) == strlen(text);
}

/* An alias is one word in a Slack command. */
static bool one_word(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7F)
			return false;
	return true;
}

/* Names separated by slashes, as a path in a workspace has them. */
static bool file_name(const char *text)
{
	for (;; text++) {
		size_t length = strcspn(text, "/");

		if (length == 0 || (length <= 2 && strncmp(text, "..", length) == 0))
			return false;
		text += length;
		if (!*text)
			return true;
	}
}

const struct config_rule CONFIG_NOT_EMPTY = { not_empty, "a text that is not empty" };
static const struct config_rule BUDGET = { budget_is_valid, "\"5.00 USD\" or \"2000000 tokens\"" };
static const struct config_rule IPC_NAME = {
	paths_name_fits, "1 to 64 characters of A-Z a-z 0-9 . _ -, not '.' or '..'"
};
static const struct config_rule FILE_NAME = {
	file_name, "a name, or names with '/' between them, not '.' or '..', where * ? [a-z] stand "
	           "within a name"
};
const struct config_rule CONFIG_CHANNEL = { slack_channel,
	                                    "a channel id: C or G, then letters A-Z and digits" };
const struct config_rule CONFIG_WORKSPACE_ID = { workspace_id, "letters, digits, '-' and '_'" };
const struct config_rule CONFIG_ALIAS = { one_word, "one word without blanks" };

static const char *const QUESTIONS[] = {
	[QUESTIONS_THREAD] = "thread", [QUESTIONS_CHANNEL] = "channel", NULL
};
static const char *const TRUST[] = {
	[TRUST_LISTED] = "listed", [TRUST_ASK] = "ask", [TRUST_OFF] = "off", NULL
};
static const char *const WHEN_DOWN[] = {
	[WHEN_DOWN_DENY] = "deny", [WHEN_DOWN_ALLOW] = "allow", NULL
};
static const char *const READS[] = { [READS_ALLOW] = "allow", [READS_POLICY] = "policy", NULL };
static const char *const FENCES[] = { [CONFIG_FENCE_AUTO] = "auto",
	                              [CONFIG_FENCE_OFF] = "off",
	                              [CONFIG_FENCE_REQUIRE] = "require",
	                              NULL };
static const char *const WATCHES[] = {
	[WATCH_OFF] = "off", [WATCH_REMOTE] = "remote", [WATCH_ALWAYS] = "always", NULL
};
static const char *const FORCES[] = {
	[FORCE_ALLOW] = "allow", [FORCE_ASK] = "ask", [FORCE_NEVER] = "never", NULL
};
static const char *const ALLOW[] = { [ALLOW_ANY] = "any", [ALLOW_LISTED] = "listed", NULL };
const char *const CONFIG_FRAMINGS[] = { [FRAMING_NDJSON] = "ndjson", [FRAMING_LSP] = "lsp", NULL };
static const char *const LOG_FORMATS[] = {
	[LOG_FORMAT_TEXT] = "text", [LOG_FORMAT_JSON] = "json", NULL
};
static const char *const LOG_LEVELS[] = { [LOG_LEVEL_DEBUG] = "debug",
	                                  [LOG_LEVEL_INFO] = "info",
	                                  [LOG_LEVEL_WARN] = "warn",
	                                  [LOG_LEVEL_ERROR] = "error",
	                                  NULL };

#define AT(member) .at = offsetof(struct config, member)
#define FLAG(member, text) .flag = offsetof(struct config_source, member) + 1, .flag_name = (text)
#define RANGE(least, most) .low = (least), .high = (most)

const struct config_field CONFIG_FIELDS[] = {
	{ "default_workspace_root", KIND_TEXT, AT(default_workspace_root), .preset = "",
	  .rule = &CONFIG_NOT_EMPTY, FLAG(workspace, "--workspace"),
	  .example = "/home/me/my-project",
	  .comment = "where an agent works if it names no other folder" },
	{ "host_cli", KIND_TEXT, AT(host_cli), .preset = "", .rule = &CONFIG_NOT_EMPTY,
	  .example = "claude", .comment = "the program to start as an agent" },
	{ "host_cli_args", KIND_TEXTS, AT(host_cli_args), .preset = "",
	  .comment = "arguments of host_cli, before the prompt" },
	{ "default_agent", KIND_TEXT, AT(default_agent), .preset = "", .rule = &CONFIG_WORKSPACE_ID,
	  .example = "claude",
	  .comment = "the profile of sessions that name none: of [[agent]], or a built-in one "
	             "(`agent-intercom agents`); else it is host_cli" },
	{ "max_concurrent_sessions", KIND_NUMBER, AT(max_concurrent_sessions), .preset = "3",
	  RANGE(1, 1000),
	  .comment = "how many sessions started from Slack or ctl may run at once" },
	{ "http_port", KIND_NUMBER, AT(http_port), .preset = "3000", RANGE(0, 65535),
	  .comment = "port on 127.0.0.1 for MCP over HTTP; 0 takes any free one" },
	{ "ipc_name", KIND_TEXT, AT(ipc_name), .preset = "agent-intercom", .rule = &IPC_NAME,
	  .comment = "the name under which agent-intercom-ctl --ipc-name finds this system" },
	{ "retention_days", KIND_NUMBER, AT(retention_days), .preset = "30", RANGE(1, 36500),
	  .comment = "days after the end of a session until its rows are deleted" },
	{ "audit_retention_days", KIND_NUMBER, AT(audit_retention_days), .preset = "365",
	  RANGE(1, 36500), .comment = "days until events are deleted from the timeline" },
	{ "retention_export_dir", KIND_TEXT, AT(retention_export_dir), .preset = "",
	  .rule = &CONFIG_NOT_EMPTY, .example = "/home/me/intercom-archive",
	  .comment = "an existing folder: the timeline and what undo needs are exported there "
	             "before deletion" },
	{ "checkpoint_retention_days", KIND_NUMBER, AT(checkpoint_retention_days), .preset = "30",
	  RANGE(1, 36500),
	  .comment = "days until a checkpoint is deleted; the last one of a session stays" },
	{ "undo_limit_bytes", KIND_NUMBER, AT(undo_limit_bytes), .preset = "10485760",
	  RANGE(0, 1024 * 1024 * 1024),
	  .comment = "content that a write replaces is kept for undo up to this size" },
	{ "command_timeout_seconds", KIND_NUMBER, AT(command_timeout_seconds), .preset = "60",
	  RANGE(1, 86400), .comment = "a command of [commands] is killed after this time" },
	{ "command_output_limit_bytes", KIND_NUMBER, AT(command_output_limit_bytes),
	  .preset = "65536", RANGE(256, 64 * 1024 * 1024),
	  .comment = "output of a command beyond this is cut off" },
	{ "fence", KIND_CHOICE, AT(fence), .preset = "auto", .choices = FENCES,
	  .comment = "what our processes may reach is limited by Landlock: as far as the kernel "
	             "offers it, not at all (off), or, where it offers none, nothing is served "
	             "(require)" },

	{ "database.path", KIND_TEXT, AT(database.path), .preset = "", .rule = &CONFIG_NOT_EMPTY,
	  FLAG(database, "--db"), .example = "~/.local/state/agent-intercom/intercom.db",
	  .comment = "the SQLite file; relative paths start at the folder of this file" },

	{ "apply.fuzz_lines", KIND_NUMBER, AT(apply.fuzz_lines), .preset = "0", RANGE(0, 2),
	  .comment = "lines of context at each end of a hunk that may differ from the diff" },
	{ "apply.keep_attributes", KIND_BOOLEAN, AT(apply.keep_attributes), .preset = "true",
	  .comment = "whether a written file keeps its extended attributes (access lists too); new "
	             "content has neither set-id bits nor file capabilities, whatever this says" },
	{ "apply.force", KIND_CHOICE, AT(apply.force), .preset = "allow", .choices = FORCES,
	  .comment = "whether an approved change may overwrite a file that has changed since: "
	             "allow, ask (you are asked again), never" },

	{ "checkpoint.auto", KIND_BOOLEAN, AT(checkpoint.automatic), .preset = "true",
	  .comment = "whether a checkpoint is taken when a session starts, and before a change of "
	             "risk `critical` is written" },
	{ "checkpoint.ignored", KIND_BOOLEAN, AT(checkpoint.ignored), .preset = "false",
	  .comment = "whether checkpoints hold what .gitignore ignores, too" },
	{ "checkpoint.keep", KIND_NUMBER, AT(checkpoint.keep), .preset = "20", RANGE(1, 10000),
	  .comment = "how many checkpoints that nobody ordered are kept for each session" },
	{ "checkpoint.max_files", KIND_NUMBER, AT(checkpoint.max_files), .preset = "500000",
	  RANGE(1, 100000000),
	  .comment = "a workspace with more files and folders gets no checkpoint" },
	{ "checkpoint.max_bytes", KIND_NUMBER, AT(checkpoint.max_bytes), .preset = "10737418240",
	  RANGE(1, 1LL << 50), .comment = "the same for the bytes of its files" },
	{ "checkpoint.max_added_bytes", KIND_NUMBER, AT(checkpoint.max_added_bytes),
	  .preset = "2147483648", RANGE(1, 1LL << 50),
	  .comment = "a checkpoint that would add more to what checkpoints hold is not taken" },
	{ "checkpoint.reserve_bytes", KIND_NUMBER, AT(checkpoint.reserve_bytes),
	  .preset = "268435456", RANGE(2LL * STORE_MIN_FREE_BYTES, 1LL << 50),
	  .comment = "nor one that would leave less than this free on the disk of the database" },
	{ "checkpoint.timeout_seconds", KIND_NUMBER, AT(checkpoint.timeout_seconds),
	  .preset = "600", RANGE(1, 86400),
	  .comment = "a checkpoint that takes longer is given up" },

	{ "slack.channel_id", KIND_TEXT, AT(slack.channel_id), .preset = "",
	  .rule = &CONFIG_CHANNEL, .example = "C0123456789",
	  .comment = "where sessions are posted; needed for Slack (tokens never stand here)" },
	{ "slack.channels", KIND_TEXTS, AT(slack.channels), .preset = "", .rule = &CONFIG_CHANNEL,
	  .example = "[\"C0123456789\"]",
	  .comment = "further channels that agents may name (?channel_id=); if empty, all that the "
	             "bot is in" },
	{ "slack.questions", KIND_CHOICE, AT(slack.questions), .preset = "thread",
	  .choices = QUESTIONS,
	  .comment = "whether questions go to the session's thread or to the channel" },
	{ "slack.reconnect_backoff_max_seconds", KIND_NUMBER,
	  AT(slack.reconnect_backoff_max_seconds), .preset = "300", RANGE(1, 86400),
	  .comment = "longest pause between two attempts to reach Slack" },

	{ "timeouts.approval_seconds", KIND_NUMBER, AT(timeouts.approval_seconds), .preset = "3600",
	  RANGE(1, SECONDS_MAX), .comment = "when an unanswered approval expires" },
	{ "timeouts.prompt_seconds", KIND_NUMBER, AT(timeouts.prompt_seconds), .preset = "1800",
	  RANGE(1, SECONDS_MAX), .comment = "when an unanswered prompt continues" },
	{ "timeouts.continuation_seconds", KIND_NUMBER, AT(timeouts.continuation_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX),
	  .comment = "the same for prompts of type continuation; 0 is prompt_seconds" },
	{ "timeouts.clarification_seconds", KIND_NUMBER, AT(timeouts.clarification_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX), .comment = "... of type clarification" },
	{ "timeouts.error_recovery_seconds", KIND_NUMBER, AT(timeouts.error_recovery_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX), .comment = "... of type error_recovery" },
	{ "timeouts.resource_warning_seconds", KIND_NUMBER, AT(timeouts.resource_warning_seconds),
	  .preset = "0", RANGE(0, SECONDS_MAX), .comment = "... of type resource_warning" },
	{ "timeouts.wait_seconds", KIND_NUMBER, AT(timeouts.wait_seconds), .preset = "0",
	  RANGE(0, SECONDS_MAX),
	  .comment = "how long an agent waits for instructions; 0 is forever" },

	{ "stall.enabled", KIND_BOOLEAN, AT(stall.enabled), .preset = "true",
	  .comment = "whether silent agents are detected" },
	{ "stall.inactivity_threshold_seconds", KIND_NUMBER, AT(stall.inactivity_threshold_seconds),
	  .preset = "300", RANGE(1, SECONDS_MAX), .comment = "silence until the alert" },
	{ "stall.escalation_threshold_seconds", KIND_NUMBER, AT(stall.escalation_threshold_seconds),
	  .preset = "120", RANGE(1, SECONDS_MAX),
	  .comment = "time from the alert to a nudge, and between nudges" },
	{ "stall.max_retries", KIND_NUMBER, AT(stall.max_retries), .preset = "3", RANGE(0, 1000),
	  .comment = "nudges before everyone in the channel is called" },
	{ "stall.default_nudge_message", KIND_TEXT, AT(stall.default_nudge_message),
	  .preset = "Continue working on the current task. Pick up where you left off.",
	  .rule = &CONFIG_NOT_EMPTY, .comment = "the words of a nudge" },

	{ "budget.session", KIND_TEXT, AT(budget.session), .preset = "", .rule = &BUDGET,
	  .example = "5.00 USD",
	  .comment = "what a session may use until it is paused and you are asked, in money or as "
	             "\"2000000 tokens\"; as far as its agent says what it uses" },
	{ "budget.day", KIND_TEXT, AT(budget.day), .preset = "", .rule = &BUDGET,
	  .example = "20.00 USD", .comment = "the same for all sessions of a day" },

	{ "acp.framing", KIND_CHOICE, AT(acp.framing), .preset = "ndjson",
	  .choices = CONFIG_FRAMINGS,
	  .comment = "how agents of protocol acp-stream separate messages: a line each, or "
	             "Content-Length headers" },
	{ "acp.max_line_length", KIND_NUMBER, AT(acp.max_line_length), .preset = "1048576",
	  RANGE(1024, 1024 * 1024 * 1024),
	  .comment = "bytes of one message of theirs; agents of protocol acp may send 32 MiB" },
	{ "acp.max_sessions", KIND_NUMBER, AT(acp.max_sessions), .preset = "5", RANGE(1, 1000),
	  .comment = "agents driven over ACP at one time" },
	{ "acp.startup_timeout_seconds", KIND_NUMBER, AT(acp.startup_timeout_seconds),
	  .preset = "30", RANGE(1, 3600),
	  .comment = "an agent that has not said hello by then is stopped" },
	{ "acp.max_msg_rate", KIND_NUMBER, AT(acp.max_msg_rate), .preset = "10", RANGE(1, 100000),
	  .comment = "how often in a second what an agent says over ACP is written down and shown; "
	             "nothing is dropped, and questions and ends of turns never wait" },
	{ "acp.http_port", KIND_NUMBER, AT(acp.http_port), .preset = "3001", RANGE(0, 65535),
	  .comment = "has no effect: an agent speaks ACP on its stdin and stdout, which no other "
	             "process can reach, and finds our tools on the other http_port" },

	{ "mcp.wait_cap", KIND_NUMBER, AT(mcp.wait_cap), .preset = "240", RANGE(1, SECONDS_MAX),
	  .comment = "seconds until a waiting tool call returns \"pending\"" },
	{ "mcp.elicitation", KIND_BOOLEAN, AT(mcp.elicitation), .preset = "false",
	  .comment = "whether the agent's own program may show questions and answer them" },
	{ "mcp.hands", KIND_NUMBER, AT(mcp.hands), .preset = "8", RANGE(1, 64),
	  .comment =
	      "how many processes read agents' files at once; a quarter as many besides read "
	      "large ones" },
	{ "mcp.allow_uids", KIND_NUMBERS, AT(mcp.allow_uids), .preset = "",
	  RANGE(0, UINT32_MAX - 1),
	  .comment =
	      "uids of other users of this machine that may connect; without shared.directory "
	      "their agents work in your folders, as yours do" },

	{ "ipc.require_token", KIND_BOOLEAN, AT(ipc.require_token), .preset = "false",
	  .comment = "whether programs on ipc.sock must say the token in ipc.token" },

	{ "policy.require_global_allowlist", KIND_BOOLEAN, AT(policy.require_global_allowlist),
	  .preset = "false",
	  .comment =
	      "whether a workspace may approve by itself only lines of [commands], followed by "
	      "any arguments, but by nothing with which a shell does something else" },
	{ "policy.trust", KIND_CHOICE, AT(policy.trust), .preset = "listed", .choices = TRUST,
	  .comment =
	      "where a policy file counts before a person has trusted it: in "
	      "default_workspace_root and [[workspace]], nowhere (ask), everywhere (off); with "
	      "shared.directory the default is \"ask\"" },
	{ "policy.always_ask", KIND_TEXTS, AT(policy.always_ask), .preset = "", .rule = &FILE_NAME,
	  .example = "[\"*.tf\", \"deploy/keys\"]",
	  .comment =
	      "files and folders that no policy lets anybody read or write unasked, at any depth" },

	{ "gate.when_down", KIND_CHOICE, AT(gate.when_down), .preset = "deny", .choices = WHEN_DOWN,
	  .comment =
	      "what hooks of agents' own tools answer while agent-intercom cannot be reached; "
	      "`agent-intercom install HOST --gate` writes it into the host's files" },
	{ "gate.reads", KIND_CHOICE, AT(gate.reads), .preset = "allow", .choices = READS,
	  .comment =
	      "whether tools that only read are allowed (but for policy.always_ask), or need a "
	      "policy or a person as others do" },
	{ "gate.wait_seconds", KIND_NUMBER, AT(gate.wait_seconds), .preset = "0",
	  RANGE(0, SECONDS_MAX),
	  .comment =
	      "how long a hook waits for an answer until its tool is denied and the question "
	      "is parked; 0: as long as the host lets it" },
	{ "gate.park_after_seconds", KIND_NUMBER, AT(gate.park_after_seconds), .preset = "-1",
	  RANGE(CONFIG_NEVER, SECONDS_MAX),
	  .comment =
	      "a `claude -p` that agent-intercom has started, with hooks, ends when a question has "
	      "waited so long, and the answer starts it again; 0: at once; -1: it waits" },
	{ "gate.standby_at_end", KIND_BOOLEAN, AT(gate.standby_at_end), .preset = "false",
	  .comment = "whether an agent that ends its turn asks for the next instruction first" },

	{ "gate.watch", KIND_CHOICE, AT(gate.watch), .preset = "off", .choices = WATCHES,
	  .comment =
	      "whether you are told when files of a workspace change in an agent's turn although "
	      "no "
	      "tool runs that was allowed: never (off), in remote mode, where nobody else should "
	      "work there (remote), in every mode (always)" },
	{ "gate.watch_folders", KIND_NUMBER, AT(gate.watch_folders), .preset = "8192",
	  RANGE(1, 1000000),
	  .comment =
	      "how many folders gate.watch watches at most; each takes about 1 kB of the kernel" },

	{ "modes.agent_may_loosen", KIND_BOOLEAN, AT(modes.agent_may_loosen), .preset = "true",
	  .comment =
	      "whether an agent's switch_freq may leave remote for hybrid or local mode; if not, "
	      "it may only go the other way; with shared.directory the default is false" },

	{ "shared.directory", KIND_TEXT, AT(shared.directory), .preset = "",
	  FLAG(shared, "--shared"), .example = "/run/agent-intercom",
	  .comment = "the folder of the sockets for other users of this machine; without it the "
	             "system serves its own user only" },
	{ "shared.agents", KIND_TEXT, AT(shared.agents), .preset = "agent-intercom-agents",
	  .rule = &CONFIG_NOT_EMPTY,
	  .comment = "the group, by name or number, whose members' agents may ask there" },
	{ "shared.operators", KIND_TEXT, AT(shared.operators), .preset = "agent-intercom-operators",
	  .rule = &CONFIG_NOT_EMPTY,
	  .comment = "the group whose members may answer there, with agent-intercom-ctl" },
	{ "shared.owner_socket", KIND_TEXT, AT(shared.owner_socket),
	  .preset = "/run/agent-intercom-owner.sock",
	  .comment = "where as-owner listens: with it, files are read and written by processes of "
	             "their workspace's owner; without it, our own user needs access to them" },
	{ "shared.start_socket", KIND_TEXT, AT(shared.start_socket),
	  .preset = "/run/agent-intercom-agents.sock", .rule = &CONFIG_NOT_EMPTY,
	  .comment = "where as-owner listens that starts agents and commands as the owners of "
	             "their workspaces; nothing is started there while that is missing" },
	{ "shared.open_questions", KIND_NUMBER, AT(shared.open_questions), .preset = "100",
	  RANGE(1, 1000000),
	  .comment = "how many questions of one user's agents may be open at a time; more are "
	             "refused, so that nobody fills the inbox and the disk of all" },
	{ "shared.checkpoint_bytes", KIND_NUMBER, AT(shared.checkpoint_bytes),
	  .preset = "8589934592", RANGE(1, 1LL << 50),
	  .comment = "how much of the disk the checkpoints of one user's folders may take; one "
	             "that would make it more is not taken" },
	{ "shared.recorded_bytes", KIND_NUMBER, AT(shared.recorded_bytes), .preset = "268435456",
	  RANGE(1 << 20, 1LL << 50),
	  .comment = "how much one user's agents may have recorded within an hour, with what their "
	             "questions show of files; what is more is refused, so that nobody fills the "
	             "disk of all" },

	{ "log.format", KIND_CHOICE, AT(log.format), .preset = "text", .choices = LOG_FORMATS,
	  FLAG(log_format, "--log-format"), .comment = "how log lines are written" },
	{ "log.level", KIND_CHOICE, AT(log.level), .preset = "info", .choices = LOG_LEVELS,
	  .env = "INTERCOM_LOG", .comment = "the least that is logged; $INTERCOM_LOG goes first" },

	{ "workspaces.allow", KIND_CHOICE, AT(allow_workspaces), .preset = "any", .choices = ALLOW,
	  .comment = "whether agents may work in any folder, or only in default_workspace_root and "
	             "[[workspace]]" },

	{ "commands", KIND_MAP, AT(commands), .preset = "", .rule = &CONFIG_NOT_EMPTY,
	  .comment = "commands that may be run from Slack: alias = \"shell command\"" },
	{ "workspace", KIND_WORKSPACES, AT(workspaces), .preset = "",
	  .comment = "workspaces with a Slack channel of their own; path is optional" },
	{ "agent", KIND_AGENTS, AT(agents), .preset = "",
	  .comment = "how an agent is started; the name of a built-in profile changes that one" },
};

_Static_assert(COUNT(CONFIG_FIELDS) <= CONFIG_FIELDS_MAX, "struct config.from is too short");
const size_t CONFIG_FIELD_COUNT = COUNT(CONFIG_FIELDS);

/* ---- texts ---- */

/* Appends text, cut to FOUND_BYTES_MAX at the end of a character. */
void config_field_add_cut(struct str *out, const char *text)
{
	size_t length = strlen(text), cut = utf8_cut(text, length, FOUND_BYTES_MAX);

	str_add_bytes(out, text, cut);
	if (cut < length)
		str_add(out, "...");
}

static void add_choices(struct str *out, const struct config_field *f)
{
	for (size_t i = 0; f->choices[i]; i++)
		str_addf(out, "%s\"%s\"", i ? " or " : "", f->choices[i]);
}

void config_field_add_expected(struct str *out, const struct config_field *f)
{
	switch (f->kind) {
	case KIND_BOOLEAN:
		str_add(out, "true or false");
		break;
	case KIND_NUMBER:
		str_addf(out, "an integer from %" PRId64 " to %" PRId64, f->low, f->high);
		break;
	case KIND_TEXT:
		str_add(out, f->rule ? f->rule->allowed : "a text");
		break;
	case KIND_CHOICE:
		add_choices(out, f);
		break;
	case KIND_TEXTS:
		str_add(out, "a list of texts, such as [\"a\", \"b\"]");
		break;
	case KIND_NUMBERS:
		str_addf(out, "a list of integers from %" PRId64 " to %" PRId64, f->low, f->high);
		break;
	case KIND_MAP:
		str_addf(out, "a table of texts, such as %s",
		         f->example ? f->example : "status = \"git status\"");
		break;
	case KIND_WORKSPACES:
	case KIND_AGENTS:
		str_addf(out, "tables that begin with [[%s]]", f->name);
		break;
	}
}

/* ---- values ---- */

void *config_field_place(const struct config_field *f, struct config *c)
{
	return (char *)c + f->at;
}

const void *config_field_value(const struct config_field *f, const struct config *c)
{
	return (const char *)c + f->at;
}

int config_field_choice(const struct config_field *f, const char *text)
{
	for (int i = 0; f->choices[i]; i++)
		if (strcmp(f->choices[i], text) == 0)
			return i;
	return -1;
}

bool config_field_set(const struct config_field *f, const char *text, void *place)
{
	int choice;

	switch (f->kind) {
	case KIND_BOOLEAN:
		*(bool *)place = strcmp(text, "true") == 0;
		return true;
	case KIND_NUMBER:
		*(int64_t *)place = strtoll(text, NULL, 10);
		return true;
	case KIND_TEXT:
		xreplace(place, text);
		return true;
	case KIND_CHOICE:
		choice = config_field_choice(f, text);
		*(int *)place = choice;
		return choice >= 0;
	case KIND_TEXTS:
	case KIND_NUMBERS:
	case KIND_MAP:
	case KIND_WORKSPACES:
	case KIND_AGENTS:
		break;
	}
	return true;
}

const char *config_field_leaf(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

const struct config_field *config_field_find(const char *name)
{
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
		if (strcmp(CONFIG_FIELDS[i].name, name) == 0)
			return &CONFIG_FIELDS[i];
	return NULL;
}

size_t config_field_index(const char *name)
{
	const struct config_field *f = config_field_find(name);

	return f ? (size_t)(f - CONFIG_FIELDS) : 0;
}

void config_field_add_pair(struct config_map *map, const char *name, const char *value)
{
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->items[i].name, name) == 0) {
			xreplace(&map->items[i].value, value);
			return;
		}
	map->items = xrealloc(map->items, (map->count + 1) * sizeof(*map->items));
	map->items[map->count++] =
	    (struct config_pair){ .name = xstrdup(name), .value = xstrdup(value) };
}

/* ---- clearing ---- */

static void clear_map(struct config_map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->items[i].name);
		free(map->items[i].value);
	}
	free(map->items);
}

static void workspaces_clear(struct config_workspaces *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->items[i].id);
		free(all->items[i].channel_id);
		free(all->items[i].path);
	}
	free(all->items);
}

static void agents_clear(struct config_agents *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct config_agent *a = &all->items[i];

		free(a->name);
		free(a->command);
		free(a->workspace);
		free(a->auth_method);
		free(a->asking);
		free(a->fence);
		texts_clear(&a->args);
		texts_clear(&a->env_pass);
		texts_clear(&a->refused_modes);
		clear_map(&a->env_set);
	}
	free(all->items);
}

void config_field_clear(const struct config_field *f, struct config *c)
{
	switch (f->kind) {
	case KIND_TEXT:
		free(*(char **)config_field_place(f, c));
		break;
	case KIND_TEXTS:
		texts_clear(config_field_place(f, c));
		break;
	case KIND_NUMBERS:
		free(((struct config_numbers *)config_field_place(f, c))->items);
		break;
	case KIND_MAP:
		clear_map(config_field_place(f, c));
		break;
	case KIND_WORKSPACES:
		workspaces_clear(config_field_place(f, c));
		break;
	case KIND_AGENTS:
		agents_clear(config_field_place(f, c));
		break;
	case KIND_BOOLEAN:
	case KIND_NUMBER:
	case KIND_CHOICE:
		break;
	}
}
