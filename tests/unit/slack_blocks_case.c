#include "slack_blocks_case.h"

struct request a_clearance(void)
{
	struct request r = REQUEST_INIT;

	r.id = xstrdup("0190aaaa-0000-7000-8000-000000000001");
	r.kind = xstrdup("clearance");
	r.state = xstrdup("pending");
	r.title = xstrdup("Fix the tokenizer");
	r.description = xstrdup("It was off by one.");
	r.file_path = xstrdup("src/main.c");
	r.risk_level = xstrdup("low");
	r.session_id = xstrdup("0190bbbb-0000-7000-8000-000000000001");
	r.workspace_root = xstrdup("/home/op/billing");
	r.client_name = xstrdup("claude");
	r.deadline_at = xstrdup("2026-01-01T10:00:00.000Z");
	r.elapsed_seconds = r.actions_taken = -1;
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
