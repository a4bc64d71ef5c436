/* "-- rings: mcp-front first, watchdog": whose bells a table rings, and in which order. */
#include "sqlgen.h"

#include <stdio.h>
#include <string.h>

/* The worker names of a remark, one at a time. false: no more. */
static bool next_bell(const char **rest, char *worker, bool *first)
{
	int length = 0;

	*first = false;
	*rest += strspn(*rest, ", ");
	if (sscanf(*rest, "%79[a-z-]%n", worker, &length) != 1)
		return false;
	*rest += length;
	if (strncmp(*rest, " first", 6) == 0) {
		*first = true;
		*rest += 6;
	}
	return true;
}

void bells_list(const struct schema *s, struct bells *out)
{
	for (int first = 1; first >= 0; first--) {
		for (int i = 0; i < s->tables; i++) {
			const char *rest = s->table[i].rings;
			char worker[NAME_BYTES];
			bool is_first;

			while (next_bell(&rest, worker, &is_first)) {
				if (is_first != (first == 1))
					continue;
				if (out->count == MAX_BELLS)
					die("more bells than struct store has bits");
				out->bell[out->count].table = s->table[i].name;
				(void)snprintf(out->bell[out->count++].worker, NAME_BYTES, "%s",
				               worker);
			}
		}
	}
}
