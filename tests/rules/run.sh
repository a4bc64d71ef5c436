#!/bin/sh
# Proves the rules of schema/ through the plain sqlite3 shell.
#
# usage: run.sh [NOUN [TEXT]]    all cases; those of NOUN.txt; of these the ones with TEXT in the title
#
# Every case finds the same fresh database, made from schema/ by sqlgen of $INTERCOM_BUILD (build/dev),
# and runs with foreign_keys and recursive_triggers both on and both off; each INSERT and UPDATE under
# `when:` also as OR REPLACE, with both on and both off, and as OR IGNORE and OR FAIL, with one on and the
# other off. The format of a case is described in ../README.md.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
sqlgen=${INTERCOM_BUILD:-$root/build/dev}/sqlgen
noun=${1:-}
text=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "$noun" ]; then
	set -- "$here/$noun.txt"
else
	set -- "$here"/*.txt
fi

# Makes a database, or adds to it, from standard input, and waits for no disk. (With -bail and -cmd
# together SQLite's shell 3.53.4 does not read its input.)
fill() {
	{ echo 'PRAGMA synchronous = OFF;' && cat; } | sqlite3 -bail "$1"
}

"$sqlgen" "$root" "$work" || { echo "build the target sqlgen first" >&2; exit 1; }
fill "$work/empty.db" <"$work/schema.sql"

# To prepare a statement with its triggers takes most of the time: what that frees is not given back.
export GLIBC_TUNABLES=glibc.malloc.trim_threshold=268435456:glibc.malloc.top_pad=16777216

for file; do
	name=$(basename "$file" .txt)
	# What stands before the first case is there for all cases of the file.
	cp "$work/empty.db" "$work/$name.db"
	awk '/^## /{exit} on && !/^#/{print} /^given:/{on=1}' "$file" >"$work/$name.given"
	cat "$here/ground.sql" "$work/$name.given" | fill "$work/$name.db"
	for keys in off on; do
		for recursive in off on; do
			run=$work/$name-$keys-$recursive
			awk -v database="$work/$name.db" -v keys="$keys" -v recursive="$recursive" \
				-v text="$text" -v expected="$run.expected" -f "$here/compile.awk" \
				"$file" >"$run.sql"
			# Line by line, so that errors stand where they happened.
			{
				stdbuf -oL sqlite3 -init /dev/null <"$run.sql" >"$run.actual" 2>&1 || true
				awk -v expected="$run.expected" -v file="$name.txt" \
					-v how="foreign_keys=$keys recursive_triggers=$recursive" \
					-f "$here/judge.awk" "$run.actual" >"$run.verdict"
			} &
		done
	done
	wait
done

cat "$work"/*.verdict | awk '
	$1 == "passed" { passed += $2; failed += $4; next }
	{ print }
	END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
