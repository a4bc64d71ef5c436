#!/bin/sh
# Shows the main job on a fresh Debian 12, 13 or testing: installs, builds, and lets an agent ask,
# an operator answer and a file change, in a scratch directory. Nothing outside the checkout's
# build/ is touched, but for the packages.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

step "Packages"
# shellcheck disable=SC2086 # a list of words
install_packages $BUILD_PACKAGES

step "Build"
cmake --preset release >/dev/null
cmake --build --preset release
cmake --install build/release --prefix "$PWD/build/prefix" >/dev/null
PATH="$PWD/build/prefix/bin:$PATH"

scratch=$(mktemp -d)
workspace="$scratch/project"
mkdir "$workspace"
printf 'int main(void)\n{\n\treturn 1;\n}\n' > "$workspace/main.c"
# A system of its own: the one that you may have running is not touched.
export XDG_STATE_HOME="$scratch/state" XDG_CONFIG_HOME="$scratch/config"
unset XDG_RUNTIME_DIR INTERCOM_CONFIG
db="$XDG_STATE_HOME/agent-intercom/intercom.db"

mkfifo "$scratch/in"
finish() {
  exec 3>&-
  kill "$agent" 2>/dev/null || true
  system=$(head -n 1 "$db-instance" 2>/dev/null || true)
  if [ -n "$system" ]; then
    kill "$system" 2>/dev/null || true
    while kill -0 "$system" 2>/dev/null; do sleep 0.1; done # until then it makes files there
  fi
  rm -rf "$scratch"
}

step "The agent connects: agent-intercom mcp speaks MCP on stdio and starts the system"
(cd "$workspace" && exec agent-intercom mcp) < "$scratch/in" > "$scratch/out" 2> "$scratch/err" &
agent=$!
trap finish EXIT INT TERM
exec 3> "$scratch/in"

say() { printf '%s\n' "$1" >&3; }
# answer_of ID: waits for the agent's answer with this id and prints its structured content.
answer_of() {
  tries=0
  until grep "\"id\":$1," "$scratch/out" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ]; then
      echo "no answer to request $1" >&2
      cat "$scratch/err" "$db-log" >&2 || true
      exit 1
    fi
    sleep 0.1
  done
  grep "\"id\":$1," "$scratch/out" | sed 's/.*"structuredContent":\(.*\),"isError".*/\1/'
}

say '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo-agent","version":"1"}}}'
answer_of 0 > /dev/null
say '{"jsonrpc":"2.0","method":"notifications/initialized"}'
agent-intercom-ctl --text health

step "The agent asks for clearance, and blocks"
diff='--- a/main.c\n+++ b/main.c\n@@ -1,4 +1,4 @@\n int main(void)\n {\n-\treturn 1;\n+\treturn 0;\n }\n'
say "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"check_clearance\",\"arguments\":{\"title\":\"Return success\",\"description\":\"main() reports failure although all went well.\",\"diff\":\"$diff\",\"file_path\":\"main.c\"}}}"
id=""
while [ -z "$id" ]; do
  id=$(sqlite3 "$db" 'SELECT id FROM inbox')
done

step "The operator looks: agent-intercom-ctl inbox, show"
agent-intercom-ctl --text inbox
agent-intercom-ctl --text show "$id"

step "The operator approves: agent-intercom-ctl approve"
agent-intercom-ctl --text approve "$id"
echo "the agent is told: $(answer_of 1)"

step "The agent has the change written: check_diff"
say "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"check_diff\",\"arguments\":{\"request_id\":\"$id\"}}}"
echo "the agent is told: $(answer_of 2)"
cat "$workspace/main.c"
grep -q 'return 0;' "$workspace/main.c"

step "What happened: agent-intercom-ctl log"
agent-intercom-ctl --text log

step "It works. Connect your own agent"
cat <<EOF
Install it for everybody:   sh packaging/build-deb.sh            (as root; then apt-get install what its last line names)
Your agent's host:          agent-intercom install claude        (codex, gemini, copilot, cursor, ...)
Over HTTP:                  start agent-intercom, then http://127.0.0.1:3000/mcp
Answer in a terminal:       agent-intercom-ctl watch
EOF
