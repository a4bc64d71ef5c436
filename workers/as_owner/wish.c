/* What may be asked for: the table of kinds. */
#include "as_owner.h"

#include <string.h>

/* The setting `fence`, which the program puts up itself. */
static bool is_fence(const char *const *words)
{
	return words[0] && !words[1] &&
	       (strcmp(words[0], "auto") == 0 || strcmp(words[0], "require") == 0 ||
	        strcmp(words[0], "off") == 0);
}

static bool is_keep(const char *const *words)
{
	return words[0] && !words[1] && strcmp(words[0], "keep") == 0;
}

static bool is_sweep(const char *const *words)
{
	return words[0] && !words[1] && strcmp(words[0], "sweep") == 0;
}

const struct wish_kind WISH_KINDS[OWNER_KINDS] = {
	[OWNER_READER] = { .program = "hand", .fd_count = 1, .has_words = is_fence },
	[OWNER_KEEPER] = { .program = "keeper",
	                   .fd_count = 1,
	                   .is_agents = true,
	                   .has_workspace = true,
	                   .has_words = is_keep },
	[OWNER_SWEEPER] = { .program = "keeper",
	                    .fd_count = 1,
	                    .is_agents = true,
	                    .has_words = is_sweep },
	[OWNER_FILER] = { .program = "filer",
	                  .fd_count = 2,
	                  .has_workspace = true,
	                  .has_words = is_fence },
};

/* Its texts; false: they are not what they must be. */
static bool split(char *bytes, size_t length, struct wish *w)
{
	size_t count = 0;

	if (length == 0 || bytes[length - 1])
		return false;
	w->workspace = bytes;
	for (size_t i = strlen(bytes) + 1; i < length; i += strlen(bytes + i) + 1) {
		if (count == OWNER_WORDS)
			return false;
		w->words[count++] = bytes + i;
	}
	return true;
}

const char *wish_read(char *bytes, size_t length, const int *fds, size_t fd_count, struct wish *w)
{
	struct owner_wish head;
	const struct wish_kind *kind;

	*w = (struct wish){ .workspace = "" };
	if (length < sizeof(head))
		return "that is no wish";
	memcpy(&head, bytes, sizeof(head));
	if (head.version != OWNER_VERSION)
		return "as-owner is of another version than the system; restart both";
	if (head.kind >= OWNER_KINDS || !split(bytes + sizeof(head), length - sizeof(head), w))
		return "that is no wish";
	w->kind = (enum owner_kind)head.kind;
	w->uid = head.uid;
	kind = &WISH_KINDS[w->kind];
	if (fd_count != kind->fd_count || !kind->has_words(w->words) ||
	    kind->has_workspace != (*w->workspace == '/') ||
	    (!kind->has_workspace && *w->workspace))
		return "that is no wish of this kind";
	memcpy(w->fds, fds, fd_count * sizeof(*fds));
	w->fd_count = fd_count;
	return NULL;
}
