/* doctor: what the parts of the doctor share; doctor.c says what it is. */
#ifndef INTERCOM_DOCTOR_H
#define INTERCOM_DOCTOR_H

#include "system.h"

struct doctor {
	struct config config;
	struct paths paths;
	struct store store;
	char *dir; /* of the database, or the nearest one above it that exists */
	bool dir_exists; /* it is that of the database */
	pid_t pid; /* of the supervisor that runs, 0: none does */
	char *address; /* of the mcp-front that runs, NULL: none does */
	int failures;
};

enum verdict { OK, WARN, FAIL };

/* ---- doctor_tell.c ---- */

/* Prints a line, and counts what failed. */
void doctor_tell(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- doctor_slack.c ---- */

/* What a start from this shell would find of Slack, and what Slack says to it. */
void doctor_check_slack(struct doctor *d);

#endif
