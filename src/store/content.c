#include "content.h"

#include "sha256.h"
#include "sql/content.h"

#include <string.h>

int64_t content_put(struct store *st, const void *bytes, size_t length, struct err *e)
{
	struct sha256 hash = sha256_of(bytes, length);
	const struct sql_bytes all = { bytes, length };
	int64_t seq;

	if (sql_content_put(st, hash.text, (int64_t)length, all, e))
		return -1;
	seq = sql_content_seq(st, hash.text, e);
	if (seq == 0)
		return err_set(e, ERR_BUG, "db: content %s is not there after it was put",
		               hash.text);
	return seq;
}

int content_get(struct store *st, int64_t seq, struct str *out, struct err *e)
{
	OWNED(content_get_row) struct content_get_row row = { 0 };
	int got;

	sql_content_get(st, seq, &row);
	got = row_next(&row.row, e);
	if (got > 0)
		str_add_bytes(out, row.bytes.bytes, row.bytes.length);
	if (got == 0)
		return err_set(e, ERR_INPUT, "not found: content %lld", (long long)seq);
	return got < 0 ? -1 : 0;
}

int content_place(struct store *st, const char *text, size_t length, struct placed *out,
                  struct err *e)
{
	*out = (struct placed){ .text = text };
	if (!text || (length <= CONTENT_INLINE_BYTES && !memchr(text, '\0', length)))
		return 0;
	*out = (struct placed){ .seq = content_put(st, text, length, e) };
	return out->seq < 0 ? -1 : 0;
}
