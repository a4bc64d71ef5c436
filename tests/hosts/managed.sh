#!/bin/sh
# Real agents with the gate that `agent-intercom install --managed` writes for all users: in a mount
# namespace of its own it lies over /etc, and `doctor --gate` tries each host, also with files of a
# project that switch hooks off. As root:
# sh tests/hosts/managed.sh BUILD_DIR [HOST...]
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 BUILD_DIR [HOST...]" >&2
    exit 64
fi
build=$(CDPATH='' cd -- "$1" && pwd)
shift
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ -x "$build/hook" ] || { echo "$0: $build/hook is not built" >&2; exit 66; }
unshare --net --mount true 2>/dev/null || { echo "skip managed.sh: it needs root"; exit 0; }

# shellcheck source=tests/hosts/ground.sh
. "$here/ground.sh"
ground_make managed "${HOSTS_KEEP:-}"
export PATH

[ $# -gt 0 ] || set -- claude codex gemini copilot qwen
mkdir -p "$scratch/system/etc" "$scratch/overlay"
for host in "$@"; do
    "$build/agent-intercom" install "$host" --managed --yes --root "$scratch/system" >"$scratch/out"
done
cd "$scratch/ws"
mkdir .claude .codex .gemini .qwen
echo '{"disableAllHooks": true}' | tee .claude/settings.json >.qwen/settings.json
printf '[features]\nhooks = false\n' >.codex/config.toml
echo '{"hooksConfig": {"enabled": false}}' >.gemini/settings.json
# shellcheck disable=SC2016 # for the shell inside
unshare --net --mount sh -euc '
    mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/system/etc,workdir=$1/overlay" /etc
    ip link set lo up
    scratch=$1 doctor=$2
    shift 2
    for host in "$@"; do
        "$doctor" doctor --gate "$host" || :
    done' sh "$scratch" "$build/agent-intercom" "$@" | tee "$scratch/said"
for host in "$@"; do
    grep -q "^ok   gate $host: closed" "$scratch/said" || { echo "FAIL $host" >&2; exit 1; }
done
