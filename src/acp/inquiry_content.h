/* inquiry_content: what an inquiry is made of, and of a tool call the content and the places that
 * it names. Whatever of it is not understood is in doubt, and shown as it came: an agent, or who
 * obeys it, may make more of it. */
#ifndef ACP_INQUIRY_CONTENT_H
#define ACP_INQUIRY_CONTENT_H

#include "inquiry.h"

void acp_inquiry_add_content(struct acp_inquiry *ask, const char *root, const cJSON *call);

/* Adds a paragraph to the description. */
void acp_inquiry_describe(struct acp_inquiry *ask, const char *text);
/* Appends a name or a text of the agent among our words: on one line, in “ ”, which it cannot
 * close; about `most` bytes of it. */
void acp_inquiry_add_quoted(struct str *out, const char *text, size_t most);
/* One more path that is touched: the first is the file, the others are noted. */
void acp_inquiry_add_path(struct acp_inquiry *ask, const char *root, const char *given);
/* A patch as the agent wrote it. Which files one in another language changes is not known, nor
 * whether what a diff has around it ("*** Begin Patch") is left out. */
void acp_inquiry_add_patch(struct acp_inquiry *ask, const char *text);

/* Whether it is there and holds something. */
bool acp_inquiry_says_anything(const cJSON *item);
/* Whether it is an object whose members all have one of these names, each once; _meta is the
 * agent's own. */
bool acp_inquiry_has_only(const cJSON *object, const char *const *names);
/* Doubts a value that is not understood. */
void acp_inquiry_doubt_value(struct acp_inquiry *ask, const char *name, const cJSON *value);
/* The same of each member of an object that has none of these names, nor is a text with one of
 * texts. */
void acp_inquiry_doubt_others(struct acp_inquiry *ask, const cJSON *object,
                              const char *const *names, const char *const *texts);

#endif
