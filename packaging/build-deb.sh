#!/bin/sh
# Builds the Debian package of the commit that is checked out (or of a source archive) on Debian 12, 13 or
# testing; installs what the build needs, if root:
#
#   sh packaging/build-deb.sh [DIRECTORY]     where the package goes; without it build/package
#
# The same commit gives the same bytes, whenever and in whatever folder it is built. The last line is the path
# of the package. A commit with the tag v<version> is the release <version>, any other a snapshot before it.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/package}
. "$here/tests/packages.sh"

# shellcheck disable=SC2086 # lists of words
install_packages $BUILD_PACKAGES $DEB_PACKAGES >&2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
tree=$scratch/agent-intercom
mkdir "$tree"

version=$(sed -n 's/^project(agent-intercom VERSION \([0-9.]*\) .*/\1/p' "$here/CMakeLists.txt")
tag=""
git() { command git -c safe.directory="*" -C "$here" "$@"; }
if [ -e "$here/.git" ]; then
  git archive HEAD | tar -x -C "$tree"
  tag=$(git describe --exact-match --tags --match "v$version" HEAD 2>/dev/null || true)
else
  tar -c -C "$here" --exclude=./build . | tar -x -C "$tree"
fi
read -r commit seconds <"$tree/.commit"
case $commit in
*[!0-9a-f]*)
  echo "this is neither a checkout nor made by git archive: its commit is not known" >&2
  exit 1
  ;;
esac
if [ -z "$tag" ]; then
  version="$version~$(date -u -d "@$seconds" +%Y%m%d%H%M%S).$(printf '%.8s' "$commit")"
fi

# Debian's changelog is CHANGELOG.md in its format; the build's clock is the commit's.
cp -r "$tree/packaging/debian" "$tree/debian"
maintainer=$(sed -n 's/^Maintainer: //p' "$tree/debian/control")
awk -v version="$version" -v who="$maintainer" -v when="$(LC_ALL=C date -u -R -d "@$seconds")" '
  function wrap(text, first, rest,   line, count, word, i) {
    count = split(text, word, " ")
    line = first word[1]
    for (i = 2; i <= count; i++)
      if (length(line " " word[i]) > 79) { print line; line = rest word[i] }
      else line = line " " word[i]
    print line
  }
  function item() { if (text) wrap(text, "  * ", "    "); text = "" }
  function finish() { item(); if (open) printf "\n -- %s  %s\n\n", who, when; open = 0 }
  /^## / {
    finish()
    printf "agent-intercom (%s) unstable; urgency=medium\n\n", seen++ ? $2 : version
    open = 1
    next
  }
  !open || !NF { next }
  /^- / { item(); text = substr($0, 3); next }
  { text = text " " $0 }
  END { finish() }' "$tree/packaging/CHANGELOG.md" >"$tree/debian/changelog"

export SOURCE_DATE_EPOCH="$seconds" LC_ALL=C.UTF-8 TZ=UTC
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CFLAGS CXXFLAGS LDFLAGS
umask 022
echo "building agent-intercom $version; everything is compiled, which takes minutes" >&2
(cd "$tree" && dpkg-buildpackage -b -us -uc) >"$scratch/log" 2>&1 || {
  tail -n 40 "$scratch/log" >&2
  exit 1
}
mkdir -p "$out"
cp "$scratch"/agent-intercom_*.deb "$scratch"/agent-intercom_*.changes "$scratch"/agent-intercom_*.buildinfo "$out/"
basename "$scratch"/agent-intercom_*.deb | sed "s|^|$out/|"
