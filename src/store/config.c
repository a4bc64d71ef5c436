/* config: combines file, flags, environment and defaults. One table (config_field.c) describes
 * every setting; config_read.c reads the file, config_print.c shows the result. */
#include "config_agent.h"
#include "config_read.h"

#include "disk.h"
#include "path.h"
#include "paths.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VARIABLE_BYTES = 64 };

/* ---- flags, environment, defaults ---- */

static void set_defaults(struct config *c)
{
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
		(void)config_field_set(&CONFIG_FIELDS[i], CONFIG_FIELDS[i].preset,
		                       config_field_place(&CONFIG_FIELDS[i], c));
}

static int set_outside(struct config_load *l, const struct config_field *f, enum config_from from,
                       const char *text, const char *name)
{
	OWNED(str) struct str found = { 0 }, expected = { 0 };

	l->c->from[f - CONFIG_FIELDS] = (unsigned char)from;
	if ((!f->rule || f->rule->fits(text)) &&
	    config_field_set(f, text, config_field_place(f, l->c)))
		return 0;
	config_field_add_cut(&found, text);
	config_field_add_expected(&expected, f);
	return err_set(l->e, ERR_INPUT, "config: %s: is '%s'; write %s", name, str_text(&found),
	               str_text(&expected));
}

/* A flag overrides the environment, which overrides the file. */
static int read_outside(struct config_load *l, const struct config_source *src)
{
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++) {
		const struct config_field *f = &CONFIG_FIELDS[i];
		const char *flag = NULL;
		const char *env = f->env ? getenv(f->env) : NULL;
		char name[VARIABLE_BYTES];

		if (f->flag)
			memcpy(&flag, (const char *)src + f->flag - 1, sizeof(flag));
		if (flag && set_outside(l, f, CONFIG_FLAG, flag, f->flag_name))
			return -1;
		if (flag || !env || !*env)
			continue;
		(void)snprintf(name, sizeof(name), "$%s", f->env);
		if (set_outside(l, f, CONFIG_ENV, env, name))
			return -1;
	}
	return 0;
}

/* ---- paths ---- */

/* An error about a path, with the flag or the line of the file that gave it. */
static int wrong_path(struct config_load *l, size_t i, const char *path, const char *why,
                      const char *advice)
{
	enum config_from from = l->c->from[i];

	if (from == CONFIG_FILE)
		return config_read_wrong(l, l->lines[i], CONFIG_FIELDS[i].name, "%.300s: %s; %s",
		                         path, why, advice);
	return err_set(l->e, ERR_INPUT, "config: %s: %.300s: %s; %s",
	               from == CONFIG_FLAG ? CONFIG_FIELDS[i].flag_name : CONFIG_FIELDS[i].name,
	               path, why, advice);
}

/* Makes *path absolute: a flag's is relative to the working directory, a file's to the file's
 * directory. */
static int settle_path(struct config_load *l, size_t i, char **path)
{
	OWNED(char_ptr) char *dir = config_read_dir(l->c);
	OWNED(str) struct str absolute = { 0 };
	struct err why = { 0 };
	bool here = l->c->from[i] == CONFIG_FLAG || !l->c->file[0];

	if (paths_absolute(here ? NULL : dir, *path, &absolute, &why))
		return wrong_path(l, i, *path, why.text, "write an absolute path");
	xreplace(path, str_text(&absolute));
	return 0;
}

static int settle_workspace(struct config_load *l)
{
	size_t i = config_field_index("default_workspace_root");
	char **path = &l->c->default_workspace_root;
	OWNED(char_ptr) char *real = NULL;
	int got;

	if (!*path || !**path)
		return 0;
	if (settle_path(l, i, path))
		return -1;
	got = disk_real_dir(*path, &real);
	if (got < 0) {
		config_read_warn(l, 0, "default_workspace_root: %s does not answer: its disk hangs",
		                 *path);
		return 0;
	}
	if (!real)
		return wrong_path(l, i, *path, strerror(errno), "name an existing directory");
	if (!got)
		return wrong_path(l, i, *path, "is not a directory", "name an existing directory");
	xreplace(path, real);
	return 0;
}

static int settle_database(struct config_load *l)
{
	size_t i = config_field_index("database.path");
	OWNED(str) struct str path = { 0 };

	if (l->c->from[i] != CONFIG_DEFAULT)
		return settle_path(l, i, &l->c->database.path);
	if (paths_state_home(&path, l->e))
		return err_prefix(l->e, "config: database.path");
	str_add(&path, "/agent-intercom/intercom.db");
	xreplace(&l->c->database.path, str_text(&path));
	return 0;
}

/* Where agents of other users ask, the defaults are stricter. */
static int settle_shared(struct config_load *l)
{
	size_t i = config_field_index("shared.directory");
	char **path = &l->c->shared.directory;

	if (!**path)
		return 0;
	if (l->c->from[config_field_index("modes.agent_may_loosen")] == CONFIG_DEFAULT)
		l->c->modes.agent_may_loosen = false;
	if (l->c->from[config_field_index("policy.trust")] == CONFIG_DEFAULT)
		l->c->policy.trust = TRUST_ASK;
	return settle_path(l, i, path);
}

static int settle_export_dir(struct config_load *l)
{
	size_t i = config_field_index("retention_export_dir");
	char **path = &l->c->retention_export_dir;
	struct stat about;

	if (!**path)
		return 0;
	if (settle_path(l, i, path))
		return -1;
	if (!config_read_is_dir(
	        *path)) /* a disk that is not mounted; nothing is deleted until it is */
		config_read_warn(l, l->lines[i], "retention_export_dir: %s is no directory now",
		                 *path);
	else if (stat(*path, &about) == 0 && (about.st_mode & (S_IWGRP | S_IWOTH)))
		config_read_warn(l, l->lines[i],
		                 "retention_export_dir: %s has mode %04o: others may put files "
		                 "there; chmod 700 it",
		                 *path, about.st_mode & 07777U);
	return 0;
}

/* ---- which file ---- */

/* Sets c->file to the file to read, "" if there is none. */
static int find_file(const struct config_source *src, struct config *c, struct err *e)
{
	OWNED(str) struct str path = { 0 };
	const char *env = getenv("INTERCOM_CONFIG");
	struct stat about;

	c->file = xstrdup("");
	if (src->config) {
		if (!*src->config)
			return err_set(e, ERR_INPUT, "config: --config: is empty; name a file");
		if (paths_absolute(NULL, src->config, &path, e))
			return err_prefix(e, "config: --config");
		xreplace(&c->file, str_text(&path));
		return 0;
	}
	if (env && *env) {
		if (*env != '/')
			return err_set(
			    e, ERR_INPUT,
			    "config: $INTERCOM_CONFIG: '%.200s' is relative to the working "
			    "directory, where an agent can write; write an absolute path",
			    env);
		xreplace(&c->file, env);
		return 0;
	}
	if (paths_config_home(&path, e))
		return err_prefix(e, "config");
	str_add(&path, "/agent-intercom/config.toml");
	if (stat(str_text(&path), &about) == 0 || (errno != ENOENT && errno != ENOTDIR))
		xreplace(&c->file, str_text(&path));
	return 0;
}

/* Whether the owner is the only member of the file's group, as on systems where every user has a
 * private group and umask is 0002 (Debian 13, Ubuntu): it has the user's name and no members. */
static bool is_group_of_owner(const struct stat *about)
{
	const struct passwd *user = getpwuid(about->st_uid);
	const struct group *group = user ? getgrgid(about->st_gid) : NULL;

	if (!group || user->pw_gid != about->st_gid || strcmp(user->pw_name, group->gr_name) != 0)
		return false;
	for (char **member = group->gr_mem; *member; member++)
		if (strcmp(*member, user->pw_name) != 0)
			return false;
	return true;
}

static bool others_can_write(const struct stat *about)
{
	return (about->st_mode & S_IWOTH) ||
	       ((about->st_mode & S_IWGRP) && !is_group_of_owner(about));
}

/* It names commands to run: refuses what belongs to another user, and warns about what others can
 * change. Root may read everybody's. */
static int check_trust(struct config_load *l)
{
	OWNED(char_ptr) char *real = realpath(l->c->file, NULL);
	struct stat about, folder;
	char *slash;

	if (!real || stat(real, &about) != 0)
		return 0;
	if (geteuid() != 0 && about.st_uid != geteuid() && about.st_uid != 0)
		return err_set(l->e, ERR_INPUT,
		               "config: %.300s: belongs to another user (uid %u), who could have "
		               "commands run as you; remove it, or take a file of your own",
		               l->c->file, (unsigned)about.st_uid);
	if (l->c->default_workspace_root[0] && path_is_within(real, l->c->default_workspace_root))
		config_read_warn(l, 0,
		                 "lies in the workspace %s, where an agent can change it; move it",
		                 l->c->default_workspace_root);
	slash = strrchr(real, '/');
	slash[slash == real] = '\0';
	if (others_can_write(&about))
		config_read_warn(l, 0, "other users can write to it; run chmod go-w on it");
	else if (stat(real, &folder) == 0 && others_can_write(&folder) &&
	         !(folder.st_mode & S_ISVTX))
		config_read_warn(l, 0, "other users can replace it; run chmod go-w %s", real);
	return 0;
}

int config_load(const struct config_source *src, struct config *out, struct err *e)
{
	OWNED(config) struct config c = { 0 };
	struct config_load l = { .c = &c, .e = e };

	set_defaults(&c);
	if (find_file(src, &c, e))
		return -1;
	if (c.file[0] && config_read_file(&l))
		return -1;
	if (read_outside(&l, src) || settle_workspace(&l) || settle_database(&l) ||
	    settle_shared(&l) || settle_export_dir(&l))
		return -1;
	if ((c.file[0] && check_trust(&l)) || config_agent_settle(&l))
		return -1;
	*out = c;
	c = (struct config){ 0 };
	return 0;
}

/* ---- clearing ---- */

void config_clear(struct config *c)
{
	for (size_t i = 0; i < CONFIG_FIELD_COUNT; i++)
		config_field_clear(&CONFIG_FIELDS[i], c);
	texts_clear(&c->warnings);
	free(c->file);
	*c = (struct config){ 0 };
}
