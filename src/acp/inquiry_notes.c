/* What a person is told of a question beside the agent's words. */
#include "inquiry.h"

#include <stdint.h>
#include <string.h>

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
