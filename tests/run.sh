#!/bin/sh
# Runs all tests on a fresh Debian 12: installs what they need, builds, and runs every family, most
# basic first. Ends with a line "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh

passed=0
failed=0
failures=""

# family NAME COMMAND...: runs one family and counts it.
family() {
  name=$1
  shift
  start=$(date +%s)
  printf '\n=== %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures="$failures $name"
  fi
  printf '=== %s: %s s\n' "$name" "$(($(date +%s) - start))"
}

# build PRESET [OPTION...]
build() {
  preset=$1
  shift
  cmake --preset "$preset" "$@" >/dev/null && cmake --build --preset "$preset"
}

interop() {
  cmake --install build/dev --prefix "$PWD/build/installed" >/dev/null &&
    INTERCOM_PROGRESS_SECONDS=1 sh tests/interop/run.sh build/installed/bin
}

shell_scripts() {
  git ls-files -- '*.sh' .ci/run | xargs shellcheck -x
}

# shellcheck disable=SC2086 # lists of words
install_packages $BUILD_PACKAGES $TEST_PACKAGES || exit 1
git config --global --add safe.directory "$PWD" 2>/dev/null || true

family "build (dev: warnings are errors)" build dev || exit 1
[ "$failed" -eq 0 ] || { echo "1 failed, nothing else was run"; exit 1; }
family "unit, worker and scenario tests (dev)" ctest --preset dev -j5
family "build (asan)" build asan
# rules and sqlgen are the same programs in both; strace makes the two sweeps of kills too slow here.
family "unit and worker tests (asan, ubsan)" ctest --preset asan -j5 \
  -E '^(rules|sqlgen|test_slack_crash|test_slack_listener_crash)$'
family "crash: a sample of the applier's kill matrix" env SECONDS_MAX=30 \
  bash tests/crash/kill_applier.sh build/dev
family "valgrind" sh tests/valgrind.sh build/dev
family "interop (official MCP clients, installed binaries)" interop
family "slack judge (Slack's own clients against our fake)" sh tests/slack/judge/run.sh build/dev
family "conformance (MCP's own suite, both eras)" sh tests/conformance/run.sh build/dev
family "fuzz (short)" sh tests/fuzz/run.sh --short
family "build (release: warnings are errors)" build release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
family "bench (short: does it run)" sh tests/bench/run.sh --short
family "format (clang-format)" cmake --build --preset dev --target format-check
family "lint (clang-tidy)" cmake --build --preset dev --target lint
family "shell scripts (shellcheck)" shell_scripts

# Neither passed nor failed: these need something that this machine or user lacks.
printf '\n'
grep -h '^skipped: ' build/*/Testing/Temporary/LastTest.log 2>/dev/null | sort -u
[ -z "$failures" ] || printf 'failed:%s\n' "$failures"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
