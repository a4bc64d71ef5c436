#!/bin/sh
# What stops the build: sh tests/sqlgen.sh SQLGEN. Each case changes a copy of schema/ and sql/, runs
# sqlgen, and looks for the complaint, with its file and line.
set -u
sqlgen=$1
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# refuses SENTENCE COMPLAINT FILE SQL: with SQL put behind FILE.
refuses() {
  rm -rf "$scratch/tree" "$scratch/out"
  mkdir "$scratch/tree" "$scratch/out"
  cp -r "$root/schema" "$root/sql" "$scratch/tree/"
  printf '%s\n' "$4" >> "$scratch/tree/$3"
  said=$("$sqlgen" "$scratch/tree" "$scratch/out" 2>&1)
  status=$?
  if [ "$status" -ne 0 ] && printf '%s' "$said" | grep -q "$2" && [ ! -e "$scratch/out/sql.c" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED %s\n  status %s, said: %s\n  expected: %s\n' "$1" "$status" "$said" "$2" >&2
  fi
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
refuses "a mistake in a table names its file and line" \
  'schema/010_checkpoint.sql:[0-9]*: near "TABEL"' schema/010_checkpoint.sql 'CREATE TABEL x (y);'
refuses "a trigger that scans a growing table is refused" \
  "trigger content_scans: scans the growing table behind 'event'" schema/rules/content.sql \
  "
CREATE TRIGGER content_scans BEFORE DELETE ON content BEGIN
  SELECT RAISE(ABORT, 'x') WHERE EXISTS (SELECT 1 FROM event WHERE actor = 'x');
END;"
refuses "a cycle of triggers is refused" 'lead back to' schema/rules/content.sql "
CREATE TRIGGER answer_to_request AFTER INSERT ON answer BEGIN
  UPDATE request SET slack_ts = NULL WHERE seq = 0;
END;"
refuses "a trigger that the graph does not show is refused" 'the trigger graph is out of date' \
  schema/rules/content.sql "
CREATE TRIGGER content_told AFTER DELETE ON content BEGIN
  INSERT INTO event (at, kind) VALUES ('2026-01-01T00:00:00.000Z', 'x');
END;"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
