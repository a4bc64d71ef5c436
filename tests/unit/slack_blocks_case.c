#include "slack_blocks_case.h"

struct request a_clearance(void)
{
	struct request r = { 0 };

	r.row.id = "0190aaaa-0000-7000-8000-000000000001";
	r.row.kind = REQUEST_KIND_CLEARANCE;
	r.row.state = REQUEST_STATE_PENDING;
	r.row.title = "Fix the tokenizer";
	r.description = "It was off by one.";
	r.row.file_path = "src/main.c";
	r.row.risk_level = REQUEST_RISK_LEVEL_LOW;
	r.row.session_id = "0190bbbb-0000-7000-8000-000000000001";
	r.row.workspace_root = "/home/op/billing";
	r.row.client_name = "claude";
	r.row.deadline_at = "2026-01-01T10:00:00.000Z";
	str_add(&r.body, "--- a/src/main.c\n+++ b/src/main.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
	return r;
}

char *said(struct slack_said *s)
{
	struct limits l;
	const char *why = limits_check(&l, s);

	ck_assert_msg(!*why, "%s in %s", why, cJSON_Print(s->blocks));
	return cJSON_PrintUnformatted(s->blocks);
}

void holds(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s\nis not in\n%s", part, text);
}

void lacks(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "%s\nis in\n%s", part, text);
}
