#include "pack.h"

#include "err.h"

#include <string.h>

static const uint32_t NOTHING = UINT32_MAX; /* as the length of a text that is NULL */

/* ---- writing ---- */

void pack_begin(struct str *out)
{
	static const char HEAD[PACK_HEAD_BYTES];

	str_add_bytes(out, HEAD, sizeof(HEAD));
}

void pack_end(struct str *out)
{
	uint32_t length = (uint32_t)(out->length - PACK_HEAD_BYTES);

	memcpy(out->bytes, &length, sizeof(length));
}

void pack_add_int(struct str *out, int64_t number)
{
	str_add_bytes(out, &number, sizeof(number));
}

void pack_add_bytes(struct str *out, const void *bytes, size_t length)
{
	uint32_t head = (uint32_t)length;

	str_add_bytes(out, &head, sizeof(head));
	if (length)
		str_add_bytes(out, bytes, length);
}

void pack_add_text(struct str *out, const char *text)
{
	if (text)
		pack_add_bytes(out, text, strlen(text));
	else
		str_add_bytes(out, &NOTHING, sizeof(NOTHING));
}

void pack_add_texts(struct str *out, const char *const *texts, size_t count)
{
	pack_add_int(out, (int64_t)count);
	for (size_t i = 0; i < count; i++)
		pack_add_text(out, texts[i]);
}

/* ---- reading ---- */

size_t pack_length(const char head[PACK_HEAD_BYTES])
{
	uint32_t length;

	memcpy(&length, head, sizeof(length));
	return length;
}

/* The next bytes; NULL if there are fewer. */
static const char *take(struct pack *w, size_t length)
{
	const char *at = w->at;

	if (w->bad || length > w->left) {
		w->bad = true;
		return NULL;
	}
	w->at += length;
	w->left -= length;
	return at;
}

int64_t pack_int(struct pack *w)
{
	const char *at = take(w, sizeof(int64_t));
	int64_t number = 0;

	if (at)
		memcpy(&number, at, sizeof(number));
	return number;
}

int64_t pack_int_in(struct pack *w, int64_t least, int64_t most)
{
	int64_t number = pack_int(w);

	if (!w->bad && number >= least && number <= most)
		return number;
	w->bad = true;
	return least;
}

static uint32_t head_of(struct pack *w)
{
	const char *at = take(w, sizeof(uint32_t));
	uint32_t head = 0;

	if (at)
		memcpy(&head, at, sizeof(head));
	return head;
}

const char *pack_bytes(struct pack *w, size_t most, size_t *ret_length)
{
	uint32_t length = head_of(w);
	const char *at;

	*ret_length = 0;
	if (length > most)
		w->bad = true;
	at = take(w, length);
	if (!at)
		return "";
	*ret_length = length;
	return at;
}

char *pack_text(struct pack *w, size_t most)
{
	uint32_t length = head_of(w);
	OWNED(str) struct str text = { 0 };
	const char *at;

	if (w->bad || length == NOTHING)
		return NULL;
	if (length > most)
		w->bad = true;
	at = take(w, length);
	if (at && memchr(at, '\0', length))
		w->bad = true;
	if (w->bad)
		return NULL;
	str_add_bytes(&text, at, length);
	return str_take(&text);
}

char *pack_some_text(struct pack *w, size_t most)
{
	char *text = pack_text(w, most);

	if (text)
		return text;
	w->bad = true;
	return xstrdup("");
}

bool pack_is_whole(const struct pack *w)
{
	return !w->bad && w->left == 0;
}
