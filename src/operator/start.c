/* Agents that we start: session-start, session-restart, session-cleanup. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- orders ---- */

/* A number as such; whatever else it is, the rules judge it. */
static void put_park(cJSON *argument, const char *park)
{
	char *end;
	long seconds = park ? strtol(park, &end, 10) : 0;

	if (park && *park && !*end)
		(void)cJSON_AddNumberToObject(argument, "park", (double)seconds);
	else
		json_put_given(argument, "park", park);
}

/* Gives the order with what was requested as its argument. As desk_give. */
static int give(struct desk *d, const char *verb, const char *session_id, const char *prompt,
                struct err *e)
{
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();
	int got;

	json_put_text(argument, "prompt", prompt && *prompt ? prompt : NULL);
	json_put_given(argument, "agent", d->w->agent);
	json_put_given(argument, "workspace", d->w->workspace);
	json_put_given(argument, "channel", d->who->place.channel);
	put_park(argument, d->w->park);
	got = desk_give_json(d, verb, session_id, argument, e);
	if (got > 0)
		desk_add(d, "status", "ordered");
	return got;
}

static const char *prompt_of(const struct words *w)
{
	return w->line ? verb_skip_blanks(w->line) : w->text;
}

/* "01a2052f-b931: claude in web", for the session that the order started. */
static void add_began(const struct desk *d, struct str *out)
{
	const char *agent = json_text_or(d->out->json, "agent", "?");
	const char *root = path_name(json_text_or(d->out->json, "workspace_root", "?"));

	str_addf(out, "%.*s: ", FIND_SHORT, json_text_or(d->out->json, "session_id", "?"));
	str_add_shown(out, agent, strlen(agent), 40);
	str_add(out, " in ");
	str_add_shown(out, root, strlen(root), 40);
}

int desk_start(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	OWNED(str) struct str began = { 0 };
	const char *prompt = prompt_of(w);
	int got;

	if (w->line && !*prompt)
		return desk_tell(d, SAID_UNCLEAR, "what is the agent to do? `%s`", w->verb->syntax);
	got = give(d, "session-start", NULL, prompt, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", json_text(d->out->json, "session_id"));
	add_began(d, &began);
	return desk_tell(d, SAID_DONE, "Starting session %s.", str_text(&began));
}

/* What follows the verb: an id, unless the thread determines the session, and a prompt. */
static const char *take_id(const struct desk *d, const char *line, char id[ID_BYTES])
{
	size_t n = verb_id_length(line);

	id[0] = '\0';
	if (!n || (d->who->place.session_id && !verb_is_only_an_id(line)))
		return line;
	(void)snprintf(id, ID_BYTES, "%.*s", (int)n, line);
	return verb_skip_blanks(line + n);
}

int desk_restart(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	OWNED(str) struct str began = { 0 }, text = { 0 };
	OWNED(found) struct found f = { 0 };
	const char *prompt = prompt_of(w);
	char id[ID_BYTES];
	int got;

	(void)snprintf(id, sizeof(id), "%s", w->id ? w->id : "");
	if (w->line)
		prompt = take_id(d, prompt, id);
	got = desk_find_session(d, id, NULL, &f, e);
	if (got <= 0)
		return got;
	got = give(d, "session-restart", f.session_id, prompt, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", json_text(d->out->json, "session_id"));
	add_began(d, &began);
	str_addf(&text, "Session %s is restarted as %s.", str_text(&f.name), str_text(&began));
	return desk_tell_done(d, 1, &text, e);
}

int desk_clean_up(struct desk *d, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	int got = desk_give(d, "session-cleanup", NULL, NULL, e), n;

	if (got <= 0)
		return got;
	n = (int)json_integer(d->out->json, "terminated");
	if (n == 0)
		return desk_tell(d, SAID_DONE, "No session that was started here is interrupted.");
	str_addf(&text, "%d interrupted session%s ended.", n, n == 1 ? "" : "s");
	return desk_tell_done(d, n, &text, e);
}
