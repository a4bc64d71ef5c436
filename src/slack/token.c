#include "token.h"

#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const char DIGITS[] = "0123456789";
static const char OF_NAMES[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

enum { PORT_DIGITS = 5, PORT_MAX = 65535 };

int slack_token_check(const char *variable, const char *token, struct err *e)
{
	bool app = strcmp(variable, "SLACK_APP_TOKEN") == 0;
	const char *prefix = app ? "xapp-" : "xoxb-", *other = app ? "xoxb-" : "xapp-";

	if (strncmp(token, prefix, 5) != 0)
		return err_set(e, ERR_INPUT,
		               "%s must begin with %s%s; see %s in the app's settings", variable,
		               prefix,
		               strncmp(token, other, 5) != 0 ? ""
		               : app                         ? ", this is the bot token"
		                                             : ", this is the app token",
		               app ? "Basic Information, App-Level Tokens" : "OAuth & Permissions");
	if (strpbrk(token, " \t\r\n"))
		return err_set(e, ERR_INPUT, "%s contains white space", variable);
	return 0;
}

/* The length of the host that url begins with; 0: none, or one that is no name and no address. */
static size_t host_length(const char *url)
{
	static const char LOOPBACK[] = "[::1]";
	size_t length = strspn(url, OF_NAMES);

	return strncmp(url, LOOPBACK, sizeof(LOOPBACK) - 1) == 0 ? sizeof(LOOPBACK) - 1 : length;
}

/* What follows a host: a port, a path; nothing that is not printed. */
static bool ends_well(const char *rest)
{
	if (*rest == ':') {
		size_t digits = strspn(++rest, DIGITS);

		if (digits == 0 || digits > PORT_DIGITS || strtol(rest, NULL, 10) > PORT_MAX)
			return false;
		rest += digits;
	}
	if (*rest && *rest != '/')
		return false;
	for (; *rest; rest++)
		if (*rest <= ' ' || *rest > '~')
			return false;
	return true;
}

static bool is_loopback(const char *host, size_t length)
{
	static const char *const NAMES[] = { "127.0.0.1", "[::1]", "localhost" };

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strlen(NAMES[i]) == length && strncmp(NAMES[i], host, length) == 0)
			return true;
	return false;
}

int slack_base_check(const char *base, bool *ret_loopback, struct err *e)
{
	static const char HTTPS[] = "https://", HTTP[] = "http://";
	bool https = strncmp(base, HTTPS, sizeof(HTTPS) - 1) == 0;
	bool http = strncmp(base, HTTP, sizeof(HTTP) - 1) == 0;
	const char *host = base + (https ? sizeof(HTTPS) - 1 : http ? sizeof(HTTP) - 1 : 0);
	size_t length = host_length(host);

	*ret_loopback = http && is_loopback(host, length);
	if ((https || *ret_loopback) && length > 0 && ends_well(host + length))
		return 0;
	return err_set(e, ERR_INPUT,
	               "SLACK_API_URL must begin with https:// (or http:// and a loopback "
	               "address)");
}

char *slack_secret_take(const char *variable)
{
	char *there = getenv(variable);
	char *secret = there && *there ? xstrdup(there) : NULL;

	if (there)
		explicit_bzero(there, strlen(there));
	(void)unsetenv(variable);
	return secret;
}

void slack_secret_wipe(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}

void slack_secret_guard(void)
{
	const struct rlimit none = { 0, 0 };

	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
}
