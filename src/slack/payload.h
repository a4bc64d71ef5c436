/* slack_payload: what came over Socket Mode, and what was meant by it. Pure parsing: no database,
 * no rights. Shapes as in Slack's documentation; any field
 * may be missing or null, unknown ones are passed over. */
#ifndef SLACK_PAYLOAD_H
#define SLACK_PAYLOAD_H

#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* What a frame is. */
enum slack_frame_kind {
	SLACK_FRAME_OTHER,
	SLACK_FRAME_HELLO,
	SLACK_FRAME_DISCONNECT,
	SLACK_FRAME_ENVELOPE
};

struct slack_frame {
	enum slack_frame_kind kind;
	cJSON *root; /* owned; NULL: the frame is no JSON object */
	char *envelope_id; /* owned; NULL: there is none, so it is not acknowledged */
	const char *type; /* into root; "" if missing */
	const char *reason; /* disconnect: into root; "" if missing */
	int connections; /* hello: num_connections, 0 if it does not say */
	int lifetime_s; /* hello: about how long the connection lives, 0 if it does not say */
	bool accepts_payload; /* envelope: the ack may carry an answer */
	const cJSON *payload; /* envelope: into root; NULL if missing */
};

/* Reads one frame. Never fails: what cannot be read has the kind OTHER, with its envelope_id if
 * there is one somewhere in the bytes (an envelope that is never acknowledged comes back for
 * ever). */
void slack_frame_read(struct slack_frame *f, const char *bytes, size_t length);
void slack_frame_clear(struct slack_frame *f);

/* What a person meant. */
enum slack_meaning {
	INTENT_NOTHING, /* not for us: our own messages, edits, joins, forms that were closed */
	INTENT_UNKNOWN, /* for us, but of no form that we know: see problem */
	INTENT_DECIDE, /* verdict of request, with its reason or instruction */
	INTENT_OPEN, /* open the form view for request (or session) */
	INTENT_EMPTY, /* a form was sent without the text it needs */
	INTENT_ORDER, /* verdict is a verb about request: file, undo */
	INTENT_ASKED, /* the buttons of what was asked back: verdict; request: the message's seq */
	INTENT_CLOSE, /* the form of request was closed, nothing was sent */
	INTENT_NUDGE, /* the buttons of a stall alert: verdict is nudge or stop; session */
	INTENT_MODE, /* the button of a mode notice: verdict is the mode; session */
	INTENT_SESSION, /* the buttons of a session that we started: verdict is a verb; session */
	INTENT_COMMAND, /* /intercom: text */
	INTENT_REPLY, /* a message in a thread: text */
	INTENT_MENTION, /* a message to us that stands in no thread: text */
};

/* All texts are owned; NULL where there is none. */
struct slack_intent {
	enum slack_meaning meaning;
	bool mentioned; /* a message that names us */
	char *kind; /* command, block_actions, view_submission, view_closed, message, app_mention */
	char *team, *user, *channel, *thread_ts, *message_ts;
	char *event_key, *message_key, *client_key; /* what makes it the same again */
	char *trigger_id,
	    *response_url; /* secrets: never into a row of slack_envelope, nor a log */
	char *verdict, *request, *session, *view;
	char *field; /* of a form: the block that the person wrote into */
	/* Reason, instruction or command line, as it was typed; of a message, as an agent can read
	 * it. */
	char *text;
	char *action; /* in a few words, for the timeline */
	char *problem; /* INTENT_UNKNOWN: what is wrong with it */
};

/* Says what an envelope means. bot_user: our own user id where it is known, else NULL (events say
 * it themselves, as a rule). a is empty. */
void slack_intent_read(struct slack_intent *a, const struct slack_frame *f, const char *bot_user);
void slack_intent_clear(struct slack_intent *a);

/* Takes out of an envelope's payload what may be stored nowhere: verification token, trigger ids,
 * response_urls, and the copy of our own message that a click brings along. */
void slack_payload_strip(cJSON *payload);

/* The text of a message, as an agent can read it: mention markup and links taken apart, entities
 * undone once, ends trimmed. bot_user: a mention of it in front is taken off; may be NULL. */
void slack_text_plain(struct str *out, const char *text, const char *bot_user);

#endif
