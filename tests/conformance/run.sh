#!/bin/sh
# The official MCP conformance suite against our message layer and HTTP transport.
# usage: run.sh BUILD_DIR
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 BUILD_DIR" >&2
    exit 64
fi
build=$(CDPATH='' cd -- "$1" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

for tool in npm cmake; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 69; }
done
built=$(cmake --build "$build" 2>&1) || { echo "$built" >&2; exit 70; }
for binary in agent-intercom tests/conformance-fixture; do
    [ -x "$build/$binary" ] || { echo "$0: $build/$binary is not built" >&2; exit 66; }
done

cd "$here"
# shellcheck source=tests/peers.sh
. ../peers.sh
peers_install
scratch_make conform "${CONFORMANCE_KEEP:-}"
unset SLACK_APP_TOKEN SLACK_BOT_TOKEN SLACK_MEMBER_IDS INTERCOM_SESSION_ID INTERCOM_WORKSPACE_ROOT

passed=0
failed=0

# ---- the servers ----

# Waits until a server's log says where it is ready, and sets url.
await() {
    for _ in $(seq 300); do
        url=$(sed -n 's/.*ready:* \(http:[^ ,]*\).*/\1/p' "$1")
        [ -z "$url" ] || return 0
        sleep 0.1
    done
    echo "$0: no server came up:" >&2
    cat "$1" >&2
    exit 70
}

# Ends a server; it must leave with 0 (and, in a sanitized build, without a report).
end() {
    kill -TERM "$2"
    if wait "$2"; then
        return
    fi
    echo "$1: it did not end well:"
    tail -n 20 "$scratch/$1.log"
    failed=$((failed + 1))
}

start_production() {
    mkdir -m 700 "$scratch/home" "$scratch/run" "$scratch/state" "$scratch/config" "$scratch/ws"
    port=$(node ../port.mjs)
    cat >"$scratch/config.toml" <<-END
	default_workspace_root = "$scratch/ws"
	host_cli = "true"
	http_port = $port

	[database]
	path = "$scratch/intercom.db"
	END
    chmod 600 "$scratch/config.toml"
    HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" XDG_STATE_HOME="$scratch/state" \
        XDG_CONFIG_HOME="$scratch/config" \
        "$build/agent-intercom" --config "$scratch/config.toml" >"$scratch/production.log" 2>&1 &
}

# ---- the suite ----

# What a revision requires of servers: one scenario per line.
required() {
    awk '/^[a-z_]+:/ { on = $1 == "server:"; next } on && $1 == "-" { print $2 }' \
        "node_modules/@modelcontextprotocol/conformance/requirements/$1.yaml"
}

# suite SERVER REVISION|extension BASELINE COUNT SCENARIO|required: runs COUNT scenarios and judges
# them, warnings too, by the baseline: a file of failures that are expected, and then must be failures.
suite() {
    log=$scratch/$1-$2-$5.log
    if [ "$5" = required ]; then
        set -- "$1" "$2" "$3" "$4" "$5" --requirements "$2"
    elif [ "$2" = extension ]; then # belongs to no revision; the suite speaks 2026-07-28 then
        set -- "$1" "$2" "$3" "$4" "$5" --scenario "$5"
    else
        set -- "$1" "$2" "$3" "$4" "$5" --spec-version "$2" --scenario "$5"
    fi
    name="$1 $2 $5"
    count=$4
    baseline=$3
    shift 5
    status=0
    timeout 240 conformance server --url "$url" "$@" --expected-failures "$baseline" >"$log" 2>&1 ||
        status=$?
    # In the verdict: "~" failed as expected, "✗" failed, "✓" passed in spite of the baseline.
    expected=$(sed -n 's/^  ~ //p' "$log" | sed 's/:.*//' | sort -u | wc -l)
    wrong=$(sed -nE 's/^  (✗|✓) //p' "$log" | sed 's/:.*//' | sort -u | wc -l)
    ran=$(grep -cE '^(✗|✓) |^Passed: [1-9]' "$log" || :)
    [ "$count" -ne 1 ] || ! grep -q SKIPPED "$log" || ran=0 # a check that is left out is none
    if [ "$wrong" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$ran" -lt "$count" ]; }; then
        wrong=$count # the suite itself failed, or checked nothing
        tail -n 20 "$log"
    fi
    sed -nE 's/^  ✗ (.*)/    \1 failed/p; s/^  ✓ (.*)/    \1 passed, and is in the baseline/p' "$log"
    good=$((count - expected - wrong))
    passed=$((passed + good))
    failed=$((failed + wrong))
    echo "$name: $good passed, $wrong failed, $expected failed as expected"
}

# A scenario that checks nothing in this release of the suite: it counts for nothing, but fails the
# run once it checks something.
unwritten() {
    log=$scratch/$1-$2.log
    timeout 240 conformance server --url "$url" --scenario "$2" >"$log" 2>&1 || :
    if grep -q '^Passed: 0/0, 0 failed, 0 warnings' "$log" && grep -q SKIPPED "$log"; then
        echo "$1 $2: checks nothing in this release of the suite"
    else
        failed=$((failed + 1))
        echo "$1 $2: checks something now, so suite must judge it"
    fi
}

# both SERVER 2026-BASELINE 2025-BASELINE
both() {
    suite "$1" 2026-07-28 "$2" "$(required 2026-07-28 | wc -l)" required
    suite "$1" 2025-11-25 "$3" "$(required 2025-11-25 | wc -l)" required
    suite "$1" 2026-07-28 /dev/null 1 http-header-validation
    suite "$1" 2025-11-25 /dev/null 1 server-session-lifecycle
}

"$build/tests/conformance-fixture" "$scratch/fixture.db" 0 >"$scratch/fixture.log" 2>&1 &
fixture=$!
start_production
production=$!

await "$scratch/fixture.log"
both fixture /dev/null /dev/null
suite fixture 2026-07-28 /dev/null 1 http-custom-header-server-validation
suite fixture 2026-07-28 /dev/null 1 json-schema-2020-12
suite fixture 2025-11-25 /dev/null 1 json-schema-2020-12
suite fixture 2025-11-25 /dev/null 1 server-sse-polling
for scenario in lifecycle capability-negotiation wire-fields request-state-removal mrtr-input \
    request-headers dispatch-and-envelope required-task-error mrtr-composition; do
    suite fixture extension /dev/null 1 "tasks-$scenario"
done
unwritten fixture tasks-status-notifications
end fixture "$fixture"

await "$scratch/production.log"
both production production-2026.yml production-2025.yml
for scenario in capability-negotiation request-headers dispatch-and-envelope; do
    suite production extension production-tasks.yml 1 "tasks-$scenario"
done
end production "$production"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
