#!/bin/sh
# Fuzzes what parses foreign bytes: sh tests/fuzz/run.sh [--short | SECONDS [TARGET...]]. Each target
# runs that long (default 60 s, short 3 s), one on each core; a finding is kept in build/fuzz and ends
# with a failure.
# Inputs begin with those of seeds/; what gives new coverage is kept in build/fuzz too.
set -eu
cd "$(dirname "$0")/../.."
seconds=60 level=1
case "${1:-}" in
  --short) seconds=3 level=0 ;; # not optimized: compiling takes longer than fuzzing
  "") ;;
  *) seconds=$1 ;;
esac
[ $# -eq 0 ] || shift
out=build/fuzz
objects=$out/objects-O$level front=$out/front-O$level
mkdir -p "$objects" "$front"
[ -f build/dev/generated/sql.c ] || { cmake --preset dev && cmake --build --preset dev; } >/dev/null
# shellcheck source=tests/flags.sh
. tests/flags.sh
flags="-gline-tables-only -O$level -std=gnu17 -D_GNU_SOURCE $(include_flags . build/dev) -fno-sanitize-recover=all"
libraries=$(pkg-config --libs sqlite3 libcjson uuid libcrypto libevent libcurl libpcre2-8)

# Those that are to be compiled: FOLDER SOURCE...
stale() {
  folder=$1
  shift
  for source; do
    object="$folder/$(printf %s "$source" | tr / -).o" # two folders may have files of one name
    [ -z "$(find src workers build/dev/generated -name '*.[ch]' -newer "$object" 2>/dev/null ||
      echo missing)" ] && continue
    rm -f "$object" # the link fails without it
    echo "$source -o $object"
  done
}

# The sources with the fuzzer's coverage in them, on all cores: FOLDER SOURCE...
cores=$(nproc)
compile() {
  # shellcheck disable=SC2086 # a list of words
  stale "$@" | xargs -r -P "$cores" -L 1 clang $flags -DINTERCOM_VERSION='"fuzz"' \
    -fsanitize=fuzzer-no-link,address,undefined -Dmain=mcp_front_main -c
}

compile "$objects" src/*/*.c src/mcp/tools/*.c build/dev/generated/sql.c build/dev/generated/image.c build/dev/generated/calls.c workers/worker.c
compile "$front" workers/mcp_front/*.c

# The front starts hand from where an installed one would be.
mkdir -p build/libexec/agent-intercom
ln -sf ../../dev/hand build/libexec/agent-intercom/hand

# Says what comes of a target, once it has run: two that run at once do not mix.
fuzz() {
  name=$1
  parts=
  [ "$name" != fuzz_front ] || parts="$front/*.o"
  # shellcheck disable=SC2086 # lists of words
  clang $flags -fsanitize=fuzzer,address,undefined -DINTERCOM_VERSION='"fuzz"' \
    "tests/fuzz/$name.c" "$objects"/*.o $parts \
    build/dev/CMakeFiles/intercom-base.dir/src/base/toml.cc.o \
    -lstdc++ $libraries -lm -lpthread -o "$out/$name" || return 1
  mkdir -p "$out/$name.corpus"
  set -- "$out/$name.corpus"
  [ ! -d "tests/fuzz/seeds/$name" ] || set -- "$@" "tests/fuzz/seeds/$name"
  set -- "$@" -dict=tests/fuzz/mcp.dict
  if "$out/$name" -max_total_time="$seconds" -timeout=30 -artifact_prefix="$out/$name-" "$@" \
    >"$out/$name.log" 2>&1; then
    echo "$name for $seconds s: $(tail -n 1 "$out/$name.log")"
  else
    tail -n 40 "$out/$name.log" >&2
    return 1
  fi
}

# As many at a time as there are cores.
finish() {
  for pid in $running; do
    wait "$pid" || failed=1
  done
  running='' count=0
}

[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*.c
running='' count=0 failed=0
for target; do
  fuzz "$(basename "$target" .c)" &
  running="$running $!" count=$((count + 1))
  [ "$count" -lt "$cores" ] || finish
done
finish
exit "$failed"
