/* log: one line per event to stderr, as text, in which what is invisible is shown (visible.h), or
 * as JSON. Only workers/ and ctl/ log; src/ returns errors. */
#ifndef LOG_H
#define LOG_H

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* name: the process, e.g. "mcp-front" (kept, not copied). json: write JSON instead of text. level:
 * the lowest that is written. */
void log_open(const char *name, int json, enum log_level level);

void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The level with a name (debug, info, warn, error), -1 if there is none. */
int log_level_of(const char *name);

#endif
