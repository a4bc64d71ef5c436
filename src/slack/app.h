/* slack_app: what our app in Slack must be: its manifest, its scopes, its channel.
 *
 * Source: Slack's documentation of app manifests and scopes. */
#ifndef SLACK_APP_H
#define SLACK_APP_H

#include "str.h"
#include "web.h"

/* Appends the manifest from which a workspace makes the app, YAML. */
void slack_app_manifest(struct str *out);

/* Appends what the app cannot do with the granted scopes (a comma list, as Slack's header
 * x-oauth-scopes has it), and what to do; nothing where all that we use are there. */
void slack_app_scopes(struct str *out, const char *granted);

/* What is wrong with a channel for us. */
enum slack_place {
	SLACK_PLACE_FINE,
	SLACK_PLACE_JOINABLE, /* public, and we are not in it: conversations.join mends that */
	SLACK_PLACE_WRONG, /* a person must act */
	SLACK_PLACE_UNKNOWN, /* nobody could be asked */
};

/* Reads the answer to conversations.info of a channel. What a person must do is appended to why,
 * but where the channel is fine or joinable. */
enum slack_place slack_app_place(struct str *why, const char *channel, const struct slack_call *c);
/* Appends what to do after the answer to conversations.join of a channel. Whether we are in. */
bool slack_app_joined(struct str *why, const char *channel, const struct slack_call *c);

#endif
