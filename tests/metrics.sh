#!/bin/sh
# What GET /metrics says, and Grafana's board, checked by Prometheus' own promtool (Debian: prometheus);
# without it, only that the board asks for nothing that does not exist.
#   tests/metrics.sh BUILD_DIR
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
board=packaging/grafana/agent-intercom.json
scratch=$(mktemp -d)
system=""
# shellcheck disable=SC2317 # called by trap
leave() {
  if [ -n "$system" ] && kill "$system"; then
    wait "$system" || true
  fi
  rm -rf "$scratch"
}
trap leave EXIT

expressions() {
  # shellcheck disable=SC2016 # a variable of Grafana
  python3 -c 'import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel["targets"]:
        print(target["expr"].replace("$__rate_interval", "5m"))' "$board"
}

families=$(sed -n "s/^  ('\(intercom_[a-z_]*\)', '\(gauge\|counter\|histogram\)'.*/\1/p" schema/metric.sql
  sed -n 's/.*"\(intercom_[a-z]*_bytes\)".*/\1/p' src/model/metric.c)
for name in $(expressions | grep -o 'intercom_[a-z_]*' | sort -u); do
  family=${name%_total}
  family=${family%_bucket}
  echo "$families" | grep -qx "$family" || {
    echo "$board asks for $name, which there is not" >&2
    exit 1
  }
done

command -v promtool >/dev/null || {
  echo "skipped: metrics: needs promtool, from Debian's prometheus"
  exit 0
}

expressions | awk 'BEGIN { print "groups:\n- name: board\n  rules:" }
  { gsub(/\047/, "\047\047"); printf "  - record: panel%d\n    expr: \047%s\047\n", NR, $0 }' >"$scratch/rules.yml"
promtool check rules "$scratch/rules.yml" >"$scratch/said" || { cat "$scratch/said" >&2; exit 1; }

export HOME="$scratch" XDG_RUNTIME_DIR="$scratch" XDG_STATE_HOME="$scratch/state" XDG_CONFIG_HOME="$scratch/config"
"$build/agent-intercom" >"$scratch/log" 2>&1 &
system=$!
url=""
for _ in $(seq 600); do
  url=$("$build/agent-intercom" where http 2>/dev/null) && [ -n "$url" ] &&
    curl -fsS -o "$scratch/prometheus" "${url%/mcp}/metrics" 2>/dev/null && break
  sleep 0.1
done
[ -s "$scratch/prometheus" ] || { cat "$scratch/log" >&2; exit 1; }
promtool check metrics <"$scratch/prometheus"
curl -fsS -H 'Accept: application/openmetrics-text' "${url%/mcp}/metrics" | tail -n 1 | grep -qx '# EOF'
echo "promtool agrees with $(grep -c '^# TYPE' "$scratch/prometheus") families and $(expressions | wc -l) panels' queries"
