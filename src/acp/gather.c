#include "gather.h"

#include "err.h"

#include <string.h>

/* How much of a text that is too long is told first: up to a line's end, else up to a blank, else
 * up to a whole character. */
static size_t first_part(const char *text)
{
	static const char BREAKS[] = "\n ";

	for (const char *b = BREAKS; *b; b++)
		for (size_t n = ACP_GATHER_BYTES; n > ACP_GATHER_BYTES / 2; n--)
			if (text[n - 1] == *b)
				return n;
	for (size_t n = ACP_GATHER_BYTES; n > 0; n--)
		if (((unsigned char)text[n] & 0xC0) != 0x80)
			return n;
	return ACP_GATHER_BYTES;
}

static void tell(struct acp_gather *g, size_t length, const struct acp_sink *sink)
{
	OWNED(str) struct str part = { 0 };

	str_add_bytes(&part, g->text.bytes, length);
	memmove(g->text.bytes, g->text.bytes + length, g->text.length - length + 1);
	g->text.length -= length;
	g->told = true;
	if (part.bytes[strspn(part.bytes, " \t\r\n")] != '\0')
		acp_tell(sink, &(struct acp_event){ .kind = ACP_TEXT, .text = part.bytes });
}

/* Ends the message before this one. */
static void begin(struct acp_gather *g, const char *id, const struct acp_sink *sink)
{
	if (strcmp(str_text(&g->message), id ? id : "") == 0)
		return;
	acp_gather_flush(g, sink);
	str_reset(&g->message);
	str_add(&g->message, id ? id : "");
	g->told = false;
}

void acp_gather_add(struct acp_gather *g, const char *id, const char *text, int64_t now_ms,
                    const struct acp_sink *sink)
{
	begin(g, id, sink);
	str_add(&g->text, text);
	g->last_ms = now_ms;
	while (g->text.length > ACP_GATHER_BYTES)
		tell(g, first_part(g->text.bytes), sink);
}

void acp_gather_replace(struct acp_gather *g, const char *id, const char *text, int64_t now_ms,
                        const struct acp_sink *sink)
{
	begin(g, id, sink);
	if (g->told)
		return;
	str_reset(&g->text);
	acp_gather_add(g, id, text, now_ms, sink);
}

void acp_gather_flush(struct acp_gather *g, const struct acp_sink *sink)
{
	if (g->text.length)
		tell(g, g->text.length, sink);
}

int64_t acp_gather_due_ms(const struct acp_gather *g)
{
	return g->text.length ? g->last_ms + ACP_GATHER_QUIET_MS : INT64_MAX;
}

void acp_gather_tick(struct acp_gather *g, int64_t now_ms, const struct acp_sink *sink)
{
	if (now_ms >= acp_gather_due_ms(g))
		acp_gather_flush(g, sink);
}

void acp_gather_clear(struct acp_gather *g)
{
	str_clear(&g->text);
	str_clear(&g->message);
	g->told = false;
}
