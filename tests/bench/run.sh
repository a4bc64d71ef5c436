#!/bin/sh
# What the system costs, as ratios taken in one run on this machine.
#   sh tests/bench/run.sh [BUILD_DIR] [--short] [--history | --crowd | --hook | --talk | --others | --checkpoint] [--ten-million]
# BUILD_DIR: build/release. --short: whether everything runs (30 s), no verdicts. --history: only what a
# long history and its deletion cost. --crowd: only honest agents beside big proposals. --hook: only the
# hook of an agent's host. --talk: only agents under their runners. --others: only an approval next to queues
# of others. --checkpoint: only what checkpoints of a large tree cost, next to git. --ten-million: a history
# of that many calls too (9 GB of disk).
# INTERCOM_YARDSTICK: where the programs of ../shared/yardstick are; without them our own references
# are used. See README.md.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
build=$root/build/release
short='' only_history='' only_crowd='' only_hook='' only_talk='' only_others='' only_checkpoint='' ten_million=''
for argument; do
    case $argument in
    --short) short=yes ;;
    --history) only_history=yes ;;
    --crowd) only_crowd=yes ;;
    --hook) only_hook=yes ;;
    --talk) only_talk=yes ;;
    --others) only_others=yes ;;
    --checkpoint) only_checkpoint=yes ;;
    --ten-million) ten_million=10000000 ;;
    -*) echo "usage: $0 [BUILD_DIR] [--short] [--history | --crowd | --hook | --talk | --others | --checkpoint] [--ten-million]" >&2 && exit 64 ;;
    *) build=$(CDPATH='' cd -- "$argument" && pwd) ;;
    esac
done
yardstick=${INTERCOM_YARDSTICK:-$root/../shared/yardstick}
modules=$root/tests/interop/node_modules

for file in agent-intercom mcp-front lib/libintercom-base.a generated/sql.h; do
    [ -e "$build/$file" ] || { echo "$0: $build/$file is not built" >&2; exit 66; }
done
partly=$only_history$only_crowd$only_hook$only_talk$only_others
[ -z "$only_checkpoint" ] || exec sh "$here/checkpoint.sh" "$build" ${short:+300 2}

if [ "$short" ]; then
    rounds=1 waiting="1 10 100" operations=10 warm_ms=100 rate_ms=200 held=100 compared=20
    settle_ms=500 idle_ms=2000 parked_ms=0 starts=1 relays=3 clicks=10
    histories=10000 turns=50 old_calls=3000 alone_ms=500 crowd=20 big_mib=8 diff_bytes=400000
    hooks=3 hooks_held=10 hook_pings=20 runners=3 fenced_starts=2
else
    rounds=3 waiting="1 1000 10000" operations=400 warm_ms=1000 rate_ms=2000 held=10000
    compared=1000 settle_ms=6000 idle_ms=60000 parked_ms=60000 starts=5 relays=50
    clicks=400 histories="100000 1000000 $ten_million" turns=400 old_calls=300000 alone_ms=10000 crowd=200 big_mib=99 diff_bytes=4000000
    hooks=400 hooks_held=1000 hook_pings=1000 runners=20 fenced_starts=20
fi

# A short path: unix sockets live below it. On the disk of the databases, not in memory.
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/bench.XXXXXX")
server=
slack=
finish() {
    status=$?
    trap - EXIT
    for one in $server $slack; do
        kill "$one" 2>/dev/null || :
        wait "$one" 2>/dev/null || :
    done
    [ "$status" -eq 0 ] || for log in "$scratch"/*/log; do
        [ ! -s "$log" ] || { echo "--- $log" && tail -n 20 "$log"; } >&2
    done
    rm -rf "$scratch"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ "$ten_million" ] && [ "$(df -Pk "$scratch" | awk 'END { print int($4 / 1048576) }')" -lt 15 ]; then
    echo "$0: ten million calls need 15 GB free in $scratch" >&2
    exit 75
fi
bin=$scratch/bin
mkdir "$bin"
results=$scratch/results
: >"$results"

# ---- our programs, and the yardsticks ----

compile() { # NAME SOURCE... -- FLAGS...
    name=$1
    shift
    "${CC:-cc}" -O2 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -o "$bin/$name" "$@"
}
cd "$here"
compile rate rate.c bench.c
compile relay relay.c bench.c
compile hook hook.c bench.c
compile hold hold.c bench.c
compile crowd crowd.c bench.c
compile start start.c bench.c
compile commit commit.c plain.c bench.c -lsqlite3
compile echo echo.c bench.c -levent
redis=$(command -v redis-server || :)
postgres=$(find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null | sort -V | tail -n 1)
if [ "$only_others" ]; then
    if [ -z "$redis" ] || [ -z "$postgres" ] || ! pkg-config --exists hiredis libpq; then
        echo "$0: --others needs: apt-get install redis-server postgresql libhiredis-dev libpq-dev" >&2
        exit 69
    fi
    # shellcheck disable=SC2046 # a list of words
    compile others others.c plain.c bench.c $(pkg-config --cflags --libs hiredis libpq) -lsqlite3
fi
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt") # BUILD_DIR's tree
# shellcheck source=tests/flags.sh
. ../flags.sh
includes=$(include_flags "${source:-$root}" "$build")
libraries=$(library_flags "$build")
# shellcheck disable=SC2086 # lists of words, here and below
{
    compile approve approve.c plain.c bench.c $includes $libraries
    compile apply apply.c bench.c $includes $libraries
    compile policy policy.c bench.c $includes $libraries
    compile fence fence.c bench.c $includes $libraries
    compile click click.c clicker.c bench.c $includes $libraries
    compile talk talk.c clicker.c plain.c bench.c $includes $libraries
    compile grow grow.c history.c bench.c $includes $libraries
    compile retain retain.c history.c bench.c $includes $libraries
}
# A release has no tests: its fake Slack and its fake agent are made here.
# shellcheck disable=SC2046,SC2086
{
    compile fake_slack $(fake_slack_sources) $includes $libraries -lwslay
    compile fake_agent ../fakes/fake_agent.c $includes $libraries
}

commit_by="a plain commit (our own)"
if [ -f "$yardstick/commit_rate.c" ] && [ -f "$yardstick/approve.c" ]; then
    commit_by="commit_rate"
    for program in commit_rate approve; do
        "${CC:-cc}" -O2 -w -I"$yardstick" -o "$bin/yard_$program" "$yardstick/$program.c" \
            -lsqlite3
    done
else
    echo "no yardsticks in $yardstick: our own references are used" >&2
fi

# shellcheck source=tests/peers.sh
. ../peers.sh
if [ -d "$modules/@modelcontextprotocol/sdk" ] && node=$(peer_node "$modules"); then
    node=$node/node
    mkdir "$scratch/sdk"
    cp sdk_echo.mjs "$scratch/sdk/"
    ln -s "$modules" "$scratch/sdk/node_modules"
else
    node=
    echo "no SDK in $modules (sh tests/interop/run.sh puts it there): not compared with it" >&2
fi

# ---- systems under test ----

mkdir -m 700 "$scratch/home" "$scratch/run" "$scratch/config" "$scratch/ws"
export HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" XDG_STATE_HOME="$scratch/home" \
    XDG_CONFIG_HOME="$scratch/config"
unset SLACK_APP_TOKEN SLACK_BOT_TOKEN INTERCOM_CONFIG INTERCOM_CLOCK_PAGE INTERCOM_HOST || :
cat >"$scratch/config.toml" <<END
default_workspace_root = "$scratch/ws"
host_cli = "true"
http_port = 0
[mcp]
wait_cap = 3600
END
sed '/^\[mcp\]/i [slack]\nchannel_id = "C01AGENTS"' "$scratch/config.toml" >"$scratch/slack.toml"
config=$scratch/config.toml

# Starts a program that prints its address, in a folder of its own. Sets folder, server, ms, pid, port.
start() { # NAME PROGRAM [ARGUMENT...]
    folder=$scratch/$1
    [ -d "$folder" ] || mkdir -m 700 "$folder"
    shift
    rm -f "$folder/ready"
    "$bin/start" "$folder/ready" "$@" 2>>"$folder/log" &
    server=$!
    while [ ! -f "$folder/ready" ]; do
        kill -0 "$server" 2>/dev/null || { echo "$0: $1 does not start" >&2; exit 1; }
        sleep 0.02
    done
    read -r ms pid port <"$folder/ready"
}

# Waits until the system has said in this folder, for the $1-th time, that all its workers are ready.
# Sets complete_ms.
await_all() {
    for _ in $(seq 3000); do
        complete_ms=$(sed -n 's/.*all workers are ready, \([0-9]*\) ms.*/\1/p' "$folder/log" | sed -n "$1p")
        [ -z "$complete_ms" ] || return 0
        sleep 0.02
    done
    echo "$0: not all workers get ready" >&2
    exit 1
}

# A system with an empty database. Sets also all: its pids, the front's first.
start_ours() {
    rm -rf "$scratch/ours"
    start ours "$build/agent-intercom" --config "$config" --db "$scratch/ours/db"
    await_all 1
    all=$pid
    # shellcheck disable=SC2013 # one line of words
    for child in $(cat "/proc/$pid/task/$pid/children"); do
        case $(cat "/proc/$child/comm") in
        mcp-front) all="$child $all $(cat "/proc/$child/task/$child/children")" ;; # and hand
        *) all="$all $child" ;;
        esac
    done
}

stop() {
    kill "$server"
    wait "$server" || { echo "$0: the system did not stop well" >&2; exit 1; }
    server=
}

# A server of no interest: it ends by the signal.
stop_other() {
    kill "$server"
    wait "$server" || :
    server=
}

# Takes lines "name value" of a program into the results.
note() { # MEASURE ours|yard
    while read -r name value; do
        echo "$1.$name $2 $value" >>"$results"
    done
}

# A figure of the yardsticks' one line of output: NAME=VALUE.
figure() { # NAME
    sed -n "s|.*[[:space:]]$1=\([0-9.]*\).*|\1|p" "$scratch/line"
}

say() {
    [ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2
}

# ---- measures ----

tool_ping='{"name":"ping","arguments":{}}'

measure_approve() { # WAITING
    start_ours
    # shellcheck disable=SC2086 # pids
    "$bin/approve" "$folder/db" "$folder/db-run" "$port" "$1" "$operations" \
        "$scratch/plain" $all >"$scratch/line"
    stop
    note "approve_$1" ours <"$scratch/line"
    # The measure: a commit at the same pace, in the same program, and without a yardstick that is all.
    sed -n 's/^commit_//p' "$scratch/line" | note "approve_$1" yard
    if [ -x "$bin/yard_approve" ]; then
        timeout 120 "$bin/yard_approve" "$scratch/yard" "$1" "$operations" FULL dgram unix 2000 0 \
            >"$scratch/line"
        echo "floor_$1.p50_us yard $(sed 's/.*total p50=\([0-9.]*\).*/\1/' "$scratch/line")" \
            >>"$results"
    fi
}

commit_rate() {
    if [ -x "$bin/yard_commit_rate" ]; then
        "$bin/yard_commit_rate" "$scratch/yard" FULL 1 "$(echo "$rate_ms" | sed 's/...$/.&/')" \
            builtin 1 4096 1000 >"$scratch/line"
        printf 'calls_s %s\np50_us %s\np99_us %s\n' "$(figure txn/s)" "$(figure p50)" "$(figure p99)"
    else
        "$bin/commit" "$scratch/plain" "$rate_ms" | sed 's/^commits_s/calls_s/'
    fi
}

measure_rates() {
    commit_rate >"$scratch/commits"
    note ping_1 yard <"$scratch/commits"
    start_ours
    # shellcheck disable=SC2086 # pids
    "$bin/rate" "$port" 1 "$warm_ms" "$rate_ms" tools/call "$tool_ping" $all | note ping_1 ours
    stop
    commit_rate >"$scratch/commits"
    note ping_16 yard <"$scratch/commits"
    start_ours
    # shellcheck disable=SC2086
    "$bin/rate" "$port" 16 "$warm_ms" "$rate_ms" tools/call "$tool_ping" $all | note ping_16 ours
    stop
    start echo "$bin/echo"
    "$bin/rate" "$port" 16 "$warm_ms" "$rate_ms" tools/call "$tool_ping" "$pid" | note echo_16 yard
    stop_other
}

# Requests that store nothing, of our front and of the SDK's server.
measure_requests() { # METHOD MEASURE
    start_ours
    # shellcheck disable=SC2086 # pids
    "$bin/rate" "$port" 16 "$warm_ms" "$rate_ms" "$1" '{}' $all | note "request_$2" ours
    stop
    start sdk "$node" "$scratch/sdk/sdk_echo.mjs"
    "$bin/rate" "$port" 16 "$warm_ms" "$rate_ms" "$1" '{}' "$pid" | note "request_$2" yard
    stop_other
}

measure_echo() { # CONNECTIONS
    start sdk "$node" "$scratch/sdk/sdk_echo.mjs"
    "$bin/rate" "$port" "$1" "$warm_ms" "$rate_ms" tools/call \
        '{"name":"echo","arguments":{"text":"hi"}}' "$pid" | note "sdk_$1" yard
    awk '$1 == "Pss:" { print "pss_bytes", $2 * 1024 }' "/proc/$pid/smaps_rollup" | note "sdk_$1" yard
    stop_other
}

measure_sdk() {
    for connections in 1 16; do measure_echo "$connections"; done
    for method in ping tools/list; do
        measure_requests "$method" "$(basename "$method")_16"
    done
}

measure_memory() { # CALLS
    question='{"title":"change @","file_path":"src/file.c","diff":"/* @ */\n"}'
    start_ours
    # shellcheck disable=SC2086
    "$bin/hold" "$port" "$1" "$settle_ms" "${2:-0}" check_clearance "$question" $all |
        note "held_$1" ours
    stop
}

measure_sdk_memory() {
    start sdk "$node" "$scratch/sdk/sdk_echo.mjs"
    "$bin/hold" "$port" "$compared" "$settle_ms" 0 wait '{"text":"@"}' "$pid" |
        note "held_$compared" yard
    stop_other
}

measure_idle() {
    start_ours
    sleep 1
    # shellcheck disable=SC2086
    "$bin/hold" "$port" 0 0 "$idle_ms" ping '{}' $all | note idle ours
    stop
}

# Agents that have called within the last two minutes and are silent now: none is due before the end.
measure_silence() {
    start_ours
    sqlite3 -cmd '.timeout 5000' "$folder/db" "
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode, created_at,
                             updated_at, last_activity_at, idle_since)
        SELECT 's' || i, 'h', 'local:', '/w', 'active', 'local', t, t, t, t
          FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (i * 0.12) || ' seconds') AS t
                  FROM n)"
    sleep 1
    # shellcheck disable=SC2086
    "$bin/hold" "$port" 0 0 "$idle_ms" ping '{}' $all | note silence ours
    stop
}

measure_crowd() {
    rm -rf "$scratch/ws/.intercom"
    start_ours
    # shellcheck disable=SC2086 # the first pid is the front's
    set -- $all
    "$bin/crowd" "$port" "$1" "$scratch/ws" "$crowd" 10 "$big_mib" "$diff_bytes" \
        300000 | note crowd ours
    stop
    rm -rf "$scratch/ws/.intercom" "$scratch/ws/big.txt"
}

measure_relay() {
    start_ours
    "$bin/relay" "$relays" "$build/agent-intercom" mcp --config "$scratch/config.toml" \
        --db "$folder/db" --workspace "$scratch/ws" | note relay ours
    stop
}

# A hook for a file that is read (allowed without a question), in turn with programs that do nothing;
# then hooks for files that are written, each with a question that nobody answers, and pings of an agent.
measure_hook() {
    echo 'int main(void) { return 0; }' >"$scratch/empty.c"
    "${CC:-cc}" -O2 -o "$bin/empty" "$scratch/empty.c"
    start_ours
    asks="{\"session_id\":\"s\",\"cwd\":\"$scratch/ws\",\"hook_event_name\":\"PreToolUse\",\"tool_use_id\":\"t@\""
    set -- hook "$build/hook" claude PreToolUse --db "$folder/db" -- empty "$bin/empty"
    python=$(command -v python3) && set -- "$@" -- python "$python" -c 0
    some_node=${node:-$(command -v node || :)}
    [ -z "$some_node" ] || set -- "$@" -- node "$some_node" -e 0
    "$bin/hook" time "$hooks" "$asks,\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"$scratch/ws/a\"}}" \
        "$@" >"$scratch/line"
    sed -n 's/^hook_//p' "$scratch/line" | note hook ours
    for one in empty python node; do
        sed -n "s/^${one}_//p" "$scratch/line" | note "hook_$one" yard
    done
    # shellcheck disable=SC2086 # pids
    "$bin/hook" hold "$hooks_held" "$asks,\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"$scratch/ws/f@\",\"content\":\"new\"}}" \
        "$settle_ms" "$port" "$hook_pings" "$build/hook" claude PreToolUse --db "$folder/db" -- $all >"$scratch/line"
    grep -v '^alone_' "$scratch/line" | note hook ours
    sed -n 's/^alone_/ping_/p' "$scratch/line" | note hook yard
    stop
}

# The tokens are those that the fake takes.
start_ours_with_slack() {
    start slack "$bin/fake_slack"
    slack=$server slack_port=$port config=$scratch/slack.toml
    export SLACK_API_URL="http://127.0.0.1:$slack_port/api/" SLACK_APP_TOKEN=xapp-1-A01APP-1-fake \
        SLACK_BOT_TOKEN=xoxb-1-fake SLACK_TEAM_ID=T01TEAM SLACK_MEMBER_IDS=U01OP
    start_ours
}

stop_with_slack() {
    stop
    unset SLACK_API_URL SLACK_APP_TOKEN SLACK_BOT_TOKEN SLACK_TEAM_ID SLACK_MEMBER_IDS
    server=$slack slack='' config=$scratch/config.toml
    stop_other
}

measure_clicks() {
    start_ours_with_slack
    "$bin/click" "$folder/db" "$folder/db-run" "$port" "$slack_port" "$clicks" | note click ours
    stop_with_slack
}

# A configuration with an agent of ours that does these steps.
agent_config() { # STEP...
    cat "$scratch/config.toml"
    printf '[[agent]]\nname = "bench"\ncommand = "%s"\nprotocol = "acp"\n' "$bin/fake_agent"
    printf 'args = ["v1", "--times", "%s"' "$scratch/times"
    printf ', "%s"' "$@"
    printf ']\n'
}

start_session() {
    "$build/agent-intercom-ctl" --config "$config" --db "$folder/db" session start --agent bench ask \
        >"$scratch/out"
}

# An agent of ours that asks all the time, under its runner.
measure_talk() {
    : >"$scratch/times"
    # shellcheck disable=SC2046 # words
    agent_config $(yes ask:a.c | head -n $((clicks + 10))) |
        sed '/^\[mcp\]/i [slack]\nchannel_id = "C01AGENTS"' >"$scratch/slack.toml"
    start_ours_with_slack
    start_session
    "$bin/talk" "$folder/db" "$folder/db-run" "$slack_port" "$scratch/times" "$scratch/plain" \
        "$clicks" >"$scratch/line"
    stop_with_slack
    note talk ours <"$scratch/line"
    for what in shown told; do
        sed -n "s/^commit_/${what}_/p" "$scratch/line" | note talk yard
    done
}

# Agents that wait, each under its runner: what the runners cost.
measure_runners() {
    {
        echo "max_concurrent_sessions = $runners"
        agent_config wait
        printf '[acp]\nmax_sessions = %s\n' "$runners"
    } >"$scratch/runners.toml"
    config=$scratch/runners.toml
    start_ours
    for _ in $(seq "$runners"); do start_session; done
    all=
    tries=0
    while [ "$(echo "$all" | wc -w)" -lt "$runners" ] || [ "$(sqlite3 "$folder/db" \
        "SELECT count(*) FROM agent_turn WHERE ended_at IS NULL")" -lt "$runners" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { echo "$0: not all agents run" >&2 && exit 1; }
        sleep 0.1
        all=$(pgrep -x -d ' ' -P "$pid" runner || :)
    done
    sleep "$((settle_ms * 2 / 1000)).5" # they rest after 10 s
    # shellcheck disable=SC2086
    "$bin/hold" "$port" 0 0 "$idle_ms" ping '{}' $all | note runners ours
    for one in $all; do cat "/proc/$one/smaps_rollup"; done |
        awk -v count="$runners" '$1 == "Pss:" { kb += $2 } END { print "each_bytes", kb * 1024 / count }' |
        note runners ours
    stop
    config=$scratch/config.toml
}

# An item through a server of others, as durable as ours: redis-server flushes each command, PostgreSQL each
# transaction. Its folder is on the same disk.
measure_redis() {
    mkdir -m 700 "$scratch/redis"
    "$redis" --port 0 --unixsocket "$scratch/redis/s" --dir "$scratch/redis" --save '' --appendonly yes \
        --appendfsync always >"$scratch/redis/log" 2>&1 &
    server=$!
    "$bin/others" redis "$scratch/redis/s" "$operations" "$scratch/plain" "$server" >"$scratch/line"
    stop_other
    note_other redis
    rm -r "$scratch/redis"
}

# It does not run as root.
as_postgres() {
    if [ "$(id -u)" -eq 0 ]; then
        set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    fi
    HOME=$scratch/postgres exec "$@"
}

measure_postgres() {
    mkdir -m 700 "$scratch/postgres"
    [ "$(id -u)" -ne 0 ] || { chown postgres "$scratch/postgres" && chmod 711 "$scratch"; }
    (cd / && as_postgres "${postgres%/*}/initdb" -D "$scratch/postgres/data" -U bench -A trust --no-sync) >"$scratch/out"
    (cd / && as_postgres "$postgres" -D "$scratch/postgres/data" -k "$scratch/postgres" -h '') \
        >"$scratch/postgres.log" 2>&1 &
    server=$!
    "$bin/others" postgres "host=$scratch/postgres user=bench dbname=postgres" "$operations" \
        "$scratch/plain" "$server" >"$scratch/line"
    stop_other
    note_other postgres
    rm -r "$scratch/postgres"
}

note_other() { # NAME
    grep -v '^commit_' "$scratch/line" | note "$1" ours
    sed -n 's/^commit_//p' "$scratch/line" | note "$1" yard
}

measure_start() {
    for _ in $(seq "$starts"); do
        start_ours
        echo "start.new_ms ours $ms" >>"$results"
        stop
        start ours "$build/agent-intercom" --config "$scratch/config.toml" --db "$scratch/ours/db"
        await_all 2
        {
            echo "start.again_ms ours $ms"
            echo "start.complete_ms ours $complete_ms"
        } >>"$results"
        stop
    done
    for fence in off require; do
        sed "1i fence = \"$fence\"" "$scratch/config.toml" >"$scratch/fence-$fence.toml"
    done
    for _ in $(seq "$fenced_starts"); do
        for fence in off require; do
            start ours "$build/agent-intercom" --config "$scratch/fence-$fence.toml" --db "$scratch/ours/db"
            case $fence in
            off) echo "start_fenced.ms yard $ms" ;;
            require) echo "start_fenced.ms ours $ms" ;;
            esac >>"$results"
            stop
        done
    done
}

measure_history() {
    for calls in 0 $histories; do
        "$bin/grow" fill "$scratch/history-$calls" "$calls" | note "history_$calls" ours
    done
    for _ in $(seq "$rounds"); do
        for calls in 0 $histories; do
            "$bin/grow" measure "$scratch/history-$calls" "$turns" | note "history_$calls" ours
        done
    done
    rm -f "$scratch"/history-*
}

measure_retention() {
    rm -rf "$scratch/old"
    mkdir -m 700 "$scratch/old"
    "$bin/retain" fill "$scratch/old/db" 0 "$old_calls" >"$scratch/filled"
    start old "$build/agent-intercom" --config "$config" --db "$scratch/old/db"
    if ! "$bin/retain" run "$scratch/old/db" "$scratch/old/db-run" "$build/agent-intercom" "$alone_ms" \
        >"$scratch/purged" 2>"$scratch/told" || ! grep -q 'of the timeline' "$scratch/told"; then
        cat "$scratch/told" >&2
        exit 1
    fi
    stop
    note retention ours <"$scratch/purged"
    sed -n 's/^base_/purge_/p' "$scratch/purged" | note retention yard
    awk '/^rows/ { rows = $2 } /^purge_ms/ { print "rows_s", rows * 1000 / $2 }' "$scratch/filled" \
        "$scratch/purged" | note retention ours
    # The same again, elsewhere in the numbers: does it find room in what was given back?
    sed -n '/^bytes/p' "$scratch/filled" | note retention yard
    "$bin/retain" fill "$scratch/old/db" $((old_calls * 100)) "$old_calls" | note retention ours
    rm -rf "$scratch/old"
}

# ---- the run ----

[ -n "$only_crowd$only_hook$only_talk$only_others" ] || { say "cost against history" && measure_history; }
[ -z "$only_hook" ] || { say "hooks" && measure_hook && rounds=0; }
[ -z "$only_talk" ] || { say "agents under their runners" && measure_talk && measure_runners && rounds=0; }
for round in $(seq "$rounds"); do
    if [ -n "$only_crowd" ]; then
        say "round $round: a crowd"
        measure_crowd
        continue
    fi
    if [ -n "$only_others" ]; then
        say "round $round: an approval, redis, PostgreSQL, the SDK"
        measure_approve 1
        measure_redis
        measure_postgres
        [ -z "$node" ] || measure_echo 1
        continue
    fi
    say "round $round: retention"
    measure_retention
    [ -z "$only_history" ] || continue
    for count in $waiting; do
        say "round $round: approve, $count waiting"
        measure_approve "$count"
    done
    say "round $round: calls per second"
    measure_rates
    [ -z "$node" ] || measure_sdk
    say "round $round: policy"
    "$bin/policy" "$scratch/ws" "$rate_ms" | note policy ours
    say "round $round: fence"
    "$bin/fence" "$scratch/ws" 200 >"$scratch/line"
    grep -v '^free_' "$scratch/line" | note fence ours
    sed -n 's/^free_//p' "$scratch/line" | note fence yard
    rm -r "$scratch/ws/.intercom"
    say "round $round: memory"
    measure_memory "$held"
done
if [ -z "$partly" ]; then
    say "memory with $compared calls"
    measure_memory "$compared" "$parked_ms"
    [ -z "$node" ] || measure_sdk_memory
    say "idle"
    measure_idle
    say "idle, with 1000 silent sessions"
    measure_silence
    say "clicks in Slack"
    measure_clicks
    say "questions of an agent under its runner"
    measure_talk
    say "agents under their runners"
    measure_runners
    say "start"
    measure_start
    measure_relay
    say "hooks"
    measure_hook
    say "a crowd"
    measure_crowd
fi
say

few=${waiting%% *}
many=${waiting##* }
{
    for calls in $histories; do
        for what in insert attach inbox decide claim events seal; do
            cat <<END
$what, $calls calls behind, p50 | us | history_$calls.${what}_p50_us | history_0.${what}_p50_us/ours | none behind | <= 1.5
$what, $calls calls behind, p99 | us | history_$calls.${what}_p99_us | history_0.${what}_p99_us/ours | none behind | <= 2
END
        done
        for what in insert attach decide claim; do
            cat <<END
$what with its commit, $calls calls behind, p50 | us | history_$calls.${what}_commit_p50_us | history_0.${what}_commit_p50_us/ours | none behind | <= 1.5
END
        done
        echo "file with $calls calls | bytes | history_$calls.bytes | - | - | -"
    done
    cat <<END
commit beside retention, p50 | us | retention.purge_p50_us | retention.purge_p50_us | without it | <= 1.5
commit beside retention, p99 | us | retention.purge_p99_us | retention.purge_p50_us/yard | p50 without it | <= 10
commit beside retention, p99 | us | retention.purge_p99_us | retention.purge_p99_us | without it | <= 25
commit beside retention, longest | us | retention.purge_max_us | retention.purge_max_us | without it | <= 3
retention deletes | rows/s | retention.rows_s | - | - | -
longest log beside retention | bytes | retention.log_bytes | - | - | <= 8388608
file, the same again after retention | bytes | retention.bytes | retention.bytes | before it | <= 1.05
END
    for count in $waiting; do
        cat <<END
yes -> answer, $count waiting, p50 | us | approve_$count.p50_us | approve_$count.p50_us | commit, same pace | <= 1.5
yes -> answer, $count waiting, p99 | us | approve_$count.p99_us | approve_$count.p99_us | commit, same pace | <= 3
END
    done
    [ -z "$only_others" ] || for other in redis postgres; do
        cat <<END
an item through $other, p50 | us | $other.p50_us | $other.p50_us | commit, same pace | -
an item through $other, p99 | us | $other.p99_us | $other.p99_us | commit, same pace | -
CPU of $other, an item | us | $other.cpu_us | - | - | -
memory of $other, PSS | bytes | $other.pss_bytes | - | - | -
yes -> answer, $few waiting, p50 | us | approve_$few.p50_us | $other.p50_us/ours | an item through $other | -
yes -> answer, $few waiting, p99 | us | approve_$few.p99_us | $other.p99_us/ours | an item through $other | -
CPU of all processes, an answer and the next question | us | approve_$few.cpu_us | $other.cpu_us/ours | an item through $other | -
memory of all processes, PSS | bytes | approve_$few.pss_bytes | $other.pss_bytes/ours | $other | -
END
    done
    [ -z "$only_others" ] || cat <<END
memory of all processes, PSS | bytes | approve_$few.pss_bytes | sdk_1.pss_bytes | SDK echo, stores nothing | -
a call of the SDK's echo, p50 | us | sdk_1.p50_us/yard | - | - | -
a call of the SDK's echo, p99 | us | sdk_1.p99_us/yard | - | - | -
END
    cat <<END
yes -> answer, $many against $few, p50 | us | approve_$many.p50_us | approve_$few.p50_us/ours | $few waiting | <= 1.15
click in Slack -> answer, p50 | us | click.answer_p50_us | - | - | <= 5000
click in Slack -> answer, p99 | us | click.answer_p99_us | - | - | -
click in Slack -> file on disk, p50 | us | click.file_p50_us | - | - | -
click in Slack -> file on disk, p99 | us | click.file_p99_us | - | - | <= 2000000
question of an agent -> outbox, p50 | us | talk.shown_p50_us | - | - | <= 3000
question of an agent -> outbox, p50 | us | talk.shown_p50_us | talk.shown_p50_us | commit, same pace | -
question of an agent -> outbox, p99 | us | talk.shown_p99_us | - | - | -
click in Slack -> agent under its runner, p50 | us | talk.told_p50_us | - | - | <= 5000
click in Slack -> agent under its runner, p50 | us | talk.told_p50_us | talk.told_p50_us | commit, same pace | -
click in Slack -> agent under its runner, p99 | us | talk.told_p99_us | - | - | -
memory of a runner whose agent waits, PSS, $runners of them | bytes | runners.each_bytes | - | - | <= 1572864
CPU of all runners, $runners agents that wait | % of a core | runners.cpu_percent | - | - | <= 0.05
wake-ups of all runners, $runners agents that wait | per second | runners.wakeups_s | - | - | -
ping, 1 connection | calls/s | ping_1.calls_s | ping_1.calls_s | $commit_by | >= 0.8
ping, 16 connections | calls/s | ping_16.calls_s | ping_16.calls_s | $commit_by | >= 3
ping, 16 connections | calls/s | ping_16.calls_s | echo_16.calls_s | bare HTTP, stores nothing | -
END
    [ ! -x "$bin/yard_approve" ] || cat <<END
yes -> answer, $many waiting, p50 | us | approve_$many.p50_us | floor_$many.p50_us | approve.c of the lab | -
one commit, at the pace of approvals, p50 | us | approve_$few.p50_us/yard | ping_1.p50_us | back to back | -
END
    [ -z "$node" ] || cat <<END
ping, 1 connection | calls/s | ping_1.calls_s | sdk_1.calls_s | SDK echo, stores nothing | >= 1.5
ping, 16 connections | calls/s | ping_16.calls_s | sdk_16.calls_s | SDK echo, stores nothing | >= 1
CPU per call, 1 connection | us | ping_1.cpu_us | sdk_1.cpu_us | SDK echo, stores nothing | <= 0.5
CPU per call, 16 connections | us | ping_16.cpu_us | sdk_16.cpu_us | SDK echo, stores nothing | <= 0.5
request ping, 16 connections | requests/s | request_ping_16.calls_s | request_ping_16.calls_s | SDK | >= 1
request tools/list, 16 connections | requests/s | request_list_16.calls_s | request_list_16.calls_s | SDK | >= 1
CPU per request ping | us | request_ping_16.cpu_us | request_ping_16.cpu_us | SDK | <= 0.5
CPU per request tools/list | us | request_list_16.cpu_us | request_list_16.cpu_us | SDK | <= 0.5
memory per blocked call, $compared held | bytes | held_$compared.call_bytes | held_$compared.call_bytes | SDK | <= 0.2
END
    cat <<END
evaluation of a policy of 20 rules, p50 | us | policy.rules20_p50_us | - | - | <= 50
evaluation of a policy of 20 rules, p99 | us | policy.rules20_p99_us | - | - | -
evaluation of a policy of 20 rules | per second | policy.rules20_s | - | - | >= 10000
fence of a worker, to put it up, p50 | us | fence.raise_p50_us | - | - | <= 5000
fence of a worker, to put it up, p99 | us | fence.raise_p99_us | - | - | <= 5000
fence of a worker, a system call, p50 | us | fence.call_p50_us | fence.call_p50_us | without | <= 1.2
fence of a worker, a file opened, p50 | us | fence.open_p50_us | fence.open_p50_us | without | <= 1.5
evaluation of a policy of 1000 rules, p50 | us | policy.rules1000_p50_us | - | - | -
call beside ten proposals of $big_mib MiB and one that hangs, $crowd agents, p50 | us | crowd.p50_us | crowd.alone_p50_us/ours | without them | -
call beside ten proposals of $big_mib MiB and one that hangs, $crowd agents, p99 | us | crowd.p99_us | - | - | <= 50000
of which the bench itself was late, p99 | us | crowd.late_p99_us | crowd.alone_late_p99_us/ours | without them | -
of the front's time, others had its processor | % | crowd.waited_percent | crowd.alone_waited_percent/ours | without them | -
the same agents alone, p99 | us | crowd.alone_p99_us | - | - | -
ten proposals of $big_mib MiB, until all are answered | ms | crowd.big_ms | - | - | -
of them refused, since they took over 20 s | of 10 | crowd.big_refused | - | - | <= 0
memory of the front meanwhile, above idle | bytes | crowd.peak_bytes | - | - | <= 67108864
memory per blocked call, $held held | bytes | held_$held.call_bytes | - | - | <= 8192
CPU of all processes, idle | % of a core | idle.cpu_percent | - | - | <= 0.1
CPU of all processes, 1000 silent sessions | % of a core | silence.cpu_percent | - | - | <= 0.1
END
    [ "$parked_ms" -eq 0 ] || cat <<END
CPU of all processes, $compared calls held | % of a core | held_$compared.cpu_percent | - | - | <= 0.1
END
    cat <<END
wake-ups of all processes, idle | per second | idle.wakeups_s | - | - | -
start to ready, new database | ms | start.new_ms | - | - | <= 300
start to ready, existing database | ms | start.again_ms | - | - | <= 300
start to all workers, existing database | ms | start.complete_ms | - | - | <= 300
start to ready, each worker has its whole fence | ms | start_fenced.ms | start_fenced.ms | fence = "off" | <= 1.05
start of a relay to its first answer | ms | relay.first_ms | - | - | <= 10
hook of a tool that is allowed, start to end, p50 | us | hook.p50_us | - | - | <= 2000
hook of a tool that is allowed, start to end, p99 | us | hook.p99_us | - | - | <= 5000
hook of a tool that is allowed, start to end, p50 | us | hook.p50_us | hook_empty.p50_us | an empty C program | -
ping beside $hooks_held hooks that wait, p50 | us | hook.ping_p50_us | hook.ping_p50_us | without them | <= 1.2
ping beside $hooks_held hooks that wait, p99 | us | hook.ping_p99_us | hook.ping_p99_us | without them | -
memory per hook that waits, both sides, $hooks_held waiting | bytes | hook.each_bytes | - | - | <= 3145728
END
    for other in python node; do
        grep -q "^hook_$other.p50_us " "$results" || continue
        echo "hook of a tool that is allowed, start to end, p50 | us | hook.p50_us | hook_$other.p50_us | $other that does nothing | <= 1"
    done
} | awk -v short="$short" -v partly="$partly" -f "$here/table.awk" "$results" -

[ -z "$partly" ] || exit 0
printf '\nOne file written by a diff: the applier'"'"'s work without its rows, beside git apply\n'
mkdir "$scratch/applies"
"$bin/apply" "$scratch/applies" "$rounds"
