#!/bin/bash
# The kill matrix. Kills the applier before every system call that it makes, which is also after every
# one before it, and fails every call on a workspace or the database, one at a time. After each the
# next applier must find its way:
#   at once, each file is wholly old or wholly new, and all are new if the request is consumed;
#   in the end a killed job is applied, once, and all files are new; a failed one is that too, or it is
#   refused with its code, all files are old and nothing is left behind;
#   the journal is settled and says what was done, the caller is answered once, no hidden file stays,
#   the database is sound.
#
# usage: kill_applier.sh BUILD_DIR [SCENARIO...]      BUILD_DIR holds the binary applier
#        SECONDS_MAX=n: as many points as that time has room for, of each scenario alike. ERRORS: the
#        errors. FAIL: the calls that fail. JOBS: how many at a time. VERBOSE=1 names each point.
#        TMPDIR: where; /dev/shm if it is there.
#
# Scenarios: modify, create (in new directories), delete a file; many: one of each, a rename, a copy and
# a mode change in one diff; force: many without the copy, over a changed file; undo: many, taken back;
# plain, back: many and undo on a file system that cannot exchange names; again, settle: many, where
# an applier was killed when it had put the first file in place, and the last.
#
# A first run under strace numbers the calls by name. The loader's calls count too, which costs time and
# spares a judgement. Needs strace and sqlite3.
set -u

build=$(realpath "${1:?usage: kill_applier.sh BUILD_DIR [SCENARIO...]}")
applier=$build/applier
shift
FAIL=${FAIL:-openat,openat2,read,write,fsync,fchmod,fchown,fstatfs,mkdirat,renameat2,linkat,unlinkat,newfstatat,readlink,flistxattr}
FAIL_DATABASE=${FAIL_DATABASE:-openat,pread64,pwrite64,fsync,fdatasync,ftruncate}
ERRORS=${ERRORS:-EIO ENOSPC EINTR}
ERRORS_FILES=${ERRORS_FILES-EROFS EDQUOT EACCES}
SCENARIOS="modify create delete many force undo plain back again settle"
NOW=2026-01-01T00:00:00.000Z
[ ! -w /dev/shm ] || : "${TMPDIR:=/dev/shm}" # syncing for real takes three times as long
export INTERCOM_DRAIN=1 INTERCOM_HOST=h
export ASAN_OPTIONS=detect_leaks=0 # which does not work under strace

# ---- scenarios: the old files and the new ones, by hand; the diff; what it touches ----

many_old() {
	printf 'one\ntwo\nthree\n' >a.txt
	printf 'bye\n' >gone.txt
	printf 'true\n1\n' >old.sh
	printf 'x\n' >run
	chmod 640 a.txt run
	chmod 750 old.sh
	chmod 644 gone.txt
}

many_new() {
	mkdir -p new/dir moved
	printf 'one\n2\nthree\n' >a.txt
	printf 'hello\n' >new/dir/b.txt
	printf 'true\n2\n' >moved/new.sh
	printf 'one\ntwo\nthree\n' >copy.txt
	printf 'x\n' >run
	chmod 644 new/dir/b.txt
	chmod 640 a.txt copy.txt
	chmod 750 run moved/new.sh
}

many_diff() {
	cat <<-'DIFF'
		--- a/a.txt
		+++ b/a.txt
		@@ -1,3 +1,3 @@
		 one
		-two
		+2
		 three
		diff --git a/new/dir/b.txt b/new/dir/b.txt
		new file mode 100644
		--- /dev/null
		+++ b/new/dir/b.txt
		@@ -0,0 +1 @@
		+hello
		diff --git a/gone.txt b/gone.txt
		deleted file mode 100644
		--- a/gone.txt
		+++ /dev/null
		@@ -1 +0,0 @@
		-bye
		diff --git a/old.sh b/moved/new.sh
		rename from old.sh
		rename to moved/new.sh
		--- a/old.sh
		+++ b/moved/new.sh
		@@ -1,2 +1,2 @@
		 true
		-1
		+2
		diff --git a/a.txt b/copy.txt
		copy from a.txt
		copy to copy.txt
		diff --git a/run b/run
		old mode 100644
		new mode 100755
	DIFF
}

many_touches() {
	cat <<-'END'
		a.txt modify - 0
		new/dir/b.txt create - 33188
		gone.txt delete - 0
		old.sh delete moved/new.sh 0
		moved/new.sh create old.sh 0
		copy.txt create a.txt 0
		run modify - 33261
	END
}

one_old() { printf 'one\ntwo\nthree\n' >a.txt && chmod 640 a.txt; }

# What stands when the agent asks.
make_old() {
	case $scenario in
	modify) one_old ;;
	delete) printf 'one\n' >a.txt && chmod 640 a.txt ;;
	create) ;;
	*) many_old ;;
	esac
}

# What somebody does before the job: force finds a changed file. A copy of that is not forced.
change() {
	[ "$scenario" != force ] || printf 'zero\none\ntwo\nthree\n' >a.txt
}

make_new() {
	case $scenario in
	modify) printf 'one\n2\nthree\n' >a.txt && chmod 640 a.txt ;;
	delete) ;;
	create) mkdir -p made/for && printf 'all new\n' >made/for/it.txt && chmod 644 made/for/it.txt ;;
	undo | back) many_old ;;
	force)
		many_new
		rm copy.txt
		printf 'zero\none\n2\nthree\n' >a.txt
		;;
	*) many_new ;;
	esac
}

# What the agent was shown that comes of it.
make_shown() {
	case $scenario in
	modify | delete | create) make_new ;;
	force) many_new && rm copy.txt ;;
	*) many_new ;;
	esac
}

body() {
	case $scenario in
	modify) printf -- '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n' ;;
	delete) printf -- '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n' ;;
	create) printf 'all new\n' ;;
	force) many_diff | sed '/^diff .* b\/copy.txt$/,/^copy to /d' ;;
	*) many_diff ;;
	esac
}

# What the operator was shown, where a forced write is compared with that: the diff as we compute it.
effect() {
	[ "$scenario" != force ] ||
		body | sed '/^deleted file mode/d; s/^@@ -1,3 .*/& one/; s/^@@ -1,2 .*/& true/'
}

touches() {
	case $scenario in
	modify) echo a.txt modify - 0 ;;
	delete) echo a.txt delete - 0 ;;
	create) echo made/for/it.txt create - 0 ;;
	force) many_touches | grep -v '^copy.txt ' ;;
	*) many_touches ;;
	esac
}

is_undo() { [ "$scenario" = undo ] || [ "$scenario" = back ]; }
is_plain() { [ "$scenario" = plain ] || [ "$scenario" = back ]; }

# ---- rows ----

quoted() { printf "'%s'" "${1//\'/\'\'}"; }

# Texts as the digest has them: with their length before them; "-:" is none. See src/change/proposal.c.
counted() {
	local LC_ALL=C
	printf '%d:%s' "${#1}" "$1"
}

# hash_of PATH [TREE]: of what stands when the agent asks, or of what it is shown.
hash_of() {
	local file=${2:-$now/ws}/$1
	if [ -e "$file" ]; then sha256sum <"$file" | cut -c1-64; else echo new_file; fi
}

digest() {
	local path action other mode text effect count
	text=$(body && printf .)
	effect=$(effect && printf .)
	count=$(touches | wc -l)
	{
		counted check_clearance && counted t && printf -- '-:' && counted low
		counted "$primary" && counted "${text%.}"
		if [ -n "${effect%.}" ]; then counted "${effect%.}"; else printf -- '-:'; fi
		printf '0;%d;' "$count"
		touches | while read -r path action other mode; do
			counted "$path" && counted "$path" && counted "$action"
			if [ "$other" = - ]; then printf -- '-:'; else counted "$other"; fi
			printf '%d;' "$mode"
			counted "$(hash_of "$path")" && counted "$(hash_of "$path" "$dir/shown")"
		done
	} | sha256sum | cut -c1-64
}

request_files() {
	local path action other mode
	touches | while read -r path action other mode; do
		[ "$other" = - ] && other=NULL || other=$(quoted "$other")
		echo "INSERT INTO request_file (request_seq, path, target, action, other_path, mode,
			original_hash, result_hash) VALUES (1, '$path', '$path', '$action', $other, $mode,
			'$(hash_of "$path")', '$(hash_of "$path" "$dir/shown")');"
	done
}

all_rows() {
	local text effect force=0
	text=$(body && printf .)
	effect=$(effect && printf .)
	[ "$scenario" != force ] || force=1
	cat "$build/generated/schema.sql"
	cat <<-SQL
		INSERT INTO operator (id, kind, user_id, is_default) VALUES ('local:t', 'local', 't', 1);
		INSERT INTO setting VALUES ('mode', 'local', 'default', '$NOW');
		INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, created_at,
		  updated_at) VALUES (1, 's', 'h', 'local:t', '$now/ws', 'active', 'local', '$NOW', '$NOW');
		INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq, identity,
		  created_at) VALUES (1, 'k', 'h', 'stdio', '2025-06-18', 1, '{}', '$NOW');
		INSERT INTO request (seq, id, session_seq, kind, state, digest, title, file_path, risk_level,
		  original_hash, created_at, updated_at, body, effect) VALUES (1, 'request-1', 1, 'clearance',
		  'pending', '$(digest)', 't', '$primary', 'low', '$(hash_of "$primary")', '$NOW', '$NOW',
		  $(quoted "${text%.}"), nullif($(quoted "${effect%.}"), ''));
		$(request_files)
		INSERT INTO decision (request_id, verdict, operator_id, source, created_at)
		  VALUES ('request-1', 'approve', 'local:t', 'ctl', '$NOW');
		INSERT INTO apply (seq, request_seq, machine, force, state, created_at, updated_at)
		  VALUES (1, 1, 'h', $force, 'queued', '$NOW', '$NOW');
		INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest, state,
		  apply_seq, created_at) VALUES (1, 1, '1', 'legacy', 'check_diff', '', 'waiting', 1, '$NOW');
		PRAGMA journal_mode = WAL;
	SQL
}

# ---- one scenario: $now is what the applier works on, a copy of $dir/fresh ----

# In $now/ws, whatever stands there: the tree that a function makes, for its listing.
tree() {
	rm -rf "${dir:?}/tree"
	mkdir "$dir/tree"
	(cd "$dir/tree" && umask 022 && "$1")
	listing "$dir/tree"
}

# What is in a workspace: names, modes, contents.
listing() {
	(cd "$1" && find . -mindepth 1 \( -type d -printf '%P/ %m\n' \) -o -printf '%P %m ' \
		-exec sh -c 'sha256sum <"$1" | cut -c1-64' - {} \; | sort)
}

prepare() {
	dir=$work/$scenario now=$work/$scenario/now
	mkdir -p "$now/ws" "$now/run" "$dir/peek" "$dir/shown"
	chmod 700 "$now/run"
	primary=$(touches | sed -n '1s/ .*//p')
	(cd "$now/ws" && umask 022 && make_old)
	(cd "$dir/shown" && umask 022 && make_shown)
	all_rows | sqlite3 -bail "$now/intercom.db" >/dev/null || exit 1
	(cd "$now/ws" && change)
	mv "$now" "$dir/fresh"
	if is_undo; then
		begin_anew
		run_applier || { point="the write before" && wrong "ends with status $?" && exit 1; }
		sqlite3 "$now/intercom.db" "INSERT INTO command (verb, argument) VALUES ('undo', 'request-1')"
		freeze
	fi
	case $scenario in
	again) crash_first head ;;
	settle) crash_first tail ;;
	esac
	case $scenario in
	again | settle) tree make_old >"$dir/old" ;;
	*) listing "$dir/fresh/ws" >"$dir/old" ;;
	esac
	tree make_new >"$dir/new"
}

freeze() {
	rm -rf "$dir/fresh"
	mv "$now" "$dir/fresh"
}

# Kills an applier after the first or last file is in place, and begins from there.
crash_first() {
	local n
	number_calls renameat2 | "$1" -n 1 >"$dir/first"
	read -r _ n <"$dir/first"
	begin_anew
	if [ "$1" = head ]; then n=$((n + 1)); fi # the second is not done
	run_strace renameat2 --inject="renameat2:signal=SIGKILL:when=$n" >/dev/null
	freeze
}

begin_anew() {
	rm -rf "$now"
	cp -a "$dir/fresh" "$now"
}

# The shell in between keeps its "Killed" to the log.
run_applier() {
	if is_plain; then
		run_strace renameat2
	else
		run_any
	fi
}

run_any() {
	bash -c '"$@"; exit $?' - timeout 20 "$@" "$applier" --db "$now/intercom.db" \
		--run "$now/run" --log-level error 2>"$dir/log"
}

# run_strace CALL [INJECT]: for a file system that cannot exchange names, renameat2 says EINVAL.
run_strace() {
	local calls=$1 plain=()
	shift
	if is_plain; then
		plain=(--inject=renameat2:error=EINVAL)
		calls=$calls,renameat2 # what is not traced is not injected
	fi
	run_any strace -f -o /dev/null -e trace="$calls" "${plain[@]}" "$@"
}

# The calls with their numbers: "name number".
number_calls() {
	local plain=()
	begin_anew
	is_plain && plain=(-e "trace=$1,renameat2" --inject=renameat2:error=EINVAL)
	run_any strace -f -y -e trace="$1" "${plain[@]}" -o "$dir/trace" || {
		point="without a kill" wrong "ends with status $?"
		exit 1
	}
	# strace counts for each process, and the applier looks at its disk in a process beside.
	sed -n 's/^\([0-9]*\) *\([a-z0-9_]*\)(/\1 \2 (/p' "$dir/trace" |
		awk -v here="${2:-}" '
			{ n = ++count[$1 " " $2] }
			(here == "" || index($0, here)) && !told[$2 " " n]++ { print $2, n }'
}

# Of the trace that was just taken: how often any other process than the applier makes a call: "name number".
number_beside() {
	sed -n 's/^\([0-9]*\) *\([a-z0-9_]*\)(.*/\1 \2/p' "$dir/trace" | awk '
		NR == 1 { applier = $1 }
		$1 != applier { n = ++count[$1 " " $2]; if (n > most[$2]) most[$2] = n }
		END { for (name in most) print name, most[name] }'
}

# ---- judging ----

wrong() {
	echo "$scenario, $point: $*"
	[ ! -s "$dir/log" ] || sed 's/^/    /' "$dir/log"
	return 1
}

# Each file (hidden ones aside) is as in the old tree or as in the new one, and what is in both of
# them is there. Where names cannot be exchanged, one may be missing for a moment.
each_is_whole() {
	listing "$now/ws" | grep -v '\.intercom-' | awk -v old="$dir/old" -v new="$dir/new" \
		-v plain="$(is_plain && echo 1)" '
		BEGIN {
			while ((getline line < old) > 0) { split(line, f, " "); ok[line] = 1; both[f[1]]++ }
			while ((getline line < new) > 0) { split(line, f, " "); ok[line] = 1; both[f[1]]++ }
		}
		/\/ / { next }
		{ split($0, f, " "); seen[f[1]] = 1; if (!ok[$0]) { bad = 1; print "neither: " $0 } }
		END {
			for (name in both)
				if (both[name] == 2 && name !~ /\/$/ && !seen[name] && !plain) { bad = 1; print "gone: " name }
			exit bad
		}'
}

is_tree() { [ "$(listing "$now/ws")" = "$(cat "$dir/$1")" ]; }

# State and error of the job, of request, call and command, how often the caller was answered and the
# request consumed; then what the database says of itself.
rows() {
	sqlite3 "$now/intercom.db" "SELECT a.state, coalesce(a.error_code, ''), r.state, t.state,
		(SELECT count(*) FROM ended_call), (SELECT count(*) FROM event WHERE kind = 'request.consumed'),
		(SELECT count(*) FROM file_change WHERE state IN ('planned', 'staged')),
		(SELECT count(*) FROM apply WHERE state = 'applied'),
		coalesce((SELECT outcome FROM command), '')
		FROM apply AS a, request AS r, tool_call AS t ORDER BY a.seq DESC LIMIT 1;
		PRAGMA integrity_check" | tr '\n' ' '
}

# What check_diff tells is what the journal of the job says: so it must be true.
journal_is_true() {
	local path action bytes
	sqlite3 -separator ' ' "$now/intercom.db" "SELECT path, action, bytes FROM file_change
		WHERE state = 'done' AND apply_seq = (SELECT max(seq) FROM apply)" >"$dir/told"
	[ "$(wc -l <"$dir/told")" = "$(touches | wc -l)" ] || return 1
	while read -r path action bytes; do
		if [ "$action" = delete ]; then
			[ ! -e "$now/ws/$path" ] || return 1
		else
			[ "$(stat -c %s "$now/ws/$path")" = "$bytes" ] || return 1
		fi
	done <"$dir/told"
}

# The rows as they are on disk at this moment, in a copy.
peek() {
	rm -f "$dir"/peek/*
	cp "$now"/intercom.db "$dir/peek/"
	[ ! -e "$now/intercom.db-wal" ] || cp "$now/intercom.db-wal" "$dir/peek/"
	sqlite3 "$dir/peek/intercom.db" "SELECT state FROM apply ORDER BY seq DESC LIMIT 1"
}

check_end() {
	local is want="applied||consumed|answered|1|1|0|1| ok "
	is_undo && want="undone||consumed|answered|1|1|0|1|done ok "
	is=$(rows)
	[ "$is" = "$want" ] || wrong "rows are $is" || return 1
	is_tree new || wrong "there are: $(listing "$now/ws" | diff "$dir/new" -)" || return 1
	journal_is_true || wrong "the journal says: $(cat "$dir/told")"
}

check_refused() {
	local code=$1 want is
	want="refused|$code|approved|answered|1|0|0|0| ok "
	is_undo && want="refused|$code|consumed|answered|1|1|0|1|refused ok "
	is=$(rows)
	[ "$is" = "$want" ] || wrong "rows are $is" || return 1
	is_tree old || wrong "refused, but there are: $(listing "$now/ws" | diff "$dir/old" -)"
}

# Whether a process beside the applier, which looks at a disk, makes its nth call of that name: then that
# is killed, and what the applier does without its answer differs.
is_beside() {
	awk -v call="$1" -v n="$2" '$1 == call && n <= $2 { found = 1 } END { exit !found }' "$work/../beside"
}

kill_at() {
	local call=$1 n=$2 state whole tries=0
	point="killed at $call $n"
	begin_anew
	# How often it looks around depends on time: now and then it is done before its nth call.
	while run_strace "$call" --inject="$call:signal=SIGKILL:when=$n" >/dev/null; do
		! is_beside "$call" "$n" || break
		tries=$((tries + 1))
		[ "$tries" -lt 5 ] || wrong "was not killed" || return 1
		begin_anew
	done
	whole=$(each_is_whole) || wrong "$whole" || return 1
	state=$(peek)
	case $state in
	applied | undone) is_tree new || wrong "$state, but the files are not new" || return 1 ;;
	esac
	run_applier || wrong "the next applier ends with status $?" || return 1
	check_end
}

code_of() {
	case $1 in
	EIO) echo io_error ;;
	ENOSPC) echo no_space ;;
	EROFS) echo read_only ;;
	EDQUOT) echo quota ;;
	EACCES | EPERM) echo permission ;;
	*) echo busy ;;
	esac
}

# A database that fails ends the process with 70 or 75; a call on a workspace does not. The loader may
# have made the nth call: then nothing began.
CANNOT_LOAD=127
RENEWS=79 # a call on the workspace failed as its fence would have refused it: a successor is to be started
# What the database says of itself: how often the applier looks around depends on time, so that the nth
# call may be one on the database after all.
database_failed() { grep -q 'error applier: db: ' "$dir/log"; }

fail_at() {
	local call=$1 n=$2 error=$3 ended=0
	point="$error at $call $n"
	begin_anew
	run_strace "$call" --inject="$call:error=$error:when=$n" || ended=$?
	[ $ended = 0 ] || [ $ended = $CANNOT_LOAD ] || [ $ended = $RENEWS ] || [ "${4:-}" = db ] || database_failed ||
		wrong "ends with status $ended" || return 1
	run_applier || wrong "the next applier ends with status $?" || return 1
	case $(rows) in
	"applied||"* | "undone||"*) check_end ;;
	"refused|workspace_unreadable|"*) check_refused workspace_unreadable ;;
	"refused|patch_conflict|"*) wrong "a failed call is called a conflict: $(sqlite3 "$now/intercom.db" \
		'SELECT why FROM apply ORDER BY seq DESC LIMIT 1')" ;;
	*) check_refused "$(code_of "$error")" ;;
	esac
}

# ---- running ----

# Of one scenario: what, the call, its number, the error and where. In a random order, always the same,
# so that the first n of them are a sample. To inject something into renameat2 undoes what makes a
# file system plain.
points() {
	{
		# How often memory grows differs from run to run.
		number_calls all | sed 's/^/kill_at /' | grep -v ' exit_group \| execve \| brk '
		number_beside >"$work/beside"
		number_calls "$FAIL" "$now/ws" | fail_each ws
		number_calls "$FAIL_DATABASE" "$now/intercom.db" | fail_each db
	} | { if is_plain; then grep -v ' renameat2 '; else cat; fi; } |
		sort -u | shuf --random-source=<(yes)
}

fail_each() {
	local call n error errors=$ERRORS
	[ "$1" = db ] || errors="$ERRORS $ERRORS_FILES"
	while read -r call n; do
		for error in $errors; do echo "fail_at $call $n $error $1"; done
	done
}

# Does every JOBS-th point, in a place of its own.
do_points() {
	local number=$1 passed=0 failed=0 what call n rest
	work=$work/$number
	mkdir "$work"
	prepare
	while read -r what call n rest; do
		[ -z "${VERBOSE:-}" ] || echo "$scenario: $what $call $n $rest"
		# shellcheck disable=SC2086 # a list of words
		if "$what" "$call" "$n" $rest; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
		[ -z "${SECONDS_MAX:-}" ] || [ "$SECONDS" -lt "$deadline" ] || break
	done < <(awk -v jobs="$JOBS" -v number="$number" 'NR % jobs == number' "$work/../points")
	echo "$passed $failed" >"$work/tally"
}

run_scenario() {
	local number passed failed
	work=$all_work/$scenario
	mkdir "$work"
	prepare
	begin_anew
	run_applier
	point="without a kill"
	check_end || return 1
	points >"$work/points"
	for ((number = 0; number < JOBS; number++)); do
		(do_points "$number") &
	done
	wait
	[ "$(cat "$work"/*/tally | wc -l)" = "$JOBS" ] || return 1
	read -r passed failed < <(awk '{ p += $1; f += $2 } END { print p, f }' "$work"/*/tally)
	echo "$scenario: of $(grep -c ^kill "$work/points") kills and $(grep -c ^fail "$work/points")" \
		"failing calls, $((passed + failed)) were tried, $failed failed"
	all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed))
	rm -rf "${work:?}"
}

all_work=$(mktemp -d "${TMPDIR:-/tmp}/kill-applier-XXXXXX")
trap 'rm -rf "$all_work"' EXIT
JOBS=${JOBS:-$(nproc)}
all_passed=0 all_failed=0
[ $# -gt 0 ] || { read -ra every <<<"$SCENARIOS" && set -- "${every[@]}"; }
count=0
for scenario; do
	count=$((count + 1))
	deadline=$((${SECONDS_MAX:-0} * count / $#))
	run_scenario || all_failed=$((all_failed + 1))
done
echo "$((all_passed + all_failed)) points in $SECONDS s (errors: $ERRORS; on files also: $ERRORS_FILES)"
echo "$all_passed passed, $all_failed failed"
[ "$all_failed" = 0 ]
