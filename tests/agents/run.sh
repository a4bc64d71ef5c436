#!/bin/sh
# Whole sessions of real agents, ordered from a fake Slack, with a scripted model (session.test.mjs):
# sh tests/agents/run.sh BUILD_DIR [AGENT...]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BUILD_DIR [AGENT...]" >&2
    exit 64
fi
build=$(CDPATH='' cd -- "$1" && pwd)
shift
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

for tool in npm sqlite3 git; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 69; }
done
for binary in agent-intercom agent-intercom-ctl runner tests/fake-slack; do
    [ -x "$build/$binary" ] || { echo "$0: $build/$binary is not built" >&2; exit 66; }
done

# shellcheck source=tests/hosts/ground.sh
. "$here/../hosts/ground.sh"
ground_make agents "${HOSTS_KEEP:-}"
export FAKE_SLACK="$build/tests/fake-slack"

if [ $# -eq 0 ]; then
    set -- claude codex gemini copilot qwen
    if ground_has_opencode; then
        set -- "$@" opencode
    fi
fi
failures=0
for file in session gate parked; do
    ground_test "$build" "$here/$file.test.mjs" "$@" || failures=$((failures + 1))
done
[ "$failures" -eq 0 ]
