#!/bin/sh
# Runs commands from a clean clone in a minimal Debian of another release:
#
#   tests/systems.sh 12|13|testing              the commands of the README: package, demo and tests
#   tests/systems.sh 13 tests                   one of them
#   tests/systems.sh 13 'sh tests/valgrind.sh'  these commands, one after the other, in one system
#
# The system is made by debootstrap in a scratch directory below $TMPDIR, gets git, and is removed
# at the end. With INTERCOM_SYSTEMS=DIR the packages are kept in DIR for the next system, and the
# system itself too: if it is there already, only its checkout is brought to our commit. Packages
# come from the mirror that this machine's apt uses; it may be reached as this machine reaches it
# (resolver, certificates, apt's and npm's options). Needs root, 8 GB of disk, and for all
# commands half an hour or more. What is committed is what is tested. The package comes first:
# what the other commands install would hide what it forgets to.
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
12) suite=bookworm ;;
13) suite=trixie ;;
testing) suite=testing ;;
*)
  echo "usage: $0 12|13|testing [COMMAND...]" >&2
  exit 64
  ;;
esac
name=$1
shift
[ $# -gt 0 ] || set -- package demo tests

if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "this needs root, and: apt-get install debootstrap" >&2
  exit 1
fi
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
  sed -n 's/^Debian|main|//p' | head -n 1)
if [ -z "$mirror" ]; then
  echo "apt knows no Debian mirror; is this a Debian, and was apt-get update run?" >&2
  exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
kept=${INTERCOM_SYSTEMS:-$scratch}
mkdir -p "$kept/packages"
kept=$(cd "$kept" && pwd)
root=$kept/$suite

# inside COMMAND: runs it in the system, where what is mounted and what it starts end with it.
# shellcheck disable=SC2016 # expanded by the inner shell
inside() {
  unshare --mount --pid --fork --kill-child --propagation private sh -euc '
    mount --bind "$1" "$1" # or / is no mount point inside, and no test can mount anything
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    mount --bind "$4" "$1/var/cache/apt/archives"
    exec env -i HOME=/root USER=root LANG=C.UTF-8 TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt ${3:+npm_config_registry="$3"} \
      chroot "$1" sh -c "cd /srv/agent-intercom && $2"' sh "$root" "$1" "$registry" "$kept/packages"
}

# timed WHAT COMMAND...: its time, or the end.
timed() {
  what=$1
  shift
  start=$(date +%s)
  if ! "$@"; then
    echo "== Debian $name: $what: FAILED after $(($(date +%s) - start)) s"
    exit 1
  fi
  times="$times== Debian $name: $what: passed, $(($(date +%s) - start)) s
"
}

make_system() {
  debootstrap --variant=minbase --include=git,ca-certificates --cache-dir="$kept/packages" \
    "$suite" "$root" "$mirror" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    return 1
  }
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  apt-config dump | grep -E '^Acquire::(http|https|Check|Retries)' \
    >"$root/etc/apt/apt.conf.d/99host" || true
  git clone -q --no-local . "$root/srv/agent-intercom"
}

# A system that was kept: what was built there stays.
renew_system() {
  git -C "$root/srv/agent-intercom" fetch -q "$PWD" HEAD &&
    git -C "$root/srv/agent-intercom" reset -q --hard FETCH_HEAD
}

times=""
registry=$(npm config get registry 2>/dev/null || true)
echo "== Debian $name from $mirror, commit $(git rev-parse --short HEAD)"
if [ -d "$root/srv/agent-intercom" ]; then
  timed "the system that was kept" renew_system
else
  rm -rf "$root"
  timed "debootstrap" make_system
fi
for command; do
  case $command in
  package) command="sh packaging/build-deb.sh" ;;
  demo) command="sh tests/demo.sh" ;;
  tests) command="sh tests/run.sh" ;;
  esac
  echo "== Debian $name: $command"
  timed "$command" inside "$command"
done
printf '%s' "$times"
