#include "policy_history.h"

#include "json.h"
#include "sql/policy.h"

#include <stdlib.h>

/* The paths of a requested change; the caller frees the array, its texts are list's. */
static const char **paths_of(const struct policy_history_row *row, const cJSON *list,
                             struct policy_question *q)
{
	const char **paths = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*paths));
	const cJSON *one;

	cJSON_ArrayForEach (one, list)
		paths[q->path_count++] = one->valuestring;
	if (!q->path_count) /* asked before every path had a row */
		paths[q->path_count++] = row->file_path;
	q->paths = paths;
	return paths;
}

static bool tell(const struct policy_history_row *row,
                 bool (*each)(const struct policy_past *past, void *arg), void *arg)
{
	OWNED(cJSON_ptr) cJSON *list = cJSON_Parse(row->paths);
	struct policy_past past = {
		.id = row->id,
		.what = row->file_path,
		.approved = row->decision == REQUEST_VERDICT_APPROVE,
		.question = { .tool = "check_clearance",
		              .risk_level = request_risk_level_name(row->risk_level) },
	};
	const char **paths = NULL;
	bool more;

	if (row->kind == REQUEST_KIND_PERMISSION) {
		past.question.tool = row->body;
		past.question.is_command = true;
		past.what = row->title;
	} else {
		paths = paths_of(row, list, &past.question);
	}
	more = each(&past, arg);
	free(paths);
	return more;
}

int policy_history(struct store *st, const char *workspace_root, int64_t after,
                   bool (*each)(const struct policy_past *past, void *arg), void *arg,
                   struct err *e)
{
	OWNED(policy_history_row) struct policy_history_row row = { 0 };
	int got;

	sql_policy_history(st, after, workspace_root, &row);
	while ((got = row_next(&row.row, e)) > 0 && tell(&row, each, arg))
		continue;
	return got < 0 ? -1 : 0;
}
