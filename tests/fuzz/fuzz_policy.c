/* libFuzzer: policy files and questions. The first line is a command line, the rest the file: what
 * is read must be judged, in the time that the limits allow, and never by more than one rule. */
#include "policy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t line = end ? (size_t)(end - data) : 0;
	struct policy_answer a = { 0 };
	struct policy *p = NULL;
	struct err e = { 0 };
	struct policy_question q = { .path_count = 1 };
	const char *path;
	char *tool;

	if (!end)
		return 0;
	tool = strndup((const char *)data, line);
	path = tool;
	q.tool = tool;
	q.paths = &path;
	q.may_be_command = policy_may_be_command(tool, size % 2);
	if (policy_parse((const char *)end + 1, size - line - 1, &p, &e) == 0) {
		policy_judge(p, &q, &a);
		if (a.approved != (a.rule.length > 0) || a.why.length == 0)
			abort();
	} else if (!e.text[0]) {
		abort();
	}
	policy_answer_clear(&a);
	policy_free(p);
	free(tool);
	return 0;
}
