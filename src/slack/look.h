/* look: what an operator asked to see of a workspace, as a message: a folder, a file, or why it is
 * not shown. What is too long for it is in a file that follows. */
#ifndef SLACK_LOOK_H
#define SLACK_LOOK_H

#include "blocks.h"
#include "sql/file_look.h"

#include <stdbool.h>

/* with_blocks: false: Slack refused them, and the text must say it all. */
void slack_look_say(const struct file_look_read_row *l, const struct str *text, bool with_blocks,
                    struct slack_said *out);

/* Slack's name of a file's language, by its name: "rust"; "text" if it has none. */
const char *slack_file_type(const char *name);

#endif
