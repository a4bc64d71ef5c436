/* inotify_limit: why the kernel gives this user no more of inotify. */
#ifndef INOTIFY_LIMIT_H
#define INOTIFY_LIMIT_H

/* In words, with the setting that helps, what the error of inotify_init1(2) or
 * inotify_add_watch(2) means. Valid until the next strerror(3). */
const char *inotify_limit(int error);

#endif
