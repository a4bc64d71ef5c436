/* From the row to a running agent. The process is made first and waits, its pid goes to disk, then
 * it becomes the agent: whoever is killed in between leaves no agent that nobody knows of, and no
 * run is begun twice. */
#include "runner.h"

#include "environment.h"
#include "fenced.h"
#include "gate_host.h"
#include "group.h"
#include "json.h"
#include "log.h"
#include "program.h"
#include "textfile.h"
#include "texts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct driver *driver_of(enum agent_run_protocol protocol)
{
	static const struct driver *const DRIVERS[] = { &DRIVE_MCP, &DRIVE_ACP, &DRIVE_STREAM };

	for (size_t i = 0; i < COUNT(DRIVERS); i++)
		if (DRIVERS[i]->protocol == protocol)
			return DRIVERS[i];
	return NULL;
}

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

/* Program, arguments of the profile and, where the agent is not told by its stdin, the prompt. */
static int make_arguments(const struct runner *r, const char *program, struct texts *out,
                          struct err *e)
{
	OWNED(cJSON_ptr) cJSON *list = cJSON_Parse(r->row.args);
	const cJSON *one;

	texts_add(out, program);
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

/* Nothing where mcp-front serves no HTTP. */
static int add_url(struct runner *r, struct environment *out, struct err *e)
{
	OWNED(str) struct str url = { 0 };

	if (run_mcp_url(r, &url, e))
		return -1;
	if (url.length)
		environment_set(out, "INTERCOM_MCP_URL", url.bytes);
	return 0;
}

static int make_environment(struct runner *r, const char *program, struct environment *out,
                            struct err *e)
{
	OWNED(str) struct str path = { 0 };

	program_path(program, &path);
	environment_pass(out, environ, r->row.env_pass);
	environment_set(out, "PATH", str_text(&path));
	environment_set(out, "NO_COLOR", "1");
	environment_set_all(out, r->row.env_set);
	environment_set(out, "INTERCOM_WORKSPACE_ROOT", r->row.workspace_root);
	environment_set(out, GROUP_MARK, r->row.session_id);
	return add_url(r, out, e);
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

static int make_fence(struct runner *r, const char *program, struct fenced *out, struct err *e)
{
	OWNED(str) struct str url = { 0 };
	OWNED(str) struct str config = { 0 };

	if (run_mcp_url(r, &url, e))
		return -1;
	find_config(r, &config);
	return fenced_make(r->row.fence,
	                   &(struct fenced_place){ .workspace = r->row.workspace_root,
	                                           .program = program,
	                                           .url = str_text(&url),
	                                           .database = r->w.db_path,
	                                           .run_dir = r->w.run_dir,
	                                           .config = str_text(&config) },
	                   out, e);
}

static int start(struct runner *r, struct err *e)
{
	OWNED(texts) struct texts arguments = { 0 };
	OWNED(environment) struct environment environment = { 0 };
	OWNED(fenced) struct fenced fenced = { .paths = { 0 } };
	OWNED(str) struct str program = { 0 };

	/* One that is named with its folder is told apart by launch. */
	if (!program_find(r->row.command, &program) && !strchr(r->row.command, '/'))
		return err_set(e, ERR_INPUT,
		               "cannot find the program %s of the profile '%s'; install it, or "
		               "give its path as command",
		               r->row.command, r->row.agent);
	if (!program.length)
		str_add(&program, r->row.command);
	if (make_arguments(r, str_text(&program), &arguments, e) ||
	    make_environment(r, str_text(&program), &environment, e) ||
	    make_fence(r, str_text(&program), &fenced, e))
		return -1;
	r->fence = fenced.holds.length ? xstrdup(fenced.holds.bytes) : NULL;
	const struct launch_plan plan = { .argv = arguments.items,
		                          .environment = environment.variables,
		                          .directory = r->row.workspace_root,
		                          .enter = fenced_enter,
		                          .entering = &fenced,
		                          .talks = r->driver->talks };
	if (group_adopt())
		return err_errno(e, ERR_AGAIN, "cannot adopt what the agent leaves behind");
	return launch_hold(&r->agent, &plan, e) || pipes_open(r, e) || run_has_process(r, e) ||
	               launch_go(&r->agent, &plan, e)
	           ? -1
	           : 0;
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
	r->driver = driver_of(r->row.protocol);
	if (!r->driver)
		return err_set(e, ERR_INPUT, "no agent of protocol %s can be run yet",
		               agent_run_protocol_name(r->row.protocol));
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
