/* show_files: shows an operator the files that a proposal touches, whole, as they are now. They are
 * read beneath the workspace, without a lock, and posted in Slack. If the front dies here, nothing
 * was posted, and the next front does it. */
#ifndef SHOW_FILES_H
#define SHOW_FILES_H

struct front;

void show_files_look(struct front *f);

#endif
