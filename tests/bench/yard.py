#!/usr/bin/env python3
"""Counts what does not depend on the machine's load: instructions and pages of the WAL per operation.

usage: yard.py BUILD_DIR FAKE_SLACK SCRATCH [--map]

Starts the real programs of BUILD_DIR, mcp-front under callgrind, and uses them over HTTP,
agent-intercom-ctl and the hook; then a system of its own with slack-listener under callgrind, whose
envelopes come from the fake Slack. Prints lines "name value": instructions of mcp-front (hook_itself:
of the hook; envelope: of slack-listener), the least of a few batches; pages, bytes and commits that
all processes wrote to the WAL, their lower quartile. So what happens once in a while (a heartbeat, a time of activity) falls out,
also on a busy machine, where it happens during most operations. The
workers that look at rows on their own account (sealing, checkpoints, retention) are stopped
meanwhile: when they look is chance. --map: in which table or index the pages were, on stderr.
"""
import collections
import glob
import http.client
import json
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time

PATIENCE_S = 120  # callgrind on a loaded machine
LOOK_S = 0.01
IDLE_S = 5  # a connection that is idle for longer may be cut
PINGS, QUESTIONS, HOOKS, ENVELOPES, BATCH = 45, 24, 15, 24, 3
FRONT, LISTENER = "mcp-front", "slack-listener"
WORKERS = {FRONT: 8, LISTENER: 10} # by what is counted
WORKING = (FRONT, LISTENER, "applier")
WAL_HEADER, FRAME_HEADER = 32, 24


def lower_quartile(counts):
    return sorted(counts)[len(counts) // 4]


def await_that(what, is_so):
    end = time.monotonic() + PATIENCE_S
    while True:
        got = is_so()
        if got:
            return got
        if time.monotonic() > end:
            sys.exit(f"yard: never: {what}")
        time.sleep(LOOK_S)


class Wal:
    """The frames that commits append while nobody makes a checkpoint."""

    def __init__(self, db):
        self.db, self.pages_of = db, collections.defaultdict(collections.Counter)
        with open(db, "rb") as f:
            f.seek(16)
            self.page = struct.unpack(">H", f.read(2))[0]
        self.at = self.end()[0]

    def end(self, after=WAL_HEADER):
        """Where the last whole commit after that offset ends, the pages in between, its commits."""
        pages, commits, done = [], 0, (after, [], 0)
        with open(self.db + "-wal", "rb") as f:
            salt = f.read(WAL_HEADER)[16:24]
            f.seek(after)
            while len(head := f.read(FRAME_HEADER)) == FRAME_HEADER and head[8:16] == salt:
                number, size = struct.unpack(">II", head[:8])
                pages.append(number)
                f.seek(self.page, os.SEEK_CUR)
                if size:
                    commits += 1
                    done = (f.tell(), list(pages), commits)
        return done

    def since(self, name):
        self.at, pages, commits = self.end(self.at)
        self.pages_of[name].update(pages)
        return len(pages), commits

    def report_map(self, name, count):
        sql = "SELECT pageno, name FROM dbstat"
        out = subprocess.run(["sqlite3", "-readonly", self.db, sql], capture_output=True, text=True)
        names = dict(line.split("|", 1) for line in out.stdout.split())
        sums = collections.Counter()
        for number, times in self.pages_of[name].items():
            sums[names.get(str(number), "?")] += times
        print(f"{name}: pages per operation", file=sys.stderr)
        for table, times in sums.most_common():
            print(f"  {times / count:7.2f}  {table}", file=sys.stderr)


class System:
    """The supervisor and its workers, in folders of their own."""

    def __init__(self, build, scratch, counted, slack=None):
        """counted: the program under callgrind. slack: the address of the fake Slack."""
        self.build, self.scratch, self.counted = build, scratch, counted
        self.workspace = os.path.join(scratch, "ws")
        self.db = os.path.join(scratch, "db")
        for folder in ("bin", "ws", "run", "home", "config", "counts"):
            os.makedirs(os.path.join(scratch, folder), mode=0o700)
        self.env = {"PATH": os.environ["PATH"], "HOME": f"{scratch}/home", "TMPDIR": scratch,
                    "XDG_RUNTIME_DIR": f"{scratch}/run", "XDG_STATE_HOME": f"{scratch}/home",
                    "XDG_CONFIG_HOME": f"{scratch}/config"}
        if slack:  # with the tokens that the fake takes
            self.env |= {"SLACK_API_URL": slack, "SLACK_APP_TOKEN": "xapp-1-A01APP-1-fake",
                         "SLACK_BOT_TOKEN": "xoxb-1-fake", "SLACK_TEAM_ID": "T01TEAM",
                         "SLACK_MEMBER_IDS": "U01OP"}
        self.make_bin()
        self.write_config(slack)
        self.start()

    def make_bin(self):
        """The supervisor looks for its workers beside itself: scripts that start the real ones."""
        shutil.copy2(os.path.join(self.build, "agent-intercom"), f"{self.scratch}/bin")
        for path in glob.glob(os.path.join(self.build, "*")):
            name = os.path.basename(path)
            if name == "agent-intercom" or not os.path.isfile(path) or not os.access(path, os.X_OK):
                continue
            count = ""
            if name == self.counted:
                count = ("valgrind -q --tool=callgrind "
                         f"--callgrind-out-file={self.scratch}/counts/{name} ")
            with open(f"{self.scratch}/bin/{name}", "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\nexec {count}{path} \"$@\"\n")
            os.chmod(f"{self.scratch}/bin/{name}", 0o700)

    def write_config(self, slack):
        with open(f"{self.scratch}/config.toml", "w", encoding="utf-8") as f:
            f.write(f'default_workspace_root = "{self.workspace}"\nhost_cli = "true"\n'
                    'http_port = 0\nfence = "off"\n')  # callgrind writes files
            f.write("[mcp]\nwait_cap = 3600\n")
            if slack:
                f.write('[slack]\nchannel_id = "C01AGENTS"\n')

    def start(self):
        self.log = open(f"{self.scratch}/log", "w+", encoding="utf-8")
        self.supervisor = subprocess.Popen(
            [f"{self.scratch}/bin/agent-intercom", "--config", f"{self.scratch}/config.toml",
             "--db", self.db], env=self.env, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.supervisor.stdout.readline()
        if "ready: " not in line:
            sys.exit("yard: the system does not start: " + open(self.log.name).read()[-2000:])
        self.port = int(line.split("ready: http://")[1].split(":")[1].split("/")[0])
        self.rows = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, isolation_level=None)
        await_that("all workers are ready", lambda: self.number(
            "SELECT count(*) FROM worker WHERE state = 'ready'") >= WORKERS[self.counted])
        self.pids = {}
        children = f"/proc/{self.supervisor.pid}/task/{self.supervisor.pid}/children"
        for pid in open(children, encoding="ascii").read().split():
            words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
            names = [os.path.basename(w).decode() for w in words if w.startswith(b"/")]
            for name in names:
                if os.path.exists(os.path.join(self.build, name)):
                    self.pids[name] = int(pid)
                    break

    def number(self, sql, *args):
        return self.rows.execute(sql, args).fetchone()[0]

    def quiet(self):
        """From now on only those work that an operation needs."""
        stopped = [self.supervisor.pid]
        stopped += [pid for name, pid in self.pids.items() if name not in WORKING]
        # None of them while it writes: it would keep the lock.
        lock = sqlite3.connect(self.db, isolation_level=None, timeout=PATIENCE_S)
        lock.execute("BEGIN IMMEDIATE")
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        lock.execute("ROLLBACK")
        # Else the next commit may begin the log anew, where it was looked at already.
        lock.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        lock.close()
        self.wal = Wal(self.db)

    def stop(self):
        """At once: the database is of no use any longer."""
        self.rows.close()
        self.supervisor.kill()
        self.supervisor.wait()
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)

    def instructions(self):
        """Those of the counted program since the last time that it was asked."""
        done = subprocess.run(["vgdb", f"--pid={self.pids[self.counted]}", "dump"], env=self.env,
                              capture_output=True, text=True, timeout=PATIENCE_S)
        files = glob.glob(f"{self.scratch}/counts/{self.counted}.*")
        if done.returncode or not files:
            sys.exit(f"yard: callgrind does not answer: {done.stderr}")
        return summed(max(files, key=lambda f: int(f.rsplit(".", 1)[1])))

    def measure(self, name, count, run):
        """Runs that many operations: what each of them costs."""
        instructions, pages, commits = [], [], []
        self.instructions()
        self.wal.since("before")
        for i in range(count):
            run(i)
            wrote = self.wal.since(name)
            pages.append(wrote[0])
            commits.append(wrote[1])
            if (i + 1) % BATCH == 0:
                instructions.append(self.instructions() / BATCH)
        if not lower_quartile(commits):
            sys.exit(f"yard: {name} has written nothing: where is the log?")
        print(f"{name}.instructions {min(instructions):.0f}")
        print(f"{name}.pages {lower_quartile(pages)}")
        print(f"{name}.bytes {lower_quartile(pages) * (self.wal.page + FRAME_HEADER)}")
        print(f"{name}.commits {lower_quartile(commits)}", flush=True)


class Agent:
    """An MCP client; each of its calls has a connection of its own if it waits."""

    def __init__(self, system):
        self.system, self.id, self.used = system, 0, 0
        self.headers = {"Content-Type": "application/json",
                        "Accept": "application/json, text/event-stream"}
        self.connection = self.connect()
        response, _ = self.post(self.connection, "initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "yard", "version": "1"}})
        self.headers["Mcp-Session-Id"] = response.getheader("Mcp-Session-Id")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.system.port, timeout=PATIENCE_S)

    def send(self, connection, method, params):
        self.id += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        connection.request("POST", "/mcp", body, self.headers)

    def post(self, connection, method, params):
        self.send(connection, method, params)
        response = connection.getresponse()
        return response, response.read().decode()

    def call(self, tool, arguments):
        if time.monotonic() - self.used > IDLE_S:
            self.connection.close()
        self.used = time.monotonic()
        _, text = self.post(self.connection, "tools/call", {"name": tool, "arguments": arguments})
        if '"result"' not in text or '"isError":true' in text:
            sys.exit(f"yard: {tool} fails: {text[:500]}")
        return text

    def settled(self):
        """Waits until all that was told is also recorded as told."""
        await_that("a call is done", lambda: not self.system.number(
            "SELECT count(*) FROM tool_call WHERE state = 'answered'"))


class Questions:
    """Calls of check_clearance that wait, and the requests that they wait for."""

    def __init__(self, agent, prefix):
        self.agent, self.system, self.prefix = agent, agent.system, prefix
        self.waiting, self.requests = [], []

    def ask(self, i):
        connection = self.agent.connect()
        name = f"src/{self.prefix}{i}.c"
        self.agent.send(connection, "tools/call", {"name": "check_clearance", "arguments": {
            "title": f"change {i}", "file_path": name,
            "diff": f"/* {i} */\nint value(void)\n{{\n\treturn {i};\n}}\n",
            "description": "why " * 50}})
        self.waiting.append(connection)
        self.requests.append(await_that("a question waits", lambda: self.system.rows.execute(
            "SELECT id FROM request WHERE file_path = ?", (name,)).fetchone())[0])

    def hear(self, i):
        text = self.waiting[i].getresponse().read().decode()
        if "approved" not in text:
            sys.exit(f"yard: not approved: {text[:500]}")
        self.waiting[i].close()
        self.agent.settled()

    def approve(self, i):
        done = subprocess.run([f"{self.system.build}/agent-intercom-ctl", "--db", self.system.db,
                               "approve", self.requests[i]], env=self.system.env, input="",
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"yard: not approved: {done.stderr}")
        self.hear(i)

    def click(self, slack, i):
        slack.click(self.requests[i])
        self.hear(i)

    def write(self, i):
        text = self.agent.call("check_diff", {"request_id": self.requests[i]})
        if "files_written" not in text:
            sys.exit(f"yard: not written: {text[:500]}")
        self.agent.settled()


class Slack:
    """The fake: an operator who presses buttons."""

    def __init__(self, program):
        self.process, self.clicks = subprocess.Popen([program], stdout=subprocess.PIPE, text=True), 0
        self.api = self.process.stdout.readline().split()[1]  # "ready http://127.0.0.1:4711/api/"

    def order(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.api.split("/")[2], timeout=PATIENCE_S)
        connection.request(method, f"/control/{path}", body, {"Content-Type": "application/json"})
        return connection.getresponse().read().decode()

    def await_listener(self):
        await_that("slack-listener is connected", lambda: '"hello"' in self.order(
            "GET", "calls?name=hello&after=0&wait_ms=1000"))

    def click(self, request):
        self.clicks += 1
        self.order("POST", "deliver", json.dumps({"envelope": {
            "type": "interactive", "accepts_response_payload": True, "payload": {
                "type": "block_actions", "team": {"id": "T01TEAM"},
                "user": {"id": "U01OP", "team_id": "T01TEAM"},
                "container": {"type": "message", "message_ts": f"1700000000.{self.clicks:06}",
                              "channel_id": "C01AGENTS"},
                "channel": {"id": "C01AGENTS"}, "trigger_id": f"{self.clicks}.2.3",
                "response_url": "http://127.0.0.1/none", "message": {"text": "Approval needed"},
                "actions": [{"type": "button", "action_id": "approve_accept", "value": request,
                             "action_ts": f"{self.clicks}.1"}]}}}))

    def stop(self):
        self.process.kill()
        self.process.wait()


def hook(system, command, i):
    text = json.dumps({"session_id": "s", "cwd": system.workspace, "hook_event_name": "PreToolUse",
                       "tool_use_id": f"t{i}", "tool_name": "Read",
                       "tool_input": {"file_path": f"{system.workspace}/a"}})
    done = subprocess.run(command + [f"{system.build}/hook", "claude", "PreToolUse", "--db",
                                     system.db], env=system.env, input=text, capture_output=True,
                          text=True)
    if done.returncode:
        sys.exit(f"yard: the hook ends with {done.returncode}: {done.stderr}")


def summed(path):
    """The instructions in a file of callgrind's."""
    for line in open(path, encoding="utf-8"):
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1])
    sys.exit(f"yard: no sum in {path}")


def hook_instructions(system):
    """Those of the hook itself, from its start to its end."""
    out = f"{system.scratch}/counts/hook"
    hook(system, ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"], "counted")
    print(f"hook_itself.instructions {summed(out)}", flush=True)


def measure_all(system, with_map, operations):
    """operations: name, how often, what runs one of them."""
    system.quiet()
    for name, count, run in operations:
        system.measure(name, count, run)
    for name, count, _ in operations if with_map else ():
        system.wal.report_map(name, count)


def use(system, with_map):
    agent = Agent(system)
    warm = Questions(agent, "warm")
    for i in range(3):
        agent.call("ping", {})
        hook(system, [], i)
        warm.ask(i)
        warm.approve(i)
        warm.write(i)
    questions = Questions(agent, "file")
    measure_all(system, with_map, [
        ("ping", PINGS, lambda i: agent.call("ping", {})),
        ("check_clearance", QUESTIONS, questions.ask),
        ("decision", QUESTIONS, questions.approve),
        ("check_diff", QUESTIONS, questions.write),
        ("hook", HOOKS, lambda i: hook(system, [], 100 + i))])
    hook_instructions(system)


def use_slack(system, slack, with_map):
    slack.await_listener()
    agent = Agent(system)
    warm, questions = Questions(agent, "warm"), Questions(agent, "file")
    for i in range(3):
        warm.ask(i)
        warm.click(slack, i)
    for i in range(ENVELOPES):
        questions.ask(i)
    measure_all(system, with_map, [("envelope", ENVELOPES, lambda i: questions.click(slack, i))])


def run(system, what, *arguments):
    try:
        what(system, *arguments)
    finally:
        system.stop()


def main(build, fake, scratch, with_map=None):
    run(System(build, f"{scratch}/front", FRONT), use, bool(with_map))
    slack = Slack(fake)
    try:
        run(System(build, f"{scratch}/slack", LISTENER, slack.api), use_slack, slack,
            bool(with_map))
    finally:
        slack.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
