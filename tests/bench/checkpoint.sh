#!/bin/sh
# What a checkpoint of a large tree costs, next to `git add -A` into an empty repository.
#   sh tests/bench/checkpoint.sh [BUILD_DIR] [FILES]
# BUILD_DIR: build/release. FILES: how many files of /usr the tree has (50000).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
build=$(CDPATH='' cd -- "${1:-$root/build/release}" && pwd)
files=${2:-50000}
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

cd "$here"
# shellcheck source=tests/flags.sh
. ../flags.sh
# shellcheck disable=SC2046 # lists of words
"${CC:-cc}" -O2 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -o "$scratch/checkpoint" checkpoint.c bench.c \
    $(include_flags "$root" "$build") $(library_flags "$build")

mkdir "$scratch/ws"
find /usr -xdev -type f -size -2048k -print0 | head -z -n "$((files * 499 / 500))" >"$scratch/list"
find /usr -xdev -type f -size +4096k -size -20480k -print0 | head -z -n "$((files / 500))" >>"$scratch/list"
tar -cf - --null -T "$scratch/list" 2>/dev/null | tar -xf - -C "$scratch/ws"
printf '%s files, %s MB\n' "$(find "$scratch/ws" -type f | wc -l)" \
    "$(du -sm --apparent-size "$scratch/ws" | cut -f 1)"
find "$scratch/ws" -type f -print0 | xargs -0 cat >/dev/null # into memory, for both

milliseconds() { date +%s%3N; }
as_git() {
    began=$(milliseconds)
    GIT_DIR=$scratch/git GIT_WORK_TREE=$scratch/ws git add -A "$scratch/ws" >/dev/null 2>&1
    GIT_DIR=$scratch/git GIT_WORK_TREE=$scratch/ws git write-tree >/dev/null
    echo "git ms $(($(milliseconds) - began)), $(du -sm "$scratch/git" | cut -f 1) MB"
}
as_we() {
    "$scratch/checkpoint" "$scratch/ws" "$scratch/objects" | tr '\n' ' '
    echo
}
GIT_DIR=$scratch/git git init -q
sync
sleep 3 # what has just been changed is not remembered
echo first:
as_we
as_git
find "$scratch/ws" -type f -name '*.h' | head -n 10 | while read -r file; do echo change >>"$file"; done
echo "after ten changes:"
as_we
as_git
