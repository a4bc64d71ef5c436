#include "held.h"

#include "clock.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { LIGHT_BYTES = 64 << 10 };

struct question *held_add(struct proxy *p, enum envelope_kind kind, struct session *s,
                          const char *line, size_t length, const char *token)
{
	struct question *q = xcalloc(1, sizeof(*q));
	OWNED(str) struct str id = { 0 };

	json_add_id_token(&id, token);
	*q = (struct question){ .kind = kind,
		                .session = s,
		                .folder = xstrdup(s->folder),
		                .token = xstrdup(token),
		                .id = str_take(&id),
		                .link = UPLINK_INIT,
		                .show_ms = clock_monotonic_ms() + PROXY_EDITOR_MS };
	grants_init(&q->grants);
	str_add_bytes(&q->line, line, length);
	if (line[length - 1] != '\n')
		str_add_char(&q->line, '\n');
	TAILQ_INSERT_TAIL(&p->questions, q, next);
	p->question_count++;
	p->held_bytes += q->line.length;
	s->questions++;
	return q;
}

void held_drop(struct proxy *p, struct question *q)
{
	TAILQ_REMOVE(&p->questions, q, next);
	p->question_count--;
	p->held_bytes -= q->line.length;
	q->session->questions--;
	uplink_close(&q->link, &p->system);
	subject_clear(&q->subject);
	cJSON_Delete(q->content);
	grants_clear(&q->grants);
	str_clear(&q->line);
	str_clear(&q->answer_line);
	free(q->folder);
	free(q->token);
	free(q->id);
	free(q->shown_token);
	free(q->shown_id);
	free(q->digest);
	free(q);
}

bool held_lighten(struct proxy *p, struct question *q)
{
	struct str *input = &q->subject.input;
	cJSON *all;

	p->held_bytes -= q->line.length;
	str_clear(&q->line);
	cJSON_Delete(q->content);
	q->content = NULL;
	grants_clear(&q->grants);
	if (q->digest) { /* that says what it was */
		all = json_read(input->bytes, input->length, NULL);
		cJSON_ReplaceItemInObjectCaseSensitive(all, "tool_input", cJSON_CreateObject());
		str_reset(input);
		json_canonical(input, all);
		cJSON_Delete(all);
	}
	return input->length <= LIGHT_BYTES;
}

const char *held_shown_token(const struct question *q)
{
	return q->shown_token ? q->shown_token : q->token;
}

const char *held_shown_id(const struct question *q)
{
	return q->shown_id ? q->shown_id : q->id;
}

static const char *own_id(const struct question *q)
{
	return q->id;
}

static struct question *find_by(struct proxy *p, const char *(*id_of)(const struct question *),
                                const char *token)
{
	OWNED(str) struct str id = { 0 };
	struct question *q;

	if (TAILQ_EMPTY(&p->questions))
		return NULL;
	json_add_id_token(&id, token);
	TAILQ_FOREACH (q, &p->questions, next)
		if (!q->is_over && strcmp(id_of(q), str_text(&id)) == 0)
			return q;
	return NULL;
}

struct question *held_find(struct proxy *p, const char *token)
{
	return find_by(p, own_id, token);
}

struct question *held_find_shown(struct proxy *p, const char *token)
{
	return find_by(p, held_shown_id, token);
}
