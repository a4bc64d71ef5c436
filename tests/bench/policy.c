/* One evaluation of a workspace's policy, as the front does it: the file looked at (not read, since
 * it has not changed), then the question judged. Half of the questions are allowed.
 *
 * usage: policy DIRECTORY MEASURE_MS
 * Prints for a policy of 20 rules and for one of 1,000: rulesN_p50_us, rulesN_p99_us, rulesN_s (a
 * second). */
#include "bench.h"

#include "policy_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST = 1000000 };

/* As many rules for commands as for files; the last of each is the one that will match. */
static void write_policy(const char *directory, int rules)
{
	OWNED(str) struct str text = { 0 };
	char path[600];
	FILE *f;

	str_add(&text, "{\"enabled\":true,\"commands\":[");
	for (int i = 1; i < rules / 2; i++)
		str_addf(&text, "\"tool-%d test *\",", i);
	str_add(&text, "\"cargo test *\"],\"file_patterns\":{\"write\":[");
	for (int i = 1; i < rules / 2; i++)
		str_addf(&text, "\"part-%d/**/*.md\",", i);
	str_add(&text, "\"docs/**\"]}}");
	(void)snprintf(path, sizeof(path), "%s/.intercom", directory);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/.intercom/settings.json", directory);
	f = fopen(path, "we");
	if (!f || fputs(text.bytes, f) < 0 || fclose(f) != 0)
		die("cannot write %s", path);
}

static void ask(struct policy_files *files, const char *directory, size_t i)
{
	static const struct {
		const char *tool, *path;
		bool approved;
	} ASKED[] = {
		{ "cargo test --all -- --nocapture", NULL, true },
		{ "cargo test; rm -rf ~", NULL, false },
		{ "check_clearance", "docs/how/to.md", true },
		{ "check_clearance", "src/main.c", false },
	};
	struct policy_answer a = { 0 };
	struct policy_question q = { .tool = ASKED[i % 4].tool,
		                     .is_command = !ASKED[i % 4].path,
		                     .paths = &ASKED[i % 4].path,
		                     .path_count = ASKED[i % 4].path ? 1 : 0 };

	policy_judge(policy_file_of(files, directory)->policy, &q, &a);
	if (a.approved != ASKED[i % 4].approved)
		die("%s %s: %s", q.tool, ASKED[i % 4].path, str_text(&a.why));
	policy_answer_clear(&a);
}

static void measure(const char *directory, int rules, long ms)
{
	int64_t *took = malloc(sizeof(*took) * MOST), start, end;
	struct policy_files files = { 0 };
	size_t count = 0;

	write_policy(directory, rules);
	pause_us(1200000); /* a file that has just changed is read again */
	start = now_ns();
	end = start + ms * 1000000;
	for (; now_ns() < end && count < MOST; count++) {
		int64_t begin = now_ns();

		ask(&files, directory, count);
		took[count] = now_ns() - begin;
	}
	(void)printf("rules%d_s %.0f\n", rules, (double)count / ((double)(now_ns() - start) / 1e9));
	(void)printf("rules%d_p50_us %.2f\n", rules, percentile_us(took, count, 0.5));
	(void)printf("rules%d_p99_us %.2f\n", rules, percentile_us(took, count, 0.99));
	policy_files_clear(&files);
	free(took);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: policy DIRECTORY MEASURE_MS");
	measure(argv[1], 20, atol(argv[2]));
	measure(argv[1], 1000, atol(argv[2]));
	return 0;
}
