#!/bin/sh
# The system service as an administrator has it: the unit's own command, user, groups, environment and folders, with
# users and groups by name; an agent of coder's asks, ann answers, the file is written; and what coder cannot do.
# As root; all of it in mounts of its own, which end with it. usage: users.sh [BUILD]
# shellcheck disable=SC2016 # scripts for other shells
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$source/build/release}" && pwd)
[ "$(id -u)" -eq 0 ] || {
  echo "users.sh: only root can be several users" >&2
  exit 77
}
if [ "${USERS_INSIDE:-}" != 1 ]; then
  unshare --mount --net --propagation private -- mount -t tmpfs tmpfs /mnt 2>/dev/null || {
    echo "skipped: users.sh: nothing can be mounted here"
    exit 77
  }
  # As systemd holds the socket of HTTP: descriptor 9, here of the whole test, in a network of its own.
  exec env USERS_INSIDE=1 unshare --mount --net --propagation private -- python3 -c '
import fcntl, os, socket, struct, sys
s = socket.socket()
fcntl.ioctl(s, 0x8914, struct.pack("16sH14s", b"lo", 0x41, b"")) # SIOCSIFFLAGS: up
host, port = sys.argv[1].split(":")
s.bind((host, int(port))); s.listen(4096)
os.dup2(s.fileno(), 9)
os.execvp(sys.argv[2], sys.argv[2:])' \
    "$(sed -n 's/^ListenStream=//p' "$source/packaging/systemd/agent-intercom-http.socket")" sh "$0" "$build"
fi

# ---- a machine of our own ----

keep=$(mktemp -d)
cp -a /etc "$keep/etc"
mount --bind "$keep/etc" /etc
# First the installation: the clone may lie in one of the folders that are covered then.
mkdir "$keep/srv"
mount -t tmpfs -o mode=755 tmpfs "$keep/srv"
DESTDIR=$keep cmake --install "$build" --prefix /srv/usr >/dev/null
mount --move "$keep/srv" /srv
cd /
for folder in /run /var/lib /home; do
  mount -t tmpfs -o mode=755 tmpfs "$folder"
done
service=
own=
owner=
finish() {
  for one in $service $own $owner; do
    kill "$one" 2>/dev/null || true
  done
  exec 3>&-
  wait 2>/dev/null || true
  umount /etc && rm -rf "$keep"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 /srv/service.log >&2 || true
  exit 1
}
until_true() { # WHAT COMMAND...
  what=$1
  shift
  until_s=$(($(date +%s) + 120))
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$until_s" ] || fail "$what"
    sleep 0.1
  done
}

unit=/srv/usr/lib/systemd/system/agent-intercom.service
of_unit() { sed -n "s/^$1=//p" $unit; }

# ---- what sysusers.d says, and an administrator ----

sed -n 's/^g \([^ ]*\).*/\1/p' /srv/usr/lib/sysusers.d/agent-intercom.conf | while read -r group; do
  groupadd --system "$group"
done
useradd --system --user-group --home-dir /var/lib/agent-intercom --shell /usr/sbin/nologin agent-intercom
useradd --system --user-group --home-dir / --shell /usr/sbin/nologin agent-intercom-owner
useradd --create-home coder
useradd --create-home dora
useradd --create-home ann
useradd --create-home eve
usermod --append --groups agent-intercom-agents coder
usermod --append --groups agent-intercom-agents dora
usermod --append --groups agent-intercom-operators ann
for agent in coder dora; do
  chmod 700 "/home/$agent"
  mkdir "/home/$agent/project" && chown "$agent:" "/home/$agent/project"
done

# as USER COMMAND...: with the environment of a login, in their project.
as() {
  who=$1
  shift
  folder=/
  [ ! -d "/home/$who/project" ] || folder=/home/$who/project
  (cd "$folder" && exec env -i HOME="/home/$who" USER="$who" PATH=/srv/usr/bin:/usr/bin:/bin LANG=C.UTF-8 \
    setpriv --reuid "$who" --regid "$who" --init-groups -- "$@" 9<&-)
}

# ---- what systemd does with the unit ----

user=$(of_unit User)
groups=$(of_unit SupplementaryGroups | tr ' ' ,)
install -d -m "$(of_unit StateDirectoryMode)" -o "$user" -g "$user" "/var/lib/$(of_unit StateDirectory)"
install -d -m "$(of_unit RuntimeDirectoryMode)" -o "$user" -g "$user" "/run/$(of_unit RuntimeDirectory)"
install -d -m 755 "/etc/$(of_unit ConfigurationDirectory)"
cat >/etc/agent-intercom/config.toml <<'CONFIG'
[[workspace]]
id = "coders"
channel_id = "C0CODERS"
path = "/home/coder/project"
[[agent]]
name = "script"
protocol = "mcp"
command = "/home/coder/script"
[commands]
who = "id -un; id -Gn; pwd"
CONFIG
start() {
  # shellcheck disable=SC2046 # words
  (cd / && umask "$(of_unit UMask)" && exec env -i PATH=/usr/bin:/bin $(of_unit Environment) LISTEN_FDS=1 \
    setpriv --reuid "$user" --regid "$user" --groups "$groups" --no-new-privs --bounding-set=-all --inh-caps=-all -- \
    sh -c 'LISTEN_PID=$$ exec "$@"' sh $(of_unit ExecStart) 3<&9 9<&-) >/srv/ready 2>/srv/service.log &
  service=$!
  until_true "the service does not start" grep -q ' ready: ' /srv/ready
}

# ---- what it does with the helper's: the socket is its own, the process has two capabilities ----

of_owner() { sed -n "s/^$1=//p" "/srv/usr/lib/systemd/system/$owner_unit.service"; }
of_socket() { sed -n "s/^$1=//p" "/srv/usr/lib/systemd/system/$owner_unit.socket"; }
start_owner() { # UNIT
  owner_unit=$1
  rights=-all,$(of_owner AmbientCapabilities | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
  # shellcheck disable=SC2046 # words
  (cd / && umask "$(of_owner UMask)" && exec env -i PATH=/usr/bin:/bin python3 -c '
import os, pwd, socket, sys
path, user, mode = sys.argv[1:4]
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
if os.path.exists(path): os.unlink(path)
s.bind(path); os.chown(path, pwd.getpwnam(user).pw_uid, 0); os.chmod(path, int(mode, 8)); s.listen(4096)
if s.fileno() != 3: os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.execvp(sys.argv[4], sys.argv[4:])' \
    "$(of_socket ListenSequentialPacket)" "$(of_socket SocketUser)" "$(of_socket SocketMode)" \
    setpriv --reuid "$(of_owner User)" --regid "$(of_owner Group)" --clear-groups --no-new-privs \
    --inh-caps="$rights" --ambient-caps="$rights" --bounding-set="$rights" -- $(of_owner ExecStart) 9<&-) 2>>/srv/owner.log &
  owner="$owner $!"
  until_true "as-owner does not start" test -S "$(of_socket ListenSequentialPacket)"
}
owner=
start_owner agent-intercom-owner
start_owner agent-intercom-agents
start
cat /srv/ready
[ "$(stat -c '%a %U %G' /run/agent-intercom/mcp.sock)" = "660 agent-intercom agent-intercom-agents" ] || fail "mcp.sock"
[ "$(stat -c '%a %U %G' /run/agent-intercom/desk.sock)" = "660 agent-intercom agent-intercom-operators" ] ||
  fail "desk.sock"
[ "$(stat -c '%a %U' /var/lib/agent-intercom /var/lib/agent-intercom/intercom.db | tr '\n' ' ')" = \
  "700 agent-intercom 600 agent-intercom " ] || fail "the database is open"

# ---- the loop ----

say() { printf '%s\n' "$1" >&3; }
has_answer() { grep -q "\"id\":$1," /home/coder/out; }
answer() {
  until_true "no answer to request $1" has_answer "$1"
  grep "\"id\":$1," /home/coder/out
}
call() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}"; }
one_waits() { as ann agent-intercom-ctl sql 'SELECT id FROM inbox' | grep -q .; }

echo "== coder's agent asks, ann approves, the file is written"
mkfifo /home/coder/in && chown coder: /home/coder/in
as coder sh -c 'exec agent-intercom mcp <"$HOME/in" >"$HOME/out" 2>"$HOME/err"' &
exec 3>/home/coder/in
say '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"users","version":"1"}}}'
answer 0 >/dev/null
call 1 check_clearance '{"title":"Write","description":"A test.","diff":"one","file_path":"first.txt"}'
until_true "no question" one_waits
id=$(as ann agent-intercom-ctl sql 'SELECT id FROM inbox')
as coder agent-intercom-ctl approve "$id" >/dev/null 2>&1 && fail "coder has approved"
as eve agent-intercom-ctl approve "$id" >/srv/said 2>&1 && fail "eve has approved"
grep -q 'join the group of its operators' /srv/said || fail "eve is not told why: $(cat /srv/said)"
as ann agent-intercom-ctl --text inbox
as ann agent-intercom-ctl --text approve "$id"
answer 1 | grep -q '"approved' || fail "not approved: $(answer 1)"
call 2 check_diff "{\"request_id\":\"$id\"}"
answer 2 | grep -q '"applied' || fail "not applied: $(answer 2)"
[ "$(as coder cat first.txt)" = one ] || fail "coder cannot read the file"
[ "$(stat -c '%U %G %a' /home/coder/project/first.txt)" = "coder coder 644" ] || fail "first.txt is not coder's"
as coder sh -c 'echo more >>first.txt' || fail "coder cannot write the file"
[ "$(as ann agent-intercom-ctl sql 'SELECT decided_by FROM request')" = local:ann ] || fail "not decided by ann"

echo "== a file of coder's is changed, and stays coder's to change"
as coder sh -c 'echo before >own.txt'
call 10 check_clearance '{"title":"Change","description":"A test.","diff":"after\n","file_path":"own.txt"}'
until_true "no question" one_waits
id=$(as ann agent-intercom-ctl sql 'SELECT id FROM inbox')
as ann agent-intercom-ctl approve "$id" >/dev/null
answer 10 | grep -q '"approved' || fail "not approved: $(answer 10)"
call 11 check_diff "{\"request_id\":\"$id\"}"
answer 11 | grep -q '"applied' || fail "not applied: $(answer 11)"
as coder sh -c 'echo more >>own.txt' || fail "coder can no longer write the file"
[ "$(as coder cat own.txt | tr '\n' ' ')" = "after more " ] || fail "own.txt: $(cat /home/coder/project/own.txt)"

echo "== the write is taken back; the system itself can neither read nor write there"
call 20 check_clearance '{"title":"Write","description":"A test.","diff":"third","file_path":"new/third.txt"}'
until_true "no question" one_waits
id=$(as ann agent-intercom-ctl sql 'SELECT id FROM inbox')
as ann agent-intercom-ctl approve "$id" >/dev/null
answer 20 | grep -q '"approved' || fail "not approved: $(answer 20)"
call 21 check_diff "{\"request_id\":\"$id\"}"
answer 21 | grep -q '"applied' || fail "not applied: $(answer 21)"
[ "$(stat -c '%U %G %a' /home/coder/project/new)" = "coder coder 755" ] || fail "the new folder is not coder's"
as ann agent-intercom-ctl undo "$id" >/dev/null
is_undone() { [ "$(as ann agent-intercom-ctl sql "SELECT count(*) FROM apply WHERE state = 'undone'")" = 1 ]; }
until_true "not undone" is_undone
[ ! -e /home/coder/project/new ] || fail "the undo leaves something"
if setpriv --reuid agent-intercom --regid agent-intercom --groups "$groups" ls /home/coder 2>/srv/said; then
  fail "the system's user can look into coder's home"
fi
[ "$(as ann agent-intercom-ctl sql 'SELECT name FROM workspace_owner')" = coder ] || fail "the owner is not recorded"

echo "== what coder, whose agents ask, cannot do"
cannot() { # WHAT COMMAND...
  what=$1
  shift
  if as coder "$@" >/srv/said 2>&1; then fail "coder can $what: $(cat /srv/said)"; fi
  echo "$what: $(tail -n 1 /srv/said)"
}
cannot "open the database" head -c 1 /var/lib/agent-intercom/intercom.db
cannot "look at what is beside it" ls /var/lib/agent-intercom
cannot "read with ctl" agent-intercom-ctl inbox
cannot "approve with ctl" agent-intercom-ctl approve "$id"
cannot "cut the audit" agent-intercom --db /var/lib/agent-intercom/intercom.db audit export /tmp/x
cannot "read the environment of the service" cat "/proc/$service/environ"
cannot "end the service" kill "$service"
cannot "remove a socket" rm -f /run/agent-intercom/mcp.sock
cannot "make a file beside the sockets" touch /run/agent-intercom/x
cannot "ask as-owner" python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect("/run/agent-intercom-owner.sock")'
cannot "end as-owner" sh -c "kill $owner"
cannot "become the service" setpriv --reuid agent-intercom true
cannot "join the operators" setpriv --groups agent-intercom-operators true

echo "== dora's agents work in dora's home, and not in coder's"
dora_asks() { # FOLDER: one question, until /srv/dora.done is there
  rm -f /srv/dora.done
  {
    printf '%s\n%s\n' \
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"users","version":"1"}}}' \
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_clearance","arguments":{"title":"Write","description":"A test.","diff":"d","file_path":"d.txt"}}}'
    until [ -e /srv/dora.done ]; do sleep 0.1; done
  } | (cd "$1" && exec env -i HOME=/home/dora USER=dora PATH=/srv/usr/bin:/usr/bin:/bin LANG=C.UTF-8 \
    setpriv --reuid dora --regid dora --init-groups -- agent-intercom mcp 9<&-) >/srv/said.dora 2>&1 &
  dora=$!
}
dora_asks /home/coder/project
until_true "dora's agent is not told that it is not its folder" grep -q 'no workspace' /srv/said.dora
touch /srv/dora.done
wait "$dora" || true
one_waits && fail "dora's agent has asked in coder's home"
dora_asks /home/dora/project
until_true "dora's agent does not ask" one_waits
as ann agent-intercom-ctl reject "$(as ann agent-intercom-ctl sql 'SELECT id FROM inbox')" >/dev/null
until_true "dora's agent is not told" grep -q 'rejected' /srv/said.dora
touch /srv/dora.done
wait "$dora" || true

echo "== what ann starts in coder's closed home runs as coder, and ends when she says so"
as ann agent-intercom-ctl --text run who --workspace /home/coder/project >/srv/said || fail "run: $(cat /srv/said)"
grep -qx coder /srv/said || fail "the command did not run as coder: $(cat /srv/said)"
as coder sh -c 'printf "#!/bin/sh\nid -un >started\nsetsid -f sleep 4321\nexec sleep 4321\n" >/home/coder/script &&
  chmod 700 /home/coder/script'
as ann agent-intercom-ctl session start 'do it' --agent script --workspace coders >/srv/said || fail "$(cat /srv/said)"
until_true "the agent does not start" test -s /home/coder/project/started
[ "$(stat -c %U /home/coder/project/started)" = coder ] || fail "the agent runs as somebody else"
run_state() { [ "$(as ann agent-intercom-ctl sql 'SELECT state FROM agent_run')" = "$1" ]; }
until_true "the agent does not run" run_state running
as ann agent-intercom-ctl session stop "$(as ann agent-intercom-ctl sql \
  "SELECT id FROM session WHERE origin = 'started'")" >/dev/null
until_true "the agent is not stopped" run_state ended
pgrep -u coder -f 'sleep 4321' && fail "something of the agent is left"

echo "== over HTTP the same users are served, at the port that systemd holds for the service"
of_unit Wants | grep -q '\<agent-intercom-http.socket\>' || fail "the service does not want its port"
grep -q '^Service=agent-intercom.service$' "${unit%.service}-http.socket" || fail "the port is not the service's"
grep -q ' ready: http://127.0.0.1:3000/mcp' /srv/ready || fail "not systemd's socket: $(cat /srv/ready)"
doctor() {
  # shellcheck disable=SC2046 # words
  env -i PATH=/usr/bin:/bin $(of_unit Environment) setpriv --reuid "$user" --regid "$user" --groups "$groups" -- \
    /srv/usr/bin/agent-intercom doctor >/srv/said 2>&1 || true
}
doctor
grep -q '^ok   port: we serve http://127.0.0.1:3000/mcp' /srv/said || fail "doctor: $(grep port: /srv/said)"
as coder agent-intercom install claude --http --print 2>/dev/null | grep -q '"http://127.0.0.1:3000/mcp?' ||
  fail "coder is given another URL"
url=$(sed -n 's|.*\(http://[0-9.:]*\)/mcp.*|\1/health|p' /srv/ready)
get() { as "$1" python3 -c "import urllib.request as u; print(u.urlopen('$url', timeout=20).status)" 2>/dev/null; }
[ "$(get coder)" = 200 ] || fail "coder is not served over HTTP"
if get ann || get eve; then fail "users who do not ask are served over HTTP"; fi

echo "== an operator who has a system of her own, too"
as ann sh -c 'exec agent-intercom >"$HOME/ready" 2>"$HOME/log"' &
until_true "ann has no system of her own" grep -q ' ready: ' /home/ann/ready
own=$(head -n 1 /home/ann/.local/state/agent-intercom/intercom.db-instance)
[ "$(as ann agent-intercom-ctl sql 'SELECT count(*) FROM decision')" = 0 ] || fail "that is not ann's own"
[ "$(as ann agent-intercom-ctl --shared sql 'SELECT count(*) FROM decision')" = 4 ] || fail "that is ann's own"
kill "$own"
until_true "ann's own does not end" sh -c "! kill -0 $own"
own=

echo "== the service restarts while coder's agent waits"
call 3 check_clearance '{"title":"Write","description":"A test.","diff":"two","file_path":"second.txt"}'
until_true "no second question" one_waits
kill "$service"
wait "$service" || fail "the service ended with $?"
cannot "take the port while the service restarts" python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 3000))'
start
id=$(as ann agent-intercom-ctl sql "SELECT id FROM inbox")
until_true "not approved after the restart" as ann agent-intercom-ctl approve "$id"
answer 3 | grep -q '"approved' || fail "not approved: $(answer 3)"
[ ! -e /home/coder/.local ] || fail "coder's agent has started a system of its own"
exec 3>&-
kill "$service"
wait "$service" || fail "the service ended with $?"

echo "== a port that is configured is served, although systemd holds another one"
sed -i '1i http_port = 3100' /etc/agent-intercom/config.toml
start
grep -q ' ready: http://127.0.0.1:3100/mcp' /srv/ready || fail "not the configured port: $(cat /srv/ready)"
grep -q 'systemd holds port 3000, but http_port is 3100' /srv/service.log || fail "nothing is said of it"
doctor
grep -q '^warn port: we serve http://127.0.0.1:3100/mcp, but systemd' /srv/said || fail "doctor: $(grep port: /srv/said)"
kill "$service"
wait "$service" || fail "the service ended with $?"
service=
echo "all is as it should be"
