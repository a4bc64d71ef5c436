/* What a person is told of a question beside the agent's words. */
#include "inquiry.h"

#include <stdint.h>
#include <string.h>

/* Whoever sees only what says no is told that there is a yes, elsewhere. */
static void add_only_always(const struct acp_inquiry *ask, struct str *out)
{
	const struct acp_option *always = NULL;

	for (size_t i = 0; i < ask->option_count; i++) {
		const struct acp_option *o = &ask->options[i];

		if (o->kind == ACP_ALLOW_ONCE || o->kind == ACP_OPTION_OTHER)
			return;
		if (o->kind == ACP_ALLOW_ALWAYS)
			always = o;
	}
	if (!always)
		return;
	str_add(out, "\nIts only yes allows it always, and is not offered here: ");
	str_add_shown(out, always->name, strlen(always->name), SIZE_MAX);
}

void acp_inquiry_add_offer(const struct acp_inquiry *ask, struct str *out)
{
	bool is_plain = acp_inquiry_is_plain(ask);
	int number = 0;

	for (size_t i = 0; i < ask->option_count && !is_plain; i++) {
		if (ask->options[i].kind == ACP_ALLOW_ALWAYS)
			continue;
		if (!number)
			str_add(out, out->length ? "\n\nAnswers:" : "Answers:");
		str_addf(out, "\n%d. ", ++number);
		str_add_shown(out, ask->options[i].name, strlen(ask->options[i].name), SIZE_MAX);
	}
	add_only_always(ask, out);
}

void acp_inquiry_add_notes(const struct acp_inquiry *ask, struct str *out)
{
	if (ask->path.length) {
		str_add(out, "File: ");
		str_add_shown(out, ask->path.bytes, ask->path.length, SIZE_MAX);
		str_addf(out, " (%s risk)", acp_risk_name(ask->risk));
	} else if (ask->kind == ACP_INQUIRY_PERMISSION) {
		str_addf(out, "Risk: %s", acp_risk_name(ask->risk));
	}
	if (ask->notes.length)
		str_addf(out, "%s%s", out->length ? "\n\n" : "", ask->notes.bytes);
	acp_inquiry_add_offer(ask, out);
}
