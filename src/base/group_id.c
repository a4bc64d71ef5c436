#include "group_id.h"

#include "str.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* Linux 4.13 */
#endif

enum { GROUPS_MAX = 65536 }; /* the kernel's NGROUPS_MAX */

int group_id_find(const char *name, gid_t *ret, struct err *e)
{
	const struct group *group = getgrnam(name);
	char *end;
	unsigned long number;

	if (group) {
		*ret = group->gr_gid;
		return 0;
	}
	errno = 0;
	number = strtoul(name, &end, 10);
	if (errno || *end || *name < '0' || *name > '9' || number >= (gid_t)-1)
		return err_set(e, ERR_INPUT, "there is no group '%.60s'", name);
	*ret = (gid_t)number;
	return 0;
}

/* The other groups of the peer; the caller frees *ret. Returns their number; 0: none, or nobody
 * knows. */
static size_t groups_of_peer(int fd, gid_t **ret)
{
	socklen_t size = 32 * sizeof(**ret);

	*ret = NULL;
	while (size <= GROUPS_MAX * sizeof(**ret)) {
		*ret = xrealloc(*ret, size);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, *ret, &size) == 0)
			return size / sizeof(**ret);
		if (errno != ERANGE)
			return 0;
	}
	return 0;
}

bool group_id_has_peer(gid_t group, int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);
	gid_t *groups;
	size_t count;
	bool found;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return false;
	found = who.gid == group;
	count = groups_of_peer(fd, &groups);
	for (size_t i = 0; i < count; i++)
		found = found || groups[i] == group;
	free(groups);
	return found;
}

bool group_id_keeps(gid_t group, uid_t user)
{
	const struct passwd *account = getpwuid(user);
	gid_t *groups = NULL;
	int count = 32, room = 0, got = -1;
	bool found = !account && !getgrgid(group);

	while (account && got < 0 && count > room && count <= GROUPS_MAX) {
		room = count;
		groups = xrealloc(groups, (size_t)room * sizeof(*groups));
		got = getgrouplist(account->pw_name, account->pw_gid, groups, &count);
	}
	for (int i = 0; i < count && got >= 0; i++)
		found = found || groups[i] == group;
	free(groups);
	return found;
}

/* The user's name, if the group is their first and nobody else's; NULL: it is not, or nobody knows.
 * The caller frees it. */
static char *only_account_of(gid_t group, uid_t user)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *account;
	char *name = NULL;
	bool shared = !file;

	while (!shared && (account = fgetpwent(file)) != NULL) {
		if (account->pw_gid == group)
			shared = account->pw_uid != user;
		if (account->pw_uid == user && account->pw_gid == group && !name)
			name = xstrdup(account->pw_name);
	}
	shared = shared || ferror(file);
	if (file)
		(void)fclose(file);
	if (shared) {
		free(name);
		name = NULL;
	}
	return name;
}

static bool has_only_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (strcmp(*member, name) != 0)
			return false;
	return strcmp(group->gr_name, name) == 0;
}

bool group_id_is_private(gid_t group, uid_t user)
{
	OWNED(char_ptr) char *name = only_account_of(group, user);
	FILE *file = name ? fopen("/etc/group", "re") : NULL;
	const struct group *one;
	bool found = false, others = false;

	while (file && !others && (one = fgetgrent(file)) != NULL) {
		if (one->gr_gid != group)
			continue;
		found = true;
		others = !has_only_member(one, name);
	}
	others = others || (file && ferror(file));
	if (file)
		(void)fclose(file);
	return found && !others;
}
