#include "inherit.h"

#include "departed.h"
#include "sql/steering.h"

static int is_there(struct store *st, int64_t session, const struct peer *p, struct err *e)
{
	return departed_is_there(st, session, p->seq, p->identity.agent, e);
}

static int inherit_answers_of(struct store *st, int64_t session, struct err *e)
{
	return sql_answer_say(st, session, e) || sql_answer_said(st, session, e) ? -1 : 0;
}

int inherit_answers(struct store *st, const struct peer *p, const char *digest, struct err *e)
{
	int64_t before = 0;

	while ((before = sql_answer_left_with(st, p->session_seq, before, digest, e)) > 0) {
		int there = is_there(st, before, p, e);

		if (there < 0 || (!there && inherit_answers_of(st, before, e)))
			return -1;
	}
	return before < 0 ? -1 : 0;
}

int inherit_words(struct store *st, const struct peer *p, struct err *e)
{
	int64_t before = 0;

	while ((before = sql_steering_left_with(st, p->session_seq, before, e)) > 0) {
		int there = is_there(st, before, p, e);

		if (there < 0 || (!there && sql_steering_inherit(st, p->session_seq, before, e)))
			return -1;
	}
	return before < 0 ? -1 : 0;
}

int inherit_of(struct store *st, const struct peer *p, int64_t session, struct err *e)
{
	int there = session == p->session_seq ? 0 : is_there(st, session, p, e);

	if (there)
		return there;
	if (inherit_answers_of(st, session, e))
		return -1;
	return session == p->session_seq ? 0 : sql_steering_inherit(st, p->session_seq, session, e);
}
