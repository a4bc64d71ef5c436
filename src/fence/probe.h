/* probe: attacks that a test has a fenced process try. Does nothing in other builds. */
#ifndef PROBE_H
#define PROBE_H

/* If $INTERCOM_PROBE_FD names a descriptor: takes lines "WHAT ARGUMENT" from it until its end,
 * tries each, and answers each with a line: the errno it failed with, 0 if it was possible.
 *
 *   read PATH, list PATH, write PATH (an existing file), make PATH, remove PATH, link PATH (to a
 * new name beside it), device PATH (a character device), exec PATH, connect PORT, listen PORT,
 *   socket PATH (a Unix socket),
 *   signal PID, trace PID, mount PATH */
void probe_serve(void);

#endif
