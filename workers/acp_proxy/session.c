#include "session.h"

#include "json.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPENINGS_MAX = 100,
	UPDATE_BYTES = 8 << 20, /* of an update that is looked at: a permission may repeat it */
};

/* ---- sessions ---- */

static void discard(struct proxy *p, struct session *s)
{
	TAILQ_REMOVE(&p->sessions, s, next);
	p->session_count--;
	acp_tool_calls_clear(&s->calls);
	grants_clear(&s->grants);
	free(s->id);
	free(s->folder);
	free(s);
}

static bool is_asked_about(const struct proxy *p, const struct session *s)
{
	return s->questions > 0 || TAILQ_FIRST(&p->sessions) == s;
}

/* The oldest that has no question. */
static void make_room(struct proxy *p)
{
	struct session *s;

	if (p->session_count < PROXY_SESSIONS)
		return;
	TAILQ_FOREACH_REVERSE(s, &p->sessions, sessions, next)
	if (!is_asked_about(p, s)) {
		discard(p, s);
		return;
	}
}

struct session *session_of(struct proxy *p, const char *id)
{
	struct session *s;

	TAILQ_FOREACH (s, &p->sessions, next)
		if (strcmp(s->id, id ? id : "") == 0)
			return s;
	make_room(p);
	s = xcalloc(1, sizeof(*s));
	s->id = xstrdup(id ? id : "");
	s->folder = xstrdup(p->folder);
	grants_init(&s->grants);
	TAILQ_INSERT_HEAD(&p->sessions, s, next);
	p->session_count++;
	return s;
}

static struct session *place(struct proxy *p, const char *id, const char *folder)
{
	struct session *s = session_of(p, id);

	if (strcmp(s->folder, folder) != 0)
		s->is_loaded = false;
	free(s->folder);
	s->folder = xstrdup(folder);
	return s;
}

/* ---- openings ---- */

static void forget(struct proxy *p, struct opening *o)
{
	TAILQ_REMOVE(&p->openings, o, next);
	p->opening_count--;
	free(o->id);
	free(o->folder);
	free(o);
}

static void remember(struct proxy *p, const char *token, const char *folder)
{
	struct opening *o = xcalloc(1, sizeof(*o));
	OWNED(str) struct str id = { 0 };

	if (p->opening_count == OPENINGS_MAX)
		forget(p, TAILQ_FIRST(&p->openings));
	json_add_id_token(&id, token);
	o->id = str_take(&id);
	o->folder = xstrdup(folder);
	TAILQ_INSERT_TAIL(&p->openings, o, next);
	p->opening_count++;
}

static struct opening *find(struct proxy *p, const char *token)
{
	OWNED(str) struct str id = { 0 };
	struct opening *o;

	if (TAILQ_EMPTY(&p->openings))
		return NULL;
	json_add_id_token(&id, token);
	TAILQ_FOREACH (o, &p->openings, next)
		if (strcmp(o->id, str_text(&id)) == 0)
			return o;
	return NULL;
}

/* ---- lines ---- */

static bool loads(const char *method)
{
	return strcmp(method, "session/load") == 0 || strcmp(method, "session/resume") == 0;
}

/* session/new, session/load, ...: whatever has a folder. */
void session_note_editor(struct proxy *p, const char *line, size_t length,
                         const struct json_peek *peek)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const char *folder, *id;
	const cJSON *params;

	if (strncmp(peek->method, "session/", 8) != 0 || !peek->id[0] ||
	    !memmem(line, length, "\"cwd\"", 5))
		return;
	root = cJSON_ParseWithLength(line, length);
	params = cJSON_GetObjectItemCaseSensitive(root, "params");
	folder = json_text(params, "cwd");
	id = json_text(params, "sessionId");
	if (!folder || folder[0] != '/')
		return;
	if (id && loads(peek->method))
		place(p, id, folder)->is_loaded = true;
	else if (id)
		(void)place(p, id, folder);
	remember(p, peek->id, folder);
}

static void note_opened(struct proxy *p, struct opening *o, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_ParseWithLength(line, length);
	const char *id = json_text(cJSON_GetObjectItemCaseSensitive(root, "result"), "sessionId");

	if (id)
		(void)place(p, id, o->folder);
	forget(p, o);
}

static void note_tool(struct proxy *p, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *root = json_read(line, length, NULL);
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "params");
	const cJSON *update = cJSON_GetObjectItemCaseSensitive(params, "update");
	const char *kind = json_text(update, "sessionUpdate");
	struct acp_tool_call *call;
	struct session *s;
	bool is_new;

	if (!kind || (strcmp(kind, "tool_call") != 0 && strcmp(kind, "tool_call_update") != 0))
		return;
	s = session_of(p, json_text(params, "sessionId"));
	call = acp_tool_call_merge(&s->calls, update, false, &is_new);
	if (call && acp_tool_call_is_over(call))
		acp_tool_calls_sweep(&s->calls);
}

void session_note_agent(struct proxy *p, const char *line, size_t length,
                        const struct json_peek *peek)
{
	struct opening *o;

	if (strcmp(peek->method, "session/update") == 0) {
		if (length <= UPDATE_BYTES && memmem(line, length, "\"tool_call", 10))
			note_tool(p, line, length);
	} else if (!peek->method[0] && peek->id[0]) {
		o = find(p, peek->id);
		if (o)
			note_opened(p, o, line, length);
	}
}

void session_clear_all(struct proxy *p)
{
	struct session *s, *next;
	struct opening *o, *after;

	for (s = TAILQ_FIRST(&p->sessions); s; s = next) {
		next = TAILQ_NEXT(s, next);
		discard(p, s);
	}
	for (o = TAILQ_FIRST(&p->openings); o; o = after) {
		after = TAILQ_NEXT(o, next);
		forget(p, o);
	}
}
