#!/bin/sh
# Holds what an operation costs against ratchet.txt: instructions and pages of the WAL, which do not
# depend on how busy the machine is.
#   sh tests/bench/yard.sh [BUILD_DIR] [--update | --map]
# BUILD_DIR: build/release. Fails when a figure is more than 5 % worse than its line in the file.
# --update: writes the file. --map: also prints in which table or index the pages were.
#
# Pages are compared everywhere, instructions only where the file was written: other compilers and
# other versions of SQLite need others.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
build=$root/build/release
ratchet=$here/ratchet.txt
update='' map=''
for argument; do
    case $argument in
    --update) update=yes ;;
    --map) map=--map ;;
    -*) echo "usage: $0 [BUILD_DIR] [--update | --map]" >&2 && exit 64 ;;
    *) build=$(CDPATH='' cd -- "$argument" && pwd) ;;
    esac
done
[ -x "$build/agent-intercom-ctl" ] || { echo "$0: $build is not built" >&2; exit 66; }

# A short path: unix sockets live below it. Nothing here is timed: memory will do.
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/yard.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What instructions depend on besides our sources.
compiler=$("${CC:-cc}" -dumpfullversion)
made_by="gcc $compiler, SQLite $(pkg-config --modversion sqlite3), $(uname -m),"
made_by="$made_by $(getconf GNU_LIBC_VERSION), $(valgrind --version)"

source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt") # BUILD_DIR's tree
cd "$here"
# shellcheck source=tests/flags.sh
. ../flags.sh
# shellcheck disable=SC2046 # lists of words
"${CC:-cc}" -O2 -std=gnu17 -D_GNU_SOURCE -o "$scratch/fake_slack" $(fake_slack_sources) \
    $(include_flags "$source" "$build") $(library_flags "$build") -lwslay

measure() {
    rm -rf "$scratch/one"
    mkdir "$scratch/one"
    # shellcheck disable=SC2086 # one option, or none
    python3 "$here/yard.py" "$build" "$scratch/fake_slack" "$scratch/one" $map >"$scratch/figures"
}

measure
if [ "$update" ]; then
    {
        echo "# What an operation costs; see yard.sh. After a change that is worth it:"
        echo "#   sh tests/bench/yard.sh --update"
        echo "with $made_by"
        cat "$scratch/figures"
    } >"$ratchet"
    cat "$ratchet"
    exit 0
fi
# On a busy machine the front may find rows of others half done, and look again, in all that was counted. What
# is worse in three measurements is.
for again in yes yes ''; do
    if awk -v made_by="$made_by" -f "$here/yard.awk" "$ratchet" "$scratch/figures"; then
        exit 0
    fi
    if [ "$again" ]; then
        measure
    fi
done
exit 1
