#!/bin/bash
# Kills the applier at every system call that leaves something behind, and fails every call on a
# workspace, one at a time. After each the next applier must find its way:
#   the file is wholly old or wholly new, and new whenever the request is consumed;
#   in the end a killed job is applied, once; a failed one is refused with its code and has left
#   nothing, or was tried again and is applied;
#   no temporary file stays, the database is sound.
#
# usage: kill_applier.sh BUILD_DIR [SCENARIO...]      BUILD_DIR holds the binary applier
#        KILL, FAIL: the system calls; ERRORS: the errors. More of them make it thorough and slow.
#        FULL=1: all points and errors in all scenarios; else delete, again and settle are sampled.
#        VERBOSE=1 names each point. TMPDIR: where; /dev/shm if it is there.
#
# Scenarios: modify, create, delete a file; `again` and `settle` begin where an applier was killed just
# before and just after it renamed.
#
# A first run under strace numbers the calls; those that name a file below the test's directory are
# points (so that the loader's calls are not). Needs strace and sqlite3.
set -u

here=$(cd "$(dirname "$0")" && pwd)
source_dir=$here/../..
applier=$(realpath "${1:?usage: kill_applier.sh BUILD_DIR [SCENARIO...]}")/applier
shift
KILL=${KILL:-openat,openat2,write,pwrite64,fsync,fdatasync,ftruncate,fchmod,fchown,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat}
FAIL=${FAIL:-openat,openat2,read,write,fsync,fchmod,fchown,fstatfs,mkdirat,renameat,renameat2,unlinkat,newfstatat}
ERRORS=${ERRORS:-EIO ENOSPC EROFS EDQUOT}
NOW=2026-01-01T00:00:00.000Z
[ ! -w /dev/shm ] || : "${TMPDIR:=/dev/shm}" # syncing for real takes three times as long
work=$(mktemp -d "${TMPDIR:-/tmp}/kill-applier-XXXXXX")
trap 'rm -rf "$work"' EXIT
export INTERCOM_DRAIN=1 INTERCOM_HOST=h
export ASAN_OPTIONS=detect_leaks=0 # which does not work under strace

# ---- scenarios: old file, proposal, new file; '-' is no file ----

old_of() {
	case $1 in
	delete) printf 'one\n' ;;
	create) printf -- '-' ;;
	*) printf 'one\ntwo\nthree\n' ;;
	esac
}

body_of() {
	case $1 in
	delete) printf -- '--- a/%s\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n' "$2" ;;
	create) printf 'all new\n' ;;
	*) printf -- '--- a/%s\n+++ b/%s\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n' "$2" "$2" ;;
	esac
}

new_of() {
	case $1 in
	delete) printf -- '-' ;;
	create) printf 'all new\n' ;;
	*) printf 'one\n2\nthree\n' ;;
	esac
}

path_of() {
	case $1 in
	create) echo made/for/it.txt ;;
	*) echo a.txt ;;
	esac
}

# ---- one scenario: $dir/now is what the applier works on, a copy of $dir/fresh ----

sql_text() {
	sed "s/'/''/g" | sed "1s/^/'/" && printf "'"
}

# Texts as the digest has them: with their length before them; "-:" is none.
counted() {
	local LC_ALL=C
	printf '%d:%s' "${#1}" "$1"
}

# The digest of what is shown: title, risk, path, body; then the files. See src/proposal.c.
digest() {
	local path=$1 hash=$2 action=$3 body
	body=$(body_of "$scenario" "$path" && printf .)
	{
		counted check_clearance && counted t && printf -- '-:' && counted low
		counted "$path" && counted "${body%.}" && printf -- '-:0;1;'
		counted "$path" && counted "$action" && printf -- '-:0;' && counted "$hash"
	} | sha256sum | cut -c1-64
}

prepare() {
	local old hash action=modify
	dir=$work/$scenario now=$work/$scenario/now path=$(path_of "$scenario")
	mkdir -p "$dir/now/ws" "$dir/now/run" "$dir/peek"
	chmod 700 "$dir/now/run"
	old=$(old_of "$scenario")
	hash=new_file
	[ "$scenario" != create ] || action=create
	[ "$scenario" != delete ] || action=delete
	if [ "$old" != - ]; then
		old_of "$scenario" >"$now/ws/$path"
		chmod 640 "$now/ws/$path"
		hash=$(old_of "$scenario" | sha256sum | cut -c1-64)
	fi
	{
		cat "$source_dir"/schema/*.sql "$source_dir"/schema/rules/*.sql
		cat <<-SQL
			INSERT INTO operator (id, kind, user_id, is_default) VALUES ('local:t', 'local', 't', 1);
			INSERT INTO setting VALUES ('mode', 'local', 'default', '$NOW');
			INSERT INTO session (seq, id, host, owner_user_id, workspace_root, status, mode, created_at,
			  updated_at) VALUES (1, 's', 'h', 'local:t', '$now/ws', 'active', 'local', '$NOW', '$NOW');
			INSERT INTO connection (seq, key, host, transport, protocol_version, session_seq, identity,
			  created_at) VALUES (1, 'k', 'h', 'stdio', '2025-06-18', 1, '{}', '$NOW');
			INSERT INTO request (seq, id, session_seq, kind, state, digest, title, file_path, risk_level,
			  original_hash, created_at, updated_at, body) VALUES (1, 'request-1', 1, 'clearance',
			  'pending', '$(digest "$path" "$hash" $action)', 't', '$path', 'low', '$hash', '$NOW', '$NOW',
			  $(body_of "$scenario" "$path" | sql_text));
			INSERT INTO request_file (request_seq, path, action, original_hash)
			  VALUES (1, '$path', '$action', '$hash');
			INSERT INTO decision (request_id, verdict, operator_id, source, created_at)
			  VALUES ('request-1', 'approve', 'local:t', 'ctl', '$NOW');
			INSERT INTO apply (seq, request_seq, host, state, created_at, updated_at)
			  VALUES (1, 1, 'h', 'queued', '$NOW', '$NOW');
			INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest, state,
			  apply_seq, created_at) VALUES (1, 1, '1', 'legacy', 'check_diff', '', 'waiting', 1, '$NOW');
			PRAGMA application_id = $((0x49434F4D));
			PRAGMA user_version = $(find "$source_dir/schema" -maxdepth 1 -name '*.sql' | wc -l);
			PRAGMA journal_mode = WAL;
		SQL
	} | sqlite3 -bail "$now/intercom.db" >/dev/null || exit 1
	mv "$now" "$dir/fresh"
	listing "$dir/fresh" >"$dir/before"
	case $scenario in
	again) crash_first '^rename' head ;;
	settle) crash_first '^fsync' tail ;;
	esac
}

# Kills an applier at the first or last call whose name matches, and begins from there.
crash_first() {
	local call n
	number_calls "$KILL" "$now/ws" | grep "$1" | "$2" -n 1 >"$dir/first"
	read -r call n <"$dir/first"
	begin_anew
	run_applier strace -f -e trace="$call" --inject="$call:signal=SIGKILL:when=$n" \
		-o /dev/null >/dev/null
	rm -rf "$dir/fresh"
	mv "$now" "$dir/fresh"
}

begin_anew() {
	rm -rf "$now"
	cp -a "$dir/fresh" "$now"
}

run_applier() {
	# The shell in between keeps its "Killed" to the log.
	bash -c '"$@"; exit $?' - timeout 20 "$@" "$applier" --db "$now/intercom.db" \
		--run "$now/run" --log-level error 2>"$dir/log"
}

content() {
	if [ -e "$now/ws/$path" ]; then
		cat "$now/ws/$path"
		printf .
	else
		printf -- '-.'
	fi
}

# The dot keeps the last newline.
is_old() { [ "$(content)" = "$(old_of "$scenario" && printf .)" ]; }
is_new() { [ "$(content)" = "$(new_of "$scenario" && printf .)" ]; }

# What is in the workspace, with modes.
listing() {
	(cd "${1:-$now}/ws" && find . -mindepth 1 -printf '%P %m\n' | sort)
}

rows() {
	sqlite3 "$now/intercom.db" "SELECT a.state, coalesce(a.error_code, ''), r.state, t.state,
		(SELECT count(*) FROM answer) FROM apply AS a, request AS r, tool_call AS t;
		PRAGMA integrity_check" | tr '\n' ' '
}

# The rows as they are on disk at this moment, in a copy.
peek() {
	rm -f "$dir"/peek/*
	cp "$now"/intercom.db "$dir/peek/"
	[ ! -e "$now/intercom.db-wal" ] || cp "$now/intercom.db-wal" "$dir/peek/"
	sqlite3 "$dir/peek/intercom.db" "SELECT state FROM request"
}

wrong() {
	echo "$scenario, $point: $*"
	[ ! -s "$dir/log" ] || sed 's/^/    /' "$dir/log"
	return 1
}

# The calls with their numbers: "name number line".
number_calls() {
	begin_anew
	run_applier strace -f -y -e trace="$1" -o "$dir/trace" || {
		point="without a kill" wrong "ends with status $?"
		exit 1
	}
	sed -n 's/^[0-9]* *\([a-z0-9_]*\)(/\1 (/p' "$dir/trace" |
		awk -v here="$2" '{ n[$1]++ } index($0, here) { print $1, n[$1] }'
}

check_end() {
	local is
	is=$(rows)
	[ "$is" = "applied||consumed|answered|1 ok " ] || wrong "rows are $is" || return 1
	is_new || wrong "the file is not new" || return 1
	[ "$(listing)" = "$(cat "$dir/listing")" ] || wrong "there are: $(listing)"
}

kill_at() {
	local call=$1 n=$2 state
	point="killed at $call $n"
	begin_anew
	if run_applier strace -f -e trace="$call" --inject="$call:signal=SIGKILL:when=$n" \
		-o /dev/null >/dev/null; then
		wrong "was not killed" || return 1
	fi
	is_old || is_new || wrong "the file is neither old nor new" || return 1
	state=$(peek)
	[ "$state" != consumed ] || is_new || wrong "consumed, but the file is old" || return 1
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

fail_at() {
	local call=$1 n=$2 error=$3 is
	point="$error at $call $n"
	begin_anew
	run_applier strace -f -e trace="$call" --inject="$call:error=$error:when=$n" -o /dev/null ||
		wrong "ends with status $?" || return 1
	run_applier || wrong "the next applier ends with status $?" || return 1
	is=$(rows)
	case $is in
	"applied||"*) check_end ;;
	"refused|$(code_of "$error")|approved|answered|1 ok ")
		is_old || wrong "refused, but the file is not old" || return 1
		[ "$(listing)" = "$(cat "$dir/before")" ] || wrong "left behind: $(listing)"
		;;
	"refused|workspace_unreadable|approved|answered|1 ok ") is_old || wrong "not old" ;;
	*) wrong "rows are $is" ;;
	esac
}

tally() {
	[ -z "${VERBOSE:-}" ] || echo "$scenario: $*"
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

run_scenario() {
	local kills=0 errors=$ERRORS every=1
	case ${FULL:-}$1 in
	delete | again | settle) errors=${ERRORS%% *} every=2 ;;
	esac
	scenario=$1 passed=0 failed=0
	prepare
	number_calls "$KILL" "$now/" | awk -v every=$every 'NR % every == 0' >"$dir/kill"
	listing >"$dir/listing"
	point="without a kill"
	tally check_end
	while read -r call n; do
		kills=$((kills + 1))
		tally kill_at "$call" "$n"
	done <"$dir/kill"
	number_calls "$FAIL" "$now/ws" >"$dir/fail"
	while read -r call n; do
		for error in $errors; do
			tally fail_at "$call" "$n" "$error"
		done
	done <"$dir/fail"
	echo "$scenario: $kills kill points, $(wc -l <"$dir/fail") calls failed with: $errors"
	echo "$passed $failed" >"$dir/tally"
}

[ $# -gt 0 ] || set -- modify create delete again settle
for each; do
	run_scenario "$each" &
done
wait
cat "$work"/*/tally | awk -v want=$# '{ p += $1; f += $2 } END {
	if (NR < want) f += want - NR
	printf "%d passed, %d failed\n", p, f
	exit f > 0 }'
