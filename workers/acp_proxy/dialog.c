#include "dialog.h"

#include "clock.h"
#include "json.h"
#include "json_writer.h"
#include "message.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

/* ---- answers that come late ---- */

static void forget_late(struct proxy *p, struct late *l)
{
	TAILQ_REMOVE(&p->lates, l, next);
	p->late_count--;
	free(l->id);
	free(l);
}

static void expect_late(struct proxy *p, const char *id)
{
	struct late *l = xcalloc(1, sizeof(*l));

	if (p->late_count == PROXY_LATE)
		forget_late(p, TAILQ_FIRST(&p->lates));
	l->id = xstrdup(id);
	TAILQ_INSERT_TAIL(&p->lates, l, next);
	p->late_count++;
}

static struct late *find_late(struct proxy *p, const char *token)
{
	OWNED(str) struct str id = { 0 };
	struct late *l;

	if (TAILQ_EMPTY(&p->lates))
		return NULL;
	json_add_id_token(&id, token);
	TAILQ_FOREACH (l, &p->lates, next)
		if (strcmp(l->id, str_text(&id)) == 0)
			return l;
	return NULL;
}

bool dialog_is_late(struct proxy *p, const char *token)
{
	return find_late(p, token) != NULL;
}

bool dialog_take_late(struct proxy *p, const char *token)
{
	struct late *l = find_late(p, token);

	if (l)
		forget_late(p, l);
	return l != NULL;
}

void dialog_clear_lates(struct proxy *p)
{
	struct late *l, *next;

	for (l = TAILQ_FIRST(&p->lates); l; l = next) {
		next = TAILQ_NEXT(l, next);
		forget_late(p, l);
	}
}

/* ---- what it is shown ---- */

void dialog_close(struct proxy *p, struct question *q)
{
	OWNED(str) struct str params = { 0 };
	OWNED(str) struct str json = { 0 };

	if (!q->in_editor || q->answer != ANSWER_NONE)
		return;
	json_object(&params);
	json_member_raw(&params, "requestId", held_shown_token(q));
	json_object_end(&params);
	acp_message_add_notification(&json, "$/cancel_request", params.bytes);
	channel_say(&p->to_editor, &json);
	expect_late(p, held_shown_id(q));
}

/* The message as it came, but for its id. */
static void show_anew(struct proxy *p, const struct question *q)
{
	OWNED(cJSON_ptr) cJSON *message = json_read(q->line.bytes, q->line.length, NULL);
	OWNED(str) struct str json = { 0 };

	cJSON_DeleteItemFromObjectCaseSensitive(message, "id");
	cJSON_AddItemToObject(message, "id",
	                      json_read(q->shown_token, strlen(q->shown_token), NULL));
	json_canonical(&json, message);
	channel_say(&p->to_editor, &json);
}

void dialog_show(struct proxy *p, struct question *q)
{
	if (q->in_editor || q->editor_may_not || q->kind != ENVELOPE_PERMISSION)
		return;
	q->in_editor = true;
	if (q->shown_token)
		show_anew(p, q);
	else
		channel_send(&p->to_editor, q->line.bytes, q->line.length);
}

void dialog_forget(struct proxy *p, struct question *q)
{
	OWNED(str) struct str token = { 0 }, id = { 0 };

	if (!q->in_editor)
		return;
	dialog_close(p, q);
	str_addf(&token, "\"%s\"", id_new().text);
	json_add_id_token(&id, token.bytes);
	free(q->shown_token);
	free(q->shown_id);
	q->shown_token = str_take(&token);
	q->shown_id = str_take(&id);
	str_reset(&q->answer_line);
	q->answer = ANSWER_NONE;
	q->chosen = NULL;
	q->in_editor = q->is_unclear = q->is_first = q->is_second = false;
}

/* ---- what its user answers ---- */

/* What was chosen, NULL: none of the agent's options. */
static const struct acp_option *option_in(const struct question *q, const cJSON *message)
{
	const cJSON *outcome = json_get(json_get(message, "result"), "outcome");
	const char *id = json_text(outcome, "optionId");

	return id && json_says(outcome, "outcome", "selected")
	           ? acp_inquiry_option(&q->subject.ask, id)
	           : NULL;
}

/* What is no rejection counts as a yes, as where an operator chooses it. */
static enum answer answer_of(const struct acp_option *o)
{
	if (!o)
		return ANSWER_WITHDRAWN;
	return o->kind == ACP_REJECT_ONCE || o->kind == ACP_REJECT_ALWAYS ? ANSWER_NO : ANSWER_YES;
}

static bool is_given(const cJSON *member)
{
	return member && !cJSON_IsNull(member);
}

/* Whether an answer that chooses none of the options says nothing else. */
static bool says_none(const cJSON *message)
{
	const cJSON *outcome = json_get(json_get(message, "result"), "outcome");

	return is_given(json_get(message, "error")) ||
	       (json_says(outcome, "outcome", "cancelled") && !json_get(outcome, "optionId"));
}

int dialog_read(struct question *q, const char *line, size_t length, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *message = json_read_strictly(line, length, "the answer", e);

	if (!message || names_check_choice(message, e))
		return -1;
	if (is_given(json_get(message, "result")) && is_given(json_get(message, "error")))
		return err_set(e, ERR_INPUT, "it has both a result and an error");
	q->chosen = option_in(q, message);
	q->answer = answer_of(q->chosen);
	str_reset(&q->answer_line);
	str_add_bytes(&q->answer_line, line, length);
	q->answered_ms = clock_monotonic_ms();
	return q->answer == ANSWER_WITHDRAWN && !says_none(message);
}
