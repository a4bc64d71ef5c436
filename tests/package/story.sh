#!/bin/sh
# What package.sh does inside a fresh Debian, as root: old.deb and new.deb are beside this file.
set -eu
here=/srv/packages
home=/home/person
project=$home/project
db=$home/.local/state/agent-intercom/intercom.db
WAIT_S=120 # for what takes a second on an idle machine

fail() {
  echo "FAILED: $*" >&2
  tail -n 20 "$db-log" "$project/../relay.err" >&2 || true
  exit 1
}
# as_person COMMAND...: with the environment of a login.
as_person() {
  (cd "$project" && exec env -i HOME=$home USER=person PATH=/usr/bin:/bin LANG=C.UTF-8 \
    setpriv --reuid person --regid person --init-groups -- "$@")
}
ctl() { as_person agent-intercom-ctl "$@"; }
# until_true WHAT COMMAND...
until_true() {
  what=$1
  shift
  until_s=$(($(date +%s) + WAIT_S))
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$until_s" ] || fail "$what"
    sleep 0.1
  done
}
build_of() { "$1" --version | sed 's/.* //'; }
runs_build() { [ "$(ctl sql "SELECT value FROM setting WHERE name = 'system.build'")" = "$1" ]; }
all_are_ready() {
  [ "$(ctl sql "SELECT count(*) FROM worker WHERE state = 'ready' AND version = '$1'")" -ge 8 ]
}

# ---- an agent on stdio ----

say() { printf '%s\n' "$1" >&3; }
has_answer() { grep -q "\"id\":$1," $home/out; }
answer() {
  until_true "no answer to request $1" has_answer "$1"
  grep "\"id\":$1," $home/out
}
call() { say "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}"; }
ask_to_write() {
  call "$1" check_clearance "{\"title\":\"Write $2\",\"description\":\"A test.\",\"diff\":\"$3\",\"file_path\":\"$2\"}"
}
one_waits() { [ "$(ctl sql 'SELECT count(*) FROM inbox')" = 1 ]; }
waiting() {
  until_true "no question" one_waits
  ctl sql 'SELECT id FROM inbox'
}
connect() {
  rm -f $home/in && mkfifo $home/in && chown person: $home/in
  as_person sh -c 'exec agent-intercom mcp <../in >../out 2>../relay.err' &
  exec 3>$home/in
  say '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"package-test","version":"1"}}}'
  answer 0 >/dev/null
  say '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}

# ---- install ----

echo "== install"
apt-get update -qq
# sysusers and tmpfiles, as a system with systemd has them
apt-get install -qq --no-install-recommends systemd-standalone-sysusers systemd-standalone-tmpfiles >/dev/null
apt-get install -qq --no-install-recommends "$here/old.deb" >/dev/null
getent passwd agent-intercom >/dev/null || fail "no user agent-intercom"
getent passwd agent-intercom-owner >/dev/null || fail "no user agent-intercom-owner"
getent group agent-intercom-agents >/dev/null || fail "no group agent-intercom-agents"
getent group agent-intercom-operators >/dev/null || fail "no group agent-intercom-operators"
[ "$(stat -c '%a %U' /var/lib/agent-intercom)" = "700 agent-intercom" ] || fail "/var/lib/agent-intercom"
old=$(build_of agent-intercom)
useradd --create-home person
mkdir $project && chown person: $project

echo "== the first question, from nothing to the written file"
began=$(date +%s)
connect
ask_to_write 1 first.txt "one"
id=$(waiting)
ctl --text approve "$id"
answer 1 | grep -q '"approved' || fail "not approved: $(answer 1)"
call 2 check_diff "{\"request_id\":\"$id\"}"
answer 2 | grep -q '"applied' || fail "not applied: $(answer 2)"
[ "$(cat $project/first.txt)" = one ] || fail "first.txt is not written"
echo "answered and written in $(($(date +%s) - began)) s"
until_true "not all workers are ready" all_are_ready "$old"

echo "== an upgrade, while a question is open and its agent waits"
ask_to_write 3 second.txt "two"
id=$(waiting)
before=$(head -n 1 "$db-instance")
dpkg -i "$here/new.deb" >/dev/null
new=$(build_of agent-intercom)
[ "$old" != "$new" ] || fail "both packages are of build $old"
until_true "the system does not notice build $new" runs_build "$new"
until_true "the new build does not start" all_are_ready "$new"
[ "$(head -n 1 "$db-instance")" = "$before" ] || echo "another process runs it now"
[ "$(waiting)" = "$id" ] || fail "the question was lost"
ctl --text approve "$id"
answer 3 | grep -q '"approved' || fail "not approved: $(answer 3)"
call 4 check_diff "{\"request_id\":\"$id\"}"
answer 4 | grep -q '"applied' || fail "not applied: $(answer 4)"
echo "$old became $new; the question was answered afterwards, and the file written"

echo "== the same package again, and an older one"
dpkg -i "$here/new.deb" >/dev/null
dpkg -i "$here/old.deb" 2>/dev/null >/dev/null
until_true "the system does not notice build $old" runs_build "$old"
dpkg -i "$here/new.deb" >/dev/null
until_true "the system does not notice build $new again" all_are_ready "$new"

echo "== the unit of the system, run as it stands"
unit=/usr/lib/systemd/system/agent-intercom.service
command=$(sed -n 's/^ExecStart=//p' $unit)
user=$(sed -n 's/^User=//p' $unit)
install -d -m "$(sed -n 's/^RuntimeDirectoryMode=//p' $unit)" -o "$user" -g "$user" /run/agent-intercom
[ "$(sed -n 's/^Service=//p' "${unit%.service}-http.socket")" = agent-intercom.service ] || fail "no socket for HTTP"
# The usual port is that of person's own system, and no other one is served in its place.
echo 'http_port = 0' >/etc/agent-intercom/config.toml
# shellcheck disable=SC2046,SC2086 # words
(cd / && exec env -i PATH=/usr/bin:/bin $(sed -n 's/^Environment=//p' $unit) \
  setpriv --reuid "$user" --regid "$user" --groups "$(sed -n 's/^SupplementaryGroups=//p' $unit | tr ' ' ,)" --no-new-privs --bounding-set=-all --inh-caps=-all -- \
  $command) >/tmp/ready 2>/tmp/service.log &
service=$!
until_true "the service does not start: $(cat /tmp/service.log)" grep -q "ready: .*database /var/lib/agent-intercom/" /tmp/ready
cat /tmp/ready
for socket in mcp.sock:agent-intercom-agents desk.sock:agent-intercom-operators; do
  [ "$(stat -c '%a %U %G' "/run/agent-intercom/${socket%%:*}")" = "660 $user ${socket#*:}" ] || fail "$socket"
done
useradd --groups agent-intercom-operators boss
(cd / && exec env -i PATH=/usr/bin:/bin setpriv --reuid boss --regid boss --init-groups -- agent-intercom-ctl health) ||
  fail "an operator cannot look"
grep -qF " $new ready" /tmp/ready || fail "the service is not of build $new: $(agent-intercom --version)"
kill "$service"
wait "$service" || fail "the service ended with $?"
rm /etc/agent-intercom/config.toml

echo "== the unit of as-owner: its program, and who it is"
owner=/usr/lib/systemd/system/agent-intercom-owner.service
# shellcheck disable=SC2046 # words
set -- $(sed -n 's/^ExecStart=//p' $owner)
[ "$(build_of "$1")" = "$new" ] || fail "as-owner is not of build $new: $("$1" --version)"
for who in User:agent-intercom-owner AmbientCapabilities:"CAP_SETUID CAP_SETGID"; do
  [ "$(sed -n "s/^${who%%:*}=//p" $owner)" = "${who#*:}" ] || fail "as-owner: ${who%%:*}"
done

echo "== the unit of a user, run as it stands"
[ "$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/user/agent-intercom.service)" = /usr/bin/agent-intercom ] ||
  fail "the unit of users starts another program"

echo "== remove"
ask_to_write 5 third.txt "three"
until_true "no question" one_waits
dpkg -r agent-intercom | grep 'agent-intercom uninstall HOST' >/dev/null || fail "removal says nothing of the hosts"
! kill -0 "$(head -n 1 "$db-instance")" 2>/dev/null || fail "the system still runs"
exec 3>&-
dpkg -L agent-intercom 2>/dev/null | while read -r file; do
  [ -d "$file" ] || [ ! -e "$file" ] || fail "$file is left"
done

echo "== installed again: the question is still there"
dpkg -i "$here/new.deb" >/dev/null
[ "$(ctl sql "SELECT state FROM request WHERE file_path = 'third.txt'")" = interrupted ] ||
  fail "the open question was lost"

echo "== purge"
dpkg -P agent-intercom | grep 'is kept' || fail "purge says nothing of the database"
[ -e /var/lib/agent-intercom/intercom.db ] || fail "purge has deleted the database"
[ -e "$db" ] || fail "purge has deleted a user's database"
dpkg -i "$here/new.deb" >/dev/null
AGENT_INTERCOM_PURGE_DATABASE=yes dpkg -P agent-intercom >/dev/null
[ ! -e /var/lib/agent-intercom ] || fail "purge was asked to delete the database"
[ -e "$db" ] || fail "purge has deleted a user's database"
left=$(find / -xdev -name '*agent-intercom*' ! -path '/srv/*' ! -path "$home/*" ! -path '/proc/*' ! -path '/var/log/*' \
  ! -path '/var/cache/*')
[ -z "$left" ] || fail "left behind: $left"
