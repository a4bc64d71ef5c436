/* question: a message of the agent that is held until it is answered: by the front (a policy, or a
 * person in Slack or a terminal), or by the editor's own dialog, which is shown permissions only.
 * The first answer wins, and the front says which was the first. */
#ifndef QUESTION_H
#define QUESTION_H

#include "envelope.h"
#include "proxy.h"

#include <poll.h>

/* Holds a message of a kind that is held. It is passed on instead if it was approved already. */
void question_begin(struct proxy *p, enum envelope_kind kind, const char *line, size_t length,
                    const struct json_peek *peek);

/* An answer of the editor. Whether it is taken: it answers a question, or one that is answered. */
bool question_take_answer(struct proxy *p, const char *line, size_t length,
                          const struct json_peek *peek);
/* The editor cancels the turn of a session. */
void question_cancel_session(struct proxy *p, const cJSON *params);
/* The agent gives up a request. Whether the editor knows nothing of it. */
bool question_cancel(struct proxy *p, const cJSON *params);

/* The descriptors to be watched: fills fds (as many as there are questions) and returns their
 * number; then what came of them. */
size_t question_watch(struct proxy *p, struct pollfd *fds);
void question_serve(struct proxy *p, const struct pollfd *fds, size_t count);
/* What is due: connections, the editor's dialogs, answers that nobody confirms. Returns when to
 * look again, INT64_MAX: no need. */
int64_t question_tick(struct proxy *p, int64_t now_ms);

/* Editor or agent are gone: nobody needs an answer. */
void question_end_all(struct proxy *p);
/* Whether the front has heard that. */
bool question_is_quiet(const struct proxy *p);
void question_clear_all(struct proxy *p);

#endif
