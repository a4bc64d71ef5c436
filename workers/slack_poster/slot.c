/* Single calls alongside the posts: modals, edits, answers that only one person sees. */
#include "modal.h"
#include "notice.h"
#include "poster.h"

#include <string.h>

static bool has_expired(const struct slack_intent_row *i)
{
	return i->expires_at && clock_parse(i->expires_at) <= clock_now_ms();
}

/* ---- starting: 1 it is under way, 0 it is settled already, -1 error ---- */

static int dead(struct poster *p, const struct slack_intent_row *i, const char *why,
                const char *words, struct err *e)
{
	return slack_settle_dead(&p->w.store, i, why, words, e) ? -1 : 0;
}

static int start_view(struct poster *p, struct slot *s, struct err *e)
{
	struct slack_intent_row *i = &s->intent;
	OWNED(str) struct str form = { 0 };
	struct err why = { 0 };
	cJSON *modal = poster_modal(p, i, &why);

	if (!modal)
		return poster_unsayable(p, i, &why, e);
	slack_form_add(&form, "trigger_id", i->trigger_id);
	slack_form_add_json(&form, "view", modal);
	slack_call_start(&p->web, &s->call, "views.open", &form, SLACK_VIEW_MS);
	return 1;
}

static int start_update(struct poster *p, struct slot *s, struct err *e)
{
	struct slack_intent_row *i = &s->intent;
	OWNED(slack_said) struct slack_said said = { 0 };
	OWNED(str) struct str form = { 0 };
	struct err why = { 0 };

	if (i->message_state != SLACK_MESSAGE_STATE_SENT || !i->ts)
		return dead(p, i, "the message no longer exists", NULL, e);
	if (i->generation <= i->sent_generation)
		return slack_settle_needless(&p->w.store, i, e) ? -1 : 0;
	if (poster_render(p, i, &said, &why))
		return poster_unsayable(p, i, &why, e);
	slack_form_add(&form, "channel", i->channel_id);
	slack_form_add(&form, "ts", i->ts);
	poster_add_said(&form, i, &said);
	slack_call_start(&p->web, &s->call, "chat.update", &form, SLACK_CALL_MS);
	return 1;
}

static int start_delete(struct poster *p, struct slot *s)
{
	OWNED(str) struct str form = { 0 };

	slack_form_add(&form, "channel", s->intent.channel_id);
	slack_form_add(&form, "ts", s->intent.ts);
	slack_call_start(&p->web, &s->call, "chat.delete", &form, SLACK_CALL_MS);
	return 1;
}

static int start_ephemeral(struct poster *p, struct slot *s)
{
	struct slack_intent_row *i = &s->intent;
	OWNED(slack_said) struct slack_said said = { 0 };
	OWNED(str) struct str form = { 0 };

	slack_notice_text(i->words, &said);
	slack_form_add(&form, "channel", i->to_channel);
	slack_form_add(&form, "user", i->user_id);
	slack_form_add(&form, "thread_ts", i->to_thread);
	poster_add_said(&form, i, &said);
	slack_call_start(&p->web, &s->call, "chat.postEphemeral", &form, SLACK_CALL_MS);
	return 1;
}

static int start_respond(struct poster *p, struct slot *s)
{
	struct slack_intent_row *i = &s->intent;
	OWNED(slack_said) struct slack_said said = { 0 };
	cJSON *body = cJSON_CreateObject();
	OWNED(char_ptr) char *text = NULL;

	slack_notice_text(i->words, &said);
	(void)cJSON_AddStringToObject(body, "response_type", "ephemeral");
	(void)cJSON_AddBoolToObject(body, "replace_original", i->replaces);
	(void)cJSON_AddStringToObject(body, "text", str_text(&said.text));
	(void)cJSON_AddItemToObject(body, "blocks", said.blocks);
	said.blocks = NULL;
	text = cJSON_PrintUnformatted(body);
	cJSON_Delete(body);
	slack_call_start_at(&p->web, &s->call, i->response_url, "application/json; charset=utf-8",
	                    text, strlen(text));
	return 1;
}

static int start(struct poster *p, struct slot *s, struct err *e)
{
	bool is_form = s->intent.kind == SLACK_KIND_VIEW_OPEN;

	if (has_expired(&s->intent))
		return dead(p, &s->intent, "it came too late", is_form ? SLACK_TOO_LATE : NULL, e);
	switch (s->intent.kind) {
	case SLACK_KIND_VIEW_OPEN:
		return start_view(p, s, e);
	case SLACK_KIND_UPDATE:
		return start_update(p, s, e);
	case SLACK_KIND_DELETE:
		return start_delete(p, s);
	case SLACK_KIND_RESPOND:
		return start_respond(p, s);
	case SLACK_KIND_EPHEMERAL:
		return start_ephemeral(p, s);
	case SLACK_KIND_POST:
	case SLACK_KIND_FILE:
	case SLACK_KIND_NONE:
		break;
	}
	return err_set(e, ERR_BUG, "no slot sends a %s", slack_kind_name(s->intent.kind));
}

/* ---- settling ---- */

/* Some clients show no form in a thread: tells the person another way to answer. */
static int tell_way_round(struct poster *p, const struct slack_intent_row *i, struct err *e)
{
	OWNED(str) struct str words = { 0 };

	if (i->kind != SLACK_KIND_VIEW_OPEN || !i->to_thread)
		return 0;
	str_add(&words, "A form is open. If you do not see it: ");
	slack_modal_instead(i->view, &words);
	str_add_char(&words, '.');
	return slack_settle_tell(&p->w.store, i, words.bytes, e);
}

static int finish(struct poster *p, struct slot *s, struct err *e)
{
	int failed;

	s->busy = false;
	poster_heed(p, &s->call);
	if (s->call.class != SLACK_OK)
		return slack_settle_failed(&p->w.store, &s->intent, &s->call, e);
	failed = slack_settle_sent(&p->w.store, &s->intent, NULL, e);
	return failed ? -1 : tell_way_round(p, &s->intent, e);
}

int poster_turn_slots(struct poster *p, struct err *e)
{
	int did = 0;

	for (size_t k = 0; k < POSTER_SLOTS; k++) {
		struct slot *s = &p->slots[k];
		int got;

		if (s->busy && !s->call.done)
			continue;
		if (s->busy && finish(p, s, e))
			poster_refused(p, &s->intent, e);
		if (e->kind != ERR_NONE)
			return -1;
		got = p->w.stopping
		          ? 0
		          : slack_outbox_claim(&p->w.store, p->w.id.text, s->name, &s->intent, e);
		if (got > 0) {
			did = 1;
			got = start(p, s, e);
			s->busy = got > 0;
			if (got < 0)
				poster_refused(p, &s->intent, e);
		}
		if (e->kind != ERR_NONE && !worker_forgives(&p->w, e))
			return -1;
	}
	int read = poster_turn_reading(p, e);
	return read < 0 ? -1 : did || read;
}

bool poster_is_busy(const struct poster *p)
{
	for (size_t k = 0; k < POSTER_SLOTS; k++)
		if (p->slots[k].busy)
			return true;
	return p->reading.busy;
}
