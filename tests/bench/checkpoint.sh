#!/bin/sh
# What a checkpoint of a large tree costs, next to `git stash create` and `git add -A` into a scratch
# index: the first, and others after ten changes each, as ratios with their goals.
#   sh tests/bench/checkpoint.sh [BUILD_DIR] [FILES] [ROUNDS]
# BUILD_DIR: build/release. FILES: how many files of /usr the tree has (50000). ROUNDS: 6.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
build=$(CDPATH='' cd -- "${1:-$root/build/release}" && pwd)
files=${2:-50000}
rounds=${3:-6}
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
git() { command git -C "$scratch/ws" -c user.name=bench -c user.email=bench@bench "$@"; }
as_git() { # prints what it took, in ms
    began=$(milliseconds)
    git stash create >/dev/null
    GIT_INDEX_FILE=$scratch/index git add -A >/dev/null 2>&1
    GIT_INDEX_FILE=$scratch/index git write-tree >/dev/null
    echo $(($(milliseconds) - began))
}
as_we() { # prints "ms N read N added N rss_kib N"
    "$scratch/checkpoint" "$scratch/ws" "$scratch/objects" | tr '\n' ' '
}
ratio() { # NAME GOAL, the line of as_we, the ms of git
    echo "$1 we $3 git $4" | awk -v goal="$2" '{
        printf "%s: %s, git %d ms: ratio %.2f (goal %s)\n", $1, $3 " " $4 " " $5 " " $6 " " $7 " " \
            $8 " " $9 " " $10, $NF, $4 / ($NF > 0 ? $NF : 1), goal }'
}
change() {
    find "$scratch/ws" -path "$scratch/ws/.git" -prune -o -type f -name '*.h' -print | head -n 10 |
        while read -r file; do echo change >>"$file"; done
    sync
    sleep 3 # what has just been changed is not remembered
}

git init -q
git commit -q --allow-empty -m nothing
sync
sleep 3
we=$(as_we)
ratio first 1.5 "$we" "$(as_git)"
git add -A >/dev/null 2>&1
git commit -qm all
as_git >/dev/null # it has seen the tree once, as we have
for round in $(seq "$rounds"); do
    change
    if [ $((round % 2)) -eq 0 ]; then # in turn: whoever is second finds the tree in memory
        them=$(as_git)
        we=$(as_we)
    else
        we=$(as_we)
        them=$(as_git)
    fi
    ratio second 1 "$we" "$them"
done | tee "$scratch/second"
sed 's/.*ratio \([0-9.]*\).*/\1/' "$scratch/second" | sort -n |
    awk '{ r[NR] = $1 } END { printf "second: median ratio %.2f of %d (goal 1)\n", r[int((NR + 1) / 2)], NR }'
