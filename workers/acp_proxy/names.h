/* names: the members that the protocol defines, in its versions 1 and 2, for the messages that are
 * read. Who ignores case takes another spelling for one of them. Anything else may mean something
 * to some reader. */
#ifndef NAMES_H
#define NAMES_H

#include "envelope.h"
#include "str.h"

/* Of a message that is held. 0: others is what the protocol does not define, as a JSON object, ""
 * if there is nothing (of a permission, what is beside its params: acp_inquiry_permission reads
 * these); or -1: readers may understand the message differently. */
int names_read(enum envelope_kind kind, const cJSON *message, struct str *others, struct err *e);

/* Of what is read of an answer: the choice that answers a permission, and the session that an
 * opening is answered with. 0, or -1: as above. */
int names_check_choice(const cJSON *answer, struct err *e);
int names_check_opened(const cJSON *answer, struct err *e);

#endif
