/* pulse: this process's sign of life: the modification time of a file, which a watcher reads. Costs
 * no commit, so that long work can give one, too. */
#ifndef PULSE_H
#define PULSE_H

/* The file to use from now on; -1: none. The caller keeps ownership. */
void pulse_show(int fd);

/* Gives a sign of life, at most once a second. Call it in each round of work that may take long. */
void pulse(void);

#endif
