#include "log.h"

#include "clock.h"
#include "err.h"
#include "json_writer.h"
#include "str.h"
#include "visible.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 2048 };

static const char *const LEVELS[] = { "debug", "info", "warn", "error" };
static const char *process = "agent-intercom";
static int as_json;
static enum log_level least = LOG_LEVEL_INFO;

void log_open(const char *name, int json, enum log_level level)
{
	process = name;
	as_json = json;
	least = level;
}

int log_level_of(const char *name)
{
	for (int i = 0; i <= LOG_LEVEL_ERROR; i++)
		if (strcmp(LEVELS[i], name) == 0)
			return i;
	return -1;
}

static void write_json(struct str *line, const char *at, enum log_level level, const char *text)
{
	json_object(line);
	json_member(line, "at", at);
	json_member(line, "level", LEVELS[level]);
	json_member(line, "process", process);
	json_member(line, "message", text);
	json_object_end(line);
}

/* On one line: what an agent sends must not control a terminal, nor turn or hide what follows. */
static void add_text(struct str *line, char *text)
{
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	visible_add(line, text, strlen(text), false);
}

/* One write(2) per line, so that lines of several processes do not mix. */
static void write_line(enum log_level level, const char *format, va_list args)
{
	OWNED(str) struct str line = { 0 };
	char text[LINE_BYTES];
	struct instant at = clock_now();

	if (level < least)
		return;
	(void)vsnprintf(text, sizeof(text), format, args);
	if (as_json) {
		write_json(&line, at.text, level, text);
	} else {
		str_addf(&line, "%s %-5s %s: ", at.text, LEVELS[level], process);
		add_text(&line, text);
	}
	str_add_char(&line, '\n');
	ssize_t ignored = write(STDERR_FILENO, line.bytes, line.length);
	(void)ignored;
}

#define LOG_FUNCTION(name, level)                                                                  \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, format);                                                            \
		write_line(level, format, args);                                                   \
		va_end(args);                                                                      \
	}

LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
