#include "proof.h"

#include "decision.h"
#include "request.h"
#include "sql/proof.h"
#include "sql/purge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 200, NAMED_MAX = 100 };

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

static void add_edited(struct str *out, const char *hash)
{
	str_add(out, "edited:");
	add(out, hash);
}

struct proof proof_of(const struct proof_key *key, const struct decision *d)
{
	OWNED(str) struct str all = { 0 };
	struct proof p;
	struct sha256 hash;

	add(&all, d->request_id);
	add(&all, d->verdict);
	add(&all, d->reason);
	add(&all, d->instruction);
	add(&all, d->operator_id);
	if (d->choice)
		add(&all, d->choice);
	if (d->edited)
		add_edited(&all, sha256_of(d->edited, strlen(d->edited)).text);
	else if (d->edited_hash)
		add_edited(&all, d->edited_hash);
	hash = sha256_keyed(key->secret.text, all.bytes, all.length);
	(void)snprintf(p.text, sizeof(p.text), "%s.%s", key->name, hash.text);
	return p;
}

/* ---- looking ---- */

static int tell(struct proof_look *look, struct store *st, int64_t seq, struct err *e)
{
	int told = sql_proof_event(st, seq, e);

	if (told <= 0)
		return told; /* reported before */
	look->forged++;
	return sql_proof_notice(st, seq, e);
}

/* Whether it has a proof of ours; *other: the proof has another key. */
static bool is_proved(const struct proof_answers_row *row, const struct proof_key *key, bool *other)
{
	const struct decision d = { .request_id = row->request_id,
		                    .verdict = row->verdict,
		                    .reason = row->reason,
		                    .instruction = row->instruction,
		                    .choice = row->choice,
		                    .edited = row->edited,
		                    .edited_hash = row->edited_hash,
		                    .operator_id = row->operator_id };
	const char *has = row->proof;
	struct proof ours = proof_of(key, &d);

	*other = has && strlen(has) == PROOF_BYTES - 1 &&
	         strncmp(has, key->name, strlen(key->name)) != 0;
	return has && strcmp(has, ours.text) == 0;
}

/* Finds the forged ones in (after, upto]: how many, -1 on error. */
static int find(struct proof_look *look, struct store *st, const struct proof_key *key,
                int64_t upto, int64_t forged[BATCH], struct err *e)
{
	OWNED(proof_answers_row) struct proof_answers_row row = { 0 };
	bool other;
	int got, count = 0;

	sql_proof_answers(st, look->after, upto, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		if (is_proved(&row, key, &other))
			continue;
		if (other && !look->watching)
			look->other_keys++;
		else
			forged[count++] = row.seq;
	}
	return got < 0 ? -1 : count;
}

static int tell_all(struct proof_look *look, struct store *st, const int64_t *forged, int count,
                    struct err *e)
{
	bool failed = false;

	if (store_begin(st, e))
		return -1;
	for (int i = 0; i < count && !failed; i++)
		failed = tell(look, st, forged[i], e);
	return store_end(st, failed, e);
}

int proof_look_on(struct proof_look *look, struct store *st, const struct proof_key *key,
                  struct err *e)
{
	int64_t forged[BATCH], upto = sql_decision_after(st, look->after, BATCH, e);
	int count;

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

/* Those behind the first ones are counted. */
static void add_left(struct str *out, int64_t count)
{
	if (count > NAMED_MAX)
		str_addf(out, " and %" PRId64 " more", count - NAMED_MAX);
}

int64_t proof_forged(struct store *st, struct str *out, struct err *e)
{
	OWNED(proof_forged_row) struct proof_forged_row row = { 0 };
	int64_t count = 0;
	int got;

	sql_proof_forged(st, &row);
	while ((got = row_next(&row.row, e)) > 0)
		if (count++ < NAMED_MAX)
			str_addf(out, "%s%.13s by %s at %s", count > 1 ? ", " : "", row.id,
			         row.operator_id, row.created_at);
	add_left(out, count);
	return got < 0 ? -1 : count;
}

/* Whether what was shown is what is stored now, as the applier looks before it writes. 1, 0, -1. */
static int is_as_shown(struct store *st, int64_t seq, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	int got = request_read(st, seq, &r, e);

	if (got <= 0)
		return got < 0 ? -1 : 1; /* deleted meanwhile */
	return strcmp(request_shown_digest(&r).text, r.row.digest) == 0;
}

int64_t proof_swapped(struct store *st, struct str *out, struct err *e)
{
	OWNED(proof_questions_row) struct proof_questions_row row = { 0 };
	int64_t count = 0;
	int got;

	sql_proof_questions(st, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		const char *why = row.why;

		if (!why && row.has_digest) {
			int same = is_as_shown(st, row.seq, e);

			if (same < 0)
				return -1;
			why = same ? NULL : "what was shown";
		}
		if (why && count++ < NAMED_MAX)
			str_addf(out, "%s%s (%s)", count > 1 ? ", " : "", row.id, why);
	}
	add_left(out, count);
	return got < 0 ? -1 : count;
}
