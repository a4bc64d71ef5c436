/* Force: writes what was approved even though the file has changed since. */
#include "apply_job.h"

#include "effect.h"
#include "setting.h"
#include "sql/apply.h"

#include <stdlib.h>
#include <string.h>

enum { APPROVAL_SECONDS = 3600 }; /* setting timeouts.approval_seconds, where it is missing */

enum force apply_job_force(struct apply_job *j)
{
	OWNED(str) struct str said = { 0 };

	if (!j->force || setting_get(j->a->store, "apply.force", &said, NULL) < 0)
		return FORCE_NOT;
	if (said.length == 0 || strcmp(said.bytes, "allow") == 0)
		return FORCE_LIKE_SHOWN;
	return strcmp(said.bytes, "ask") == 0 ? FORCE_ASKS : FORCE_NOT;
}

static void copy_files(const struct plan *plan, struct touched **ret)
{
	*ret = xcalloc(plan->count, sizeof(**ret));
	for (size_t i = 0; i < plan->count; i++)
		(*ret)[i] = plan->files[i].is;
}

/* The request about the same proposal, with its current effect. Texts are borrowed. */
static void make_question(struct apply_job *j, const struct plan *plan, const struct str *effect,
                          const struct touched *files, const char *title, const char *description,
                          struct question *q)
{
	const struct request *r = &j->request;

	*q = (struct question){ .kind = REQUEST_KIND_CLEARANCE,
		                .title = title,
		                .description = description,
		                .body = str_text(&r->body),
		                .body_length = r->body.length,
		                .effect = str_text(effect),
		                .effect_length = effect->length,
		                .replaces_file = plan->replaces_file,
		                .file_path = r->row.file_path,
		                .risk_level = request_risk_level_name(r->row.risk_level),
		                .original_hash = files[plan->primary].hash,
		                .elapsed_seconds = -1,
		                .actions_taken = -1,
		                .files = files,
		                .file_count = plan->count,
		                .timeout_ms =
		                    1000 * setting_int(j->a->store, "timeouts.approval_seconds",
		                                       APPROVAL_SECONDS) };
}

static struct sha256 digest_of(const struct question *q)
{
	const struct shown s = { .title = q->title,
		                 .description = q->description,
		                 .risk_level = q->risk_level,
		                 .file_path = q->file_path,
		                 .body = q->body,
		                 .body_length = q->body_length,
		                 .effect = q->effect,
		                 .effect_length = q->effect_length,
		                 .replaces_file = q->replaces_file,
		                 .files = q->files,
		                 .file_count = q->file_count };

	return proposal_digest(&s);
}

static int ask(struct apply_job *j, const struct question *q, struct err *e)
{
	const struct asker who = { .session_seq = j->request.row.session_seq,
		                   .machine = j->a->machine,
		                   .workspace_root = j->workspace_root };
	int64_t question;
	bool open;

	if (store_begin(j->a->store, e))
		return -1;
	question = request_ask(j->a->store, &who, q, &open, e);
	if (question <= 0) {
		store_rollback(j->a->store);
		return -1;
	}
	return apply_job_commit(j, sql_apply_ask(j->a->store, question, j->seq, j->claim, e),
	                        "queued", e);
}

int apply_job_ask(struct apply_job *j, const struct plan *plan, struct err *e)
{
	OWNED(str) struct str effect = { 0 }, title = { 0 }, description = { 0 };
	struct touched *files;
	struct question q;
	struct sha256 digest;
	int failed;

	str_addf(&title, "By force: %s", j->request.row.title);
	str_addf(
	    &description,
	    "The file has changed since you approved this (%s). This is what the same proposal "
	    "does to it as it is now.%s%s",
	    j->request.row.id, j->request.description ? "\n\n" : "",
	    j->request.description ? j->request.description : "");
	effect_of(plan, &effect);
	copy_files(plan, &files);
	make_question(j, plan, &effect, files, title.bytes, description.bytes, &q);
	digest = digest_of(&q);
	q.digest = digest.text;
	(void)refusal_set(&j->report->why, "asked",
	                  "the file has changed, and the operator is asked about it as it is now");
	failed = ask(j, &q, e);
	free(files);
	return failed;
}
