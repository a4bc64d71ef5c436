#!/bin/sh
# The Debian package, from build to purge. Needs root, and: debootstrap lintian systemd shellcheck.
#
#   sh tests/package.sh [BUILD]     BUILD: a build whose `cmake --install` is compared; without it build/dev
#
# The package of this commit is built twice, and must be the same bytes; lintian must be silent; its files must be
# those that `cmake --install` installs. In a fresh minimal Debian 12 (like tests/systems.sh) a package of the commit
# before is installed, a question asked, answered and carried out; another one is open while this commit's package is
# installed over it, and must be answered afterwards; then remove and purge. There is no systemd in that system: the
# units are verified by systemd-analyze outside, and the commands in them are run as they stand (package/story.sh).
#
# INTERCOM_SYSTEMS=DIR keeps the downloaded packages and the minimal system, INTERCOM_PACKAGES=DIR the ones that were built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
build=${1:-build/dev}
build=$(cd "$build" && pwd)

SKIPPED=77
SECURITY=20 # systemd-analyze's exposure, times ten
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null || ! command -v lintian >/dev/null ||
  ! command -v systemd-analyze >/dev/null; then
  echo "skipped: this needs root, and: apt-get install debootstrap lintian systemd"
  exit "$SKIPPED"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
built=${INTERCOM_PACKAGES:-$scratch/built}
mkdir -p "$built" "$scratch/tree"
built=$(cd "$built" && pwd)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# package COMMIT NUMBER: the path of its package; each number is another build, in another folder.
package() {
  kept=$built/$1-$2.deb
  if [ ! -e "$kept" ]; then
    rm -rf "$scratch/clone-$2"
    git clone -q --no-local . "$scratch/clone-$2"
    git -C "$scratch/clone-$2" checkout -q "$1"
    made=$(sh "$scratch/clone-$2/packaging/build-deb.sh" "$scratch/out-$2" | tail -n 1)
    mv "$made" "$kept"
    rm -rf "$scratch/clone-$2"
  fi
  echo "$kept"
}

# The commit before, if no change of the schema lies between (until release 0.2.0 no step leads over one);
# otherwise this one once more, under another name.
commit=$(git rev-parse HEAD)
before=$(git rev-parse HEAD^)
if ! git diff --quiet "$before" "$commit" -- schema || ! git cat-file -e "$before:packaging/build-deb.sh" 2>/dev/null; then
  before=$(git -c user.name=test -c user.email=test@localhost commit-tree "HEAD^{tree}" -p HEAD^ -m "the same tree")
fi

echo "== built twice, the same bytes"
new=$(package "$commit" 1)
again=$(package "$commit" 2)
cmp "$new" "$again" || fail "the package is not reproducible"
sha256sum "$new" | cut -c 1-64

echo "== lintian"
lintian --allow-root --fail-on error,warning,info --suppress-tags bad-distribution-in-changes-file "$new" ||
  fail "lintian complains"

echo "== the same files as cmake --install"
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
(cd "$scratch/prefix" && find . ! -type d) | sed 's|^\./||' | sort >"$scratch/installed"
dpkg-deb -x "$new" "$scratch/tree"
# What Debian does differently: compressed pages, the folder of zsh, what each package has in doc.
(cd "$scratch/tree/usr" && find . ! -type d) |
  sed -e 's|^\./||' -e 's|^\(share/man/.*\)\.gz$|\1|' -e 's|zsh/vendor-completions|zsh/site-functions|' |
  grep -Ev '^share/(doc/agent-intercom/(copyright|changelog\.gz)|lintian/overrides/agent-intercom)$' |
  sort >"$scratch/packaged"
diff "$scratch/installed" "$scratch/packaged" || fail "cmake --install and the package differ"
[ "$(find "$scratch/tree" -mindepth 1 -maxdepth 1 ! -name usr | wc -l)" -eq 0 ] || fail "files outside of /usr"
echo "$(wc -l <"$scratch/packaged") files"

echo "== units, as systemd understands them"
units=$scratch/tree/usr/lib/systemd
for unit in "$units"/*/*; do
  # The programs are not installed here; what is looked at is the unit.
  sed "s|^ExecStart=/usr/|ExecStart=$scratch/tree/usr/|" "$unit" >"$scratch/unit" && cp "$scratch/unit" "$unit"
done
systemd-analyze --man=no verify "$units"/system/* || fail "the units of the system"
XDG_RUNTIME_DIR=$scratch systemd-analyze --man=no --user verify "$units"/user/* || fail "the units of users"
# agent-intercom-agents starts programs that need a network, memory to execute, and whatever their users may.
for unit in agent-intercom agent-intercom-owner; do
  systemd-analyze security --offline=true --threshold="$SECURITY" "$units/system/$unit.service" | tail -n 1 ||
    fail "the unit $unit of the system is exposed"
done

echo "== a fresh Debian 12"
INTERCOM_SYSTEMS=${INTERCOM_SYSTEMS:-$scratch}
mkdir -p "$INTERCOM_SYSTEMS/packages"
systems=$(cd "$INTERCOM_SYSTEMS" && pwd)
root=$scratch/bookworm
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
  sed -n 's/^Debian|main|//p' | head -n 1)
if [ ! -e "$systems/bookworm-minbase.tar" ]; then
  debootstrap --variant=minbase --include=ca-certificates --cache-dir="$systems/packages" \
    bookworm "$root" "$mirror" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; fail "debootstrap"; }
  tar -C "$root" --one-file-system -cf "$scratch/minbase.tar" .
  mv "$scratch/minbase.tar" "$systems/bookworm-minbase.tar"
  rm -rf "$root"
fi
mkdir "$root"
tar -C "$root" -xf "$systems/bookworm-minbase.tar"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
apt-config dump | grep -E '^Acquire::(http|https|Check|Retries)' >"$root/etc/apt/apt.conf.d/99host" || true
mkdir "$root/srv/packages"
cp "$(package "$before" 1)" "$root/srv/packages/old.deb"
cp "$new" "$root/srv/packages/new.deb"
cp "$here/package/story.sh" "$root/srv/packages/"

# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --pid --fork --kill-child --propagation private sh -euc '
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  mount -t tmpfs -o mode=755 tmpfs "$1/run"
  mount --bind "$2" "$1/var/cache/apt/archives"
  exec env -i HOME=/root USER=root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$1" sh /srv/packages/story.sh' sh "$root" "$systems/packages"
echo "the package is built, installed, upgraded, removed and purged"
