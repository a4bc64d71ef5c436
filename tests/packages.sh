# shellcheck shell=sh disable=SC2034 # used by those who source this
# Debian packages, installed where they are missing. Sourced by demo.sh and run.sh.

BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config libsqlite3-dev libcjson-dev uuid-dev libssl-dev
  libevent-dev libcurl4-openssl-dev libwebsockets-dev libpcre2-dev libtoml11-dev sqlite3"
DEB_PACKAGES="build-essential debhelper dpkg-dev git"
TEST_PACKAGES="check libwslay-dev strace valgrind procps util-linux git diffutils patch clang
  clang-format clang-tidy libclang-rt-dev shellcheck curl gnome-keyring libsecret-tools dbus-daemon python3"
# Peers for the tests come from npm; an npm that is there already is as good as Debian's.
command -v npm >/dev/null 2>&1 || TEST_PACKAGES="$TEST_PACKAGES npm"

# install_packages NAME...: asks apt only for what dpkg does not know as installed.
install_packages() {
  missing=""
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
      missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "these Debian packages are missing:$missing" >&2
    echo "install them as root: apt-get install$missing" >&2
    return 1
  fi
  echo "installing:$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086 # a list of words
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
