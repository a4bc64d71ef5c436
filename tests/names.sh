#!/bin/sh
# An external name is defined once in all of the product, also where no program links both objects:
# a name means one thing, whichever folder a reader meets it in.
# usage: names.sh OBJECT...
set -eu

[ $# -gt 1 ] || { echo "usage: $0 OBJECT..." >&2; exit 64; }
twice=$(nm -A "$@" | awk '
    $(NF - 1) ~ /^[TDRBC]$/ && $NF != "main" {
        file = $1
        sub(/^.*CMakeFiles\/[^\/]*\.dir\//, "", file)
        sub(/\.o:.*/, "", file)
        if ($NF in home)
            printf "%s: %s and %s\n", $NF, home[$NF], file
        home[$NF] = file
    }')
[ -z "$twice" ] || { printf 'defined twice:\n%s\n' "$twice"; exit 1; }
