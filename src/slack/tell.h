/* tell: how a person in Slack learns the outcome of their action: in the ack where Slack takes an
 * answer at once (commands, forms), in the thread that they wrote in, or for their eyes only. */
#ifndef TELL_H
#define TELL_H

#include "order.h"

/* One act of one operator, and where it happened. */
struct slack_talk {
	struct store *st;
	const struct slack_intent *intent;
	const struct slack_thread_row *thread; /* of a reply; seq 0: it is none of ours */
	const char *operator_id;
	const struct proof_key *key; /* proves that it is from Slack */
	char
	    channel[64]; /* whose sessions are meant; a direct message stands for the default one */
	struct str *reply; /* the payload of the ack */
};

int slack_tell(struct slack_talk *t, const char *text, struct err *e);
/* Below the question that it is about: words with buttons. detail: JSON, {"request", "words"}. */
int slack_tell_buttons(struct slack_talk *t, int64_t session_seq, const char *text,
                       const char *detail, struct err *e);
/* Whether a success is worth a line: what buttons and forms do is shown by the edited message. */
bool slack_tells_success(const struct slack_talk *t);

#endif
