#!/bin/sh
# Official Slack clients judge the fake: sh tests/slack/judge/run.sh BUILD_DIR [TEST_FILE...]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BUILD_DIR [TEST_FILE...]" >&2
    exit 64
fi
build=$(CDPATH='' cd -- "$1" && pwd)
shift
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

command -v npm >/dev/null || { echo "$0: npm is not installed" >&2; exit 69; }
[ -x "$build/tests/fake-slack" ] || { echo "$0: $build/tests/fake-slack is not built" >&2; exit 66; }

cd "$here"
# shellcheck source=tests/peers.sh
. ../../peers.sh
peers_install

export FAKE_SLACK="$build/tests/fake-slack"
[ $# -gt 0 ] || set -- web.test.mjs socket.test.mjs bolt.test.mjs
exec node --test --test-timeout=240000 --test-force-exit --test-concurrency=3 --test-reporter=spec "$@"
