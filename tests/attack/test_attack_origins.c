/* A web page that the operator has open, or a name that it makes stand for this machine, asks in an
 * agent's place: over HTTP, against the whole system, with everything right but where it is from.
 * The attacker even knows an agent's session. */
#include "attack.h"

#include <stdlib.h>
#include <string.h>

#define JSON "Content-Type: application/json\r\n"
#define HERE "Host: localhost\r\n"

/* A request with these headers; returns the status of its answer, which no page may read. */
static int exchange(const char *method, const char *target, const char *headers, const char *body)
{
	OWNED(str) struct str text = { 0 };
	struct wire w;
	int status;

	str_addf(&text, "%s %s HTTP/1.1\r\n%sMcp-Session-Id: %s\r\nMCP-Protocol-Version: %s\r\n",
	         method, target, headers, agent.session, agent.version);
	str_addf(&text,
	         "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n\r\n%s",
	         strlen(body), body);
	wire_open(&w, site.port);
	wire_send(&w, text.bytes);
	status = wire_answer(&w);
	says(w.head.bytes, "HTTP/1.1 ");
	ck_assert_ptr_null(strstr(w.head.bytes, "Access-Control-"));
	wire_close(&w);
	return status;
}

/* A question that would be asked in the agent's name. */
static int asks_at(const char *target, const char *headers)
{
	OWNED(char_ptr) char *arguments = proposal("evil.txt", "evil\n");
	OWNED(str) struct str body = { 0 };

	str_addf(&body,
	         "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"check_clearance\",\"arguments\":%s}}",
	         arguments);
	return exchange("POST", target, headers, body.bytes);
}

static int asks(const char *headers)
{
	return asks_at("/mcp?wait=1", headers);
}

static void are_refused(const char *const *headers, size_t count, int status)
{
	for (size_t i = 0; i < count; i++) {
		int got = asks(headers[i]);

		ck_assert_msg(got == status, "%d, not %d: %s", got, status, headers[i]);
	}
}

static void attack_in_session(void)
{
	attack_begin(NULL, NULL);
	free(agent_call(&agent, "ping", "{}"));
}

/* None of it came to anything, and the agent is served. */
static void nothing_came_of_it(void)
{
	OWNED(char_ptr) char *honest = NULL;

	expect("SELECT count(*) FROM request", "0\n");
	expect("SELECT count(*) FROM session", "1\n");
	expect("SELECT count(*) FROM tool_call WHERE tool <> 'ping'", "0\n");
	honest = attack_ask("honest.txt", "honest\n");
	has(honest, "status", "pending");
	attack_end();
}

/* ---- names ---- */

START_TEST(a_name_that_is_made_to_stand_for_this_machine_is_refused)
{
	static const char *const HOSTS[] = {
		JSON, /* none */
		JSON "Host:\r\n",
		JSON "Host: evil.example.com\r\n",
		JSON "Host: localhost.evil.example.com\r\n",
		JSON "Host: localhost@evil.example.com\r\n",
		JSON "Host: evil.example.com:localhost\r\n",
		JSON "Host: localhost:80x\r\n",
		JSON "Host: 127.0.0.1.nip.io\r\n",
		JSON "Host: 7f000001.rbndr.example.com\r\n",
		JSON "Host: app.localhost\r\n",
		JSON "Host: localtest.me\r\n",
		JSON "Host: 0.0.0.0\r\n",
		JSON "Host: 127.1\r\n",
		JSON "Host: 127.0.0.2\r\n",
		JSON "Host: 2130706433\r\n",
		JSON "Host: 0x7f000001\r\n",
		JSON "Host: [::ffff:127.0.0.1]\r\n",
		JSON "Host: [::]\r\n",
		JSON "Host: ::1\r\n",
		JSON "Host: 192.168.1.10:3000\r\n",
		JSON HERE "Host: evil.example.com\r\n",
		JSON "Host: localhost, evil.example.com\r\n",
		JSON "Host: evil.example.com\r\nX-Forwarded-Host: localhost\r\n",
	};

	attack_in_session();
	are_refused(HOSTS, COUNT(HOSTS), 403);
	nothing_came_of_it();
}
END_TEST

START_TEST(a_target_that_names_another_machine_is_refused)
{
	static const struct {
		const char *target, *headers;
	} TARGETS[] = {
		{ "http://evil.example.com/mcp?wait=1", HERE },
		{ "https://evil.example.com:443/mcp?wait=1", HERE },
		{ "http://localhost.evil.example.com/mcp?wait=1", HERE },
		{ "http://localhost@evil.example.com/mcp?wait=1", HERE },
		{ "http://127.0.0.1.nip.io/mcp?wait=1", HERE },
		{ "http://localhost/mcp?wait=1", "Host: evil.example.com\r\n" },
		{ "http://localhost/mcp?wait=1", "" },
		{ "//evil.example.com/mcp?wait=1", HERE },
	};

	attack_in_session();
	for (size_t i = 0; i < COUNT(TARGETS); i++) {
		OWNED(str) struct str headers = { 0 };
		int got;

		str_addf(&headers, JSON "%s", TARGETS[i].headers);
		got = asks_at(TARGETS[i].target, headers.bytes);
		ck_assert_msg(got == 403, "%d: %s", got, TARGETS[i].target);
	}
	nothing_came_of_it();
}
END_TEST

/* ---- pages ---- */

START_TEST(a_page_of_another_origin_is_refused)
{
	static const char *const ORIGINS[] = {
		JSON HERE "Origin: http://evil.example.com\r\n",
		JSON HERE "Origin: https://evil.example.com:3000\r\n",
		JSON HERE "Origin: null\r\n", /* a sandboxed frame, or a file */
		JSON HERE "Origin: file://\r\n",
		JSON HERE "Origin:\r\n",
		JSON HERE "Origin: http://localhost@evil.example.com\r\n",
		JSON HERE "Origin: http://localhost.evil.example.com:80\r\n",
		JSON HERE "Origin: http://127.0.0.1.nip.io\r\n",
		JSON HERE "Origin: http://127.0.0.1, http://evil.example.com\r\n",
		JSON HERE "Origin: chrome-extension://abcdefghijklmnop\r\n",
		JSON HERE "Origin: localhost\r\n",
		JSON HERE "Origin: http://localhost\r\nOrigin: http://evil.example.com\r\n",
	};

	attack_in_session();
	are_refused(ORIGINS, COUNT(ORIGINS), 403);
	nothing_came_of_it();
}
END_TEST

/* Some requests of a page have no Origin; browsers say of each from where it is. */
START_TEST(what_a_browser_says_to_be_from_another_site_is_refused)
{
	static const char *const SITES[] = {
		JSON HERE "Sec-Fetch-Site: cross-site\r\n",
		JSON HERE "Sec-Fetch-Site: Cross-Site\r\n",
		JSON HERE "Sec-Fetch-Site: cross-site\r\nOrigin: http://localhost:5173\r\n",
		JSON HERE "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n",
	};

	attack_in_session();
	are_refused(SITES, COUNT(SITES), 403);
	nothing_came_of_it();
}
END_TEST

/* What a form, or fetch in the mode no-cors, can send without asking us first. */
START_TEST(a_page_cannot_do_without_the_type_of_its_body)
{
	static const char *const TYPES[] = {
		HERE "Origin: http://localhost:5173\r\n",
		HERE "Origin: http://localhost:5173\r\nContent-Type:\r\n",
		HERE "Origin: http://localhost:5173\r\nContent-Type: text/plain\r\n",
		HERE "Content-Type: text/plain;charset=UTF-8\r\n",
		HERE "Content-Type: text/plain; x=application/json\r\n",
		HERE "Content-Type: application/x-www-form-urlencoded\r\n",
		HERE "Content-Type: multipart/form-data; boundary=x\r\n",
	};

	attack_in_session();
	are_refused(TYPES, COUNT(TYPES), 415);
	nothing_came_of_it();
}
END_TEST

START_TEST(no_other_path_or_method_is_open_to_a_page)
{
	static const struct {
		const char *method, *target;
	} REQUESTS[] = {
		{ "GET", "/health" },     { "GET", "/metrics" }, { "GET", "/mcp" },
		{ "DELETE", "/mcp" },     { "PUT", "/mcp" },     { "OPTIONS", "/mcp" },
		{ "OPTIONS", "/health" }, { "HEAD", "/health" },
	};
	static const char *const FROM[] = {
		"Host: evil.example.com\r\n",
		HERE "Origin: http://evil.example.com\r\n",
		HERE "Sec-Fetch-Site: cross-site\r\n",
	};

	attack_in_session();
	for (size_t i = 0; i < COUNT(REQUESTS); i++)
		for (size_t k = 0; k < COUNT(FROM); k++) {
			int status = exchange(REQUESTS[i].method, REQUESTS[i].target, FROM[k], "");

			ck_assert_msg(status >= 400 && status < 500, "%s %s %s: %d",
			              REQUESTS[i].method, REQUESTS[i].target, FROM[k], status);
		}
	nothing_came_of_it(); /* DELETE has not ended the session */
}
END_TEST

START_TEST(programs_and_pages_of_this_machine_are_served)
{
	static const char *const GOOD[] = {
		HERE,
		"Host: LOCALHOST:1\r\n",
		"Host: 127.0.0.1:3000\r\n",
		"Host: [::1]:3000\r\n",
		"Host: localhost.:80\r\n",
		HERE "Origin: http://localhost:5173\r\n" JSON,
		HERE "Origin: https://127.0.0.1\r\n" JSON "Sec-Fetch-Site: same-site\r\n",
		HERE "Sec-Fetch-Site: none\r\n",
	};
	static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";

	attack_in_session();
	for (size_t i = 0; i < COUNT(GOOD); i++)
		ck_assert_msg(exchange("POST", "/mcp", GOOD[i], PING) == 200, "%s", GOOD[i]);
	ck_assert_int_eq(asks_at("http://127.0.0.1/mcp?wait=1", JSON HERE), 200);
	expect("SELECT count(*) FROM request", "1\n");
	attack_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack origins");
	TCase *c = store_case(s, "attack origins", 60);

	tcase_add_test(c, a_name_that_is_made_to_stand_for_this_machine_is_refused);
	tcase_add_test(c, a_target_that_names_another_machine_is_refused);
	tcase_add_test(c, a_page_of_another_origin_is_refused);
	tcase_add_test(c, what_a_browser_says_to_be_from_another_site_is_refused);
	tcase_add_test(c, a_page_cannot_do_without_the_type_of_its_body);
	tcase_add_test(c, no_other_path_or_method_is_open_to_a_page);
	tcase_add_test(c, programs_and_pages_of_this_machine_are_served);
	return run_suite(s);
}
