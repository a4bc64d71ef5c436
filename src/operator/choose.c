/* The answers of its own that an agent offers: which one is meant. */
#include "choice.h"
#include "desk.h"

#include "err.h"
#include "json.h"
#include "request.h"
#include "texts.h"

#include <string.h>
#include <strings.h>

static void add_names(const struct desk *d, struct str *out, const cJSON *options)
{
	const cJSON *option;
	int number = 0;

	cJSON_ArrayForEach (option, options) {
		str_addf(out, "\n  %d. ", ++number);
		desk_add_foreign(d, out, json_text(option, "name"), FIND_OPTION);
	}
}

/* number: how to write one, also where it is another one's name. */
static int refuse(struct desk *d, const char *why, const char *text, const char *number,
                  const cJSON *options)
{
	OWNED(str) struct str names = { 0 };

	add_names(d, &names, options);
	return desk_tell(d, SAID_UNCLEAR,
	                 "%s '%.80s'; choose one by its number, as in `choose %s`:%s", why, text,
	                 number, str_text(&names));
}

static bool begins(const char *kind, const char *word)
{
	return kind && strncmp(kind, word, strlen(word)) == 0;
}

/* Whether an operator who says that refuses. */
static bool says_no(const char *text)
{
	static const char *const WORDS[] = { "reject", "stop",    "no", "deny",
		                             "cancel", "decline", NULL };

	return texts_name(WORDS, verb_read(text).word);
}

static int tell_none(struct desk *d, const struct found *f, bool has_options)
{
	if (f->story.length)
		return desk_tell(d, SAID_REFUSED, "%s %s", str_text(&f->name), f->story.bytes);
	return desk_tell(d, SAID_UNCLEAR, "%s offers no %s", str_text(&f->name),
	                 has_options ? "answer that allows this once: `reject` it, or allow it "
	                               "where the agent is set up"
	                             : "answers of its own: `approve` or `reject`");
}

int desk_must_choose(struct desk *d, const struct found *f, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(cJSON_ptr) cJSON *options = NULL;
	OWNED(str) struct str names = { 0 };
	const cJSON *option;
	int got = request_read(d->st, f->seq, &r, e), allow = 0;

	if (got <= 0)
		return got;
	options = cJSON_Parse(r.row.options ? r.row.options : "");
	cJSON_ArrayForEach (option, options)
		allow += begins(json_text(option, "kind"), "allow_once");
	if (!options || allow == 1)
		return 0;
	if (!options->child) {
		(void)tell_none(d, f, true);
		return 1;
	}
	add_names(d, &names, options);
	(void)desk_tell(d, SAID_UNCLEAR,
	                "%s: the agent offers answers of its own; choose one by its number "
	                "(`choose <number>`), and tell it more with `steer <text>`:%s",
	                str_text(&f->name), str_text(&names));
	return 1;
}

int desk_choose(struct desk *d, struct found *f, const char *text, enum request_verdict *verdict,
                struct str *choice, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(cJSON_ptr) cJSON *options = NULL;
	const cJSON *option;
	const char *kind, *name;
	bool many;
	int got = request_read(d->st, f->seq, &r, e);

	if (got < 0)
		return -1;
	options = cJSON_Parse(got > 0 && r.row.options ? r.row.options : "");
	if (cJSON_GetArraySize(options) == 0)
		return tell_none(d, f, options != NULL);
	option = choice_find(options, text, &many);
	if (!option)
		return many ? refuse(d, "several answers are called", text, "1.", options)
		            : refuse(d, "there is no answer", text, "1", options);
	kind = json_text(option, "kind");
	*verdict = begins(kind, "reject") ? REQUEST_VERDICT_REJECT : REQUEST_VERDICT_APPROVE;
	name = json_text(option, "name");
	if (*verdict != REQUEST_VERDICT_REJECT && says_no(text) && strcasecmp(text, name) == 0)
		return refuse(d, "the agent calls an answer that does not reject", text, "1",
		              options);
	str_add_shown(&f->chosen, name, strlen(name), FIND_OPTION);
	for (const cJSON *at = options->child; at; at = at == option ? NULL : at->next)
		f->chosen_number++;
	str_add(choice, json_text(option, "id"));
	return 1;
}
