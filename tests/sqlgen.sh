#!/bin/sh
# What stops the build: sh tests/sqlgen.sh SQLGEN. Each case changes a copy of schema/ and sql/, runs
# sqlgen, and looks for the complaint, with its file and line.
set -u
sqlgen=$1
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# To prepare statements takes most of the time: what that frees is not given back.
export GLIBC_TUNABLES=glibc.malloc.trim_threshold=268435456:glibc.malloc.top_pad=16777216
passed=0
failed=0

# A copy of the tree's schema/ and workers/README.md, to be changed, and of these files of sql/. (To prepare
# what all of them say takes most of the time, and few cases are about it.)
given_tree() {
  rm -rf "$scratch/tree" "$scratch/out" "$scratch/earlier"
  mkdir "$scratch/tree" "$scratch/out" "$scratch/tree/workers" "$scratch/tree/sql"
  cp -r "$root/schema" "$scratch/tree/"
  cp "$root/workers/README.md" "$scratch/tree/workers/"
  [ $# -gt 0 ] || set -- sql/content.sql
  for file; do
    cp "$root/$file" "$scratch/tree/sql/"
  done
}

given_whole_tree() {
  given_tree
  cp "$root"/sql/*.sql "$scratch/tree/sql/"
}

# edit FILE SED...: with SED applied to FILE.
edit() {
  file=$scratch/tree/$1
  shift
  sed -i "$@" "$file"
}

run() {
  said=$("$sqlgen" "$@" "$scratch/tree" "$scratch/out" 2>&1)
  status=$?
}

failed() {
  failed=$((failed + 1))
  printf 'FAILED %s\n  status %s, said: %s\n  expected: %s\n' "$1" "$status" "$said" "$2" >&2
}

# is_refused SENTENCE COMPLAINT: what is in the tree stops the build.
is_refused() {
  rm -rf "$scratch/out"/*
  run
  if [ "$status" -ne 0 ] && printf '%s' "$said" | grep -q -e "$2" && [ ! -e "$scratch/out/sql.c" ]; then
    passed=$((passed + 1))
  else
    failed "$1" "$2"
  fi
}

# passes SENTENCE [--write]: it does not.
passes() {
  sentence=$1
  shift
  run "$@"
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed "$sentence" "no complaint"
  fi
}

# refuses SENTENCE COMPLAINT FILE SQL: with SQL put behind FILE.
refuses() {
  case $3 in
  sql/*) given_tree "$3" ;;
  *) given_tree ;;
  esac
  printf '%s\n' "$4" >> "$scratch/tree/$3"
  is_refused "$1" "$2"
}

refuses "a statement with a wrong column names its file and line" \
  'sql/checkpoint.sql:[0-9]*: checkpoint_bad: no such column: slak_ts' sql/checkpoint.sql \
  '
-- name: checkpoint_bad
SELECT slak_ts FROM checkpoint WHERE id = :id;'
refuses "a statement that scans a growing table is refused" \
  "sql/event.sql:[0-9]*: event_bad: scans the growing table behind 'event'" sql/event.sql '
-- name: event_bad
SELECT seq FROM event WHERE actor = :actor;'
refuses "a name that is given twice is refused" 'content_get: is named twice' sql/content.sql '
-- name: content_get
SELECT bytes FROM content WHERE seq = :seq;'
refuses "two statements under one name are refused" 'more than one statement' sql/content.sql '
-- name: content_two
SELECT 1; SELECT 2;'

# ---- a statement is a function ----

refuses "a statement that does not say what comes of it is refused" \
  'sql/content.sql:[0-9]*: content_mute: say what comes of it' sql/content.sql '
-- name: content_mute
SELECT hash FROM content WHERE seq = :seq;'
refuses "rows are not asked of a statement that has no columns" 'content_forget: it has no columns' \
  sql/content.sql '
-- name: content_forget :one
DELETE FROM content WHERE seq = :seq;'
refuses "a number is one column" 'content_size: a number is one column' sql/content.sql '
-- name: content_size :number
SELECT size, hash FROM content WHERE seq = :seq;'
refuses "a parameter of which nothing tells the type is refused, with the remark that does" \
  "content_odd: nothing tells the type of :odd: write '-- type: :odd TYPE'" sql/content.sql '
-- name: content_odd :number
SELECT seq FROM content WHERE seq = abs(:odd);'
refuses "a type that there is not is refused" 'content_typed: :odd: there is no type colour' \
  sql/content.sql '
-- name: content_typed :number
-- type: :odd colour
SELECT seq FROM content WHERE seq = abs(:odd);'
refuses "rows of one name have one type for a column" \
  'request_cards: state is of another type in other rows named card' sql/request.sql "
-- name: session_cards :many
-- row: card
-- type: state text
SELECT status AS state FROM session WHERE seq = :seq;
-- name: request_cards :many
-- row: card
SELECT state FROM request WHERE seq = :seq;"
# shellcheck disable=SC2016 # $ stands for a table
refuses "a table that a statement is for has to fit it" 'worker_move_after: no such column: seq' sql/content.sql '
-- name: $_after :number
-- for: content worker_move
SELECT max(seq) AS seq FROM $;'

given_whole_tree
passes "the tree's statements are functions"
# has SENTENCE FILE TEXT: what was made of them.
has() {
  if grep -qF -e "$3" "$scratch/out/sql/$2"; then
    passed=$((passed + 1))
  else
    failed "$1" "$3 in sql/$2"
  fi
}
has "a state is an enum of the moves of its table" sets.h REQUEST_STATE_INTERRUPTED,
has "a word of a CHECK is an enum" sets.h SESSION_CONNECTIVITY_STATUS_STALLED,
has "a kind that a closed table lists is an enum" sets.h REQUEST_KIND_CLEARANCE,
has "a statement that names tables is one for each of them" purge.h 'int sql_auto_notice_delete(struct store *st, '
has "parameters stand in the order of the statement" request.h \
  'int sql_request_revive(struct store *st, const char *deadline_at, int64_t seq, struct err *e);'
has "more than four parameters are a struct" request.h 'struct request_insert_args {'
has "a number that may be NULL is told apart from 0" request.h 'bool has_remaining_ms;'
has "a parameter that may be NULL is a pointer" request.h 'const int64_t *elapsed_seconds;'
has "rows of one name are one struct, across files" tool_call.h '#include "sql/request.h"'

refuses "a mistake in a table names its file and line" \
  'schema/checkpoint.sql:[0-9]*: near "TABEL"' schema/checkpoint.sql 'CREATE TABEL x (y);'
refuses "a trigger that scans a growing table is refused" \
  "trigger content_scans: scans the growing table behind 'event'" schema/rules/content.sql \
  "
CREATE TRIGGER content_scans BEFORE DELETE ON content BEGIN
  SELECT RAISE(ABORT, 'x') WHERE EXISTS (SELECT 1 FROM event WHERE actor = 'x');
END;"
refuses "a cycle of triggers is refused" 'lead back to' schema/rules/content.sql "
CREATE TRIGGER answer_to_request AFTER INSERT ON ended_call BEGIN
  UPDATE request SET slack_ts = NULL WHERE seq = 0;
END;"
refuses "a trigger that the graph does not show is refused" 'the trigger graph is out of date' \
  schema/rules/content.sql "
CREATE TRIGGER content_told AFTER DELETE ON content BEGIN
  INSERT INTO event (at, kind) VALUES ('2026-01-01T00:00:00.000Z', 'x');
END;"


# ---- what a table says ----

refuses "a table that says nothing is refused" 'schema/checkpoint.sql:[0-9]*: odd says nothing of what may change' \
  schema/checkpoint.sql '
CREATE TABLE odd (seq INTEGER PRIMARY KEY) STRICT;'
given_tree
edit schema/pause.sql 's/-- fixed: who paused it/-- who paused it/'
is_refused "a column that says nothing beside others that do is refused" 'pause.operator_id says nothing: write fixed'
given_tree
edit schema/pause.sql 's/-- later, once:/-- later, until nothing:/'
is_refused "a guard that names no column is refused" 'pause.ended_at: there is no column nothing'
given_tree
edit schema/worker.sql 's/^CREATE TABLE worker_move/CREATE TABLE worker_way/; s/INTO worker_move/INTO worker_way/'
is_refused "moves without their table are refused" 'worker: there is no table worker_move'

# ---- steps ----

given_tree
edit schema/time_gap.sql 's/^  kind .*/&\n  colour     TEXT,/'
is_refused "until the release a change without a new base is refused, with the command" \
  'base.sql is not the schema as it is; .*--target schema'
passes "until the release one command writes the base anew" --write
grep -q colour "$scratch/tree/schema/steps/base.sql" || failed "the base has the new column" colour
passes "then all is well"
echo 'ALTER TABLE time_gap ADD COLUMN colour TEXT;' > "$scratch/tree/schema/steps/101_colour.sql"
is_refused "until the release there are no steps" 'release 0.2.0 is not made yet: change the noun'

given_tree
edit schema/steps/base.sql 's/^-- frozen: no/-- frozen: 0.2.0/'
passes "a frozen base without a change passes"
edit schema/time_gap.sql "s/^  ended_at .*/  ended_at   TEXT NOT NULL CHECK (ended_at GLOB '????-??-??T??:??:??.???Z'),\\n  colour     TEXT DEFAULT 'red' -- of the gap/"
is_refused "after the release a change without a step is refused" 'write a step, 101_what.sql'
run --write
is_refused "a frozen base is not written" 'table time_gap differs'
echo "ALTER TABLE time_gap ADD COLUMN colour TEXT DEFAULT 'red';" > "$scratch/tree/schema/steps/101_colour.sql"
passes "a step that leads to the schema passes"
grep -q 'SQL_SCHEMA_VERSION = 101' "$scratch/out/sql.h" || failed "the step is a version" 101
edit schema/worker.sql "s/('ready', 'stopped')/('ready', 'starting'), &/"
is_refused "a row that comes with the program needs a step, too" 'the rows of worker_move differ'
echo "INSERT INTO worker_move VALUES ('ready', 'starting');" > "$scratch/tree/schema/steps/103_move.sql"
is_refused "steps have numbers without a gap" '103_move.sql: the next step is number 102'
mv "$scratch/tree/schema/steps/103_move.sql" "$scratch/tree/schema/steps/102_move.sql"
passes "a step may insert rows"

# ---- what is printed ----

given_tree
sed -i 's/pause: fixed: a pause/pause: fixed: the pause/' "$scratch/tree/schema/README.md"
is_refused "a guard that the page does not show as it is is refused" 'the guard is out of date'

given_whole_tree
passes "what is written does not depend on the time"
mv "$scratch/out" "$scratch/earlier"
mkdir "$scratch/out"
passes "nor when it is written later"
diff -r "$scratch/earlier" "$scratch/out" >/dev/null ||
  failed "the same tree gives the same bytes later" 'no difference'

given_tree
passes "the bells are emitted"
grep -A1 'sql_bells\[\] = ' "$scratch/out/sql.c" | grep -q '"ended_call", "mcp-front"' ||
  failed "who waits for an answer is rung before all others" 'ended_call, mcp-front'
edit schema/request.sql 's/^-- rings: watchdog/-- rings: watchdog first/'
run --write
grep -A2 'sql_bells\[\] = ' "$scratch/out/sql.c" | grep -q '"request", "watchdog"' ||
  failed "bells that say first are rung first" 'request, watchdog'

# workers_are_refused SENTENCE: what workers/README.md says of tables is not what the sources do.
workers_are_refused() {
  run --workers
  if [ "$status" -ne 0 ] && printf '%s' "$said" | grep -q 'the table of workers is out of date'; then
    passed=$((passed + 1))
  else
    failed "$1" 'the table of workers is out of date'
  fi
}
given_whole_tree
cp -r "$root/src" "$root/workers" "$scratch/tree/"
passes "what the page says of workers and tables is true" --workers
printf 'int more(void);\nint more(void)\n{\n\treturn SQL_STALL_LAST;\n}\n' >> "$scratch/tree/workers/applier.c"
workers_are_refused "a worker that reads another table is found"
cp "$root/workers/applier.c" "$scratch/tree/workers/"
passes "then all is well with workers, too" --workers
edit schema/pause.sql 's/^-- rings: mcp-front/-- rings: mcp-front, applier/'
workers_are_refused "a bell that the page does not tell is found"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
