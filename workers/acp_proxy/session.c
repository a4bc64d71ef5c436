#include "session.h"

#include "json.h"
#include "log.h"
#include "message.h"
#include "names.h"

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

/* The oldest without a question goes, at first of those that no editor has opened. */
static void make_room(struct proxy *p)
{
	struct session *s, *oldest = NULL;

	if (p->session_count < PROXY_SESSIONS)
		return;
	TAILQ_FOREACH_REVERSE(s, &p->sessions, sessions, next)
	{
		if (s->questions > 0)
			continue;
		if (!oldest || !s->folder)
			oldest = s;
		if (!s->folder)
			break;
	}
	if (oldest)
		discard(p, oldest);
}

static struct session *named(struct proxy *p, const char *id)
{
	struct session *s;

	TAILQ_FOREACH (s, &p->sessions, next)
		if (strcmp(s->id, id) == 0)
			return s;
	return NULL;
}

/* A new one is of no folder yet. */
static struct session *session_of(struct proxy *p, const char *id)
{
	struct session *s = named(p, id);

	if (s)
		return s;
	make_room(p);
	s = xcalloc(1, sizeof(*s));
	s->id = xstrdup(id);
	grants_init(&s->grants);
	TAILQ_INSERT_HEAD(&p->sessions, s, next);
	p->session_count++;
	return s;
}

struct session *session_opened(struct proxy *p, const char *id)
{
	struct session *s = id ? named(p, id) : NULL;

	return s && s->folder ? s : NULL;
}

static bool is_elsewhere(const struct session *s, const char *folder)
{
	return s && s->folder && strcmp(s->folder, folder) != 0;
}

static struct session *place(struct proxy *p, const char *id, const char *folder)
{
	struct session *s = session_of(p, id);

	if (is_elsewhere(s, folder))
		s->is_loaded = false;
	xreplace(&s->folder, folder);
	return s;
}

/* ---- openings ---- */

static void forget(struct proxy *p, struct opening *o)
{
	TAILQ_REMOVE(&p->openings, o, next);
	p->opening_count--;
	free(o->id);
	free(o->folder);
	free(o->session);
	free(o->before);
	free(o);
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

static bool is_of_same_digits(const char *a, const char *b)
{
	a += *a == '"';
	b += *b == '"';
	return strcspn(a, "\"") == strcspn(b, "\"") && strncmp(a, b, strcspn(a, "\"")) == 0;
}

/* The one that some reader may take this for the answer to: to some, "7" is 7. */
static struct opening *find_answered(struct proxy *p, const char *token)
{
	struct opening *o = find(p, token);
	OWNED(str) struct str id = { 0 };

	if (o || TAILQ_EMPTY(&p->openings))
		return o;
	json_add_id_token(&id, token);
	TAILQ_FOREACH (o, &p->openings, next)
		if (is_of_same_digits(o->id, str_text(&id)))
			return o;
	return NULL;
}

static struct opening *remember(struct proxy *p, const char *token, const char *folder)
{
	struct opening *o = xcalloc(1, sizeof(*o));
	OWNED(str) struct str id = { 0 };

	if (p->opening_count == OPENINGS_MAX)
		forget(p, TAILQ_LAST(&p->openings, openings)); /* the oldest */
	json_add_id_token(&id, token);
	o->id = str_take(&id);
	o->folder = xstrdup(folder);
	TAILQ_INSERT_HEAD(&p->openings, o, next);
	p->opening_count++;
	return o;
}

/* ---- what the editor says ---- */

static bool loads(const char *method)
{
	return strcmp(method, "session/load") == 0 || strcmp(method, "session/resume") == 0;
}

static bool opens(const char *method)
{
	return loads(method) || strcmp(method, "session/new") == 0 ||
	       strcmp(method, "session/fork") == 0;
}

/* What is said of it from now on, is of where it is loaded. */
static void load(struct proxy *p, struct opening *o, const char *id)
{
	const struct session *s = session_opened(p, id);

	o->session = xstrdup(id);
	if (s)
		o->before = xstrdup(s->folder);
	place(p, id, o->folder)->is_loaded = true;
}

static bool refuse_folder(struct proxy *p, const char *token)
{
	OWNED(str) struct str json = { 0 };

	acp_message_add_error(&json, token, ACP_INVALID_PARAMS, "cwd must be an absolute path");
	channel_say(&p->to_editor, &json);
	return false;
}

bool session_note_editor(struct proxy *p, const char *line, size_t length,
                         const struct json_peek *peek)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const char *folder, *id;
	const cJSON *params;
	struct opening *o;

	if (!peek->method[0] || !peek->id[0])
		return true;
	o = find(p, peek->id);
	if (o)
		forget(p, o); /* its id is of another request now */
	if (!opens(peek->method))
		return true;
	root = cJSON_ParseWithLength(line, length);
	params = cJSON_GetObjectItemCaseSensitive(root, "params");
	folder = json_text(params, "cwd");
	id = json_text(params, "sessionId");
	if (!folder)
		return true;
	if (folder[0] != '/')
		return refuse_folder(p, peek->id);
	o = remember(p, peek->id, folder);
	if (id && loads(peek->method))
		load(p, o, id);
	return true;
}

/* ---- what the agent says ---- */

/* An answer's session, NULL where it names none; -1: not all readers would understand the same, or
 * the agent would act in another folder than the editor believes. */
static int read_opened(struct proxy *p, const struct opening *o, const cJSON *root,
                       const char **ret_id, struct err *e)
{
	const cJSON *result = json_get(root, "result");
	const cJSON *id = json_get(result, "sessionId");

	if (names_check_opened(root, e))
		return -1;
	*ret_id = json_text(result, "sessionId");
	if (!result && json_get(root, "error"))
		return 0;
	if (!result)
		return err_set(e, ERR_INPUT, "the agent's answer has no result");
	if (!id && o->session)
		return 0;
	if (!*ret_id || !**ret_id)
		return err_set(e, ERR_INPUT, "the agent's answer names no session");
	if (is_elsewhere(named(p, *ret_id), o->folder))
		return err_set(e, ERR_INPUT,
		               "the agent's answer names a session of another folder");
	return 0;
}

/* A load that failed: the session is where it was. */
static void take_back(struct proxy *p, const struct opening *o)
{
	if (o->before)
		(void)place(p, o->session, o->before);
}

static bool refuse_opened(struct proxy *p, const struct opening *o, const char *why)
{
	OWNED(str) struct str json = { 0 };

	log_warn("an answer of the agent that opens a session is not passed on: %s", why);
	take_back(p, o);
	acp_message_add_error(&json, o->id, ACP_INTERNAL_ERROR, why);
	channel_say(&p->to_editor, &json);
	return false;
}

static const char TWO_WAYS[] = "readers may understand the agent's answer differently";

static bool take_opened(struct proxy *p, struct opening *o, const char *line, size_t length,
                        const struct json_peek *peek)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	struct err e = { 0 };
	const char *id;

	if (o->is_answered) {
		log_warn("a second answer of the agent to %s is dropped", o->id);
		return false;
	}
	o->is_answered = true;
	if (peek->has[JSON_PEEK_METHOD] || find(p, peek->id) != o)
		return refuse_opened(p, o, TWO_WAYS);
	if (length > CHANNEL_LINE)
		return refuse_opened(p, o, "the agent's answer is longer than 32 MiB");
	root = json_read_strictly(line, length, "the agent's answer", &e);
	if (!root || read_opened(p, o, root, &id, &e))
		return refuse_opened(p, o, e.text);
	if (id)
		(void)place(p, id, o->folder);
	else if (!json_get(root, "result"))
		take_back(p, o);
	return true;
}

static bool is_opening(const struct proxy *p)
{
	const struct opening *o;

	TAILQ_FOREACH (o, &p->openings, next)
		if (!o->is_answered)
			return true;
	return false;
}

static void note_tool(struct proxy *p, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *root = json_read(line, length, NULL);
	const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "params");
	const cJSON *update = cJSON_GetObjectItemCaseSensitive(params, "update");
	const char *kind = json_text(update, "sessionUpdate");
	struct acp_tool_call *call;
	const char *id = json_text(params, "sessionId");
	struct session *s;
	bool is_new;

	if (!kind || (strcmp(kind, "tool_call") != 0 && strcmp(kind, "tool_call_update") != 0))
		return;
	if (!id || (!named(p, id) && !is_opening(p)))
		return;
	s = session_of(p, id);
	call = acp_tool_call_merge(&s->calls, update, false, &is_new);
	if (call && acp_tool_call_is_over(call))
		acp_tool_calls_sweep(&s->calls);
}

bool session_refuse_agent(struct proxy *p, const struct json_peek *peek)
{
	struct opening *o = peek->id[0] ? find_answered(p, peek->id) : NULL;

	if (!o || o->is_answered || !(peek->has[JSON_PEEK_RESULT] || peek->has[JSON_PEEK_ERROR]))
		return false;
	o->is_answered = true;
	(void)refuse_opened(p, o, TWO_WAYS);
	return true;
}

bool session_take_agent(struct proxy *p, const char *line, size_t length,
                        const struct json_peek *peek)
{
	struct opening *o = peek->id[0] ? find_answered(p, peek->id) : NULL;

	/* An agent's own request may have the id of one of its editor's. */
	if (o && !peek->method[0])
		return take_opened(p, o, line, length, peek);
	if (strcmp(peek->method, "session/update") == 0 && length <= UPDATE_BYTES &&
	    memmem(line, length, "\"tool_call", 10))
		note_tool(p, line, length);
	return true;
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
