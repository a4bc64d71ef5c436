/* slack_blocks: what a Slack message looks like: from what is known to Block Kit's JSON.
 *
 * Limits: Slack's documentation of Block Kit. Foreign text stands in rich_text wherever it can
 * (raw: nothing to escape, nothing that formats, links or mentions), else escaped once. Every
 * text is within Slack's limits by construction, whatever it was. Texts of the structs are
 * borrowed and may be NULL; nothing here fails. */
#ifndef SLACK_BLOCKS_H
#define SLACK_BLOCKS_H

#include "request.h"
#include "shown.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SLACK_AUTO_MAX = 20, /* different things of a summary that are named */
	SLACK_SNIPPET_BYTES = 1000000, /* of a file that Slack still takes as a snippet */
	SLACK_FILE_BYTES = 64 << 20, /* of one that we give it at all */
};

/* A message as chat.postMessage takes it. blocks may be NULL: text alone. */
struct slack_said {
	struct str text; /* notification, screen reader, fallback; mrkdwn, escaped */
	cJSON *blocks;
};

#define SLACK_SAID_INIT                                                                            \
	{                                                                                          \
		.blocks = NULL                                                                     \
	}

/* A question, and the Slack users it mentions: their ids, NULL at the end. */
struct slack_ask {
	const struct request *request;
	const char *const *mentions;
	bool diff_above; /* what is too long is in a file before the question, not below */
	bool diff_missing; /* Slack did not take that: nobody can approve it there */
};

struct slack_session {
	const char *id, *status, *mode, *protocol_mode, *workspace_root, *client_name, *prompt;
	const char *created_at, *ended_at;
};

/* A session's mode changed. by: the source of the order; present: the mode it is in now. */
struct slack_mode {
	const char *session_id, *from, *to, *by, *present;
};

/* A finished write. files: a JSON array of {"path", "action", "bytes"}, and of those that were not
 * as they had been shown "overwrote": how many bytes. */
struct slack_write {
	const char *state, *file_path, *error_code, *error_message, *request_id;
	const char *ordered_by; /* of an undo: operator.id */
	bool forced; /* over what had changed since it was approved, which is kept for undo */
	bool is_undo; /* what was written is taken back */
	bool undone; /* it was written, and taken back since */
	const cJSON *files;
};

/* A silent agent. status, nudged_by: of the stall row; status NULL is pending. progress: JSON array
 * of {"label", "status"}, or NULL. is_call: the second message, which calls everybody. */
struct slack_stall {
	const char *alert_id, *session_id, *last_tool, *status, *nudged_by, *delivered_at;
	const char *prompt, *client_name, *workspace_root, *protocol_mode, *ended_at;
	const cJSON *progress;
	int64_t idle_seconds, nudge_count;
	bool is_call;
	bool may_have_ended; /* its client, for all that is known */
};

/* What a policy allowed, told together. */
struct slack_auto {
	int64_t count; /* of all of them */
	cJSON *shown; /* array of {"subject", "rule", "times"}, up to SLACK_AUTO_MAX */
};

/* What is asked while it waits, and what became of it afterwards: buttons go, who decided what and
 * when comes. */
void slack_say_ask(const struct slack_ask *a, struct slack_said *out);
/* A notice of its own: nobody answered in time. */
void slack_say_expired(const struct request *r, struct slack_said *out);
void slack_say_session(const struct slack_session *s, struct slack_said *out);
void slack_say_ended(const struct slack_session *s, struct slack_said *out);
void slack_say_write(const struct slack_write *w, struct slack_said *out);
void slack_say_auto(const struct slack_auto *a, struct slack_said *out);
void slack_say_mode(const struct slack_mode *m, struct slack_said *out);
/* level: info, success, warning, error; anything else is info. */
void slack_say_broadcast(const char *level, const char *message, struct slack_said *out);
void slack_say_stall(const struct slack_stall *s, const char *const *mentions,
                     struct slack_said *out);
/* A notice of its own: the watchdog has nudged for the nudge-th time. */
void slack_say_nudged(const struct slack_stall *s, int64_t nudge, struct slack_said *out);
/* Our own words: *, _, ~ and backticks format; & < > are escaped here; who is named by us
 * (slack:<team>:<user>) is mentioned, by the name that Slack knows. */
void slack_say_text(const char *text, struct slack_said *out);

/* Words that were asked back, with buttons. answer: what became of them, which takes the buttons
 * away; NULL: nothing yet. id: what the buttons carry. */
void slack_say_asked(const char *text, const char *answer, const char *id, struct slack_said *out);

/* The same without blocks, for when Slack refuses those: how to answer in words, too. */
void slack_say_plain(const struct request *r, struct slack_said *out);
/* The same as one short line, for when Slack refuses everything else. */
void slack_say_line(const struct request *r, struct slack_said *out);

/* A modal. view: reject, refine, nudge or resume; id: what its callback_id and private_metadata
 * carry; preset: what stands in the input already, NULL: nothing. The caller deletes it. */
cJSON *slack_modal(const char *view, const char *id, const char *preset);

void slack_said_clear(struct slack_said *s);

#endif
