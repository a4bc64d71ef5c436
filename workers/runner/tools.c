#include "tools.h"

#include "id.h"
#include "json_writer.h"
#include "paths.h"
#include "sha256.h"

#include <stdlib.h>

/* On disk before the agent is told. */
static int write_token(struct runner *r, const char *token, size_t length, struct err *e)
{
	const struct sha256 hash = sha256_of(token, length);

	if (store_begin(&r->w.store, e))
		return -1;
	if (sql_agent_run_set_token(&r->w.store, hash.text, r->w.row, e) < 0) {
		store_rollback(&r->w.store);
		return -1;
	}
	return store_commit(&r->w.store, e);
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

/* `agent-intercom mcp`, for the database and the session of the run. */
static void describe_program(struct tools *t, struct runner *r)
{
	OWNED(char_ptr) char *database = realpath(r->w.db_path, NULL);
	struct err e = { 0 };

	str_reset(&t->program);
	str_reset(&t->args);
	str_reset(&t->env);
	if (paths_bin(&t->program, &e)) /* without it there is only HTTP */
		str_clear(&t->program);
	else
		str_add(&t->program, "/agent-intercom");
	json_array(&t->args);
	json_item(&t->args, "mcp");
	json_item(&t->args, "--db");
	json_item(&t->args, database ? database : r->w.db_path);
	json_array_end(&t->args);
	json_array(&t->env);
	add_variable(&t->env, "INTERCOM_SESSION_ID", r->row.session_id);
	add_variable(&t->env, "INTERCOM_WORKSPACE_ROOT", r->row.workspace_root);
	json_array_end(&t->env);
}

int tools_open(struct tools *t, struct runner *r, struct err *e)
{
	str_reset(&t->url);
	if (run_mcp_url(r, &t->url, e))
		return -1;
	describe_program(t, r);
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
