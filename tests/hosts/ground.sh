# What the runs of real agents share, hosts/ and agents/: sourced by their run.sh, never run.
# shellcheck shell=sh

# Installs the packages of hosts/ and makes a place for a run of that name: $modules, $scratch, and an
# environment in which nothing of the user's is left: a home of its own, a proxy that refuses all.
# $2 not empty: the scratch directory stays.
ground_make() {
    cd "$(dirname -- "$0")/../hosts" || exit
    # shellcheck source=tests/peers.sh
    . ../peers.sh
    peers_install
    modules=$PWD/node_modules
    scratch_make "$1" "$2"

    mkdir -m 700 "$scratch/home" "$scratch/ws" "$scratch/bin"
    for variable in $(env | sed -n 's/^\([A-Za-z_][A-Za-z_0-9]*\)=.*/\1/p'); do
        case $variable in
        PATH | TERM | LANG | LC_* | TMPDIR | HOSTS_KEEP | HOSTS_TESTS | HOSTS_LONG | AGENTS_WIRE | AGENTS_FENCE) ;;
        *) unset "$variable" ;;
        esac
    done
    export HOME="$scratch/home" NO_COLOR=1 \
        HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1,localhost \
        http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 no_proxy=127.0.0.1,localhost \
        DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
    case $(uname -m) in
    aarch64) arch=arm64 ;;
    *) arch=x64 ;;
    esac
    # Install scripts, which would put these in place, do not run.
    ln -s "$modules/@anthropic-ai/claude-code-linux-$arch/claude" "$scratch/bin/claude"
    ln -s "$modules/opencode-linux-$arch/bin/opencode" "$scratch/bin/opencode"
    PATH=$scratch/bin:$PATH
}

# Whether opencode can run here: its package is for x86-64 only.
ground_has_opencode() {
    [ -x "$scratch/bin/opencode" ] && return
    echo "skip opencode: it is not among the packages; this machine is $(uname -m)"
    return 1
}

# Runs the tests of a file against a build for some hosts. Where that can be had, in a network of their
# own, which has nothing but loopback.
ground_test() { # BUILD FILE HOST...
    export PATH HOSTS_BUILD="$1" HOSTS_SCRATCH="$scratch"
    file=$2
    shift 2
    export HOSTS_ONLY="$*"
    set -- node --test --test-reporter=spec --test-name-pattern="${HOSTS_TESTS:-.}" "$file"
    if unshare --net true 2>/dev/null && command -v ip >/dev/null; then
        # shellcheck disable=SC2016 # for the shell inside
        set -- unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$@"
    fi
    "$@"
}
