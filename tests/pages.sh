#!/bin/sh
# What the pages name exists: each file in `backticks`, and each function on the walk of one
# approval in src/README.md; and each test whose name stands in tests/README.md.
# usage: pages.sh [PAGE...]
# shellcheck disable=SC2016 # backticks are what is looked for
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- README.md src/README.md schema/README.md workers/README.md ctl/README.md tests/README.md
wrong=$(
    for page in "$@"; do
        here=$(dirname "$page")
        grep -o '`[a-z_/]*[a-z_]\.[a-z]*`' "$page" | tr -d '`' | sort -u | while read -r file; do
            case $file in
            *.c | *.h | *.sql | *.txt | *.sh | *.py) ;;
            *) continue ;;
            esac
            case $file in
            *x_y* | sql/*.h) continue ;; # an example; written by sqlgen
            esac
            for folder in . "$here" src tests; do
                [ ! -e "$folder/$file" ] || continue 2
            done
            case $file in
            */*) ;;
            *) [ -z "$(find src workers ctl schema tests -name "$file" ! -path '*/node_modules/*' | head -n 1)" ] ||
                continue ;;
            esac
            echo "$page: no file $file"
        done
    done
    sed -n '/^## One approval/,/^## Terms/p' src/README.md | grep -o '`[a-z]*_[a-z_]*`' | tr -d '`' | sort -u |
        while read -r name; do
            [ ! -e "schema/$name.sql" ] || continue
            [ ! -e "src/mcp/tools/$name.c" ] || continue
            grep -rqE --include='*.c' "^[a-z][a-z0-9_ *]*[ *]$name\\(" src workers || echo "src/README.md: no function $name"
        done
    # What has five words or more is a test.
    grep -oE '`[a-z0-9]+(_[a-z0-9]+){4,}`' tests/README.md | tr -d '`' | sort -u | while read -r name; do
        grep -rqF --include='test_*.c' "START_TEST($name)" tests || echo "tests/README.md: no test $name"
    done
)
[ -z "$wrong" ] || { printf '%s\n' "$wrong"; exit 1; }
