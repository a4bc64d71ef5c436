/* denied: hears of each failed call whose errno is EACCES, as err_errno words it. Whoever knows
 * more of the reason than the errno says can listen. */
#ifndef DENIED_H
#define DENIED_H

/* From now on heard is called with each text, "cannot open /x: Permission denied". It must not call
 * err_errno, and errno is kept. NULL: nobody listens. */
void denied_watch(void (*heard)(const char *text));

/* For err_errno, and for failures that no err_errno words. */
void denied_tell(const char *text);

#endif
