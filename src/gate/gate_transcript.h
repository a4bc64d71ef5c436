/* gate_transcript: what a host's own transcript says of tools that have run, so that they can be
 * compared with what its hooks asked. Lines of JSON as Claude Code 2.1.330, Codex 0.169.0 and Qwen
 * Code 0.24.4 write them; of other hosts nothing is known.
 *
 * Only commands and edits that did not fail are told: of the others a line does not say for certain
 * that the host had come as far as its hooks. */
#ifndef GATE_TRANSCRIPT_H
#define GATE_TRANSCRIPT_H

#include "gate_host.h"

/* Whether anything is known of the transcripts of a host. */
bool gate_transcript_known(const char *host);

/* Calls each for every tool that a line says has run: the host's id of that use, as its hooks are
 * told it (gate_input.tool_use_id), and when, as "2026-02-08T09:30:00.123Z". */
void gate_transcript_read(const char *host, const char *line, size_t length,
                          void (*each)(void *arg, const char *use, const char *at), void *arg);

#endif
