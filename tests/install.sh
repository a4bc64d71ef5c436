#!/bin/sh
# install.sh BUILD: what `cmake --install` puts in a prefix starts there, whatever the folders are
# called: the relay finds the system, the system its workers. All programs are of one build, and the
# units name the program where it is.
set -eu
build=$1
scratch=$(mktemp -d)
finish() {
  system=$(head -n 1 "$db-instance" 2>/dev/null || true)
  [ -z "$system" ] || kill "$system" 2>/dev/null || true
  [ -z "$relay" ] || wait "$relay" || true
  until [ -z "$system" ] || ! kill -0 "$system" 2>/dev/null; do sleep 0.1; done
  rm -rf "$scratch"
}
relay=""
# A system of its own: the one that may be running is not touched.
export HOME="$scratch" XDG_STATE_HOME="$scratch/state" XDG_CONFIG_HOME="$scratch/config"
unset XDG_RUNTIME_DIR INTERCOM_CONFIG
db="$XDG_STATE_HOME/agent-intercom/intercom.db"
trap finish EXIT

# Programs that could not find each other are not built.
if cmake -G Ninja -S "$(dirname "$0")/.." -B "$scratch/refused" -DCMAKE_INSTALL_BINDIR=/opt/bin \
  -DCMAKE_INSTALL_LIBEXECDIR=libexec >"$scratch/out" 2>&1 ||
  ! tr -s ' \n' ' ' <"$scratch/out" | grep -q 'CMAKE_INSTALL_BINDIR is /opt/bin and CMAKE_INSTALL_LIBEXECDIR is libexec: make both relative to the prefix, or both absolute'; then
  echo "one folder absolute and the other relative was not refused:" >&2
  cat "$scratch/out" >&2
  exit 1
fi

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/installed"
program=$(find "$scratch/prefix" -type f -perm -100 -name agent-intercom)
echo "installed: ${program#"$scratch/"}"

build_of() { "$1" --version | sed 's/.* //'; }
find "$scratch/prefix" -type f -perm -100 | while read -r one; do
  [ "$(build_of "$one")" = "$(build_of "$program")" ] && continue
  echo "${one#"$scratch/"} says of itself: $("$one" --version)" >&2
  exit 1
done
for name in hand filer keeper; do
  one=$(find "$scratch/prefix" -type f -name "$name")
  [ "$(stat -c %a "$one")" = 711 ] && continue
  echo "${one#"$scratch/"}, which runs as an agent's user, can be read by it: its mode is $(stat -c %a "$one")" >&2
  exit 1
done
[ "$(grep -rhEc "^ExecStart=$program( --shared /run/agent-intercom)?\$" "$scratch/prefix/lib/systemd" | grep -c 1)" -eq 2 ] || {
  echo "the units do not start $program:" >&2
  grep -r '^ExecStart=' "$scratch/prefix/lib/systemd" >&2
  exit 1
}

mkdir "$scratch/project"
mkfifo "$scratch/in"
(cd "$scratch/project" && exec "$program" mcp) <"$scratch/in" >"$scratch/out" 2>"$scratch/err" &
relay=$!
exec 3>"$scratch/in"
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"install-test","version":"1"}}}' >&3
answers() { grep -q '"id":1,.*"serverInfo"' "$scratch/out"; }
workers_run() {
  "$program-ctl" --text health >"$scratch/health" &&
    [ "$(grep -Ec '^worker (applier|archivist|commander|mcp-front|reader|retention|sentry|watchdog) +ready ' "$scratch/health")" -eq 8 ]
}
# wait_until CONDITION WHAT: 30 seconds at most, as long as the relay runs.
wait_until() {
  tries=0
  until "$1"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 300 ] || ! kill -0 "$relay"; then
      echo "$2:" >&2
      cat "$scratch/out" "$scratch/err" "$scratch/health" "$db-log" >&2 || true
      exit 1
    fi
    sleep 0.1
  done
}
wait_until answers "the installed relay does not answer"
wait_until workers_run "not all installed workers run"
exec 3>&-
echo "it runs"
