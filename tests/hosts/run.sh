#!/bin/sh
# Agents' command lines with the entries that `agent-intercom install` writes, then whole
# conversations with a scripted model (conversation.test.mjs):
# sh tests/hosts/run.sh BUILD_DIR [HOST...]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BUILD_DIR [HOST...]" >&2
    exit 64
fi
build=$(CDPATH='' cd -- "$1" && pwd)
shift
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

for tool in npm sqlite3 git timeout script; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 69; }
done
[ -x "$build/agent-intercom" ] || { echo "$0: $build/agent-intercom is not built" >&2; exit 66; }

# shellcheck source=tests/hosts/ground.sh
. "$here/ground.sh"
ground_make hosts "${HOSTS_KEEP:-}"

port=$(node ../port.mjs)
mkdir -p "$HOME/.config/agent-intercom"
database=$scratch/intercom.db
cat >"$HOME/.config/agent-intercom/config.toml" <<END
http_port = $port
default_workspace_root = "$scratch/ws"
host_cli = "true"
[database]
path = "$database"
END
cd "$scratch/ws"
git init -q

failures=0
ok() {
    echo "ok   $*"
}
fail() {
    echo "FAIL $*"
    failures=$((failures + 1))
}

# shows WHAT TEXT COMMAND...: the command ends in time, and its output has the text in a line.
shows() {
    what=$1 text=$2
    shift 2
    timeout -k 2 30 "$@" >"$scratch/out" 2>&1 </dev/null || :
    if grep -q -- "$text" "$scratch/out"; then
        ok "$what"
    else
        fail "$what: '$text' is not in what '$*' says:"
        sed 's/^/     /' "$scratch/out"
    fi
}

# hides WHAT TEXT COMMAND...: the opposite.
hides() {
    what=$1 text=$2
    shift 2
    timeout -k 2 30 "$@" >"$scratch/out" 2>&1 </dev/null || :
    if grep -q -- "$text" "$scratch/out"; then
        fail "$what: '$text' is in what '$*' says:"
        sed 's/^/     /' "$scratch/out"
    else
        ok "$what"
    fi
}

# connections CLIENT TRANSPORT: how many there have been, with our wait (and workspace on stdio).
connections() {
    sqlite3 -cmd '.timeout 5000' "$database" "SELECT count(*) FROM connection
        WHERE client_name GLOB '$1' AND transport = '$2' AND identity ->> 'wait' = 3600
          AND ('$2' <> 'stdio' OR identity ->> 'workspace' = '$scratch/ws')" </dev/null
}

# What a host says or we note of a connection, counted. A client of revision 2026-07-28 (Copilot) has
# no row before its first tool call, but a log of its own.
codex_stdio() {
    connections 'codex*' stdio
}

codex_http() {
    connections 'codex*' http
}

copilot_log() {
    cat "$HOME"/.copilot/logs/*.log 2>/dev/null | grep -c 'Service initialized.*agent-intercom' || :
}

# connects WHAT COUNTER COMMAND...: COUNTER says more while the command runs, which need not end by
# itself: its model is out of reach.
connects() {
    what=$1 counter=$2
    shift 2
    before=$("$counter")
    timeout -k 2 30 "$@" >"$scratch/out" 2>&1 </dev/null &
    pid=$!
    for _ in $(seq 150); do
        [ "$("$counter")" -gt "$before" ] && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
    done
    if [ "$("$counter")" -gt "$before" ]; then
        ok "$what"
    else
        fail "$what: '$*' did not connect:"
        sed 's/^/     /' "$scratch/out"
    fi
    kill "$pid" 2>/dev/null || :
    wait "$pid" 2>/dev/null || :
}

install() {
    "$build/agent-intercom" install "$@" --yes >"$scratch/install" || {
        fail "install $*"
        cat "$scratch/install"
    }
}

uninstall() {
    "$build/agent-intercom" uninstall "$@" --yes >"$scratch/install" || {
        fail "uninstall $*"
        cat "$scratch/install"
    }
}

# ---- hosts ----

test_claude() {
    install claude
    shows "claude: stdio" 'intercom: .*Connected' claude mcp list
    shows "claude: timeout" 'Timeout: 3700000ms' claude mcp get intercom
    install claude --http
    shows "claude: HTTP" 'intercom: .*(HTTP).*Connected' claude mcp list
    uninstall claude
    hides "claude: uninstalled" 'intercom' claude mcp list
    install claude --project
    shows "claude: project" 'intercom: .*approv' claude mcp list
    uninstall claude --project
}

test_codex() {
    set -- env FAKE_KEY=none codex exec --skip-git-repo-check -c 'model="none"' \
        -c 'model_provider="fake"' -c 'model_providers.fake={name="fake",base_url="http://127.0.0.1:9/v1",env_key="FAKE_KEY"}' hello
    install codex
    shows "codex: timeout" 'tool_timeout_sec: 3700' codex mcp get intercom
    connects "codex: stdio" codex_stdio "$@"
    install codex --http
    shows "codex: HTTP timeout" 'tool_timeout_sec: 3700' codex mcp get intercom
    connects "codex: HTTP" codex_http "$@"
    uninstall codex
    hides "codex: uninstalled" 'agent-intercom' codex mcp list
    install codex --project
    printf '[projects."%s"]\ntrust_level = "trusted"\n' "$scratch/ws" >>"$HOME/.codex/config.toml"
    shows "codex: project" 'intercom .*enabled' codex mcp list
    uninstall codex --project
}

test_gemini() {
    mkdir -p "$HOME/.gemini"
    echo "{\"$scratch/ws\": \"TRUST_FOLDER\"}" >"$HOME/.gemini/trustedFolders.json"
    install gemini
    shows "gemini: stdio" 'intercom: .*(stdio) - Connected' gemini mcp list
    install gemini --http
    shows "gemini: HTTP" 'intercom: .*(http) - Connected' gemini mcp list
    uninstall gemini
    hides "gemini: uninstalled" 'agent-intercom' gemini mcp list
    install gemini --project
    shows "gemini: project" 'intercom: .*(stdio) - Connected' gemini mcp list
    uninstall gemini --project
}

test_copilot() {
    set -- env COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:9/v1 \
        COPILOT_MODEL=none copilot --disable-builtin-mcps --no-auto-update -p hello
    install copilot
    shows "copilot: timeout" 'Timeout: 3700000ms' copilot mcp get intercom
    connects "copilot: stdio" copilot_log "$@"
    install copilot --http
    shows "copilot: HTTP timeout" 'Timeout: 3700000ms' copilot mcp get intercom
    connects "copilot: HTTP" copilot_log "$@"
    uninstall copilot
    hides "copilot: uninstalled" 'intercom (' copilot mcp list
    install copilot --project
    shows "copilot: project" 'intercom (local)' env COPILOT_ALLOW_ALL=true copilot mcp list
    uninstall copilot --project
}

test_opencode() {
    install opencode
    shows "opencode: stdio" 'intercom .*connected' opencode mcp list
    [ "$(connections 'opencode' stdio)" -gt 0 ] || fail "opencode: wait and workspace"
    install opencode --http
    shows "opencode: HTTP" 'intercom .*connected' opencode mcp list
    uninstall opencode
    hides "opencode: uninstalled" 'intercom .*connected' opencode mcp list
    install opencode --project
    shows "opencode: project" 'intercom .*connected' opencode mcp list
    uninstall opencode --project
}

test_qwen() {
    mkdir -p "$HOME/.qwen"
    echo "{\"$scratch/ws\": \"TRUST_FOLDER\"}" >"$HOME/.qwen/trustedFolders.json"
    install qwen
    shows "qwen: stdio" 'intercom: .*(stdio) - Connected' qwen mcp list
    install qwen --http
    shows "qwen: HTTP" 'intercom: .*(http) - Connected' qwen mcp list
    uninstall qwen
    hides "qwen: uninstalled" 'agent-intercom' qwen mcp list
    install qwen --project
    shows "qwen: project" 'intercom: .*agent-intercom' qwen mcp list
    uninstall qwen --project
}

# One system for all, which serves HTTP too.
"$build/agent-intercom" >"$scratch/system" 2>&1 &
for _ in $(seq 100); do
    grep -q ready "$scratch/system" && break
    sleep 0.1
done

if [ $# -eq 0 ]; then
    set -- claude codex gemini copilot qwen
    if ground_has_opencode; then
        set -- "$@" opencode
    fi
fi
for host in "$@"; do
    "test_$host"
done
[ "$failures" -eq 0 ] || echo "$failures failed" >&2

for file in conversation gate; do
    ground_test "$build" "$here/$file.test.mjs" "$@" || failures=$((failures + 1))
done
[ "$failures" -eq 0 ]
