/* slack_app: the requirements on our Slack app: its manifest, its scopes, its channel.
 *
 * Source: Slack's documentation of app manifests and scopes. */
#ifndef SLACK_APP_H
#define SLACK_APP_H

#include "str.h"
#include "web.h"

/* Appends the YAML manifest from which a workspace creates the app. */
void slack_app_manifest(struct str *out);

/* Appends what the app cannot do with the granted scopes (a comma-separated list, as in Slack's
 * header x-oauth-scopes), and what to do about it; nothing if we have all that we use. */
void slack_app_scopes(struct str *out, const char *granted);

/* Whether we can use a channel. */
enum slack_place {
	SLACK_PLACE_FINE,
	SLACK_PLACE_JOINABLE, /* public, and we are not in it: conversations.join solves that */
	SLACK_PLACE_WRONG, /* a person must act */
	SLACK_PLACE_UNKNOWN, /* Slack could not be asked */
};

/* Reads the answer to conversations.info for a channel. Unless the channel is fine or joinable,
 * appends to why what a person must do. */
enum slack_place slack_app_place(struct str *why, const char *channel, const struct slack_call *c);
/* Appends what to do after the answer to conversations.join for a channel. Returns whether we are
 * in. */
bool slack_app_joined(struct str *why, const char *channel, const struct slack_call *c);

#endif
