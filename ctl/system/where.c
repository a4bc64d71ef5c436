/* where: the paths of the running system, else of the one that would be started. Creates
 * nothing. */
#include "system.h"

#include "instance.h"
#include "json.h"
#include "locate.h"
#include "reach.h"
#include "setting.h"
#include "sql/worker.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sysexits.h>
#include <unistd.h>

static const char PROGRAM[] = "agent-intercom";

enum { SHARED_SECONDS = 5 }; /* within which a system for several users must greet */

struct places {
	struct located system;
	char *log; /* NULL: not a file; log_why says where lines go */
	struct str log_why;
	char *http; /* NULL: not known */
	struct str front; /* what mcp-front says of HTTP */
	int64_t http_port; /* as configured for the running system */
};

static void places_clear(struct places *p)
{
	located_clear(&p->system);
	free(p->log);
	str_clear(&p->log_why);
	free(p->http);
	str_clear(&p->front);
}

static int help(void)
{
	(void)printf(
	    "usage: %s where [--json | NAME] [--config FILE] [--db PATH]\n\n"
	    "Prints where the files of the system are: of the one that runs under the\n"
	    "configured ipc_name, whatever configuration it was started with, else of the one\n"
	    "that would be started.\n"
	    "NAME prints one of them alone: database, run_directory, mcp_socket, ipc_socket,\n"
	    "log, config, http, pid. Of a system of this machine for several users that serves\n"
	    "yours, while you run none: mcp_socket, desk_socket (of operators), http.\n",
	    PROGRAM);
	return EX_OK;
}

/* ---- finding ---- */

/* Before the first start the directory of the database may not exist, so it cannot be resolved. */
static bool has_directory(const char *database)
{
	OWNED(str) struct str dir = { 0 };

	str_add_bytes(&dir, database, (size_t)(strrchr(database, '/') - database));
	return !dir.length || access(str_text(&dir), F_OK) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR); /* it may, and looking says why not */
}

/* Finds the database that the configuration names, and what is published for it. */
static int find_configured(const struct config_source *source, struct located *l, struct err *e)
{
	OWNED(config) struct config config = { 0 };

	if (config_load(source, &config, e))
		return -1;
	if (!has_directory(config.database.path)) {
		l->paths.database = xstrdup(config.database.path);
		l->config = xstrdup(config.file);
		return 0;
	}
	if (paths_open(config.database.path, false, &l->paths, e))
		return -1;
	l->pid = instance_holder(l->paths.database, e);
	if (l->pid < 0)
		return -1;
	if (l->pid == 0 || paths_read_published(&l->paths, &l->ipc_name, &l->config, NULL))
		l->config = xstrdup(config.file);
	return 0;
}

static int find(const struct config_source *source, struct located *l, struct err *e)
{
	OWNED(str) struct str note = { 0 };
	int runs = locate_usual(source, l, &note, e);

	if (note.length)
		(void)fprintf(stderr, "%s: note: %s\n", PROGRAM, str_text(&note));
	if (runs)
		return runs < 0 ? -1 : 0;
	return find_configured(source, l, e);
}

/* Finds what the supervisor's descriptor 2 refers to, else the file that a relay would open. */
static void find_log(struct places *p)
{
	OWNED(str) struct str link = { 0 }, usual = { 0 };
	char target[PATH_MAX];
	struct stat about;
	ssize_t length;

	str_addf(&usual, "%s-log", p->system.paths.database);
	if (p->system.pid == 0) {
		p->log = str_take(&usual);
		return;
	}
	str_addf(&link, "/proc/%d/fd/2", (int)p->system.pid);
	length = readlink(str_text(&link), target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = '\0';
	if (target[0] == '/' && stat(str_text(&link), &about) == 0 && S_ISREG(about.st_mode) &&
	    about.st_nlink > 0)
		p->log = xstrdup(target);
	else
		str_addf(&p->log_why, "standard error of pid %d%s%s", (int)p->system.pid,
		         *target ? ": " : "", target);
}

static bool is_address(const char *detail)
{
	return detail && strncmp(detail, "http://", 7) == 0;
}

static void find_http(struct places *p)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(worker_live_row) struct worker_live_row live = { 0 };
	char machine[MACHINE_BYTES];

	if (p->system.pid == 0 || paths_check_right(p->system.paths.database, NULL) ||
	    store_open(&st, p->system.paths.database, NULL, NULL))
		return;
	p->http_port = setting_int(&st, "http_port", 0);
	machine_name(machine);
	sql_worker_live(&st, machine, &live);
	while (row_next(&live.row, NULL) > 0) {
		if (strcmp(live.name, "mcp-front") != 0 || !live.detail)
			continue;
		str_reset(&p->front);
		str_add(&p->front, live.detail);
		if (!p->http && is_address(live.detail))
			p->http = xstrdup(live.detail);
	}
}

/* ---- printing ---- */

static void print_line(const char *what, const char *directory, const char *name)
{
	if (directory)
		(void)printf("%-14s %s%s\n", what, directory, name);
	else
		(void)printf("%-14s made at the first start\n", what);
}

static void print_text(const struct places *p)
{
	const char *run = p->system.paths.run;

	print_line("database", p->system.paths.database, "");
	print_line("run directory", run, "");
	print_line("mcp socket", run, "/mcp.sock");
	print_line("ipc socket", run, "/ipc.sock");
	print_line("log", p->log ? p->log : str_text(&p->log_why), "");
	print_line("config", *p->system.config ? p->system.config : "no file: the defaults apply",
	           "");
	if (p->http || p->front.length)
		print_line("http", p->http ? p->http : str_text(&p->front), "");
	if (p->system.pid == 1)
		(void)printf("%-14s is just starting\n", "system");
	else if (p->system.pid)
		(void)printf("%-14s runs (pid %d)\n", "system", (int)p->system.pid);
	else
		(void)printf("%-14s does not run\n", "system");
	if (p->system.pid && reach_shared_serves())
		(void)printf("%-14s another system of this machine, for several users, serves you "
		             "while you run none (%s); agent-intercom-ctl --shared speaks to it\n",
		             "shared", reach_shared_directory());
	if (!p->system.pid && reach_shared_excludes())
		(void)printf("%-14s another system of this machine, for several users, does not "
		             "serve you (%s): join its group of agents, or of operators\n",
		             "shared", reach_shared_directory());
}

static void add_text(cJSON *o, const char *name, const char *text, const char *more)
{
	OWNED(str) struct str whole = { 0 };

	if (!text || !*text) {
		(void)cJSON_AddNullToObject(o, name);
		return;
	}
	str_addf(&whole, "%s%s", text, more);
	(void)cJSON_AddStringToObject(o, name, str_text(&whole));
}

static cJSON *as_json(const struct places *p)
{
	cJSON *o = cJSON_CreateObject();
	const char *run = p->system.paths.run;

	add_text(o, "database", p->system.paths.database, "");
	add_text(o, "run_directory", run, "");
	add_text(o, "mcp_socket", run, "/mcp.sock");
	add_text(o, "ipc_socket", run, "/ipc.sock");
	add_text(o, "log", p->log, "");
	add_text(o, "config", p->system.config, "");
	add_text(o, "http", p->http, "");
	if (p->system.pid)
		(void)cJSON_AddNumberToObject(o, "pid", p->system.pid);
	else
		(void)cJSON_AddNullToObject(o, "pid");
	return o;
}

/* ---- the system of the machine, for several users ---- */

/* What a user can know of it who is none of its own: its sockets, and what it says at one of them.
 */
struct shared_places {
	struct str mcp_socket, desk_socket; /* "": not for this user */
	struct str http; /* "": not known */
};

static void shared_places_clear(struct shared_places *p)
{
	str_clear(&p->mcp_socket);
	str_clear(&p->desk_socket);
	str_clear(&p->http);
}

/* As a relay that hangs up once it was greeted. */
static void ask_for_http(struct str *out)
{
	static const char HELLO[] = "{\"agent-intercom\":1}\n";
	const struct timeval patience = { .tv_sec = SHARED_SECONDS };
	OWNED(cJSON_ptr) cJSON *said = NULL;
	char answer[1024];
	ssize_t n = -1;
	int fd = reach_shared(REACH_AGENTS, SOCK_STREAM);

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, HELLO, sizeof(HELLO) - 1, MSG_NOSIGNAL) > 0)
		n = recv(fd, answer, sizeof(answer), 0);
	(void)close(fd);
	said = n > 0 ? cJSON_ParseWithLength(answer, (size_t)n) : NULL;
	if (is_address(json_text(said, "http")))
		str_add(out, json_text(said, "http"));
}

/* Whether it serves this user, who runs no system of their own. */
static bool find_shared(const struct config_source *source, struct shared_places *p)
{
	OWNED(located) struct located own = { 0 };
	OWNED(str) struct str note = { 0 };

	if (locate_is_named(source) || locate_usual(source, &own, &note, NULL) != 0)
		return false;
	if (reach_shared_is_open(REACH_AGENTS)) {
		str_addf(&p->mcp_socket, "%s/%s", reach_shared_directory(), REACH_AGENTS);
		ask_for_http(&p->http);
	}
	if (reach_shared_is_open(REACH_OPERATORS))
		str_addf(&p->desk_socket, "%s/%s", reach_shared_directory(), REACH_OPERATORS);
	return p->mcp_socket.length || p->desk_socket.length;
}

static void print_shared(const struct shared_places *p)
{
	if (p->mcp_socket.length)
		print_line("mcp socket", p->mcp_socket.bytes, "");
	if (p->desk_socket.length)
		print_line("desk socket", p->desk_socket.bytes, "");
	if (p->mcp_socket.length)
		print_line("http",
		           p->http.length ? p->http.bytes
		                          : "not known: the system does not answer, or "
		                            "serves none",
		           "");
	print_line("system", "that of this machine, for several users", "");
}

static cJSON *shared_as_json(const struct shared_places *p)
{
	cJSON *o = cJSON_CreateObject();

	add_text(o, "mcp_socket", str_text(&p->mcp_socket), "");
	add_text(o, "desk_socket", str_text(&p->desk_socket), "");
	add_text(o, "http", str_text(&p->http), "");
	return o;
}

/* Whether it is not known because no system runs. */
static bool needs_system(const cJSON *all, const char *name)
{
	return cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(all, "pid")) &&
	       strcmp(name, "config") != 0;
}

/* http_why: why there is no http; "": not known. */
static int print_json(cJSON *all, const char *name, const char *http_why)
{
	const cJSON *one = name ? cJSON_GetObjectItemCaseSensitive(all, name) : all;
	char *text;

	if (name && one && cJSON_IsNull(one) && needs_system(all, name)) {
		(void)fprintf(stderr, "%s: where: there is no '%.40s': no system runs\n", PROGRAM,
		              name);
		return EXIT_FAILURE;
	}
	if (name && one && cJSON_IsNull(one) && *http_why && strcmp(name, "http") == 0) {
		(void)fprintf(stderr, "%s: where: %s\n", PROGRAM, http_why);
		return EXIT_FAILURE;
	}
	if (!one || (name && cJSON_IsNull(one))) {
		(void)fprintf(stderr, "%s: where: there is no '%.40s'; see %s where --json\n",
		              PROGRAM, name, PROGRAM);
		return EXIT_FAILURE;
	}
	if (cJSON_IsString(one)) {
		(void)puts(one->valuestring);
		return EX_OK;
	}
	text = cJSON_Print(one);
	(void)puts(text ? text : "");
	cJSON_free(text);
	return EX_OK;
}

static int where_shared(const struct shared_places *p, const struct cli_arguments *a)
{
	OWNED(cJSON_ptr) cJSON *all = NULL;
	int status = EX_OK;

	if (a->flag || a->operand) {
		all = shared_as_json(p);
		status = print_json(all, a->operand, "");
	} else {
		print_shared(p);
	}
	return fflush(stdout) ? EX_IOERR : status;
}

/* Whether the running system serves HTTP at the port that it is to serve: any other is a makeshift
 * until its next start, and the one that it is to serve is another program's. */
static int check_served(const struct places *p, struct err *e)
{
	OWNED(str) struct str wanted = { 0 };

	if (!p->http)
		return err_set(e, p->front.length ? ERR_INPUT : ERR_AGAIN,
		               "the running system does not serve HTTP: %s",
		               p->front.length ? str_text(&p->front)
		                               : "it has only just started; try again");
	str_addf(&wanted, ":%lld/", (long long)p->http_port);
	if (strstr(p->http, str_text(&wanted)))
		return 0;
	if (p->http_port == 0)
		return err_set(e, ERR_INPUT,
		               "http_port is 0: the running system serves %s until its next start, "
		               "and another port then; set http_port, and restart it",
		               p->http);
	return err_set(
	    e, ERR_INPUT,
	    "the running system serves %s, because another program had port %lld, the "
	    "configured one, when it started: stop that program (`ss -ltnp`, as root, shows it), "
	    "or set another http_port, and restart agent-intercom",
	    p->http, (long long)p->http_port);
}

int where_http(const struct config_source *source, struct str *out, struct err *e)
{
	OWNED(shared_places) struct shared_places shared = { .http = { 0 } };
	OWNED(places) struct places p = { 0 };

	if (find_shared(source, &shared) && shared.mcp_socket.length) {
		str_add(out, str_text(&shared.http));
		return out->length ? 1
		                   : err_set(e, ERR_INPUT,
		                             "the system of this machine, for several users, does "
		                             "not serve HTTP now; its operators see why in health");
	}
	if (find(source, &p.system, e))
		return -1;
	if (p.system.pid == 0)
		return 0;
	find_http(&p);
	if (check_served(&p, e))
		return -1;
	str_add(out, p.http);
	return 1;
}

int intercom_where(const struct config_source *source, int argc, char **argv)
{
	struct cli_arguments a = { .source = *source };
	OWNED(shared_places) struct shared_places shared = { .http = { 0 } };
	OWNED(places) struct places p = { 0 };
	OWNED(cJSON_ptr) cJSON *all = NULL;
	struct err e = { 0 };
	int parsed = cli_read(&a, "json", argc, argv), status = EX_OK;

	if (parsed > 0)
		return help();
	if (parsed < 0)
		return EX_USAGE;
	if (find_shared(&a.source, &shared))
		return where_shared(&shared, &a);
	if (find(&a.source, &p.system, &e))
		return cli_say(&e);
	find_log(&p);
	find_http(&p);
	if (a.flag || a.operand) {
		all = as_json(&p);
		status = print_json(all, a.operand, str_text(&p.front));
	} else {
		print_text(&p);
	}
	return fflush(stdout) ? EX_IOERR : status;
}
