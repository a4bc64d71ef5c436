#!/bin/sh
# hardening.sh BUILD: what an optimized build installs is hardened, which is read from the programs themselves:
# position-independent, relocations read-only and bound at start, no stack or segment that is both writable
# and executable, no search path for libraries, and in every unit the compiler's protections. First, programs
# that lack one of these must be refused.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 BUILD" >&2; exit 64; }
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

units="-fstack-protector-strong -fstack-clash-protection"
case $(uname -m) in x86_64) units="$units -fcf-protection" ;; esac

# lacks PROGRAM: what it lacks, a line each.
lacks() {
  readelf -hW "$1" >"$scratch/head"
  readelf -lW "$1" >"$scratch/segments"
  readelf -dW "$1" >"$scratch/dynamic"
  readelf -W --syms "$1" >"$scratch/symbols" # of a program without a loader, those of its C library, too
  readelf -W --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null |
    sed -n 's/.*DW_AT_producer.*: \(GNU C.*\)/\1/p' >"$scratch/units"
  { grep -q 'Type: *DYN' "$scratch/head" && grep -q 'FLAGS_1.* PIE' "$scratch/dynamic"; } ||
    echo "it is not position-independent (PIE)"
  grep -q 'GNU_RELRO' "$scratch/segments" || echo "no read-only relocations (-z relro)"
  grep -q 'FLAGS_1.* NOW' "$scratch/dynamic" || echo "relocations are bound late (-z now)"
  grep -q 'GNU_STACK .* RW  *0x' "$scratch/segments" || echo "its stack is executable (-z noexecstack)"
  ! grep -q 'LOAD .* RWE ' "$scratch/segments" || echo "a segment is writable and executable"
  ! grep -Eq 'TEXTREL|\((RPATH|RUNPATH)\)' "$scratch/dynamic" ||
    echo "text relocations, or a search path for libraries"
  grep -Eq ' __stack_chk_fail(@|$)' "$scratch/symbols" || echo "no stack protector"
  grep -Eq ' __[a-z]+_chk(@|$)' "$scratch/symbols" || echo "no call of a checked function (FORTIFY)"
  [ -s "$scratch/units" ] || echo "no unit says how it was compiled (-g, gcc)"
  for flag in $units -fPI -O; do
    while read -r unit; do
      case "$unit " in
      *" -fno-stack-protector "* | *" -fno-stack-clash-protection "* | *" -fcf-protection=none "* | *" -O0 "*)
        echo "a unit was compiled with a protection switched off: $unit"
        ;;
      *" $flag"*) ;;
      *) echo "a unit was compiled without $flag: $unit" ;;
      esac
    done <"$scratch/units"
  done | sort -u
}

# ---- the check itself ----

cat >"$scratch/program.c" <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[64];
	strcpy(text, argv[argc - 1]);
	puts(text);
	return 0;
}
END
good="-g -O2 -fPIE -pie -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 $units -Wl,-z,relro -Wl,-z,now"
# shellcheck disable=SC2086 # lists of flags
compile() { gcc "$scratch/program.c" $good "$@" -o "$scratch/program"; }

compile
[ -z "$(lacks "$scratch/program")" ] || { echo "a hardened program is refused:"; lacks "$scratch/program"; exit 1; }
while read -r what flags; do
  # shellcheck disable=SC2086
  compile $flags
  lacks "$scratch/program" | grep -q -e "$what" || { echo "accepted with $flags"; exit 1; }
done <<'END'
PIE -fno-pie -no-pie
relro -Wl,-z,norelro
late -Wl,-z,lazy
executable -Wl,-z,execstack
path -Wl,-rpath,/tmp
no.stack.protector -fno-stack-protector
off.*stack-protector -fno-stack-protector
off.*stack-clash -fno-stack-clash-protection
off.*-O0 -O0
say -g0
FORTIFY -U_FORTIFY_SOURCE
END

# ---- what is installed ----

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
find "$scratch/prefix" -type f -perm -100 | sort >"$scratch/programs"
missing=0
while read -r program; do
  lacks "$program" >"$scratch/lacks"
  [ -s "$scratch/lacks" ] || continue
  missing=1
  sed "s|^|${program##*/}: |" "$scratch/lacks"
done <"$scratch/programs"

# The level of FORTIFY leaves no trace in a program.
highest=2
[ "$(gcc -dumpversion | cut -d. -f1)" -lt 12 ] || highest=3
grep -E '"command": .*/(src|workers|ctl|generated)/[^ ]*\.(c|cc)"' "$build/compile_commands.json" |
  grep -v 'D_FORTIFY_SOURCE='$highest >"$scratch/weak" || true
[ ! -s "$scratch/weak" ] || { missing=1; echo "compiled without FORTIFY $highest:"; cut -c 1-200 "$scratch/weak"; }
[ "$missing" -eq 0 ] || exit 1
[ -s "$scratch/programs" ] || { echo "nothing is installed"; exit 1; }
echo "hardened: $(wc -l <"$scratch/programs") programs"
