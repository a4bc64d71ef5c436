/* The doctor on gates that only a person can try: what came of it, as rows and files say. */
#include "canary.h"
#include "doctor.h"

#include "sql/gate_canary.h"

void doctor_judge_by_hand(struct doctor *d, struct canary *c)
{
	OWNED(gate_canary_by_hand_row) struct gate_canary_by_hand_row row = { 0 };
	bool is_open;

	if (!d->store.db || sql_gate_canary_by_hand(&d->store, c->host, &row, NULL) <= 0 ||
	    !row.version)
		return;
	is_open =
	    row.unasked || canary_has(row.folder, "canary") || canary_has(row.folder, "canary2");
	c->state = is_open ? GATE_CANARY_STATE_OPEN : GATE_CANARY_STATE_CLOSED;
	str_add(&c->version, row.version);
	str_reset(&c->detail);
	str_addf(&c->detail, "by hand, in %s: you were asked about both and rejected them, %s",
	         row.folder,
	         row.unasked ? "and a tool ran without its hook"
	         : is_open   ? "and it is there nonetheless"
	                     : "and neither was done");
}
