#include "peer_hook.h"

#include "path.h"
#include "peer_user.h"
#include "sha256.h"

#include <stdio.h>
#include <string.h>

enum { HALF = 32 }; /* hex digits of a hash that is one part of a key */

/* ---- keys ---- */

static void write_key(struct peer *p, const struct str *who)
{
	const struct sha256 digest = sha256_of(who->bytes, who->length);

	(void)snprintf(p->key, sizeof(p->key), "hook %.64s", digest.text);
}

/* All runs with this session in this folder begin alike. */
static void write_key_of_run(struct peer *p, const struct str *who, const struct peer_hook *from)
{
	const char *run = from->run ? from->run : "";
	const struct sha256 digest = sha256_of(who->bytes, who->length);
	const struct sha256 tail = sha256_of(run, strlen(run));

	if (from->continues && from->session)
		(void)snprintf(p->before, sizeof(p->before), "hook %.*s ", HALF, digest.text);
	(void)snprintf(p->key, sizeof(p->key), "hook %.*s %.*s", HALF, digest.text, HALF,
	               tail.text);
}

/* The end of a text that an agent has chosen is certain: no text has a NUL. */
static void add_folder(struct str *who, const struct peer_hook *from)
{
	str_add_bytes(who, "", 1);
	str_add(who, from->workspace ? from->workspace : "");
}

/* ---- folders ---- */

/* By its text: a link leads where the session's first call was placed, too. */
static bool is_below(const char *path, const char *folder)
{
	return folder && !strstr(path, "/..") && path_is_within(path, folder);
}

/* Whether p's session was found by its id alone, from a folder that is not its own: then it is
 * another agent's, whatever it calls itself. A host that only says its current folder may have
 * changed that within its session, if it is still the same process. */
static bool is_strangers(const struct peer *p, const struct peer_hook *from)
{
	if (!from->workspace || !p->session_seq || p->identity.session_id ||
	    is_below(from->workspace, p->identity.workspace) ||
	    is_below(from->workspace, p->workspace_root))
		return false;
	return !from->may_move || !p->host_process || !p->process ||
	       strcmp(p->process, p->host_process) != 0;
}

static void forget_row(struct peer *p)
{
	identity_clear(&p->identity);
	xreplace(&p->version, NULL);
	xreplace(&p->client_name, NULL);
	xreplace(&p->process, NULL);
	xreplace(&p->session_id, NULL);
	xreplace(&p->workspace_root, NULL);
	xreplace(&p->channel_id, NULL);
	p->seq = p->session_seq = p->wait_limit_ms = 0;
	p->elicits = p->closed = p->lost = p->fresh = p->paused = p->stall_paused = false;
}

/* ---- whose it is ---- */

int peer_of_hook(struct store *st, struct peer *p, const struct peer_hook *from, struct err *e)
{
	OWNED(str) struct str who = { 0 };

	if (!from->session && !p->host_process)
		return err_set(e, ERR_INPUT, "the host names no session, and its process is gone");
	str_addf(&who, "%s %s", from->host, from->session ? from->session : p->host_process);
	peer_add_user(p, &who);
	if (from->relays) {
		add_folder(&who, from);
		write_key_of_run(p, &who, from);
	} else {
		write_key(p, &who);
	}
	if (peer_load(st, p, e) < 0)
		return -1;
	if (!from->relays && is_strangers(p, from)) {
		forget_row(p);
		add_folder(&who, from);
		write_key(p, &who);
		if (peer_load(st, p, e) < 0)
			return -1;
	}
	p->transport = CONNECTION_TRANSPORT_HOOK;
	p->lost |= p->closed;
	p->closed = false;
	xreplace(&p->client_name, from->host);
	xreplace(&p->identity.workspace, from->workspace);
	return 0;
}
