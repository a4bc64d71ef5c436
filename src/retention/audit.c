#include "audit.h"

#include "json.h"
#include "sql/audit.h"
#include "sql/purge.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	SEAL_BATCH = 200, /* per transaction; hashed before it */
	EXPORT_BATCH = 500,
};

const struct sha256 AUDIT_BEGIN = {
	"0000000000000000000000000000000000000000000000000000000000000000"
};

/* Members of a line of an export, in hash order. */
static const struct field {
	const char *name;
	bool is_number;
} FIELDS[AUDIT_FIELDS] = {
	[AUDIT_AT] = { "at", false },
	[AUDIT_KIND] = { "kind", false },
	[AUDIT_SESSION] = { "session_seq", true },
	[AUDIT_REQUEST] = { "request_seq", true },
	[AUDIT_CALL] = { "call_seq", true },
	[AUDIT_ACTOR] = { "actor", false },
	[AUDIT_DETAIL] = { "detail", false },
};

/* ---- a record ---- */

static void add_number(struct str *out, int64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRId64, n);

	str_addf(out, "%d:%s,", length, digits);
}

struct sha256 audit_hash(const struct audit_record *r, const struct sha256 *prev, int64_t seq)
{
	OWNED(str) struct str bytes = { 0 };

	str_add(&bytes, prev->text);
	add_number(&bytes, seq);
	for (int i = 0; i < AUDIT_FIELDS; i++) {
		if (r->is_null[i]) {
			str_add(&bytes, "~,");
			continue;
		}
		str_addf(&bytes, "%zu:", r->values[i].length);
		str_add_bytes(&bytes, str_text(&r->values[i]), r->values[i].length);
		str_add_char(&bytes, ',');
	}
	return sha256_of(bytes.bytes, bytes.length);
}

bool audit_is_same(const struct sha256 *a, const struct sha256 *b)
{
	return strcmp(a->text, b->text) == 0;
}

static void set_hash(struct sha256 *hash, const char *text)
{
	(void)snprintf(hash->text, sizeof(hash->text), "%s", text ? text : "");
}

static void take_text(struct audit_record *r, enum audit_field field, struct sql_bytes text)
{
	str_reset(&r->values[field]);
	r->is_null[field] = !text.bytes;
	if (text.bytes)
		str_add_bytes(&r->values[field], text.bytes, text.length);
}

static void take_number(struct audit_record *r, enum audit_field field, bool has, int64_t n)
{
	str_reset(&r->values[field]);
	r->is_null[field] = !has;
	if (has)
		str_addf(&r->values[field], "%" PRId64, n);
}

void audit_record_read(struct audit_record *r, const struct audit_event_row *row)
{
	r->seq = row->seq;
	r->has_seal = row->hash != NULL;
	r->has_event = row->event_seq != 0;
	set_hash(&r->hash, row->hash);
	take_text(r, AUDIT_AT, row->at);
	take_text(r, AUDIT_KIND, row->kind);
	take_number(r, AUDIT_SESSION, row->has_session_seq, row->session_seq);
	take_number(r, AUDIT_REQUEST, row->has_request_seq, row->request_seq);
	take_number(r, AUDIT_CALL, row->has_call_seq, row->call_seq);
	take_text(r, AUDIT_ACTOR, row->actor);
	take_text(r, AUDIT_DETAIL, row->detail);
}

void audit_record_clear(struct audit_record *r)
{
	for (int i = 0; i < AUDIT_FIELDS; i++)
		str_clear(&r->values[i]);
	*r = (struct audit_record){ 0 };
}

/* ---- lines ---- */

/* A text as JSON; if JSON cannot represent it, {"hex":"..."}. */
static void add_text(struct str *line, const struct str *text)
{
	const char *bytes = str_text(text);

	if (!memchr(bytes, '\0', text->length) && utf8_valid(bytes, text->length)) {
		OWNED(cJSON_ptr) cJSON *value = cJSON_CreateString(bytes);

		json_add(line, value);
		return;
	}
	str_add(line, "{\"hex\":\"");
	for (size_t i = 0; i < text->length; i++)
		str_addf(line, "%02x", (unsigned char)bytes[i]);
	str_add(line, "\"}");
}

static void add_line(struct str *line, const struct audit_record *r)
{
	str_addf(line, "{\"seq\":%" PRId64, r->seq);
	for (int i = 0; i < AUDIT_FIELDS; i++) {
		str_addf(line, ",\"%s\":", FIELDS[i].name);
		if (r->is_null[i])
			str_add(line, "null");
		else if (FIELDS[i].is_number)
			str_add(line, str_text(&r->values[i]));
		else
			add_text(line, &r->values[i]);
	}
	str_addf(line, ",\"prev\":\"%s\",\"hash\":\"%s\"}\n", r->prev.text, r->hash.text);
}

static bool parse_hex(struct str *out, const char *hex)
{
	for (; *hex; hex += 2) {
		unsigned int byte;
		int used = 0;

		if (sscanf(hex, "%2x%n", &byte, &used) != 1 || used != 2)
			return false;
		str_add_char(out, (char)byte);
	}
	return true;
}

static bool parse_number(const cJSON *object, const char *name, int64_t *ret)
{
	const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!cJSON_IsNumber(n) || fabs(n->valuedouble) > 9007199254740991.0 ||
	    floor(n->valuedouble) != n->valuedouble)
		return false;
	*ret = (int64_t)n->valuedouble;
	return true;
}

static bool parse_hash(const cJSON *object, const char *name, struct sha256 *ret)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	if (!text || strlen(text) != sizeof(ret->text) - 1)
		return false;
	set_hash(ret, text);
	return true;
}

static bool parse_field(struct audit_record *r, int i, const cJSON *object)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, FIELDS[i].name);
	const char *hex = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(v, "hex"));
	int64_t n;

	str_reset(&r->values[i]);
	r->is_null[i] = cJSON_IsNull(v);
	if (r->is_null[i])
		return true;
	if (FIELDS[i].is_number) {
		if (!parse_number(object, FIELDS[i].name, &n))
			return false;
		str_addf(&r->values[i], "%" PRId64, n);
		return true;
	}
	if (cJSON_IsString(v))
		str_add(&r->values[i], v->valuestring);
	return cJSON_IsString(v) || (hex && parse_hex(&r->values[i], hex));
}

bool audit_record_parse(struct audit_record *r, const char *line)
{
	OWNED(str) struct str again = { 0 };
	cJSON *object = cJSON_Parse(line);
	bool ok = parse_number(object, "seq", &r->seq) && parse_hash(object, "prev", &r->prev) &&
	          parse_hash(object, "hash", &r->hash);

	for (int i = 0; ok && i < AUDIT_FIELDS; i++)
		ok = parse_field(r, i, object);
	r->has_event = r->has_seal = true;
	cJSON_Delete(object);
	if (ok) /* it has no other members and no duplicates: every reader sees the same */
		add_line(&again, r);
	return ok && strcmp(again.bytes, line) == 0;
}

bool audit_start_parse(struct audit_start *start, const char *line)
{
	cJSON *object = cJSON_Parse(line);
	int64_t version = 0;
	bool ok = parse_number(object, "agent_intercom_audit", &version) && version == 1 &&
	          parse_number(object, "after", &start->after) &&
	          parse_hash(object, "prev", &start->prev);

	cJSON_Delete(object);
	return ok;
}

bool audit_end_parse(struct audit_end *end, const char *line)
{
	cJSON *object = cJSON_Parse(line);
	bool ok = parse_number(object, "last", &end->last) &&
	          parse_number(object, "count", &end->count) &&
	          parse_hash(object, "hash", &end->hash);

	cJSON_Delete(object);
	return ok;
}

/* ---- sealing ---- */

struct head {
	int64_t seq;
	struct sha256 hash;
};

static int read_head(struct store *st, struct head *head, struct err *e)
{
	OWNED(seal_row) struct seal_row row = { 0 };
	int got = sql_seal_last(st, &row, e);

	*head = (struct head){ row.seq, AUDIT_BEGIN };
	if (got > 0)
		set_hash(&head->hash, row.hash);
	return got < 0 ? -1 : 0;
}

/* The seals of the next events after head; how many, -1. */
static int make_seals(struct store *st, const struct head *head, struct head seals[SEAL_BATCH],
                      struct err *e)
{
	OWNED(audit_record) struct audit_record r = { 0 };
	OWNED(audit_event_row) struct audit_event_row row = { 0 };
	int got, count = 0;

	sql_event_after(st, head->seq, SEAL_BATCH, &row);
	while ((got = row_next(&row.row, e)) > 0 && count < SEAL_BATCH) {
		const struct sha256 *prev = count ? &seals[count - 1].hash : &head->hash;

		audit_record_read(&r, &row);
		seals[count++] = (struct head){ r.seq, audit_hash(&r, prev, r.seq) };
	}
	return got < 0 ? -1 : count;
}

/* 1 they are stored, 0 another process has sealed in the meantime, -1. In a transaction. */
static int put_seals(struct store *st, const struct head *head, const struct head *seals, int count,
                     struct err *e)
{
	struct head now;

	if (read_head(st, &now, e))
		return -1;
	if (now.seq != head->seq || !audit_is_same(&now.hash, &head->hash))
		return 0;
	for (int i = 0; i < count; i++)
		if (sql_seal_insert(st, seals[i].seq, seals[i].hash.text, e))
			return -1;
	return 1;
}

int audit_seal(struct store *st, struct err *e)
{
	struct head head, seals[SEAL_BATCH];
	int count = read_head(st, &head, e) ? -1 : make_seals(st, &head, seals, e);
	int put;

	if (count <= 0)
		return count;
	if (store_begin(st, e))
		return -1;
	put = put_seals(st, &head, seals, count, e);
	if (put <= 0) {
		store_rollback(st);
		return put < 0 ? -1 : 1;
	}
	return store_commit(st, e) ? -1 : count == SEAL_BATCH;
}

/* ---- export ---- */

/* The start of an export whose first event is seq: the seal before it, or the one at which the
 * timeline was cut. */
static int find_start(struct audit_export *x, int64_t first, struct err *e)
{
	OWNED(seal_row) struct seal_row seal = { 0 };
	int got = sql_seal_before(x->store, first, &seal, e);

	if (got == 0 && (got = sql_seal_first(x->store, &seal, e)) > 0 && !seal.is_cut)
		return 0;
	if (got > 0) {
		x->after = seal.seq;
		set_hash(&x->last, seal.hash);
	}
	return got < 0 ? -1 : 0;
}

static int is_written(const struct audit_export *x, struct err *e)
{
	return ferror(x->out) ? err_errno(e, ERR_AGAIN, "cannot write the export") : 0;
}

int audit_export_begin(struct audit_export *x, struct store *st, FILE *out, int64_t first,
                       int64_t upto, struct err *e)
{
	*x = (struct audit_export){ .store = st, .out = out, .upto = upto, .last = AUDIT_BEGIN };
	if (find_start(x, first, e))
		return -1;
	(void)fprintf(out, "{\"agent_intercom_audit\":1,\"after\":%" PRId64 ",\"prev\":\"%s\"}\n",
	              x->after, x->last.text);
	return is_written(x, e);
}

static int export_record(struct audit_export *x, struct audit_record *r, struct err *e)
{
	OWNED(str) struct str line = { 0 };
	struct sha256 hash;

	if (!r->has_event || !r->has_seal)
		return err_set(e, ERR_INPUT, "event %" PRId64 " is %s; see audit verify", r->seq,
		               r->has_event ? "without its seal" : "missing");
	hash = audit_hash(r, &x->last, r->seq);
	if (!audit_is_same(&hash, &r->hash))
		return err_set(e, ERR_INPUT,
		               "event %" PRId64 " does not match its seal; see audit verify",
		               r->seq);
	r->prev = x->last;
	add_line(&line, r);
	(void)fwrite(line.bytes, 1, line.length, x->out);
	x->after = r->seq;
	x->last = r->hash;
	x->count++;
	return is_written(x, e);
}

static int export_end(struct audit_export *x, struct err *e)
{
	(void)fprintf(x->out, "{\"last\":%" PRId64 ",\"count\":%" PRId64 ",\"hash\":\"%s\"}\n",
	              x->after, x->count, x->last.text);
	(void)fflush(x->out);
	return is_written(x, e);
}

int audit_export_some(struct audit_export *x, struct err *e)
{
	OWNED(audit_record) struct audit_record r = { 0 };
	OWNED(audit_event_row) struct audit_event_row row = { 0 };
	int64_t end = sql_seal_after(x->store, x->after, EXPORT_BATCH, e);
	int got;

	if (end < 0)
		return -1;
	if (end > x->upto)
		end = x->upto;
	if (end <= x->after)
		return export_end(x, e);
	sql_audit_between(x->store, x->after, end, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		audit_record_read(&r, &row);
		if (export_record(x, &r, e))
			return -1;
	}
	return got < 0 ? -1 : 1;
}
