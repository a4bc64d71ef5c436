/* toml: what is known of a value. What is refused, and in which words, is in test_config. */
#include "suite.h"
#include "toml.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(toml_nodes_know_line_type_and_exact_value)
{
	static const char TEXT[] = "a = 9007199254740993\n[t]\nb = [1,\n  0x10]\n";
	char file[] = "/tmp/toml-XXXXXX";
	int fd = mkstemp(file);
	struct err e = { 0 };
	cJSON *root;
	const cJSON *node;
	int64_t number = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, TEXT, strlen(TEXT)), (ssize_t)strlen(TEXT));
	(void)close(fd);
	root = toml_read(file, &e);
	(void)unlink(file);
	ck_assert_msg(root != NULL, "%s", e.text);
	ck_assert(toml_is(root, TOML_TABLE));
	node = toml_value(root)->child;
	ck_assert_str_eq(node->string, "a");
	ck_assert(toml_int(node, &number));
	ck_assert_int_eq(number, 9007199254740993);
	node = toml_value(node->next)->child;
	ck_assert_str_eq(toml_type(node), TOML_ARRAY);
	ck_assert(!toml_int(node, &number));
	node = toml_value(node)->child->next;
	ck_assert_int_eq(toml_line(node), 4);
	ck_assert(toml_int(node, &number));
	ck_assert_int_eq(number, 16);
	cJSON_Delete(root);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("toml");
	TCase *c = tcase_create("toml");

	tcase_add_test(c, toml_nodes_know_line_type_and_exact_value);
	suite_add_tcase(s, c);
	return run_suite(s);
}
