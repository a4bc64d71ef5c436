/* From the row to a running agent. The process is made first and waits, its pid goes to disk, then
 * it becomes the agent: whoever is killed in between leaves no agent that nobody knows of, and no
 * run is begun twice. */
#include "runner.h"

#include "gate_host.h"
#include "group.h"
#include "json.h"
#include "log.h"
#include "owner_of.h"
#include "recipe.h"
#include "setting.h"
#include "shared.h"
#include "start.h"
#include "textfile.h"
#include "texts.h"
#include "user_name.h"
#include "workspace_owner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- arguments ---- */

/* Never an option of the agent: a list in Markdown begins with '-', too. */
static void add_prompt(struct texts *out, const char *prompt)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "%s%s", *prompt == '-' ? " " : "", prompt);
	texts_add(out, str_text(&text));
}

/* A parked agent makes its call again: the host knows which. */
static int add_resumption(const struct runner *r, struct texts *out, struct err *e)
{
	const struct gate_host *host = gate_host_named(r->row.resumes_host);

	if (!host || !host->resume_option)
		return err_set(e, ERR_INPUT, "it is not known how a session of %s is resumed",
		               r->row.resumes_host);
	texts_add(out, host->resume_option);
	texts_add(out, r->row.resumes_session);
	return 0;
}

/* Arguments of the profile and, where the agent is not told by its stdin, the prompt. */
static int make_arguments(const struct runner *r, struct texts *out, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *list = cJSON_Parse(r->row.args);
	const cJSON *one;

	cJSON_ArrayForEach (one, list)
		if (cJSON_IsString(one))
			texts_add(out, one->valuestring);
	if (r->row.resumes_seq)
		return add_resumption(r, out, e);
	if (!r->driver->talks && r->row.prompt)
		add_prompt(out, r->row.prompt);
	return 0;
}

/* ---- environment ---- */

/* Over what every agent gets of its user. One that runs as another user finds the system that
 * serves both of us, and not one of its own. */
static int make_environment(struct runner *r, const char *url, struct environment *out,
                            struct err *e)
{
	OWNED(str) struct str shared = { 0 };

	if (r->is_kept) {
		if (setting_get(&r->w.store, "shared.directory", &shared, e) < 0)
			return -1;
		environment_pass_locale(out, environ);
		environment_set(out, "INTERCOM_SHARED", str_text(&shared));
	}
	environment_pass_named(out, environ, r->row.env_pass);
	environment_set(out, "NO_COLOR", "1");
	environment_set_all(out, r->row.env_set);
	environment_set(out, "INTERCOM_WORKSPACE_ROOT", r->row.workspace_root);
	environment_set(out, GROUP_MARK, r->row.session_id);
	if (*url) /* mcp-front serves HTTP */
		environment_set(out, "INTERCOM_MCP_URL", url);
	return 0;
}

/* ---- the process ---- */

/* The file of the configuration that is in force, as the supervisor has published it. */
static void find_config(const struct runner *r, struct str *out)
{
	OWNED(str) struct str published = { 0 };
	OWNED(str) struct str text = { 0 };

	str_addf(&published, "%s/config", r->w.run_dir);
	if (textfile_look(str_text(&published), PATH_MAX, &text) > 0)
		str_add_bytes(out, text.bytes, strcspn(text.bytes, "\n"));
}

static int write_recipe(struct runner *r, struct recipe *out, struct err *e)
{
	OWNED(str) struct str url = { 0 };
	OWNED(str) struct str config = { 0 };

	if (run_mcp_url(r, &url, e))
		return -1;
	find_config(r, &config);
	out->profile = xstrdup(r->row.agent);
	out->command = xstrdup(r->row.command);
	out->fence = r->row.fence ? xstrdup(r->row.fence) : NULL;
	out->workspace = xstrdup(r->row.workspace_root);
	out->url = xstrdup(str_text(&url));
	out->database = xstrdup(r->w.db_path);
	out->run_dir = xstrdup(r->w.run_dir);
	out->config = xstrdup(str_text(&config));
	out->talks = r->driver->talks;
	return err_if(make_arguments(r, &out->arguments, e) ||
	              make_environment(r, out->url, &out->set, e));
}

static void take_fence(struct runner *r, const struct str *holds)
{
	r->fence = holds->length ? xstrdup(holds->bytes) : NULL;
}

/* As the owner of the workspace. */
static int start_as_owner(struct runner *r, const struct recipe *recipe, struct err *e)
{
	OWNED(str) struct str holds = { 0 };
	struct store *st = &r->w.store;
	const char *workspace = recipe->workspace;
	int known = workspace_owner_now(st, r->w.machine, workspace, &r->uid, e);

	if (known < 0 || (!known && owner_of(workspace, &r->uid, e)) ||
	    keeper_owner_hold(&r->keeper, &r->agent, str_text(&r->start_socket), r->uid, recipe,
	                      &holds, e))
		return -1;
	r->user = user_name(r->uid);
	if (workspace_owner_meet(st, r->w.machine, workspace, r->uid, r->user, e))
		return -1;
	take_fence(r, &holds);
	return err_if(pipes_open(r, e) || run_note_process(r, e) ||
	              keeper_owner_go(&r->agent, recipe, e));
}

static int start_as_us(struct runner *r, const struct recipe *recipe, struct err *e)
{
	OWNED(made) struct made made = { .plan = { .argv = NULL } };
	char system[PATH_MAX];

	if (recipe_follow(recipe, &made, e) || start_program(system, e))
		return -1;
	take_fence(r, &made.fenced.holds);
	if (group_adopt(system))
		return err_errno(e, ERR_AGAIN, "cannot adopt what the agent leaves behind");
	return err_if(launch_hold(&r->agent, &made.plan, e) || pipes_open(r, e) ||
	              run_note_process(r, e) || launch_go(&r->agent, &made.plan, e));
}

static int start(struct runner *r, struct err *e)
{
	OWNED(recipe) struct recipe recipe = { .profile = NULL };
	int shared = shared_start_socket(&r->w.store, &r->start_socket, e);

	r->is_kept = shared > 0;
	if (shared < 0 || write_recipe(r, &recipe, e))
		return -1;
	return r->is_kept ? start_as_owner(r, &recipe, e) : start_as_us(r, &recipe, e);
}

/* Why the agent is not started, in e; 0: it may be. */
static int check(struct runner *r, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	r->outcome = r->row.stop_wanted_at ? AGENT_RUN_OUTCOME_STOPPED : AGENT_RUN_OUTCOME_FAILED;
	if (r->row.stop_wanted_at)
		return err_set(e, ERR_INPUT, "%s",
		               r->row.stop_why ? r->row.stop_why : "stopped before it began");
	if (!r->row.command)
		return err_set(e, ERR_INPUT, "there is no profile '%s' any more", r->row.agent);
	r->driver = r->row.protocol == AGENT_RUN_PROTOCOL_MCP ? &DRIVE_MCP : &DRIVE_ACP;
	return 0;
}

int begin_run(struct runner *r, struct err *e)
{
	struct err why = { 0 };
	int claimed = run_claim(r, e);

	if (claimed <= 0)
		return claimed;
	if (check(r, &why) || start(r, &why)) {
		if (store_is_broken(&r->w.store)) {
			*e = why;
			return -1;
		}
		log_warn("run %lld: %s", (long long)r->w.row, why.text);
		str_add(&r->why, why.text);
		return run_settle(r, e);
	}
	log_info("run %lld: %s runs (pid %d) in %s", (long long)r->w.row, r->row.agent,
	         (int)r->agent.pid, r->row.workspace_root);
	return 1;
}
