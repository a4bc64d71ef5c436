#include "proof.h"

#include "decision.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 200 };

struct proof_key proof_key_of(const char *token)
{
	struct proof_key key;
	struct sha256 name;

	key.secret = sha256_keyed(token, "agent-intercom answers", 22);
	name = sha256_keyed(token, "agent-intercom answers, name", 28);
	(void)snprintf(key.name, sizeof(key.name), "%.8s", name.text);
	return key;
}

static void add(struct str *out, const char *text)
{
	if (text)
		str_addf(out, "%zu:%s,", strlen(text), text);
	else
		str_add(out, "~,");
}

struct proof proof_of(const struct proof_key *key, const struct decision *d)
{
	OWNED(str) struct str all = STR_INIT;
	struct proof p;
	struct sha256 hash;

	add(&all, d->request_id);
	add(&all, d->verdict);
	add(&all, d->reason);
	add(&all, d->instruction);
	add(&all, d->operator_id);
	hash = sha256_keyed(key->secret.text, all.bytes, all.length);
	(void)snprintf(p.text, sizeof(p.text), "%s.%s", key->name, hash.text);
	return p;
}

/* ---- looking ---- */

static int tell(struct proof_look *look, struct store *st, int64_t seq, struct err *e)
{
	stmt *s = store_stmt(st, SQL_PROOF_EVENT);
	int64_t told;

	bind_int(s, ":seq", seq);
	told = stmt_run(s, e);
	if (told <= 0)
		return told < 0 ? -1 : 0; /* told before */
	look->forged++;
	s = store_stmt(st, SQL_PROOF_NOTICE);
	bind_int(s, ":seq", seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* Of the current row: whether its proof is ours; *other: it is under another key. */
static bool is_proved(stmt *s, const struct proof_key *key, bool *other)
{
	const struct decision d = { .request_id = col_text(s, PROOF_ANSWERS_REQUEST_ID),
		                    .verdict = col_text(s, PROOF_ANSWERS_VERDICT),
		                    .reason = col_text(s, PROOF_ANSWERS_REASON),
		                    .instruction = col_text(s, PROOF_ANSWERS_INSTRUCTION),
		                    .operator_id = col_text(s, PROOF_ANSWERS_OPERATOR_ID) };
	const char *has = col_text(s, PROOF_ANSWERS_PROOF);
	struct proof ours = proof_of(key, &d);

	*other = has && strlen(has) == PROOF_BYTES - 1 &&
	         strncmp(has, key->name, strlen(key->name)) != 0;
	return has && strcmp(has, ours.text) == 0;
}

/* The forged ones of (after, upto]: how many, -1 on error. */
static int find(struct proof_look *look, struct store *st, const struct proof_key *key,
                int64_t upto, int64_t forged[BATCH], struct err *e)
{
	stmt *s = store_stmt(st, SQL_PROOF_ANSWERS);
	bool other;
	int got, count = 0;

	bind_int(s, ":after", look->after);
	bind_int(s, ":upto", upto);
	while ((got = stmt_row(s, e)) > 0) {
		if (is_proved(s, key, &other))
			continue;
		if (other && !look->watching)
			look->other_keys++;
		else
			forged[count++] = col_int(s, PROOF_ANSWERS_SEQ);
	}
	stmt_reset(s);
	return got < 0 ? -1 : count;
}

static int tell_all(struct proof_look *look, struct store *st, const int64_t *forged, int count,
                    struct err *e)
{
	if (store_begin(st, e))
		return -1;
	for (int i = 0; i < count; i++)
		if (tell(look, st, forged[i], e)) {
			store_rollback(st);
			return -1;
		}
	return store_commit(st, e);
}

int proof_look_on(struct proof_look *look, struct store *st, const struct proof_key *key,
                  struct err *e)
{
	stmt *s = store_stmt(st, SQL_DECISION_AFTER);
	int64_t forged[BATCH], upto;
	int count;

	bind_int(s, ":after", look->after);
	bind_int(s, ":limit", BATCH);
	upto = stmt_number(s, DECISION_AFTER_SEQ, e);
	if (upto == 0)
		look->watching = true;
	if (upto <= 0)
		return upto < 0 ? -1 : 0;
	count = find(look, st, key, upto, forged, e);
	if (count < 0 || (count > 0 && tell_all(look, st, forged, count, e)))
		return -1;
	look->after = upto;
	return 1;
}

int64_t proof_forged(struct store *st, struct str *out, struct err *e)
{
	stmt *s = store_stmt(st, SQL_PROOF_FORGED);
	int64_t count = 0;
	int got;

	while ((got = stmt_row(s, e)) > 0)
		str_addf(out, "%s%.8s by %s at %s", count++ ? ", " : "",
		         col_text(s, PROOF_FORGED_ID), col_text(s, PROOF_FORGED_OPERATOR_ID),
		         col_text(s, PROOF_FORGED_CREATED_AT));
	stmt_reset(s);
	return got < 0 ? -1 : count;
}
