/* socket_client: a WebSocket client for tests that does what it is told, including wrong things.
 *
 * It connects to the fake Slack that slack_peer.h has started. What does not arrive within
 * AGENT_PATIENCE_MS fails the test. */
#ifndef SOCKET_CLIENT_H
#define SOCKET_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wslay/wslay.h>

struct client {
	int fd;
	wslay_frame_context_ptr frames;
	int pings; /* received and answered */
	int code; /* of the close frame; 1006 if the connection ended without one; 0: open */
	bool bare; /* sends frames without a mask */
};

/* Calls apps.connections.open: "/link/?ticket=..."; the caller frees it. */
char *client_path(void);
/* Connects and upgrades; returns the status of the answer. c may hold anything before. */
int client_try(struct client *c, const char *path);
/* Opens a socket and reads its hello. */
void client_open(struct client *c);
/* The next message, reassembled; the caller frees it. NULL: the server has closed. */
char *client_message(struct client *c);
void client_frame(struct client *c, uint8_t opcode, bool final, const void *bytes, size_t length);
/* Sends one text frame. */
void client_say(struct client *c, const char *text);
/* Acks an envelope; payload: JSON or NULL. */
void client_ack(struct client *c, const char *envelope_id, const char *payload);
/* Whether nothing arrives within ms. */
bool client_hears_nothing(struct client *c, int ms);
void client_close(struct client *c);

#endif
