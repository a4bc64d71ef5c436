/* approve: with --edit or --with another command, or another content of the file, than was asked;
 * what is sent is shown first as a diff. */
#include "ctl.h"

#include "diff.h"
#include "io.h"
#include "safe_path.h"
#include "yes_no.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXTENSION_MOST = 16 };

/* ---- what was asked ---- */

/* The new content of the file, from the change that was asked and the file as it is. */
static int compute_content(const struct request *r, struct str *out, struct err *e)
{
	const struct proposal p = { .workspace_root = r->row.workspace_root,
		                    .file_path = r->row.file_path,
		                    .body = str_text(&r->effect),
		                    .body_length = r->effect.length };
	struct plan plan = { 0 };
	struct refusal why = { 0 };
	int fd = -1, failed;

	if (!r->effect.length || safe_path_open(r->row.workspace_root, &fd, e))
		return r->effect.length ? -1 : 0;
	failed = proposal_look(fd, &p, &plan, &why) || proposal_work(&p, &plan, &why);
	if (!failed)
		str_add_bytes(out, str_text(&plan.files[plan.primary].new),
		              plan.files[plan.primary].new.length);
	plan_clear(&plan);
	io_shut(&fd);
	if (!failed && r->file_count == 1 &&
	    strcmp(sha256_of(str_text(out), out->length).text, r->files[0].result_hash) == 0)
		return 0;
	return err_set(e, ERR_INPUT,
	               "the file has changed since this was asked, so its new content cannot be "
	               "computed; --with FILE says all of it");
}

static int read_asked(const struct request *r, struct str *out, struct err *e)
{
	if (r->row.editable == REQUEST_EDITABLE_CONTENT)
		return compute_content(r, out, e);
	str_add_bytes(out, str_text(&r->body), r->body.length);
	return 0;
}

/* ---- what is sent instead ---- */

static int read_file(const char *name, struct str *out, struct err *e)
{
	bool is_stdin = strcmp(name, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	int more = fd < 0 ? -1 : io_read_all(fd, OPERATOR_EDITED_BYTES, out);

	name = is_stdin ? "stdin" : name;
	if (!is_stdin)
		io_shut(&fd);
	if (more < 0)
		return err_set(e, ERR_INPUT, "%s: %s", name, strerror(errno));
	return more ? err_set(e, ERR_INPUT, "%s has more than %d bytes; nothing was approved", name,
	                      OPERATOR_EDITED_BYTES)
	            : 0;
}

/* A folder of our own, and a file in it with the extension that editors go by. */
struct scratch {
	struct str folder, file;
};

/* Removes the file, and what an editor has left beside it. */
static void scratch_clear(struct scratch *s)
{
	DIR *dir = s->folder.length ? opendir(s->folder.bytes) : NULL;
	struct dirent *one;

	while (dir && (one = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), one->d_name, 0);
	if (dir) {
		(void)closedir(dir);
		(void)rmdir(s->folder.bytes);
	}
	str_clear(&s->folder);
	str_clear(&s->file);
}

static int scratch_make(struct scratch *s, const struct request *r, const struct str *text,
                        struct err *e)
{
	const char *parent = getenv("TMPDIR");
	const char *name = r->row.editable == REQUEST_EDITABLE_CONTENT ? r->row.file_path : NULL;
	const char *slash = name ? strrchr(name, '/') : NULL;
	const char *dot = name ? strrchr(slash ? slash : name, '.') : NULL;
	int fd, failed;

	str_addf(&s->folder, "%s/agent-intercom-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(s->folder.bytes)) {
		str_reset(&s->folder);
		return err_set(e, ERR_INPUT, "no folder for the editor's file: %s",
		               strerror(errno));
	}
	str_addf(&s->file, "%s/%s%s", s->folder.bytes, name ? "content" : "command",
	         !name                                 ? ".sh"
	         : dot && strlen(dot) < EXTENSION_MOST ? dot
	                                               : "");
	fd = open(s->file.bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, ERR_INPUT, "%s: %s", s->file.bytes, strerror(errno));
	failed = io_write_all(fd, str_text(text), text->length);
	if (failed)
		(void)err_set(e, ERR_INPUT, "%s: %s", s->file.bytes, strerror(errno));
	io_shut(&fd);
	return failed;
}

static const char *editor(void)
{
	const char *visual = getenv("VISUAL"), *plain = getenv("EDITOR");

	return visual && *visual ? visual : plain && *plain ? plain : "vi";
}

/* As a shell would: its signals are the editor's while that runs. */
static int run_editor(const char *file, struct err *e)
{
	OWNED(str) struct str line = { 0 };
	char shell[] = "sh", option[] = "-c";
	char *argv[] = { shell, option, NULL, shell, (char *)file, NULL };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	int status = 0, failed;
	pid_t pid;

	str_addf(&line, "exec %s \"$1\"", editor());
	argv[2] = line.bytes;
	failed = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	if (failed)
		return err_set(e, ERR_INPUT, "%s: %s", editor(), strerror(failed));
	(void)sigaction(SIGINT, &ignore, &interrupt);
	(void)sigaction(SIGQUIT, &ignore, &quit);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGQUIT, &quit, NULL);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(e, ERR_INPUT, "the editor '%.100s' ended with %s %d; nothing was approved",
	               editor(), WIFSIGNALED(status) ? "signal" : "status",
	               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static int edit(const struct request *r, const struct str *asked, struct str *out, struct err *e)
{
	OWNED(scratch) struct scratch s = { 0 };

	return scratch_make(&s, r, asked, e) || run_editor(s.file.bytes, e)
	           ? -1
	           : read_file(s.file.bytes, out, e);
}

/* Editors and echo end a command with a newline that nobody meant. */
static void drop_newline(const struct str *asked, struct str *text)
{
	bool has = asked->length && asked->bytes[asked->length - 1] == '\n';

	if (!has && text->length && text->bytes[text->length - 1] == '\n')
		text->bytes[--text->length] = '\0';
}

/* ---- showing and sending ---- */

static void show(const struct ctl *c, const struct request *r, const struct str *asked,
                 const struct str *text)
{
	bool is_content = r->row.editable == REQUEST_EDITABLE_CONTENT;
	OWNED(str) struct str diff = { 0 };

	diff_compute(is_content ? r->row.file_path : "command", str_text(asked), asked->length,
	             str_text(text), text->length, &diff);
	print_block(c, str_text(&diff), diff.length, true);
}

static int check(const struct request *r, const struct str *text, struct err *e)
{
	const char *bytes = str_text(text);

	if (strspn(bytes, " \t\r\n") == text->length)
		return err_set(e, ERR_INPUT, "the text is empty; nothing was approved");
	if (memchr(bytes, '\0', text->length) || !utf8_valid(bytes, text->length))
		return err_set(e, ERR_INPUT, "the %s is not UTF-8 text; nothing was approved",
		               request_editable_name(r->row.editable));
	return 0;
}

/* Whether it can still be approved with another text. */
static int check_request(const struct request *r, struct err *e)
{
	if (r->row.decided_at)
		return err_set(e, ERR_INPUT, "it has been %s since %s",
		               request_state_name(r->row.state), r->row.decided_at);
	if (!r->row.editable)
		return err_set(e, ERR_INPUT,
		               "this cannot be approved with another text; reject it, and say what "
		               "to do instead");
	return 0;
}

static int send(struct ctl *c, const struct words *w, struct said *said, struct err *e)
{
	if (ctl_say(c, w, said, e))
		return -1;
	ctl_add_withheld(c, said);
	print_said(c, said);
	return 0;
}

static int approve_edited(struct ctl *c, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(str) struct str asked = { 0 }, text = { 0 };
	OWNED(said) struct said said = { 0 };
	bool asks = isatty(STDIN_FILENO) && c->terminal, is_same;
	struct words w = { .verb = verb_find("approve"), .text = c->note, .certain = true };
	struct err unknown = { 0 };

	if (find_request(c, c->argv[0], &r, e) || check_request(&r, e))
		return -1;
	if (read_asked(&r, &asked, c->edit ? e : &unknown) && c->edit)
		return -1;
	if (c->edit ? edit(&r, &asked, &text, e) : read_file(c->with, &text, e))
		return -1;
	if (r.row.editable == REQUEST_EDITABLE_COMMAND)
		drop_newline(&asked, &text);
	if (check(&r, &text, e))
		return -1;
	is_same = asked.length == text.length &&
	          memcmp(str_text(&asked), str_text(&text), text.length) == 0;
	if (!is_same && !c->json)
		show(c, &r, &asked, &text);
	if (!is_same && asks && !c->json &&
	    yes_no_ask("Approve it with this change?") != YES_NO_YES)
		return err_set(e, ERR_INPUT, "nothing was approved");
	w.id = r.row.id;
	w.edited = str_text(&text);
	w.digest = c->digest ? c->digest : r.row.digest;
	return send(c, &w, &said, e);
}

/* ---- the command ---- */

static int run_approve(struct ctl *c, struct err *e)
{
	const struct words w = { .verb = verb_find("approve"),
		                 .id = c->argv[0],
		                 .text = c->note,
		                 .option = c->option,
		                 .digest = c->digest,
		                 .certain = true };
	OWNED(said) struct said said = { 0 };

	if (!!c->edit + !!c->with + !!c->option > 1)
		return err_set(e, ERR_INPUT, "--edit, --with and --option exclude each other");
	if (c->edit || c->with)
		return approve_edited(c, e);
	return send(c, &w, &said, e);
}

const struct command_spec cmd_approve = {
	"approve",
	HELP("ID [--edit|--with FILE|--option OPTION] [--note TEXT] [--digest HEX]",
	     "approve a proposed change, with a note to the agent",
	     "A command that the inbox does not show whole is approved with the digest that `show` "
	     "prints,\n"
	     "or its first 8 digits; with a digest nothing else is approved.\n"
	     "OPTION is one of the agent's own answers, by its number or name.\n"
	     "--edit opens $VISUAL or $EDITOR on the command, or on the file's new content: what "
	     "you\n"
	     "save is approved instead, if the question came from a host's hook; what an agent "
	     "itself\n"
	     "proposes is refused with a reason. --with takes the text from a file, or from stdin "
	     "(-).\n"),
	ARGUMENTS(1, 1, TAKES_NOTE | TAKES_DIGEST | TAKES_OPTION | TAKES_EDIT), .run = run_approve
};
