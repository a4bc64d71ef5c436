# What the runs against packages from npm share: sourced by the run.sh of interop, conformance,
# hosts, agents and bench, never run.
# shellcheck shell=sh

# The folder of the Node that is among the packages of $1 (a node_modules), if it is there.
# Not .bin: Debian's npm 9 makes no .bin/node for an optional package.
peer_node() {
    for peer_bin in "$1"/node-linux-*/bin; do
        [ -x "$peer_bin/node" ] && echo "$peer_bin" && return
    done
    return 1
}

# Installs the packages of the current folder's lock file, unless they are there, and puts
# their programs and their Node first on the PATH.
peers_install() {
    if ! cmp -s package-lock.json node_modules/.installed-lock; then
        npm ci --loglevel=error
        cp package-lock.json node_modules/.installed-lock
    fi
    if peer_bin=$(peer_node "$PWD/node_modules"); then
        PATH=$peer_bin:$PATH
    fi
    PATH=$PWD/node_modules/.bin:$PATH
    node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 22 ? 0 : 1)' || {
        echo "$0: node 22 is not among the packages; this machine is $(uname -m)" >&2
        exit 69
    }
}

# Makes $scratch, a folder for this run (its name begins with $1), and sees to its end: what
# still names it is killed, by id, and it is removed after success unless $2 is not empty.
# A short path: unix sockets live below it, and their names end at 107 bytes.
scratch_make() {
    scratch=$(mktemp -d "/tmp/$1.XXXXXX")
    scratch_keep=$2
    trap scratch_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

scratch_end() {
    status=$?
    trap - EXIT
    for process in /proc/[0-9]*; do
        [ "${process#/proc/}" = $$ ] && continue
        if grep -qsF "$scratch/" "$process/cmdline" "$process/environ"; then
            kill -KILL "${process#/proc/}" 2>/dev/null || :
        fi
    done
    if [ "$status" -eq 0 ] && [ -z "$scratch_keep" ]; then
        rm -rf "$scratch"
    else
        echo "left for you to read: $scratch" >&2
    fi
    exit "$status"
}
