/* libFuzzer target for the whole front: mcp-front runs as a thread of this process, with a database
 * in memory, and gets raw bytes on TCP (HTTP), on the relays' socket and on the IPC socket. It must
 * live, go on serving others, answer HTTP with HTTP, a relay with lines of JSON, and IPC with a
 * line of JSON that says whether it is ok for each line.
 *
 * Input: a byte that chooses the socket, one that says how the bytes are cut, then the bytes. "{S}"
 * stands for the id of a session that exists. A relay's bytes begin with its greeting where they do
 * not begin with '-'. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "lines.h"
#include "rpc.h"
#include "store.h"
#include "worker.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEAD = 2, PATIENCE_MS = 20000, MOST_PIECES = 4, MOST_BYTES = 1 << 16 };

static const char GREETING[] = "{\"agent-intercom\":1,\"workspace\":\"/tmp\"}\n";
static const char INITIALIZE[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"f\",\"version\":\"1\"}}}";

static char folder[40], database[80], run_dir[80], session[100];
static int port, health = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int mcp_front_main(int argc, char **argv); /* main of workers/mcp_front */

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "fuzz_front: %s\n", what);
	abort();
}

/* ---- the front ---- */

static void *run_front(void *arg)
{
	char *argv[] = { "mcp-front", "--db",        database, "--run",
		         run_dir,     "--log-level", "error",  NULL };

	(void)arg;
	(void)mcp_front_main((int)COUNT(argv) - 1, argv);
	must(false, "the front has ended");
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
	(void)st;
	(void)flag;
	(void)walk;
	return remove(path);
}

static void remove_folder(void)
{
	(void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	         getsockname(fd, (struct sockaddr *)&a, &size) == 0,
	     "no port");
	(void)close(fd);
	return ntohs(a.sin_port);
}

static void make_database(void)
{
	OWNED(store) struct store st = STORE_INIT;
	sqlite3 *db = NULL;
	OWNED(str) struct str sql = { 0 };
	struct err e = { 0 };
	const char *now = "2026-01-01T00:00:00.000Z";

	str_addf(
	    &sql,
	    "INSERT INTO operator (id, kind, user_id, is_default) VALUES"
	    " ('local:tester', 'local', 'tester', 1);"
	    "INSERT INTO setting (name, value, source, updated_at) VALUES"
	    " ('system.build', '%s', 'system', '%s'), ('mode', 'local', 'default', '%s'),"
	    " ('slack.configured', 'false', 'system', '%s'), ('http_port', '%d', 'file', '%s'),"
	    " ('default_workspace_root', '%s', 'file', '%s')",
	    INSTANCE_BUILD, now, now, now, port, now, folder, now);
	must(store_migrate(&st, database, run_dir, &e) == 0, e.text);
	must(sqlite3_open(database, &db) == SQLITE_OK &&
	         sqlite3_exec(db, sql.bytes, NULL, NULL, NULL) == SQLITE_OK,
	     "no rows");
	(void)sqlite3_close(db);
}

/* ---- sockets ---- */

static int reach(void)
{
	const struct linger now = { .l_onoff = 1 }; /* no TIME_WAIT: ports would run out */
	const int on = 1;
	struct sockaddr_in a = { .sin_family = AF_INET,
		                 .sin_port = htons((uint16_t)port),
		                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (int ms = 0; connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0; ms += 10) {
		must(ms < PATIENCE_MS, "the front takes no connection");
		(void)poll(NULL, 0, 10);
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static int reach_socket(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", run_dir, name);
	must(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0, "the front takes no caller");
	return fd;
}

/* Waits for bytes; how many have come, 0 at the end. */
static size_t receive(int fd, char *bytes, size_t room, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = recv(fd, bytes, room, MSG_DONTWAIT);
	return n > 0 ? (size_t)n : 0;
}

/* Somebody else is served, and with that the front has looked at all that was sent before. */
static void serves(void)
{
	static const char GET[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char bytes[500];
	size_t n = 0;

	for (int attempts = 0; n == 0 && attempts < 3; attempts++) {
		if (health < 0)
			health = reach();
		if (send(health, GET, strlen(GET), MSG_NOSIGNAL) == (ssize_t)strlen(GET))
			n = receive(health, bytes, sizeof(bytes), PATIENCE_MS);
		if (n == 0) { /* idle connections are cut */
			(void)close(health);
			health = -1;
		}
	}
	must(n > 12 && memcmp(bytes, "HTTP/1.1 200", 12) == 0, "the front serves nobody else");
}

static void open_session(void)
{
	OWNED(str) struct str request = { 0 };
	char bytes[4000], *id;
	int fd = reach();
	size_t n;

	str_addf(&request, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
	         strlen(INITIALIZE), INITIALIZE);
	must(write(fd, request.bytes, request.length) == (ssize_t)request.length, "initialize");
	n = receive(fd, bytes, sizeof(bytes) - 1, PATIENCE_MS);
	bytes[n] = '\0';
	id = strstr(bytes, "Mcp-Session-Id: ");
	must(id && sscanf(id + 16, "%99[^\r\n]", session) == 1, "no session");
	(void)close(fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	pthread_t thread;

	(void)argc;
	(void)argv;
	(void)snprintf(folder, sizeof(folder), "%s/fuzz-XXXXXX",
	               access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	must(mkdtemp(folder) != NULL, "no folder");
	(void)atexit(remove_folder);
	(void)snprintf(database, sizeof(database), "%s/db", folder);
	(void)snprintf(run_dir, sizeof(run_dir), "%s/run", folder);
	must(mkdir(run_dir, 0700) == 0, "no run directory");
	port = free_port();
	make_database();
	(void)pthread_create(&thread, NULL, run_front, NULL);
	serves();
	open_session();
	return 0;
}

/* ---- one input ---- */

static void fill_in(const char *bytes, size_t length, struct str *out)
{
	while (length > 0) {
		const char *mark = memmem(bytes, length, "{S}", 3);
		size_t n = mark ? (size_t)(mark - bytes) : length;

		str_add_bytes(out, bytes, n);
		if (mark) {
			str_add(out, session);
			n += 3;
		}
		bytes += n;
		length -= n;
	}
}

static void send_pieces(int fd, const struct str *bytes, unsigned cut)
{
	size_t at = 0;

	for (int i = 0; at < bytes->length; i++) {
		size_t left = bytes->length - at;
		size_t n = i + 1 < MOST_PIECES && cut ? 1 + cut % left : left;

		if (send(fd, bytes->bytes + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			return; /* cut off */
		at += n;
		cut = (cut * 1103515245 + 12345) & 0xffff;
		if (at < bytes->length)
			serves();
	}
}

static bool is_json(void *arg, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_ParseWithLength(line, length);

	(void)arg;
	must(cJSON_IsObject(value) && utf8_valid(line, length), "a relay gets no JSON");
	return true;
}

static bool is_verdict(void *arg, const char *line, size_t length)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_ParseWithLength(line, length);
	const cJSON *ok = cJSON_GetObjectItemCaseSensitive(value, "ok");

	(void)arg;
	must(cJSON_IsBool(ok) && utf8_valid(line, length), "IPC is not told whether it is ok");
	must(cJSON_HasObjectItem(value, cJSON_IsTrue(ok) ? "data" : "error"), "nor what");
	return true;
}

/* What has come of an answer. */
static void look(int fd, lines_take *take)
{
	static char bytes[MOST_BYTES];
	struct lines lines = LINES_INIT(SIZE_MAX - 1);
	bool first = true;
	size_t n;

	while ((n = receive(fd, bytes, sizeof(bytes), 0)) > 0) {
		if (take)
			(void)lines_feed(&lines, bytes, n, take, NULL);
		else if (first)
			must(n >= 9 && memcmp(bytes, "HTTP/", 5) == 0, "no HTTP comes back");
		first = false;
	}
	lines_clear(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	OWNED(str) struct str bytes = { 0 };
	bool is_relay, is_ipc;
	int fd;

	if (size <= HEAD || size > MOST_BYTES)
		return 0;
	is_relay = data[0] % 8 == 0;
	is_ipc = data[0] % 8 == 4;
	if (is_relay && data[HEAD] != '-')
		str_add(&bytes, GREETING);
	fill_in((const char *)data + HEAD, size - HEAD, &bytes);
	fd = is_relay ? reach_socket("mcp.sock") : is_ipc ? reach_socket("ipc.sock") : reach();
	send_pieces(fd, &bytes, data[1]);
	serves(); /* it has been read, */
	serves(); /* the turn has come, */
	serves(); /* and the answer has left */
	look(fd, is_relay ? is_json : is_ipc ? is_verdict : NULL);
	(void)close(fd);
	return 0;
}
