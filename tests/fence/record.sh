#!/bin/sh
# Which system calls the fenced processes make, over the families of tests:
#
#   sh tests/fence/record.sh BUILD_DIR [ctest's arguments: -R test_hand]
#
# Prints what was recorded and src/fence/calls.txt does not allow; exit status 1 if there is any. The
# tests run several times as long as usual: each call goes through another process. Needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: record.sh BUILD_DIR [ARGUMENTS OF CTEST]}" && pwd)
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$folder.calls"' EXIT INT TERM
INTERCOM_RECORD_CALLS=$folder ctest --test-dir "$build" -LE plain "$@" >&2 || true

cat "$folder"/* >/dev/null # fails if nothing was recorded
status=0
for file in "$folder"/*; do
  process=${file##*/}
  sort -u "$file" > "$folder.calls"
  while read -r call; do
    row=$(sed -n "s/ *#.*//; s/^$call: //p" "$here/../../src/fence/calls.txt")
    [ "$call" != socket ] || row="$row $(sed -n "s/ *#.*//; s/^unix-socket: //p" "$here/../../src/fence/calls.txt") looker"
    case " $row " in
      *" all "* | *" $process "*) continue ;;
      *" workers "*) [ "$process" = looker ] || [ "$process" = filer ] || continue ;;
    esac
    echo "$process: $call"
    status=1
  done < "$folder.calls"
done
exit $status
