/* Whether another build was installed while we run. Our workers could not be restarted then: a
 * worker of another build does not work for us. So the system is restarted as a whole. */
#include "supervisor.h"

#include "clock.h"
#include "instance.h"
#include "log.h"
#include "str.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOK_MS = 5000,
	QUIET_MS = 3000, /* so long nothing must change: the installation is done */
	ANSWER_MS = 2000, /* --version takes a few milliseconds */
	WORD_BYTES = 200,
};

static const char PROGRAM[] = "agent-intercom";

int installed_program(struct str *path, struct err *e)
{
	if (paths_bin(path, e))
		return -1;
	str_addf(path, "/%s", PROGRAM);
	return 0;
}

/* Another file, or another content, of the same name gives another number. 0: there is none. */
static uint64_t mark_of(const char *path)
{
	struct stat about;

	if (stat(path, &about) != 0)
		return 0;
	return ((uint64_t)about.st_ino << 32) ^ (uint64_t)about.st_ctim.tv_sec * 1000003 ^
	       (uint64_t)about.st_ctim.tv_nsec;
}

static uint64_t mark_of_all(const struct supervisor *s)
{
	OWNED(str) struct str program = { 0 };
	uint64_t mark = installed_program(&program, NULL) ? 0 : mark_of(str_text(&program));

	for (int i = 0; i < CHILD_COUNT; i++)
		if (s->children[i].path)
			mark = mark * 31 + mark_of(s->children[i].path);
	return mark * 31 + mark_of(s->runners.path);
}

/* The build of the installed program; false: it does not say. */
static bool read_build(struct str *build)
{
	OWNED(str) struct str path = { 0 };
	char word[WORD_BYTES] = "", flag[] = "--version"; /* "agent-intercom BUILD\n" */
	size_t before = strlen(PROGRAM) + 1;

	if (installed_program(&path, NULL))
		return false;
	char *argv[] = { path.bytes, flag, NULL };
	(void)spawn_ask(argv, false, word, sizeof(word) - 1, ANSWER_MS);
	if (strncmp(word, PROGRAM, before - 1) != 0 || word[before - 1] != ' ')
		return false;
	str_add_bytes(build, word + before, strcspn(word + before, "\n"));
	return build->length > 0;
}

/* Whether this process was started from what is installed now. */
static bool is_installed(void)
{
	OWNED(str) struct str program = { 0 };
	struct stat ours, there;

	return installed_program(&program, NULL) == 0 && stat("/proc/self/exe", &ours) == 0 &&
	       stat(str_text(&program), &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

void installed_remember(struct supervisor *s)
{
	s->installed.seen = mark_of_all(s);
	/* 0: another was installed while we started. */
	s->installed.mark = is_installed() ? s->installed.seen : 0;
}

bool installed_is_another(struct supervisor *s)
{
	struct installed *i = &s->installed;
	OWNED(str) struct str build = { 0 };
	int64_t now = clock_monotonic_ms();
	uint64_t mark;

	if (now < i->look_ms)
		return false;
	i->look_ms = now + LOOK_MS;
	mark = mark_of_all(s);
	if (mark != i->seen) {
		i->seen = mark;
		i->quiet_ms = now + QUIET_MS;
	}
	if (i->seen == i->mark || now < i->quiet_ms)
		return false;
	i->mark = mark;
	if (!read_build(&build)) {
		log_warn("the programs were removed or replaced, and the new ones do not run; this "
		         "build, %s, serves until one of its workers has to be restarted",
		         INSTANCE_BUILD);
		return false;
	}
	if (strcmp(str_text(&build), INSTANCE_BUILD) == 0)
		return false;
	log_info("build %s was installed in place of %s", str_text(&build), INSTANCE_BUILD);
	return true;
}
