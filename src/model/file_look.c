#include "file_look.h"

#include "content.h"

int file_look_claim(struct store *st, const struct file_look_next_row *seen, const char *worker_id,
                    struct file_look_claim_row *ret, struct err *e)
{
	int got;

	if (store_begin(st, e))
		return -1;
	got = sql_file_look_claim(st, worker_id, seen->seq, seen->claim, ret, e);
	return store_end(st, got < 0, e) ? -1 : got;
}

/* In the transaction. */
static int settle(struct store *st, const struct file_look_claim_row *l,
                  const struct file_look_found *found, struct err *e)
{
	struct file_look_settle_args args = { .seq = l->seq,
		                              .claim = l->claim,
		                              .is_long = found->is_long,
		                              .detail = found->detail,
		                              .why = found->why };
	int did;

	if (!found->why) {
		args.content = content_put(st, found->text, found->length, e);
		if (args.content < 0)
			return -1;
	}
	did = sql_file_look_settle(st, &args, e);
	if (did > 0 && sql_file_look_answer(st, l->seq, e))
		return -1;
	return did;
}

int file_look_settle(struct store *st, const struct file_look_claim_row *l,
                     const struct file_look_found *found, struct err *e)
{
	int did;

	if (store_begin(st, e))
		return -1;
	did = settle(st, l, found, e);
	return store_end(st, did < 0, e) ? -1 : did;
}
