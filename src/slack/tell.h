/* tell: how a person in Slack learns the outcome of their action: in the ack if Slack accepts an
 * answer there (commands, forms), in the thread that they wrote in, or visible to them only. */
#ifndef TELL_H
#define TELL_H

#include "order.h"
#include "say.h"

/* One action of one operator, and where it happened. */
struct slack_talk {
	struct store *st;
	const struct slack_intent *intent;
	const struct slack_thread_row *thread; /* of a reply; seq 0: not one of ours */
	const char *operator_id;
	const struct proof_key *key; /* proves that it is from Slack */
	char channel[64]; /* whose sessions are meant; a direct message means the default one */
	struct str *reply; /* the payload of the ack */
};

int slack_tell(struct slack_talk *t, const char *text, struct err *e);
/* Below the request that it is about: words with buttons. detail: JSON, {"request", "words"}. */
int slack_tell_buttons(struct slack_talk *t, int64_t session_seq, const char *text,
                       const char *detail, struct err *e);
/* A success about a session. What a button or a form decided is shown by the edited message, which
 * is enough if the agent hears it; a form closes, so what is said about it is said in the thread of
 * the session. */
int slack_tell_done(struct slack_talk *t, const struct said *s, struct err *e);

#endif
