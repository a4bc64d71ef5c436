/* gate_transcript: what a host's own transcript says of tools that have run, so that they can be
 * compared with what its hooks asked. Lines of JSON as Claude Code 2.1.330, Codex 0.169.0 and Qwen
 * Code 0.24.4 write them; of other hosts nothing is known.
 *
 * Only commands and edits that did not fail are told: of the others a line does not say for certain
 * that the host had come as far as its hooks. Input for a program is told when it is sent. */
#ifndef GATE_TRANSCRIPT_H
#define GATE_TRANSCRIPT_H

#include "gate_host.h"

/* Whether anything is known of the transcripts of a host. */
bool gate_transcript_known(const char *host);

struct gate_ran {
	const char
	    *use; /* the host's id of that use, as hooks are told it (gate_input.tool_use_id) */
	const char *at; /* when, as "2026-02-08T09:30:00.123Z" */
	bool is_input; /* for a program that runs already, such as a shell: Codex calls no hook for
	                  that. Blanks and control-C alone do not count */
};

typedef void gate_transcript_each(void *arg, const struct gate_ran *ran);

/* Calls each for every tool that a line says has run. */
void gate_transcript_read(const char *host, const char *line, size_t length,
                          gate_transcript_each *each, void *arg);

#endif
