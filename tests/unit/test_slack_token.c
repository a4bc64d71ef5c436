/* What a process is given for Slack: the address of the API. (Tokens: test_slack_app.c.) */
#include "suite.h"
#include "token.h"
#include "web.h"

static const struct {
	const char *base;
	bool is_right, is_loopback;
} BASES[] = {
	{ "https://slack.com/api/", true, false },
	{ "https://slack.com", true, false },
	{ "https://slack-gov.com:8443/api", true, false },
	{ "http://127.0.0.1:4000/api/", true, true },
	{ "http://localhost/api/", true, true },
	{ "http://[::1]:4000", true, true },
	{ "http://example.com/api/", false, false },
	{ "http://127.0.0.1.example.com/", false, false },
	{ "http://127.0.0.1@example.com/", false, false },
	{ "http://localhostess/", false, false },
	{ "ftp://slack.com/", false, false },
	{ "slack.com/api/", false, false },
	{ "https://", false, false },
	{ "https:///api/", false, false },
	{ "https://:443/", false, false },
	{ "https://slack.com:/", false, false },
	{ "https://slack.com:65536/", false, false },
	{ "https://slack.com:443443443/", false, false },
	{ "https://slack.com:port/", false, false },
	{ "https://sla ck.com/", false, false },
	{ "https://slack.com/a b", false, false },
	{ "https://slack.com/a\r\nHost: example.com", false, false },
	{ "https://slack.com?a=b", false, false },
	{ "", false, false },
};

START_TEST(only_https_and_this_machine_can_be_slacks_address)
{
	for (size_t i = 0; i < COUNT(BASES); i++) {
		struct err e = { 0 };
		bool loopback = !BASES[i].is_loopback;
		int got = slack_base_check(BASES[i].base, &loopback, &e);

		ck_assert_msg((got == 0) == BASES[i].is_right, "%s: %s", BASES[i].base, e.text);
		ck_assert_msg(got || loopback == BASES[i].is_loopback, "%s", BASES[i].base);
		if (got)
			ck_assert_int_eq(e.kind, ERR_INPUT);
	}
}
END_TEST

/* Else the supervisor would start a worker that cannot begin, and takes all with it. */
START_TEST(libcurl_takes_every_address_that_we_take)
{
	for (size_t i = 0; i < COUNT(BASES); i++) {
		CURLU *u = curl_url();

		ck_assert_ptr_nonnull(u);
		if (BASES[i].is_right)
			ck_assert_int_eq(curl_url_set(u, CURLUPART_URL, BASES[i].base, 0),
			                 CURLUE_OK);
		curl_url_cleanup(u);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_token");
	TCase *c = tcase_create("slack_token");

	tcase_add_test(c, only_https_and_this_machine_can_be_slacks_address);
	tcase_add_test(c, libcurl_takes_every_address_that_we_take);
	suite_add_tcase(s, c);
	return run_suite(s);
}
