#!/bin/sh
# The files of a worker, and of a folder of src/, stand on each other in one order: no circle of
# calls. Judged by the symbols of the object files.
# usage: circles.sh BUILD_DIR
set -eu

[ $# -eq 1 ] || { echo "usage: $0 BUILD_DIR" >&2; exit 64; }
for tool in nm awk tsort; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2; exit 69; }
done
bad=0
looked=0

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

for target in intercom-base intercom-agent intercom-change intercom-gate intercom-acp intercom-store intercom-model intercom-retention \
    intercom-policy intercom-hand intercom-mcp intercom-slack intercom-operator supervisor mcp-front hook runner commander sentry archivist reader slack-poster \
    slack-listener agent-intercom agent-intercom-ctl; do
    objects=$1/CMakeFiles/$target.dir
    [ -d "$objects" ] || continue
    looked=$((looked + 1))
    if ! circle=$(pairs "$objects" | tsort 2>&1 >/dev/null); then
        echo "$target: these files call each other in a circle:"
        echo "$circle" | sed 's/^/    /'
        bad=1
    fi
done
[ "$looked" -gt 0 ] || { echo "$0: no object files below $1" >&2; exit 66; }
exit "$bad"
