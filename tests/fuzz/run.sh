#!/bin/sh
# Fuzzes what parses foreign bytes: sh tests/fuzz/run.sh [--short | SECONDS]. Each target runs that
# long (default 60 s, short 5 s); a finding is kept in build/fuzz and ends with a failure.
set -eu
cd "$(dirname "$0")/../.."
seconds=60
case "${1:-}" in
  --short) seconds=5 ;;
  "") ;;
  *) seconds=$1 ;;
esac
out=build/fuzz
mkdir -p "$out/objects"
[ -f build/dev/generated/sql.c ] || { cmake --preset dev && cmake --build --preset dev; } >/dev/null
flags="-g -O1 -std=gnu17 -D_GNU_SOURCE -Isrc -Ibuild/dev/generated -fno-sanitize-recover=all"
libraries=$(pkg-config --libs sqlite3 libcjson uuid libcrypto libcurl)

# The library once, with the fuzzer's coverage in it.
for source in src/*.c build/dev/generated/sql.c; do
  object="$out/objects/$(basename "$source").o"
  [ -n "$(find "$object" -newer "$source" 2>/dev/null)" ] && continue
  # shellcheck disable=SC2086 # a list of words
  clang $flags -fsanitize=fuzzer-no-link,address,undefined -DINTERCOM_VERSION='"fuzz"' \
    -c "$source" -o "$object"
done

for target in tests/fuzz/fuzz_*.c; do
  name=$(basename "$target" .c)
  # shellcheck disable=SC2086 # lists of words
  clang $flags -fsanitize=fuzzer,address,undefined "$target" "$out"/objects/*.o \
    build/dev/CMakeFiles/intercom.dir/src/toml.cc.o -lstdc++ $libraries -lm -o "$out/$name"
  mkdir -p "$out/$name.corpus"
  echo "$name for $seconds s"
  "$out/$name" -max_total_time="$seconds" -artifact_prefix="$out/$name-" "$out/$name.corpus" \
    >"$out/$name.log" 2>&1 || {
    tail -n 40 "$out/$name.log" >&2
    exit 1
  }
done
