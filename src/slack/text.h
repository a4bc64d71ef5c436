/* slack_text: foreign text on its way into a Slack message: cleaned, escaped once, and cut between
 * characters.
 *
 * Lengths are UTF-16 units, as Slack counts in places; never fewer than characters. Cleaning:
 * broken UTF-8 becomes U+FFFD, NUL is removed, a CR before LF is removed (unless SLACK_EXACT), and
 * what hides or reorders text (C0 and C1 except tab and newline, bidi controls, zero-width
 * characters) is written as \u{202E}. */
#ifndef SLACK_TEXT_H
#define SLACK_TEXT_H

#include "str.h"

enum slack_escaping { /* flags */
	              SLACK_RAW = 0, /* rich_text and plain_text */
	              SLACK_MRKDWN = 1, /* & < > become entities */
	              SLACK_EXACT = 2, /* of what is approved: its line ends are part of it, CR
	                                  becomes \u{D} */
	              SLACK_LITERAL = 4, /* one line, and for what would format mrkdwn
	                                    something that looks alike */
};

/* Appends at most `units` units of the cleaned bytes to out. False: it was too long, and ends with
 * "…". */
bool slack_add(struct str *out, const char *bytes, size_t length, size_t units,
               enum slack_escaping how);

/* Our names of people, slack:<team>:<user>, become mentions, which Slack shows as their names. For
 * our own mrkdwn, already escaped. Quotations in it (“ ”) stay as they are. */
void slack_name_people(struct str *text);

/* Instants (2026-02-08T09:30:00.123Z) become dates in each reader's local time. As above. */
void slack_show_times(struct str *text);

/* Both, for plain text: people become "you" or "another operator", instants "09:30 UTC". */
void slack_plain_names(struct str *text, const char *reader);

/* UTF-16 units of well-formed UTF-8. */
size_t slack_units(const char *text);

/* Lines of a text; a last one without its newline counts. */
size_t slack_lines(const char *bytes, size_t length);

#endif
