/* recorder: writes down which system calls fenced processes make, for src/fence/calls.txt. In test
 * builds, and if $INTERCOM_RECORD_CALLS names a folder; see tests/fence/record.sh. */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>

/* Opens the file FOLDER/<process>, before a fence keeps it out of reach. */
void recorder_open(const char *process);
/* From here on the calls of this process, and of what it starts, go through another process, which
 * writes each name once into that file. They are not restricted meanwhile. Returns whether it does.
 */
bool recorder_start(void);
/* From here on the calls of the calling process are also those of `looker` (calls.h). Returns
 * whether calls are recorded. */
bool recorder_is_looker(void);

#endif
