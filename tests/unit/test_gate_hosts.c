/* What each host sends to its hook and is answered: tests/unit/gate/HOST.txt, one case after
 * another. */
#include "gate_answer.h"
#include "gate_host.h"
#include "gate_input.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
	const char *name; /* of the file, and of the host */
	int line, cases;
	const struct gate_host *host;
	char event[64];
};

/* On one line. */
static void add(struct str *out, const char *name, const char *text)
{
	if (!text)
		return;
	str_addf(out, "%s%s=", out->length ? " " : "", name);
	for (; *text; text++)
		if (*text == '\n')
			str_add(out, "\\n");
		else
			str_add_char(out, *text);
}

/* What was understood, in the words of the files. */
static void describe(const struct gate_input *in, struct str *out)
{
	OWNED(char_ptr) char *response = in->response ? cJSON_PrintUnformatted(in->response) : NULL;

	add(out, "session", in->session);
	add(out, "agent", in->agent);
	add(out, "cwd", in->cwd);
	add(out, "transcript", in->transcript);
	add(out, "tool", in->tool);
	add(out, "class", in->tool ? gate_class_name(in->class) : NULL);
	add(out, "use", in->tool_use_id);
	add(out, "server", in->server);
	add(out, "server_tool", in->server_tool);
	for (size_t i = 0; i < in->path_count; i++)
		add(out, "path", in->paths[i]);
	add(out, "command", in->command);
	add(out, "in", in->command_dir);
	add(out, "patch_dir", in->patch_dir);
	add(out, "response", response);
	add(out, "message", in->message);
	add(out, "kind", in->kind);
	str_add(out, in->failed ? " failed" : "");
}

static struct gate_verdict verdict_of(const char *word)
{
	struct gate_verdict v = { .decision = GATE_NONE };

	if (strcmp(word, "rewrite") == 0) {
		v.decision = GATE_ALLOW;
		v.input = "{\"command\":\"ls\"}";
	} else if (strcmp(word, "context") == 0) {
		v.context = "by the way";
	} else if (strcmp(word, "go-on") == 0) {
		v.go_on = "next: the tests";
	} else {
		ck_assert_msg(gate_decision_of(word, &v.decision), "no verdict is '%s'", word);
	}
	if (v.decision == GATE_DENY)
		v.reason = "not now";
	return v;
}

/* "WORD STATUS OUTPUT": a deny, and what becomes one, also says why on stderr. */
static void check_answer(const struct golden *g, const char *line)
{
	OWNED(gate_answer) struct gate_answer answer = { 0 };
	OWNED(str) struct str got = { 0 };
	char word[16] = "";
	struct gate_verdict v;

	ck_assert_int_eq(sscanf(line, "%15s", word), 1);
	v = verdict_of(word);
	gate_answer_write(g->host, g->event, &v, &answer);

	str_addf(&got, "%s %d%s%s", word, answer.status, answer.out.length ? " " : "",
	         str_text(&answer.out));
	if (got.bytes[got.length - 1] == '\n')
		got.bytes[--got.length] = '\0';
	ck_assert_msg(strcmp(got.bytes, line) == 0, "%s.txt:%d: got\n%s\nnot\n%s", g->name, g->line,
	              got.bytes, line);
	ck_assert(!strchr(got.bytes, '\n'));
	ck_assert_msg(answer.status != 2 || answer.err.length > 1,
	              "%s.txt:%d: a deny without a reason on stderr", g->name, g->line);
}

static void check_input(const struct golden *g, const char *json, const char *sees)
{
	OWNED(gate_input) struct gate_input in = { 0 };
	OWNED(str) struct str got = { 0 };
	struct err e = { 0 };

	ck_assert_msg(gate_input_read(g->host, g->event, json, strlen(json), &in, &e) == 0,
	              "%s.txt:%d: %s", g->name, g->line, e.text);
	describe(&in, &got);
	ck_assert_msg(strcmp(str_text(&got), sees) == 0, "%s.txt:%d: got\n%s\nnot\n%s", g->name,
	              g->line, str_text(&got), sees);
}

static void take(struct golden *g, const char *line, struct str *json)
{
	char host[16];

	if (*line == '#' || *line == '\0')
		return;
	if (strncmp(line, "hook ", 5) == 0) {
		ck_assert_int_eq(sscanf(line, "hook %15s %63s", host, g->event), 2);
		g->host = gate_host_named(host);
		ck_assert_ptr_nonnull(g->host);
		ck_assert_msg(gate_host_event(g->host, g->event) != NULL, "%s", line);
		g->cases++;
	} else if (strncmp(line, "in ", 3) == 0) {
		str_reset(json);
		str_add(json, line + 3);
	} else if (strncmp(line, "sees ", 5) == 0) {
		check_input(g, str_text(json), line + 5);
	} else {
		check_answer(g, line);
	}
}

static void run_file(const char *name)
{
	struct golden g = { .name = name };
	OWNED(str) struct str path = { 0 };
	OWNED(str) struct str json = { 0 };
	OWNED(char_ptr) char *line = NULL;
	size_t size = 0;
	FILE *file;

	str_addf(&path, "%s/tests/unit/gate/%s.txt", getenv("INTERCOM_SOURCE"), name);
	file = fopen(str_text(&path), "r");
	ck_assert_msg(file != NULL, "%s cannot be read", str_text(&path));
	while (getline(&line, &size, file) > 0) {
		g.line++;
		line[strcspn(line, "\n")] = '\0';
		take(&g, line, &json);
	}
	(void)fclose(file);
	ck_assert_int_gt(g.cases, 2);
}

START_TEST(each_input_is_understood_and_each_answer_is_in_the_hosts_words)
{
	run_file(GATE_HOSTS[_i].name);
}
END_TEST

START_TEST(what_cannot_become_an_input_is_refused_with_a_reason)
{
	static const struct {
		const char *event, *json, *why;
	} BAD[] = {
		{ "PreToolUse", "", "not valid JSON" },
		{ "PreToolUse", "{", "not valid JSON" },
		{ "PreToolUse", "[]", "no JSON object" },
		{ "PreToolUse", "{} {}", "something follows" },
		{ "PreToolUse", "{}", "names no tool" },
		{ "PreToolUse", "{\"tool_name\":\"Bash\",\"tool_input\":[1]}", "no JSON object" },
		{ "PreToolUse", "{\"tool_name\":\"Bash\",\"tool_input\":\"{\"}", "not valid JSON" },
		{ "PreToolUse",
		  "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"a\\u0000b\"}}", "NUL" },
		{ "PreToolUse", "{\"tool_name\":\"\xff\"}", "UTF-8" },
		{ "PreToolUse", "{\"tool_name\":\"Read\",\"tool_name\":\"Bash\"}", "twice" },
		{ "PreToolUse",
		  "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\",\"command\":"
		  "\"rm x\"}}",
		  "twice" },
		{ "PreToolUse",
		  "{\"tool_name\":\"Bash\",\"tool_input\":\"{\\\"command\\\":\\\"ls\\\","
		  "\\\"command\\\":\\\"rm x\\\"}\"}",
		  "twice" },
		{ "PreToolUse",
		  "{\"tool_name\":\"MultiEdit\",\"tool_input\":{\"file_path\":\"a\",\"edits\":"
		  "[{\"old_string\":\"a\",\"old_string\":\"b\"}]}}",
		  "twice" },
		{ "PreToolUse",
		  "{\"tool_name\":\"Bash\",\"tool_input\":\"{\\\"command\\\":\\\"ls\\\\u0000"
		  "\\\"}\"}",
		  "NUL" },
		{ "PreToolUse", "{\"tool_name\":\"Bash\",\"tool_input\":\"{} {}\"}",
		  "something follows" },
		{ "PreToolUse",
		  "{\"tool_name\":\"Bash\",\"mcp_server\":{\"name\":\"a\",\"name\":\"b\"}}",
		  "twice" },
		{ "PreToolUse", "{\"hook_event_name\":\"Stop\",\"tool_name\":\"Bash\"}",
		  "was called for PreToolUse but its input is of Stop" },
		{ "BeforeTool", "{\"tool_name\":\"Bash\"}", "no hook event" },
	};

	for (size_t i = 0; i < COUNT(BAD); i++) {
		OWNED(gate_input) struct gate_input in = { 0 };
		struct err e = { 0 };

		ck_assert_int_eq(gate_input_read(gate_host_named("claude"), BAD[i].event,
		                                 BAD[i].json, strlen(BAD[i].json), &in, &e),
		                 -1);
		ck_assert_msg(strstr(e.text, BAD[i].why) != NULL, "%zu: %s", i, e.text);
		ck_assert_ptr_null(in.owned);
	}
}
END_TEST

/* One that is not looked at could be one that is protected. */
START_TEST(a_tool_that_names_more_files_than_are_looked_at_is_refused)
{
	OWNED(str) struct str json = { 0 };
	const struct gate_host *gemini = gate_host_named("gemini");

	for (int count = GATE_PATHS_MAX; count <= GATE_PATHS_MAX + 1; count++) {
		OWNED(gate_input) struct gate_input in = { 0 };
		struct err e = { 0 };
		int status;

		str_reset(&json);
		str_add(&json, "{\"tool_name\":\"read_many_files\",\"tool_input\":{\"include\":[");
		for (int i = 0; i < count; i++)
			str_addf(&json, "%s\"f%d\"", i ? "," : "", i);
		str_add(&json, "]}}");
		status =
		    gate_input_read(gemini, "BeforeTool", str_text(&json), json.length, &in, &e);
		ck_assert_int_eq(status, count > GATE_PATHS_MAX ? -1 : 0);
		ck_assert_int_eq(strstr(e.text, "names more than 500 files") != NULL,
		                 count > GATE_PATHS_MAX);
	}
}
END_TEST

START_TEST(a_tool_is_known_by_one_whole_name_and_by_no_part_or_list_of_names)
{
	static const char *const NAMES[] = {
		"", " ", "Rea", "ead", "Read ", " Read", "Read NotebookRead", "read"
	};
	const struct gate_host *claude = gate_host_named("claude");

	ck_assert_int_eq(gate_host_tool(claude, "Read")->class, GATE_READ);
	ck_assert_int_eq(gate_host_tool(claude, "NotebookRead")->class, GATE_READ);
	ck_assert_int_eq(gate_host_tool(claude, "ReportFindings")->class, GATE_READ);
	ck_assert_int_eq(gate_host_tool(claude, "PowerShell")->class, GATE_EXECUTE);
	for (size_t i = 0; i < COUNT(NAMES); i++)
		ck_assert_msg(!gate_host_tool(claude, NAMES[i]), "'%s'", NAMES[i]);
}
END_TEST

START_TEST(of_the_tools_that_write_a_whole_file_each_stands_alone)
{
	for (size_t i = 0; i < GATE_HOST_COUNT; i++)
		for (const struct gate_tool *t = GATE_HOSTS[i].tools; t->names; t++)
			ck_assert(t->form != GATE_FORM_WRITE || !strchr(t->names, ' '));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_hosts");
	TCase *c = tcase_create("gate_hosts");

	tcase_add_loop_test(c, each_input_is_understood_and_each_answer_is_in_the_hosts_words, 0,
	                    (int)GATE_HOST_COUNT);
	tcase_add_test(c, what_cannot_become_an_input_is_refused_with_a_reason);
	tcase_add_test(c, a_tool_that_names_more_files_than_are_looked_at_is_refused);
	tcase_add_test(c, a_tool_is_known_by_one_whole_name_and_by_no_part_or_list_of_names);
	tcase_add_test(c, of_the_tools_that_write_a_whole_file_each_stands_alone);
	suite_add_tcase(s, c);
	return run_suite(s);
}
