#include "locate.h"

#include "instance.h"

#include <stdlib.h>
#include <string.h>

static const char USUAL_NAME[] = "agent-intercom";

struct search {
	const char *ipc_name;
	struct located *found;
	size_t count;
};

void located_clear(struct located *l)
{
	paths_clear(&l->paths);
	free(l->ipc_name);
	free(l->config);
	*l = (struct located){ 0 };
}

static void search_clear(struct search *s)
{
	for (size_t i = 0; i < s->count; i++)
		located_clear(&s->found[i]);
	free(s->found);
}

static bool is_known(const struct search *s, const char *database)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->found[i].paths.database, database) == 0)
			return true;
	return false;
}

static void hand_over(struct located *from, struct located *out)
{
	*out = *from;
	*from = (struct located){ 0 };
}

static void consider(const struct paths *p, void *arg)
{
	struct search *s = arg;
	OWNED(located) struct located one = { 0 };

	if (is_known(s, p->database) || paths_read_published(p, &one.ipc_name, &one.config, NULL) ||
	    strcmp(one.ipc_name, s->ipc_name) != 0)
		return;
	one.pid = instance_holder(p->database, NULL);
	if (one.pid <= 0)
		return;
	one.paths = (struct paths){ .database = xstrdup(p->database),
		                    .base = xstrdup(p->base),
		                    .run = xstrdup(p->run) };
	s->found = xrealloc(s->found, (s->count + 1) * sizeof(*s->found));
	hand_over(&one, &s->found[s->count++]);
}

/* "several systems named 'x' run: A (pid 1, config F) and B (pid 2, no config)" */
static void tell_all(const struct search *s, struct str *out)
{
	str_addf(out, "several systems named '%s' run: ", s->ipc_name);
	for (size_t i = 0; i < s->count; i++) {
		const struct located *l = &s->found[i];

		str_addf(out, "%s%s (pid %d, %s%s)", i ? " and " : "", l->paths.database,
		         (int)l->pid, *l->config ? "config " : "no config", l->config);
	}
}

static struct located *on_database(const struct search *s, const char *database)
{
	OWNED(char_ptr) char *real = database ? realpath(database, NULL) : NULL;

	for (size_t i = 0; real && i < s->count; i++)
		if (strcmp(s->found[i].paths.database, real) == 0)
			return &s->found[i];
	return NULL;
}

int locate_running(const char *ipc_name, const char *database, struct located *out,
                   struct str *note, struct err *e)
{
	OWNED(search) struct search s = { .ipc_name = ipc_name };
	OWNED(str) struct str all = { 0 };
	struct located *one;

	paths_each(consider, &s);
	if (s.count == 0)
		return 0;
	if (s.count == 1) {
		hand_over(&s.found[0], out);
		return 1;
	}
	tell_all(&s, &all);
	one = on_database(&s, database);
	if (!one)
		return err_set(e, ERR_INPUT,
		               "%s; say which with --config or --db, or give each its own ipc_name",
		               str_text(&all));
	str_addf(note, "%s; this is about %s", str_text(&all), one->paths.database);
	hand_over(one, out);
	return 1;
}

bool locate_is_named(const struct config_source *source)
{
	const char *env = getenv("INTERCOM_CONFIG");

	return source->config || source->database || (env && *env);
}

int locate_usual(const struct config_source *source, struct located *out, struct str *note,
                 struct err *e)
{
	OWNED(config) struct config config = { 0 };
	bool read;

	if (locate_is_named(source))
		return 0;
	read = config_load(source, &config, NULL) == 0;
	return locate_running(read ? config.ipc_name : USUAL_NAME,
	                      read ? config.database.path : NULL, out, note, e);
}

int locate_meant(const struct config_source *source, bool create, struct located *out,
                 struct str *note, struct err *e)
{
	OWNED(config) struct config config = { 0 };
	int runs = locate_usual(source, out, note, e);

	if (runs)
		return runs < 0 ? -1 : 0;
	if (config_load(source, &config, e))
		return -1;
	out->config = xstrdup(config.file);
	return paths_open(config.database.path, create, &out->paths, e);
}
