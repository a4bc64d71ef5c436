/* pulse: a sign of life of this process: the time of change of a file, which whoever watches it
 * looks at. Costs no commit, so that long work can give one, too. */
#ifndef PULSE_H
#define PULSE_H

/* The file, from here on; -1: there is none. It stays the caller's. */
void pulse_show(int fd);

/* Gives one, at most once a second. Called wherever work may take long, in each round. */
void pulse(void);

#endif
