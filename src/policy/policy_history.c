#include "policy_history.h"

#include "json.h"

#include <stdlib.h>
#include <string.h>

/* The paths of a change that was asked; the caller frees the array, its texts are list's. */
static const char **paths_of(stmt *s, const cJSON *list, struct policy_question *q)
{
	const char **paths = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*paths));
	const cJSON *one;

	cJSON_ArrayForEach (one, list)
		paths[q->path_count++] = one->valuestring;
	if (!q->path_count) /* asked before every path was a row */
		paths[q->path_count++] = col_text(s, POLICY_HISTORY_FILE_PATH);
	q->paths = paths;
	return paths;
}

static bool tell(stmt *s, bool (*each)(const struct policy_past *past, void *arg), void *arg)
{
	OWNED(cJSON_ptr) cJSON *list = cJSON_Parse(col_text(s, POLICY_HISTORY_PATHS));
	struct policy_past past = {
		.id = col_text(s, POLICY_HISTORY_ID),
		.what = col_text(s, POLICY_HISTORY_FILE_PATH),
		.approved = strcmp(col_text(s, POLICY_HISTORY_DECISION), "approve") == 0,
		.question = { .tool = "check_clearance",
		              .risk_level = col_text(s, POLICY_HISTORY_RISK_LEVEL) },
	};
	const char **paths = NULL;
	bool more;

	if (strcmp(col_text(s, POLICY_HISTORY_KIND), "permission") == 0) {
		past.question.tool = col_text(s, POLICY_HISTORY_BODY);
		past.question.is_command = true;
		past.what = col_text(s, POLICY_HISTORY_TITLE);
	} else {
		paths = paths_of(s, list, &past.question);
	}
	more = each(&past, arg);
	free(paths);
	return more;
}

int policy_history(struct store *st, const char *workspace_root, int64_t after,
                   bool (*each)(const struct policy_past *past, void *arg), void *arg,
                   struct err *e)
{
	stmt *s = store_stmt(st, SQL_POLICY_HISTORY);
	bool more = true;
	int got = 0;

	bind_int(s, ":after", after);
	bind_text(s, ":workspace", workspace_root);
	while (more && (got = stmt_row(s, e)) > 0)
		more = tell(s, each, arg);
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}
