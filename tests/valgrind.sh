#!/bin/sh
# One conversation with every process under valgrind: sh tests/valgrind.sh BUILD_DIR. Fails when
# valgrind finds an error or memory that is lost, or possibly lost (but for valgrind.supp), in any of
# them.
#
# Debian 12's valgrind does not know openat2(2), so nothing here reads or writes a workspace's files;
# the tests of those run under the sanitizers (ctest --preset asan).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
check="valgrind -q --error-exitcode=99 --leak-check=full --suppressions=$here/valgrind.supp"
build=$(cd "${1:-build/dev}" && pwd)
scratch=$(mktemp -d)
system=""
finish() {
  [ -z "$system" ] || kill "$system" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT INT TERM
mkdir "$scratch/bin" "$scratch/workspace" "$scratch/log" "$scratch/run"
chmod 700 "$scratch/run"
# Valgrind makes calls of its own, which no fence knows.
export INTERCOM_FENCE=off
export XDG_RUNTIME_DIR="$scratch/run" XDG_STATE_HOME="$scratch/state" XDG_CONFIG_HOME="$scratch/config"
db="$scratch/state/agent-intercom/intercom.db"

# The supervisor looks for its workers beside itself: here each is a script that asks valgrind.
cp "$build/agent-intercom" "$build/runner" "$scratch/bin/"
for worker in mcp-front commander sentry archivist reader applier watchdog retention; do
  cat > "$scratch/bin/$worker" <<EOF
#!/bin/sh
exec $check --log-file="$scratch/log/$worker" "$build/$worker" "\$@"
EOF
  chmod +x "$scratch/bin/$worker"
done
ctl() {
  $check --log-file="$scratch/log/ctl.%p" "$build/agent-intercom-ctl" --db "$db" "$@"
}

$check --log-file="$scratch/log/agent-intercom" "$scratch/bin/agent-intercom" --db "$db" \
  --workspace "$scratch/workspace" > "$scratch/out" 2> "$scratch/err" &
system=$!
tries=0
until grep ready "$scratch/out" >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -gt 3000 ] || ! kill -0 "$system" 2>/dev/null; then
    cat "$scratch/err" "$scratch/log"/* >&2
    exit 1
  fi
  sleep 0.1
done
url=$(sed 's/.*ready: \([^,]*\),.*/\1/' "$scratch/out")

post() {
  curl -sS --max-time 600 -H 'Content-Type: application/json' -H "$1" -d "$2" "$url"
  echo
}
call() {
  post "$session" "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}"
}
wait_for() {
  tries=0
  until [ "$(sqlite3 "$db" "$1")" = "$2" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 3000 ] || { echo "never: $1 = $2" >&2; return 1; }
    sleep 0.1
  done
}

curl -sS -D "$scratch/head" -o /dev/null -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"valgrind","version":"1"}}}' "$url"
session=$(tr -d '\r' < "$scratch/head" | grep -i '^mcp-session-id:')
{
  call 1 ping '{"status_message":"here","progress_snapshot":[{"label":"a","status":"done"}]}'
  call 2 broadcast '{"message":"hello","level":"warning"}'
  call 3 reboot '{}'
  call 4 switch_freq '{"mode":"remote"}'
  call 5 auto_check '{"tool_name":"make"}'
  call 6 no_such_tool '{}'
  call 7 transmit '{"prompt_text":7}'
  call 8 check_diff '{"request_id":"nothing"}'
  post "$session" '{"broken'
  post "$session" '[]'
  post "$session" '{"jsonrpc":"2.0","id":9,"method":"tools/list"}'
} > "$scratch/answers"
call 10 transmit '{"prompt_text":"Shall I go on?"}' > "$scratch/transmit" &
asking=$!
wait_for 'SELECT count(*) FROM inbox' 1
id=$(sqlite3 "$db" 'SELECT id FROM inbox')
for command in inbox "show $id" "refine $id more tests" log health list "mode local"; do
  # shellcheck disable=SC2086 # a command and its arguments
  ctl $command >> "$scratch/answers"
done
wait "$asking"
grep -q 'more tests' "$scratch/transmit"
call 11 standby '{}' > "$scratch/standby" &
asking=$!
wait_for 'SELECT count(*) FROM inbox' 1
ctl resume go ahead >> "$scratch/answers"
wait "$asking"
grep -q 'go ahead' "$scratch/standby"
curl -s -X DELETE -H "$session" "$url"
kill "$system"
wait "$system"
system=""

found=$(find "$scratch/log" -type f -size +0 -exec cat {} + |
  grep -v -e 'unhandled' -e 'You may be able to write' -e 'Nevertheless' -e 'it may be' |
  grep -E '==[0-9]+== *[^ ]' || true)
if [ -n "$found" ]; then
  printf '%s\n' "$found" >&2
  exit 1
fi
echo "valgrind found nothing in agent-intercom, its workers and agent-intercom-ctl"
