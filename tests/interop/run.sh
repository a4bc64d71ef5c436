#!/bin/sh
# Official MCP clients, and ACP's own agents, against a built agent-intercom: sh tests/interop/run.sh BUILD_DIR [TEST_FILE...]
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
# shellcheck source=tests/peers.sh
. ../peers.sh
peers_install
scratch_make interop "${INTEROP_KEEP:-}"

mkdir -m 700 "$scratch/home" "$scratch/run" "$scratch/state" "$scratch/config"
export PATH HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" XDG_STATE_HOME="$scratch/state" \
    XDG_CONFIG_HOME="$scratch/config" INTEROP_BUILD="$build" INTEROP_SCRATCH="$scratch"
unset SLACK_APP_TOKEN SLACK_BOT_TOKEN SLACK_MEMBER_IDS INTERCOM_SESSION_ID INTERCOM_WORKSPACE_ROOT

[ $# -gt 0 ] || set -- sdk1.test.mjs client2.test.mjs client2modern.test.mjs inspector.test.mjs \
    elicitation.test.mjs tasks.test.mjs policy.test.mjs acp.test.mjs editor.test.mjs
node --test --test-concurrency=3 --test-reporter=spec "$@"
