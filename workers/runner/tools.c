#include "tools.h"

#include "id.h"
#include "json_writer.h"
#include "paths.h"
#include "setting.h"
#include "sha256.h"

/* On disk before the agent is told. */
static int write_token(struct runner *r, const char *token, size_t length, struct err *e)
{
	const struct sha256 hash = sha256_of(token, length);

	if (store_begin(&r->w.store, e))
		return -1;
	return store_end(&r->w.store,
	                 sql_agent_run_set_token(&r->w.store, hash.text, r->w.row, e) < 0, e);
}

static int make_token(struct tools *t, struct runner *r, struct err *e)
{
	const struct secret secret = id_new_secret();
	OWNED(str) struct str token = { 0 };

	str_addf(&token, "ict_%s", secret.text);
	if (write_token(r, token.bytes, token.length, e))
		return -1;
	str_reset(&t->authorization);
	str_addf(&t->authorization, "Bearer %s", token.bytes);
	return 0;
}

static void add_variable(struct str *out, const char *name, const char *value)
{
	json_object(out);
	json_member(out, "name", name);
	json_member(out, "value", value);
	json_object_end(out);
}

/* Which system it speaks to: an agent of another user may not open our database. */
static int name_system(struct tools *t, struct runner *r, struct err *e)
{
	OWNED(str) struct str shared = { 0 };

	if (r->is_kept) {
		if (setting_get(&r->w.store, "shared.directory", &shared, e) < 0)
			return -1;
		add_variable(&t->env, "INTERCOM_SHARED", str_text(&shared));
		return 0;
	}
	json_item(&t->args, "--db");
	json_item(&t->args, r->w.database);
	return 0;
}

/* `agent-intercom mcp`, for the system and the session of the run. */
static int describe_program(struct tools *t, struct runner *r, struct err *e)
{
	struct err missing = { 0 };
	int failed;

	str_reset(&t->program);
	str_reset(&t->args);
	str_reset(&t->env);
	if (paths_bin(&t->program, &missing)) /* without it there is only HTTP */
		str_clear(&t->program);
	else
		str_add(&t->program, "/agent-intercom");
	json_array(&t->args);
	json_item(&t->args, "mcp");
	json_array(&t->env);
	failed = name_system(t, r, e);
	json_array_end(&t->args);
	add_variable(&t->env, "INTERCOM_SESSION_ID", r->row.session_id);
	add_variable(&t->env, "INTERCOM_WORKSPACE_ROOT", r->row.workspace_root);
	json_array_end(&t->env);
	return failed;
}

int tools_open(struct tools *t, struct runner *r, struct err *e)
{
	str_reset(&t->url);
	if (run_mcp_url(r, &t->url, e) || describe_program(t, r, e))
		return -1;
	return t->url.length && make_token(t, r, e) ? -1 : 0;
}

void tools_offer(const struct tools *t, struct acp_how *how)
{
	if (t->url.length) {
		how->mcp_url = t->url.bytes;
		how->mcp_authorization = t->authorization.bytes;
	}
	if (t->program.length) {
		how->mcp_program = t->program.bytes;
		how->mcp_args = t->args.bytes;
		how->mcp_env = t->env.bytes;
	}
}

void tools_clear(struct tools *t)
{
	str_clear(&t->url);
	str_clear(&t->authorization);
	str_clear(&t->program);
	str_clear(&t->args);
	str_clear(&t->env);
}
