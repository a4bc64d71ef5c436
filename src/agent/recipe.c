#include "recipe.h"

#include "pack.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1 << 20, LIST_MOST = 10000 };

void recipe_clear(struct recipe *r)
{
	char *const texts[] = { r->profile, r->command,  r->fence,   r->workspace,
		                r->url,     r->database, r->run_dir, r->config };

	for (size_t i = 0; i < COUNT(texts); i++)
		free(texts[i]);
	texts_clear(&r->arguments);
	environment_clear(&r->set);
	*r = (struct recipe){ .profile = NULL };
}

void made_clear(struct made *m)
{
	texts_clear(&m->arguments);
	environment_clear(&m->environment);
	fenced_clear(&m->fenced);
}

/* ---- as bytes ---- */

void recipe_write(const struct recipe *r, struct str *out)
{
	const char *const texts[] = { r->workspace, r->url, r->database, r->run_dir, r->config };

	pack_add_int(out, r->talks);
	pack_add_text(out, r->profile);
	pack_add_text(out, r->command);
	pack_add_text(out, r->fence);
	for (size_t i = 0; i < COUNT(texts); i++)
		pack_add_text(out, texts[i] ? texts[i] : "");
	pack_add_texts(out, (const char *const *)r->arguments.items, r->arguments.count);
	pack_add_texts(out, (const char *const *)r->set.variables, r->set.count);
}

static void read_arguments(struct pack *p, struct texts *out)
{
	int64_t count = pack_int_in(p, 0, LIST_MOST);

	for (int64_t i = 0; i < count && !p->bad; i++) {
		OWNED(char_ptr) char *one = pack_some_text(p, TEXT_BYTES);

		texts_add(out, one);
	}
}

static void read_variables(struct pack *p, struct environment *out)
{
	int64_t count = pack_int_in(p, 0, LIST_MOST);

	for (int64_t i = 0; i < count && !p->bad; i++) {
		OWNED(char_ptr) char *one = pack_some_text(p, TEXT_BYTES);
		char *value = strchr(one, '=');

		if (value)
			*value++ = '\0';
		environment_set(out, one, value ? value : "");
	}
}

int recipe_read(const char *bytes, size_t length, struct recipe *r, struct err *e)
{
	struct pack p = { .at = bytes, .left = length };

	r->talks = pack_int_in(&p, 0, 1) != 0;
	r->profile = pack_text(&p, TEXT_BYTES);
	r->command = pack_some_text(&p, TEXT_BYTES);
	r->fence = pack_text(&p, TEXT_BYTES);
	r->workspace = pack_some_text(&p, TEXT_BYTES);
	r->url = pack_some_text(&p, TEXT_BYTES);
	r->database = pack_some_text(&p, TEXT_BYTES);
	r->run_dir = pack_some_text(&p, TEXT_BYTES);
	r->config = pack_some_text(&p, TEXT_BYTES);
	read_arguments(&p, &r->arguments);
	read_variables(&p, &r->set);
	if (pack_is_whole(&p))
		return 0;
	return err_set(e, ERR_INPUT, "what is to be started cannot be read, or is too long");
}

/* ---- followed ---- */

static int find_program(const struct recipe *r, struct str *program, struct err *e)
{
	/* One that is named with its folder is told apart by launch. */
	if (!program_find(r->command, program) && !strchr(r->command, '/'))
		return err_set(e, ERR_INPUT,
		               "cannot find the program %s of the profile '%s'; install it, or "
		               "give its path as command",
		               r->command, r->profile ? r->profile : "");
	if (!program->length)
		str_add(program, r->command);
	return 0;
}

static void make_environment(const struct recipe *r, const char *program, struct environment *out)
{
	OWNED(str) struct str path = { 0 };

	program_path(program, &path);
	environment_pass(out, environ, "[]");
	environment_set(out, "PATH", str_text(&path));
	environment_add(out, &r->set);
}

int recipe_follow(const struct recipe *r, struct made *m, struct err *e)
{
	OWNED(str) struct str program = { 0 };

	if (find_program(r, &program, e))
		return -1;
	texts_add(&m->arguments, str_text(&program));
	for (size_t i = 0; i < r->arguments.count; i++)
		texts_add(&m->arguments, r->arguments.items[i]);
	make_environment(r, str_text(&program), &m->environment);
	if (fenced_make(r->fence,
	                &(struct fenced_place){ .workspace = r->workspace,
	                                        .program = str_text(&program),
	                                        .url = r->url,
	                                        .database = r->database,
	                                        .run_dir = r->run_dir,
	                                        .config = r->config },
	                &m->fenced, e))
		return -1;
	m->plan = (struct launch_plan){ .argv = m->arguments.items,
		                        .environment = m->environment.variables,
		                        .directory = r->workspace,
		                        .enter = fenced_enter,
		                        .entering = &m->fenced,
		                        .talks = r->talks };
	return 0;
}
