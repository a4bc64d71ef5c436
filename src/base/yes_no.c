#include "yes_no.h"

#include "err.h"
#include "str.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char BLANKS[] = " \t\r\n";

static enum yes_no understand(char *line)
{
	char *word = line + strspn(line, BLANKS);
	size_t length = strlen(word);

	while (length && strchr(BLANKS, word[length - 1]))
		length--;
	word[length] = '\0';
	if (strcasecmp(word, "y") == 0 || strcasecmp(word, "yes") == 0)
		return YES_NO_YES;
	return strcasecmp(word, "n") == 0 || strcasecmp(word, "no") == 0 ? YES_NO_NO
	                                                                 : YES_NO_NEITHER;
}

enum yes_no yes_no_ask(const char *question)
{
	OWNED(char_ptr) char *line = NULL;
	size_t size = 0;
	ssize_t length;

	(void)printf("%s [y/N] ", question);
	(void)fflush(stdout);
	length = getline(&line, &size, stdin);
	if (length < 0)
		(void)putchar('\n');
	/* What hides behind a zero byte is not read as a yes. */
	return length < 0 || strlen(line) != (size_t)length ? YES_NO_NEITHER : understand(line);
}
