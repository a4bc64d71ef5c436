/* yes_no: a question to the person at the terminal. */
#ifndef YES_NO_H
#define YES_NO_H

enum yes_no { YES_NO_NEITHER, YES_NO_NO, YES_NO_YES };

/* Prints the question with " [y/N] " on stdout and reads one line of stdin. Only a line that says y
 * or yes, or n or no, and nothing else, is one; every other line, and the end of stdin, is neither.
 * Upper case and blanks around it do not matter. */
enum yes_no yes_no_ask(const char *question);

#endif
