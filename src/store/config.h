/* config: the operator's settings, from config.toml, flags and the environment. Only the supervisor
 * reads them; everybody else reads the rows of table `setting` that it writes.
 *
 * The file is --config, $INTERCOM_CONFIG, or $XDG_CONFIG_HOME/agent-intercom/config.toml (or
 * ~/.config/...). Never one in the working directory or a workspace, because an agent can write
 * there. Every setting has a default, also when a file omits it: local mode, the database in the
 * state directory, no default workspace. */
#ifndef CONFIG_H
#define CONFIG_H

#include "err.h"
#include "str.h"
#include "texts.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONFIG_FIELDS_MAX = 112 };

/* Where a setting's value comes from. */
enum config_from { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_FLAG, CONFIG_ENV };

enum config_force { FORCE_ALLOW, FORCE_ASK, FORCE_NEVER };
enum config_questions { QUESTIONS_THREAD, QUESTIONS_CHANNEL };
enum config_trust { TRUST_LISTED, TRUST_ASK, TRUST_OFF };
enum config_fence { CONFIG_FENCE_AUTO, CONFIG_FENCE_OFF, CONFIG_FENCE_REQUIRE };
enum config_when_down { WHEN_DOWN_DENY, WHEN_DOWN_ALLOW };
enum config_reads { READS_ALLOW, READS_POLICY };
enum config_watch { WATCH_OFF, WATCH_REMOTE, WATCH_ALWAYS };
enum config_allow { ALLOW_ANY, ALLOW_LISTED };
enum config_log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };
enum config_protocol { PROTOCOL_MCP, PROTOCOL_ACP, PROTOCOL_ACP_STREAM };
enum config_framing { FRAMING_NDJSON, FRAMING_LSP };
enum config_acp_offer { ACP_OFFER_1, ACP_OFFER_2, ACP_OFFER_AUTO };

struct config_numbers {
	int64_t *items;
	size_t count;
};

struct config_pair {
	char *name;
	char *value;
};

struct config_map {
	struct config_pair *items;
	size_t count;
};

struct config_workspace {
	char *id;
	char *channel_id; /* NULL: none of its own */
	char *path; /* absolute, resolved if it exists; "" if none is given */
};

struct config_workspaces {
	struct config_workspace *items;
	size_t count;
};

/* The name of the profile that host_cli defines. */
#define CONFIG_HOST_CLI_AGENT "default"

enum { CONFIG_NEVER = -1 };

/* A profile: how to start an agent. schema/agent.sql describes each field. */
struct config_agent {
	char *name;
	char *command; /* a name without '/' for program_find, or an absolute path */
	struct texts args;
	int protocol; /* enum config_protocol */
	struct texts env_pass;
	struct config_map env_set;
	char *workspace; /* NULL: default_workspace_root */
	int acp_version; /* enum config_acp_offer */
	char *auth_method; /* NULL: no method is called */
	char *asking; /* JSON object {option: text or boolean}, NULL: asks by itself */
	struct texts refused_modes;
	char *fence; /* JSON object as in agent.fence, NULL: none */
	int64_t startup_timeout_seconds;
	int64_t max_line_length;
	int64_t park_after_seconds; /* or CONFIG_NEVER */
	int framing; /* enum config_framing */
	bool is_default, is_builtin;
	const char *package; /* the npm package with the command, NULL: not known */
	const char *login; /* the command with which a person logs in, NULL: not known */
	int line; /* of its table in the file, 0: none */
};

/* After config_load: the profiles in the file, the built-in ones that it does not name, and
 * `default`, if host_cli is set. At most one is the default. */
struct config_agents {
	struct config_agent *items;
	size_t count;
};

/* Texts are never NULL after config_load; "" means not set. The table in config_field.c has the
 * purpose, default and range of each field; config_sample prints them. */
struct config {
	char *file; /* the file that was read, "" if none */
	char *default_workspace_root; /* "": an error says how to set it when one is needed */
	int64_t max_concurrent_sessions;
	char *host_cli; /* "": no agent can be started */
	struct texts host_cli_args;
	char *default_agent; /* "": `default`, if host_cli is set */
	int64_t http_port;
	char *ipc_name;
	int64_t retention_days;
	int64_t audit_retention_days;
	char *retention_export_dir; /* absolute; "": nothing is exported */
	int64_t checkpoint_retention_days;
	int64_t undo_limit_bytes;
	int64_t command_timeout_seconds;
	int64_t command_output_limit_bytes;
	int fence; /* enum config_fence */
	struct {
		char *path; /* absolute */
	} database;
	struct {
		int64_t fuzz_lines;
		bool keep_attributes;
		int force; /* enum config_force */
	} apply;
	struct {
		bool automatic;
		bool ignored; /* holds what .gitignore ignores, too */
		int64_t keep;
		int64_t max_files, max_bytes, max_added_bytes;
		int64_t reserve_bytes; /* of the disk, which questions need */
		int64_t timeout_seconds;
	} checkpoint;
	struct {
		char *channel_id;
		struct texts channels;
		int questions; /* enum config_questions */
		int64_t reconnect_backoff_max_seconds;
	} slack;
	struct {
		int64_t approval_seconds;
		int64_t prompt_seconds;
		int64_t wait_seconds;
		/* of prompts of one type; 0: prompt_seconds */
		int64_t continuation_seconds, clarification_seconds, error_recovery_seconds,
		    resource_warning_seconds;
	} timeouts;
	struct {
		bool enabled;
		int64_t inactivity_threshold_seconds;
		int64_t escalation_threshold_seconds;
		int64_t max_retries;
		char *default_nudge_message;
	} stall;
	struct {
		char *session, *day; /* see budget.h; "": none */
	} budget;
	struct {
		int framing; /* enum config_framing */
		int64_t max_line_length;
		int64_t max_sessions;
		int64_t startup_timeout_seconds;
		int64_t max_msg_rate;
		int64_t http_port;
	} acp;
	struct {
		int64_t wait_cap; /* seconds */
		bool elicitation;
		int64_t hands; /* processes that read agents' files, at most at once */
		struct config_numbers allow_uids;
	} mcp;
	struct {
		bool require_token;
	} ipc;
	struct {
		bool require_global_allowlist;
		struct texts always_ask;
		int trust; /* enum config_trust */
	} policy;
	struct {
		int when_down; /* enum config_when_down */
		int reads; /* enum config_reads */
		int64_t wait_seconds; /* 0: as long as the host lets a hook wait */
		int64_t park_after_seconds; /* CONFIG_NEVER: never */
		bool standby_at_end;
		int watch; /* enum config_watch */
		int64_t watch_folders;
	} gate;
	struct {
		bool agent_may_loosen;
	} modes;
	struct {
		char *directory; /* absolute; "": the system serves its own user only */
		char *agents, *operators; /* groups */
		char *owner_socket, *start_socket;
		int64_t open_questions; /* of one user */
		int64_t checkpoint_bytes, recorded_bytes; /* likewise */
	} shared;
	struct {
		int format; /* enum config_log_format */
		int level; /* enum log_level */
	} log;
	struct config_map commands;
	int allow_workspaces; /* enum config_allow */
	struct config_workspaces workspaces;
	struct config_agents agents;

	struct texts warnings; /* "FILE:LINE: ...", for the log, one line each */
	unsigned char from[CONFIG_FIELDS_MAX]; /* enum config_from, in the order of the table */
};

/* The flags of the command line; NULL: not given. */
struct config_source {
	const char *config; /* --config FILE */
	const char *workspace; /* --workspace DIR */
	const char *database; /* --db PATH */
	const char *log_format; /* --log-format text|json */
	const char *shared; /* --shared DIR */
};

/* Fills out with the effective settings. Errors read "config: FILE:LINE: field: what is wrong; what
 * to do", and leave out alone. The caller clears it. */
int config_load(const struct config_source *src, struct config *out, struct err *e);
void config_clear(struct config *c);

/* Calls each for every setting: its dotted name, its value as text (lists and tables as JSON) and
 * its source: default, file, flag or env. The texts are valid during the call only. */
void config_settings(const struct config *c,
                     void (*each)(const char *name, const char *value, const char *source,
                                  void *arg),
                     void *arg);

/* Append a list or a table as JSON. */
void config_add_texts(struct str *out, const struct texts *texts);
void config_add_map(struct str *out, const struct config_map *map);

/* The names of these enums' values. */
extern const char *const CONFIG_PROTOCOLS[], *const CONFIG_ACP_VERSIONS[], *const CONFIG_FRAMINGS[];

/* Appends a commented config.toml that shows every setting with its default. */
void config_sample(struct str *out);

#endif
