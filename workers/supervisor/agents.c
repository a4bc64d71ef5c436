/* The profiles of agents: those of the configuration become rows, which the runner reads. */
#include "supervisor.h"

#include "sql/agent.h"
#include "str.h"

enum { MS_PER_S = 1000 };

static int put_one(struct store *st, const struct config_agent *a, struct err *e)
{
	OWNED(str) struct str args = { 0 };
	OWNED(str) struct str pass = { 0 };
	OWNED(str) struct str set = { 0 };
	OWNED(str) struct str refused = { 0 };

	config_add_texts(&args, &a->args);
	config_add_texts(&pass, &a->env_pass);
	config_add_map(&set, &a->env_set);
	config_add_texts(&refused, &a->refused_modes);
	const int64_t park_after_ms = a->park_after_seconds * MS_PER_S;

	return sql_agent_insert(
	    st,
	    &(struct agent_insert_args){
	        .name = a->name,
	        .command = a->command,
	        .args = str_text(&args),
	        .protocol = agent_protocol_of(CONFIG_PROTOCOLS[a->protocol]),
	        .env_pass = str_text(&pass),
	        .env_set = str_text(&set),
	        .workspace = a->workspace,
	        .acp_version = agent_acp_version_of(CONFIG_ACP_VERSIONS[a->acp_version]),
	        .auth_method = a->auth_method,
	        .asking = a->asking,
	        .fence = a->fence,
	        .refused_modes = a->refused_modes.count ? str_text(&refused) : NULL,
	        .startup_timeout_ms = a->startup_timeout_seconds * MS_PER_S,
	        .max_line_length = a->max_line_length,
	        .framing = agent_framing_of(CONFIG_FRAMINGS[a->framing]),
	        .park_after_ms = a->park_after_seconds == CONFIG_NEVER ? NULL : &park_after_ms,
	        .is_default = a->is_default,
	        .is_builtin = a->is_builtin },
	    e);
}

int agents_put(struct store *st, const struct config_agents *all, struct err *e)
{
	if (sql_agent_forget_all(st, e))
		return -1;
	for (size_t i = 0; i < all->count; i++)
		if (put_one(st, &all->items[i], e))
			return -1;
	return 0;
}
