#include "owner_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct users users;

void users_end(void)
{
	ck_assert_int_eq(users_stop(&users), 0);
	ck_assert_int_eq(users_stop_owner(&users), 0);
	users_remove(&users);
}

void work_in_home(enum user who)
{
	(void)snprintf(users.project, sizeof(users.project), "%.40s/home-%u/w", users.base,
	               (unsigned)USER_IDS[who]);
	(void)mkdir(users.project, 0700);
	ck_assert_int_eq(chown(users.project, USER_IDS[who], USER_IDS[who]), 0);
}

void belongs_to(enum user who, const char *path)
{
	struct stat st;

	ck_assert_int_eq(lstat(below(users.project, path), &st), 0);
	ck_assert_uint_eq(st.st_uid, USER_IDS[who]);
	ck_assert_uint_eq(st.st_gid, USER_IDS[who]);
}

void approve(const char *id)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(users_ctl(&users, OPERATOR, &said, "approve %s", id) == 0, "%s",
	              str_text(&said));
}

struct relay work_there(const char *script)
{
	struct relay r;

	work_in_home(AGENT);
	ck_assert_int_eq(users_run(&users, AGENT, NULL, "cd \"$HOME/w\" && OWNER=%d && %s",
	                           (int)users.owner_pid, script),
	                 0);
	r = users_relay(&users, AGENT);
	ck_assert_int_eq(
	    users_ctl(&users, OPERATOR, NULL, "reject %s", users_ask(&users, &r, "x", "x\n")), 0);
	free(relay_end(&r));
	return r;
}

void looks(const char *arguments, int status, const char *answer)
{
	users_operator_sees(&users, arguments, status, answer);
}
