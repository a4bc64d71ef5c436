/* slack_words_case: what the programs test_slack_words*.c share: a listener that is connected, one
 * session in its thread, and what operators write, press and are told there. */
#ifndef SLACK_WORDS_CASE_H
#define SLACK_WORDS_CASE_H

#include "harness.h"

#define THREAD "1700000000.000100"
#define SESSION "01900000-0000-7000-8000-000000000001"
#define CHANGE "01911111-0000-7000-8000-00000000000a"
#define PROMPT "01922222-0000-7000-8000-00000000000b"
#define STANDBY "01933333-0000-7000-8000-00000000000c"
#define T "2026-01-01T09:00:00.000Z"

#define LAST_REPLY "SELECT text FROM slack_message WHERE kind = 'reply' ORDER BY seq DESC LIMIT 1"

void a_session(int seq, const char *id, const char *root);
void an_unsent_question(const char *id, const char *kind, const char *title, const char *columns,
                        const char *values);
/* The same, and it is in Slack. */
void a_question(const char *id, const char *kind, const char *title, const char *columns,
                const char *values);
void a_change(const char *id);
void a_prompt(void);
void a_standby(void);
void slack(void);
void in_thread(const char *text);
void in_mention(const char *text);
const char *command(const char *text);
void click(const char *user, const char *action, const char *value);
const char *submit(const char *callback, const char *id, const char *text);
void replies(const char *part);

#endif
