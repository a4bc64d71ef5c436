/* Takes one message from Slack: stores an envelope and everything that follows from it in one
 * transaction, then acknowledges it on the connection it arrived on.
 *
 * Slack waits for 3 s. If others hold the database for LISTENER_STORE_MS, or its disk is full, the
 * person who clicked or typed is told so and the envelope is acknowledged: our message is clearer
 * than Slack's. An event is not acknowledged then, so that Slack sends it again. */
#include "listener.h"

#include "envelope.h"
#include "json_writer.h"
#include "log.h"
#include "setting.h"

#include <stdlib.h>
#include <string.h>

static const char REFUSED[] =
    "agent-intercom could not do this: the rules of its database refuse it. Nothing was done; the "
    "log says why.";
enum { WHY_SHOWN = 300 };

static void acknowledge(struct link *link, const struct slack_frame *f, const char *payload)
{
	OWNED(str) struct str ack = { 0 };

	slack_ack(&ack, f->envelope_id, f->accepts_payload ? payload : NULL);
	link_send(link, ack.bytes, ack.length);
}

/* ---- when it could not be stored ---- */

static struct slack_call *free_call(struct listener *l)
{
	for (int i = 0; i < LISTENER_TELLS; i++)
		if (!l->tells[i].easy)
			return &l->tells[i];
	return NULL;
}

static void add_ephemeral(struct str *out, const char *text)
{
	str_add(out, "{\"response_type\":\"ephemeral\",\"replace_original\":false,\"text\":");
	json_quote(out, text);
	str_add_char(out, '}');
}

/* By the response_url of a click; for a command or a form, with the ack. */
static void tell_person(struct link *link, const struct slack_frame *f,
                        const struct slack_intent *a, const char *text)
{
	struct slack_call *c = free_call(link->listener);
	OWNED(str) struct str body = { 0 };

	if (a->field) {
		str_add(&body, "{\"response_action\":\"errors\",\"errors\":{");
		json_quote(&body, a->field);
		str_add_char(&body, ':');
		json_quote(&body, text);
		str_add(&body, "}}");
		acknowledge(link, f, body.bytes);
		return;
	}
	add_ephemeral(&body, text);
	acknowledge(link, f, a->meaning == INTENT_COMMAND ? body.bytes : NULL);
	if (a->meaning != INTENT_COMMAND && a->response_url && c)
		slack_call_start_at(&link->listener->web, c, a->response_url,
		                    "application/json; charset=utf-8", body.bytes, body.length);
}

static void not_stored(struct link *link, const struct slack_frame *f, const struct slack_intent *a,
                       const struct err *e)
{
	bool event = strcmp(f->type, "events_api") == 0;
	OWNED(str) struct str told = { 0 };

	if (store_is_broken(&link->listener->worker.store)) {
		machine_fail(link->listener, e);
		return;
	}
	log_error("an envelope (%s) could not be stored%s: %s", a->kind ? a->kind : f->type,
	          event ? " and is not acknowledged, so that it comes again" : "", e->text);
	if (event)
		return;
	str_add(&told, "agent-intercom could not write this down (");
	str_add_shown(&told, e->text, strlen(e->text), WHY_SHOWN);
	str_add(&told, "). Nothing was done; please do it again.");
	tell_person(link, f, a, told.bytes);
}

/* ---- storing ---- */

static int store(struct link *link, struct slack_frame *f, const struct slack_intent *a,
                 struct slack_stored *out, struct err *e)
{
	struct store *st = &link->listener->worker.store;

	if (store_begin_within(st, LISTENER_STORE_MS, e))
		return -1;
	return store_end(st, slack_envelope_store(st, f, a, &link->listener->key, out, e), e);
}

/* The rules refuse what follows from the envelope, and always will: it is stored as malformed with
 * the reason and acknowledged, and the person is told. */
static void refused(struct link *link, struct slack_frame *f, const struct slack_intent *a,
                    struct err *e)
{
	OWNED(slack_stored) struct slack_stored out = { 0 };
	struct slack_intent malformed = *a;
	struct err again = { 0 };

	log_error("an envelope (%s) is refused by the rules of the database: %s",
	          a->kind ? a->kind : f->type, e->text);
	malformed.meaning = INTENT_UNKNOWN;
	malformed.problem = e->text;
	if (store(link, f, &malformed, &out, &again))
		log_error("nor can it be stored as malformed: %s", again.text);
	if (strcmp(f->type, "events_api") == 0)
		acknowledge(link, f, NULL);
	else
		tell_person(link, f, a, REFUSED);
}

static void tell_outcome(const struct slack_stored *out, const struct slack_intent *a)
{
	const char *kind = a->kind ? a->kind : "envelope";

	switch (out->outcome) {
	case SLACK_ENVELOPE_OUTCOME_UNAUTHORIZED:
		log_warn("someone who is not an operator did this: %s",
		         a->action ? a->action : kind);
		break;
	case SLACK_ENVELOPE_OUTCOME_MALFORMED:
		log_warn("%s is not understood: %s", kind, str_text(&out->why));
		break;
	case SLACK_ENVELOPE_OUTCOME_ACCEPTED:
	case SLACK_ENVELOPE_OUTCOME_DUPLICATE:
	case SLACK_ENVELOPE_OUTCOME_IGNORED:
	case SLACK_ENVELOPE_OUTCOME_NONE:
		log_debug("%s: %s", kind, slack_envelope_outcome_name(out->outcome));
		break;
	}
}

/* Our own user id, NULL until slack-poster has learned it. */
static const char *bot_user(struct listener *l)
{
	OWNED(str) struct str bot = { 0 };

	if (!l->bot_user && setting_get(&l->worker.store, "slack.bot_user_id", &bot, NULL) > 0 &&
	    bot.length)
		l->bot_user = str_take(&bot);
	return l->bot_user;
}

static void take_envelope(struct link *link, struct slack_frame *f, bool too_long)
{
	OWNED(slack_intent) struct slack_intent a = { 0 };
	OWNED(slack_stored) struct slack_stored out = { 0 };
	struct err e = { 0 };

	slack_intent_read(&a, f, bot_user(link->listener));
	if (too_long) {
		free(a.problem);
		a.problem = xstrdup("it is longer than 1 MiB");
	}
	if (store(link, f, &a, &out, &e)) {
		if (e.kind == ERR_REFUSED)
			refused(link, f, &a, &e);
		else
			not_stored(link, f, &a, &e);
		return;
	}
	acknowledge(link, f, out.reply.bytes);
	tell_outcome(&out, &a);
}

void take_frame(struct link *link, const char *bytes, size_t length, bool too_long)
{
	OWNED(slack_frame) struct slack_frame f;

	slack_frame_read(&f, bytes, length);
	if (f.kind == SLACK_FRAME_HELLO)
		machine_hello(link, &f);
	else if (f.kind == SLACK_FRAME_DISCONNECT)
		machine_disconnect(link, f.reason);
	else if (f.envelope_id)
		take_envelope(link, &f, too_long);
	else
		log_warn("connection %u: skipped a message that is not an envelope", link->number);
}
