/* show_files: files that an operator asks to see: those that a proposal touches, whole, as they are
 * now. They are read beneath the workspace, without a lock; what is found is said in Slack. A front
 * that dies here has said nothing, and the next one does it. */
#ifndef SHOW_FILES_H
#define SHOW_FILES_H

struct front;

void show_files_look(struct front *f);

#endif
