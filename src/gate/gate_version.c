#include "gate_version.h"

#include "err.h"

#include <string.h>

enum { VERSION_BYTES = 40 };

/* Where a host names its version. */
struct place {
	const char *host;
	const char *member; /* of the input, or NULL */
	const char *variable; /* in gate_host's list, too */
	const char *before; /* what the variable says first, or NULL */
	char dot; /* what stands there for a dot; 0: a dot */
};

static const struct place PLACES[] = {
	{ "claude", NULL, "AI_AGENT", "claude-code_", '-' }, /* claude-code_2-1-330_harness */
	{ "copilot", NULL, "COPILOT_CLI_BINARY_VERSION", NULL, 0 },
	{ "cursor", "cursor_version", "CURSOR_VERSION", NULL, 0 },
	{ "qwen", NULL, "QWEN_CODE_STARTUP_VERSION", NULL, 0 },
};

static const struct place *find(const struct gate_host *host)
{
	for (size_t i = 0; i < COUNT(PLACES); i++)
		if (strcmp(PLACES[i].host, host->name) == 0)
			return &PLACES[i];
	return NULL;
}

/* The version as a text of the place has it; NULL: it is not worded as one is. */
static const char *begin(const struct place *p, const cJSON *env)
{
	const char *text = json_text(env, p->variable);
	size_t skip = p->before ? strlen(p->before) : 0;

	return text && strncmp(text, p->before ? p->before : "", skip) == 0 ? text + skip : NULL;
}

static size_t length_of(const char *text)
{
	static const char DIGITS[] = "0123456789";
	size_t length = strspn(text, "0123456789.+-abcdefghijklmnopqrstuvwxyz"
	                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return *text && strchr(DIGITS, *text) && length <= VERSION_BYTES ? length : 0;
}

void gate_version_add(const struct gate_host *host, const cJSON *input, const cJSON *env,
                      struct str *out)
{
	const struct place *p = find(host);
	const char *said = p && p->member ? json_text(input, p->member) : NULL;
	char dot = p && !said ? p->dot : 0;

	if (p && !said)
		said = begin(p, env);
	for (size_t i = 0, length = said ? length_of(said) : 0; i < length; i++)
		str_add_char(out, dot && said[i] == dot ? '.' : said[i]);
}
