#include "modal.h"

#include "blocks.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum {
	PRESET_MAX = 2850,
	INPUT_MAX = 3000,
};

_Static_assert((int)SLACK_EDIT_MAX < (int)PRESET_MAX,
               "a command that is edited is in the form whole");

struct modal {
	const char *callback, *title, *label;
	bool optional;
};

cJSON *slack_modal(enum slack_outbox_view view, const char *id, const char *about,
                   const char *preset)
{
	static const struct modal MODALS[] = {
		[SLACK_OUTBOX_VIEW_REJECT] = { "approval_reject:", "Rejection Reason", "Reason",
		                               true },
		[SLACK_OUTBOX_VIEW_REFINE] = { "prompt_refine:", "Refine", "Instructions", false },
		[SLACK_OUTBOX_VIEW_NUDGE] = { "stall_nudge:", "Nudge", "Instructions", false },
		[SLACK_OUTBOX_VIEW_INSTRUCT] = { "turn_instruct:", "Instruct", "Its next prompt",
		                                 false },
		[SLACK_OUTBOX_VIEW_EDIT] = { "approval_edit:", "Approve With Edit",
		                             "What is run instead", false },
		[SLACK_OUTBOX_VIEW_RESUME] = { "wait_instruct:", "Instructions", "Instructions",
		                               false },
	};
	const struct modal *m = &MODALS[view ? view : SLACK_OUTBOX_VIEW_RESUME];
	cJSON *modal = blocks_object("modal"), *input = blocks_object("input"),
	      *element = blocks_object("plain_text_input"), *blocks;
	char callback[BLOCKS_ID_BYTES];

	(void)snprintf(callback, sizeof(callback), "%s%.200s", m->callback, id);
	(void)cJSON_AddStringToObject(modal, "callback_id", callback);
	(void)cJSON_AddStringToObject(modal, "private_metadata", id);
	(void)cJSON_AddBoolToObject(modal, "notify_on_close", 1);
	(void)cJSON_AddItemToObject(modal, "title", blocks_plain(m->title));
	(void)cJSON_AddItemToObject(modal, "submit", blocks_plain("Submit"));
	(void)cJSON_AddItemToObject(modal, "close", blocks_plain("Cancel"));
	(void)cJSON_AddStringToObject(input, "block_id", "instruction_block");
	(void)cJSON_AddItemToObject(input, "label", blocks_plain(m->label));
	(void)cJSON_AddBoolToObject(input, "optional", m->optional);
	(void)cJSON_AddStringToObject(element, "action_id", "instruction_text");
	(void)cJSON_AddBoolToObject(element, "multiline", 1);
	(void)cJSON_AddNumberToObject(element, "max_length", INPUT_MAX);
	if (preset && *preset) {
		OWNED(str) struct str text = { 0 };

		(void)slack_add(&text, preset, strlen(preset), PRESET_MAX, SLACK_RAW);
		(void)cJSON_AddStringToObject(element, "initial_value", str_text(&text));
	}
	(void)cJSON_AddItemToObject(input, "element", element);
	blocks = cJSON_AddArrayToObject(modal, "blocks");
	blocks_add_context(blocks, about);
	(void)cJSON_AddItemToArray(blocks, input);
	return modal;
}

void slack_modal_instead(enum slack_outbox_view view, struct str *out)
{
	switch (view) {
	case SLACK_OUTBOX_VIEW_REJECT:
		str_addf(out,
		         "whatever you write in this thread in the next %d minutes is taken as the "
		         "reason, and rejects it; `reject` alone rejects it without one",
		         SLACK_FORM_MINUTES);
		break;
	case SLACK_OUTBOX_VIEW_REFINE:
	case SLACK_OUTBOX_VIEW_RESUME:
		str_addf(out,
		         "whatever you write in this thread in the next %d minutes is taken as the "
		         "instructions",
		         SLACK_FORM_MINUTES);
		break;
	case SLACK_OUTBOX_VIEW_INSTRUCT:
		str_add(out, "whatever you write in this thread is the agent's next prompt");
		break;
	case SLACK_OUTBOX_VIEW_EDIT: /* what is written in a message is changed by Slack on its way
	                              */
		str_add(out,
		        "`agent-intercom-ctl approve --edit <id>` on the machine does the same "
		        "(in remote mode after `mode hybrid`)");
		break;
	case SLACK_OUTBOX_VIEW_NUDGE:
	case SLACK_OUTBOX_VIEW_NONE:
		str_add(out, "write `nudge <instructions>` in this thread");
		break;
	}
}
