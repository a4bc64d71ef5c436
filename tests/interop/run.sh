#!/bin/sh
# Official MCP clients against a built agent-intercom: sh tests/interop/run.sh BUILD_DIR [TEST_FILE...]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BUILD_DIR [TEST_FILE...]" >&2
    exit 64
fi
build=$(CDPATH='' cd -- "$1" && pwd)
shift
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

for tool in npm sqlite3; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 69; }
done
for binary in agent-intercom agent-intercom-ctl; do
    [ -x "$build/$binary" ] || { echo "$0: $build/$binary is not built" >&2; exit 66; }
done

cd "$here"
if ! cmp -s package-lock.json node_modules/.interop-lock; then
    npm ci --loglevel=error
    cp package-lock.json node_modules/.interop-lock
fi
# Debian's npm 9 makes no .bin/node for an optional package: its own folder is named, too.
for node in "$here"/node_modules/node-linux-*/bin; do
    PATH=$node:$PATH
done
PATH=$here/node_modules/.bin:$PATH
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 22 ? 0 : 1)' || {
    echo "$0: node 22 is not among the packages; this machine is $(uname -m)" >&2
    exit 69
}

# A short path: unix sockets live below it, and their names end at 107 bytes.
scratch=$(mktemp -d /tmp/interop.XXXXXX)
finish() {
    status=$?
    trap - EXIT
    # What a broken run left behind: processes that name our scratch directory, by their ids.
    for process in /proc/[0-9]*; do
        if grep -qsF "$scratch/" "$process/cmdline" "$process/environ"; then
            kill -KILL "${process#/proc/}" 2>/dev/null || :
        fi
    done
    if [ "$status" -eq 0 ] && [ -z "${INTEROP_KEEP:-}" ]; then
        rm -rf "$scratch"
    else
        echo "logs and databases: $scratch" >&2
    fi
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -m 700 "$scratch/home" "$scratch/run" "$scratch/state" "$scratch/config"
export PATH HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" XDG_STATE_HOME="$scratch/state" \
    XDG_CONFIG_HOME="$scratch/config" INTEROP_BUILD="$build" INTEROP_SCRATCH="$scratch"
unset SLACK_APP_TOKEN SLACK_BOT_TOKEN SLACK_MEMBER_IDS INTERCOM_SESSION_ID INTERCOM_WORKSPACE_ROOT

[ $# -gt 0 ] || set -- sdk1.test.mjs client2.test.mjs client2modern.test.mjs inspector.test.mjs
node --test --test-concurrency=3 --test-reporter=spec "$@"
