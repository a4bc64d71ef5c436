#!/bin/sh
# The files of a worker, and of a folder of src/, stand on each other in one order: no circle of
# calls. Judged by the symbols of the object files.
# usage: circles.sh BUILD_DIR TARGET...
set -eu

[ $# -gt 1 ] || { echo "usage: $0 BUILD_DIR TARGET..." >&2; exit 64; }
for tool in nm awk tsort; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 69; }
done
build=$1
shift
bad=0

# The pairs "user used" of the object files below a directory.
pairs() {
    find "$1" -name '*.o' -exec nm -A {} + | awk -F '[: ]+' '
        { file = $1; sub(/.*\//, "", file); sub(/\.c+\.o$/, "", file) }
        $(NF - 1) ~ /^[TDRBV]$/ { home[$NF] = file }
        $(NF - 1) == "U" { uses[file " " $NF] }
        END {
            for (u in uses) {
                split(u, part, " ")
                if (part[2] in home && home[part[2]] != part[1])
                    print part[1], home[part[2]]
            }
        }'
}

for target; do
    objects=$build/CMakeFiles/$target.dir
    [ -d "$objects" ] || { echo "$0: $target has no object files below $build" >&2; exit 66; }
    if ! circle=$(pairs "$objects" | tsort 2>&1 >/dev/null); then
        echo "$target: these files call each other in a circle:"
        echo "$circle" | sed 's/^/    /'
        bad=1
    fi
done
exit "$bad"
