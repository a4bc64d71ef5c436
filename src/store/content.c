#include "content.h"

#include "sha256.h"

#include <string.h>

int64_t content_put(struct store *st, const void *bytes, size_t length, struct err *e)
{
	struct sha256 hash = sha256_of(bytes, length);
	stmt *s = store_stmt(st, SQL_CONTENT_PUT);
	int64_t seq;

	bind_text(s, ":hash", hash.text);
	bind_int(s, ":size", (int64_t)length);
	bind_bytes(s, ":bytes", bytes, length);
	if (stmt_run(s, e) < 0)
		return -1;
	s = store_stmt(st, SQL_CONTENT_SEQ);
	bind_text(s, ":hash", hash.text);
	seq = stmt_number(s, CONTENT_SEQ_SEQ, e);
	if (seq == 0)
		return err_set(e, ERR_BUG, "db: content %s is not there after it was put",
		               hash.text);
	return seq;
}

int content_get(struct store *st, int64_t seq, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_CONTENT_GET);
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		size_t length;
		const void *bytes = col_bytes(s, CONTENT_GET_BYTES, &length);

		str_add_bytes(out, bytes, length);
	}
	stmt_reset(s);
	if (got == 0)
		return err_set(e, ERR_INPUT, "not found: content %lld", (long long)seq);
	return got < 0 ? -1 : 0;
}

int64_t content_seq_for(struct store *st, const char *text, size_t length, struct err *e)
{
	if (!text || (length <= CONTENT_INLINE_BYTES && !memchr(text, '\0', length)))
		return 0;
	return content_put(st, text, length, e);
}

int content_bind(struct store *st, stmt *s, const char *inline_name, const char *seq_name,
                 const char *text, size_t length, struct err *e)
{
	int64_t seq = content_seq_for(st, text, length, e);

	if (seq < 0)
		return -1;
	if (seq == 0)
		bind_text(s, inline_name, text);
	else
		bind_int(s, seq_name, seq);
	return 0;
}
