/* gate_rewrite: another text in place of what a tool was to do: its command, or the new content of
 * its file; and the tool's input that says so in the host's own form. Bytes in, bytes out. */
#ifndef GATE_REWRITE_H
#define GATE_REWRITE_H

#include "gate_input.h"

enum gate_part {
	GATE_PART_NONE, /* nothing of this tool can be replaced */
	GATE_PART_COMMAND,
	GATE_PART_CONTENT, /* all of the one file that it writes */
};

/* What of a tool's use can be replaced. */
enum gate_part gate_rewrite_part(const struct gate_input *in);

struct gate_rewrite {
	const char *tool; /* the host's name of the tool that does it; borrowed from in */
	cJSON *input; /* of that tool; owned */
	bool is_told; /* the host cannot be handed this: its agent has to call it itself */
};

/* The use of a tool that does what text says, which is not empty. in must be of an event that
 * decides. out must be zeroed; the caller clears it. 0, or -1 if nothing can be replaced. */
int gate_rewrite_make(const struct gate_input *in, const char *text, struct gate_rewrite *out,
                      struct err *e);
void gate_rewrite_clear(struct gate_rewrite *r);

#endif
