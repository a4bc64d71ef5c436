/* slack_payload: parses what arrives over Socket Mode, and what it means. Pure parsing: no
 * database, no permissions. Shapes follow Slack's documentation; any field may be missing or null,
 * unknown ones are ignored. */
#ifndef SLACK_PAYLOAD_H
#define SLACK_PAYLOAD_H

#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* The kind of a frame. */
enum slack_frame_kind {
	SLACK_FRAME_OTHER,
	SLACK_FRAME_HELLO,
	SLACK_FRAME_DISCONNECT,
	SLACK_FRAME_ENVELOPE
};

struct slack_frame {
	enum slack_frame_kind kind;
	cJSON *root; /* owned; NULL: the frame is not a JSON object, read strictly */
	char *envelope_id; /* owned; NULL: none, so it is not acknowledged */
	const char *type; /* into root; "" if missing */
	const char *reason; /* disconnect: into root; "" if missing */
	int connections; /* hello: num_connections, 0: not given */
	bool accepts_payload; /* envelope: the ack may contain an answer */
	const cJSON *payload; /* envelope: into root; NULL if missing */
};

/* Reads one frame. Never fails: an unreadable frame has the kind OTHER, with its envelope_id if one
 * is anywhere in the bytes (Slack resends an envelope until it is acknowledged). */
void slack_frame_read(struct slack_frame *f, const char *bytes, size_t length);
void slack_frame_clear(struct slack_frame *f);

/* What a person meant. */
enum slack_meaning {
	INTENT_NOTHING, /* not for us: our own messages, edits, joins, closed forms */
	INTENT_UNKNOWN, /* for us, but in no form that we know: see problem */
	INTENT_DECIDE, /* verdict on request, with its reason or instruction */
	INTENT_OPEN, /* open the form view for request (or session) */
	INTENT_FORM, /* the fields of a form that an agent asks to have filled in: text is JSON, as
	                words.form */
	INTENT_EDIT, /* the form to edit a command: text is what is run instead */
	INTENT_EMPTY, /* a form was sent without a required text */
	INTENT_ORDER, /* verdict is a verb about request: file, undo */
	INTENT_ASKED, /* buttons of what was asked back: verdict; request: the message's seq */
	INTENT_CLOSE, /* the form of request was closed without sending */
	INTENT_NUDGE, /* the buttons of a stall alert: verdict is nudge or stop; session */
	INTENT_MODE, /* the button of a mode notice: verdict is the mode; session */
	INTENT_TURN, /* the buttons below the end of a turn: verdict is resume, instruct or stop;
	              * request: the turn's seq. Or its form: session, text */
	INTENT_SESSION, /* the buttons of a session that we started: verdict is a verb; session */
	INTENT_COMMAND, /* /intercom: text */
	INTENT_REPLY, /* a message in a thread: text; verdict: the verb, if it is what strays
	                 elsewhere, or tells an agent something */
	INTENT_MENTION, /* a message to us outside of threads: text */
	INTENT_STRAY, /* an answer by its words, but outside of threads: verdict is the verb */
	INTENT_EDITED, /* a message in a thread was given another text, which nobody reads */
	INTENT_DELETED, /* a message in a thread was deleted, which takes nothing back */
};

/* All texts are owned; NULL: none. */
struct slack_intent {
	enum slack_meaning meaning;
	bool mentioned; /* a message that mentions us */
	bool has_files; /* a message with files, which nobody reads */
	bool is_me; /* a message of /me, which says what they do */
	bool below_us; /* an order to an agent, or an answer, in a thread that we began */
	char *kind; /* command, block_actions, view_submission, view_closed, message, app_mention */
	char *team, *user, *channel, *thread_ts, *message_ts;
	char *event_key, *message_key, *client_key; /* identify repetitions */
	char *trigger_id,
	    *response_url; /* secrets: never put into a row of slack_envelope, or a log */
	char *verdict, *request, *session, *view;
	char *field; /* of a form: the block in which the person wrote */
	/* Reason, instruction or command line, as typed; a message's text, readable for an
	 * agent. */
	char *text;
	char *action; /* in a few words, for the timeline */
	char *problem; /* INTENT_UNKNOWN: its error */
};

/* Reads the meaning of an envelope. bot_user: our own user id if known, otherwise NULL (events
 * usually contain it). a is empty. */
void slack_intent_read(struct slack_intent *a, const struct slack_frame *f, const char *bot_user);
void slack_intent_clear(struct slack_intent *a);

/* Removes from an envelope's payload what must not be stored: verification token, trigger ids,
 * response_urls, and the copy of our own message that comes with a click. */
void slack_payload_strip(cJSON *payload);

/* The text of a message, readable for an agent: mentions and links in plain form, entities decoded
 * once, ends trimmed. bot_user: a mention of it at the start is removed; may be NULL. */
void slack_text_plain(struct str *out, const char *text, const char *bot_user);

#endif
