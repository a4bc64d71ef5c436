#!/bin/sh
# Runs all tests on a fresh Debian 12, 13 or testing: installs what they need, builds, and runs
# every family, most basic first. Ends with what ran where, and how many families passed.
#   sh tests/run.sh [WORD...]       with words: only the families that have one of them in their name
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh

SKIPPED=77 # what a family returns that cannot run here, after it has said why

wanted=$*
passed=0
failed=0
skipped=0
besides=0
gathered=0
nicely=""
began=$(date +%s)
table=""

is_wanted() {
  [ -n "$wanted" ] || return 0
  for word in $wanted; do
    case $1 in *"$word"*) return 0 ;; esac
  done
  return 1
}

# measured FILE COMMAND...: runs it; its status, how many seconds it took, and how many of a processor, go
# to the file. In a subshell, whose children are those of the command alone.
measured() {
  ended=$1
  shift
  (
    start=$(date +%s)
    "$@"
    status=$?
    times >"$ended.times"
    echo "$status $(($(date +%s) - start)) $(awk 'NR == 2 { gsub("s", ""); split($1, u, "m"); split($2, s, "m")
      printf "%d", (u[1] + s[1]) * 60 + u[2] + s[2] }' "$ended.times")" >"$ended"
  )
}

# count NAME FILE: counts what was measured there; nothing: it was ended before it could be.
count() {
  status=1 took=0 cpu=0
  [ ! -f "$2" ] || read -r status took cpu <"$2"
  rm -f "$2"
  case $status in
  0) outcome=passed passed=$((passed + 1)) ;;
  "$SKIPPED") outcome=skipped skipped=$((skipped + 1)) ;;
  *) outcome=FAILED failed=$((failed + 1)) ;;
  esac
  printf '=== %s: %s, %s s\n' "$1" "$outcome" "$took"
  table="$table$(printf '%-8s %5s s %5s s of a processor  %s' "$outcome" "$took" "$cpu" "$1")
"
}

# family NAME COMMAND...: runs one family and counts it.
family() {
  name=$1
  shift
  is_wanted "$name" || return 0
  printf '\n=== %s\n' "$name"
  rm -f build/family.end
  measured build/family.end "$@"
  count "$name" build/family.end
}

# beside NAME COMMAND...: the same for one that mostly waits, or whose time does not matter: it runs while
# the next ones do, and what it says comes with gather.
beside() {
  is_wanted "$1" || return 0
  besides=$((besides + 1))
  kept=build/beside.$besides
  printf '%s' "$1" >"$kept.name"
  shift
  measured "$kept.end" "$@" >"$kept.log" 2>&1 &
}

# Waits for those.
gather() {
  wait
  while [ "$gathered" -lt "$besides" ]; do
    gathered=$((gathered + 1))
    kept=build/beside.$gathered
    printf '\n=== %s\n' "$(cat "$kept.name")"
    cat "$kept.log"
    count "$(cat "$kept.name"), beside others" "$kept.end"
    rm "$kept".*
  done
}

# version COMMAND...: the first number with a dot in what it prints of itself.
version() {
  "$@" 2>/dev/null | grep -Eo '[0-9]+(\.[0-9]+)+' | head -n 1
}

where() {
  # shellcheck source=/dev/null
  system=$(. /etc/os-release && echo "$PRETTY_NAME")
  [ ! -r /etc/debian_version ] || system="$system, $(cat /etc/debian_version)"
  printf '%s; Linux %s, %s; %s cores; as %s\n' "$system" "$(uname -r)" "$(uname -m)" "$(nproc)" \
    "$(id -un)"
  printf 'gcc %s, clang %s, cmake %s, SQLite %s (shell %s), node %s, valgrind %s\n' \
    "$(version gcc --version)" "$(version clang --version)" "$(version cmake --version)" \
    "$(version pkg-config --modversion sqlite3)" "$(version sqlite3 --version)" \
    "$(version node --version)" "$(version valgrind --version)"
  printf 'commit %s%s\n' "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" \
    "$(git diff --quiet HEAD 2>/dev/null || echo ' with changes')"
}

report() {
  printf '\n=== What ran where\n'
  where
  # Single tests for which something is missing here; the rest of their program ran.
  grep -h '^skipped: ' build/*/Testing/Temporary/LastTest.log 2>/dev/null | sort -u
  printf '%s%d passed, %d failed, %d skipped in %d s\n' "$table" "$passed" "$failed" "$skipped" \
    "$(($(date +%s) - began))"
}

# build PRESET [OPTION...]
build() {
  preset=$1
  shift
  cmake --preset "$preset" "$@" >/dev/null && $nicely cmake --build --preset "$preset"
}

# The same with what others leave of the processors.
build_meanwhile() {
  nicely="nice -n 19"
  build "$@"
}

# Whether this kernel has all that a fence is made of: Landlock (its second ABI) and filters of seccomp.
has_fences() {
  [ -r /proc/sys/kernel/seccomp/actions_avail ] &&
    python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 2)'
}

# Whether tests can have their files there: room, programs that start (not noexec), and extended
# attributes (Linux 6.6), without which some would be skipped.
serves_tests() {
  [ "$(df -Pk "$1" 2>/dev/null | awk 'END { print int($4 / 1048576) }')" -ge 4 ] &&
    probe=$(mktemp "$1/probe.XXXXXX") || return 1
  cp /bin/true "$probe" && chmod 700 "$probe" && "$probe" &&
    python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.intercom", b"1")' "$probe"
  serves=$?
  rm -f "$probe"
  return "$serves"
}

# in_memory COMMAND...: with $TMPDIR in memory, if it can be: half of what a short test costs on a disk is
# flushes and directories.
in_memory() {
  if serves_tests /dev/shm 2>/dev/null; then
    TMPDIR=/dev/shm "$@"
  else
    "$@"
  fi
}

interop() {
  cmake --install build/dev --prefix "$PWD/build/installed" >/dev/null &&
    INTERCOM_PROGRESS_SECONDS=1 sh tests/interop/run.sh build/installed/bin
}

# Versions of clang-format disagree about some lines, and each version of clang-tidy brings new
# checks: both are asked in the version that the tree is kept in, that of Debian 12.
STYLE_VERSION=14
with_style_version() {
  found=$(version clang-format --version)
  if [ "${found%%.*}" != "$STYLE_VERSION" ]; then
    echo "skipped: this is clang-format $found, the tree is kept in version $STYLE_VERSION"
    return "$SKIPPED"
  fi
  "$@"
}

# Only what is wrong: clang-tidy counts the warnings of system headers, of each file.
style() {
  nice -n 19 cmake --build --preset dev --target format-check lint >build/lint.log 2>&1 && return 0
  grep -v 'warnings\{0,1\} generated' build/lint.log
  return 1
}

shell_scripts() {
  git ls-files -- '*.sh' .ci/run | xargs shellcheck -x
}

# shellcheck disable=SC2086 # lists of words
install_packages $BUILD_PACKAGES $TEST_PACKAGES || exit 1
git config --global --add safe.directory "$PWD" 2>/dev/null || true

# No worker of any test serves without its whole fence, but for those that name INTERCOM_FENCE themselves.
if has_fences; then
  export INTERCOM_FENCE=require
fi

mkdir -p build
family "build (dev: warnings are errors)" build dev
[ "$failed" -eq 0 ] || { report; echo "nothing else was run"; exit 1; }
# Tests wait for much of their time: more at once than there are cores, and others are compiled meanwhile.
beside "build (asan)" build_meanwhile asan -DINTERCOM_PLAIN_TESTS=OFF
# With little of what a debugger reads: nobody debugs it, and it is a quarter of the time. (Units must say
# how they were compiled.)
beside "build (release: warnings are errors)" build_meanwhile release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
  "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG"
family "checks, stories, attacks and sweeps of kills (dev)" in_memory ctest --preset dev -j"$(($(nproc) * 3))" -L plain
gather
beside "format and lint (clang-format, clang-tidy $STYLE_VERSION)" with_style_version style
beside "shell scripts (shellcheck)" shell_scripts
beside "interop (official MCP clients, installed binaries)" interop
beside "conformance (MCP's own suite, both eras)" sh tests/conformance/run.sh build/dev
# Each test runs once: in the build that sees most, unless its label says plain (tests/CMakeLists.txt has why).
family "unit and worker tests (asan, ubsan)" in_memory ctest --preset asan -j"$(($(nproc) * 2))" -LE plain
gather
beside "slack judge (Slack's own clients against our fake)" sh tests/slack/judge/run.sh build/dev
beside "valgrind" sh tests/valgrind.sh build/dev
beside "bench (short: does it run)" sh tests/bench/run.sh --short
beside "yard (instructions and pages against tests/bench/ratchet.txt)" in_memory sh tests/bench/yard.sh
family "crash: a sample of the applier's kill matrix" env SECONDS_MAX=30 \
  bash tests/crash/kill_applier.sh build/dev
family "fuzz (short)" sh tests/fuzz/run.sh --short
family "hardening (release: the installed programs)" sh tests/hardening.sh build/release
family "several users (release: the unit as it stands)" sh tests/users.sh build/release
gather

report
[ "$failed" -eq 0 ]
