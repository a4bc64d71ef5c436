/* refused: no worker of a test makes a system call that its row in src/fence/calls.txt lacks. */
#ifndef REFUSED_H
#define REFUSED_H

/* From here on workers leave in a folder beneath root what their fences refuse. */
void refused_calls_look(const char *root);
/* Refusals are wanted in this program: not looked at. */
void refused_calls_expect(void);
/* Prints them. Returns how many kinds there are. */
int refused_calls_show(void);

#endif
