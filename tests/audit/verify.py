#!/usr/bin/env python3
"""Checks an export of the audit (agent-intercom audit export) without a line of agent-intercom.

usage: verify.py FILE [SEQ:HASH]    SEQ:HASH: a seal that you keep from before

What is hashed is described in schema/README.md, "seal". Exit status: 0 all events are what was
sealed; 1 they are not, and the first one that breaks the chain is named; 2 this is no export.
"""
import hashlib
import json
import sys

COLUMNS = ["seq", "at", "kind", "session_seq", "request_seq", "call_seq", "actor", "detail"]


def raw(value):
    """The bytes of a value as they are hashed, None for NULL."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return None if value is None else str(value).encode()


def seal(prev, event):
    hashed = hashlib.sha256(prev.encode())
    for column in COLUMNS:
        value = raw(event[column])
        hashed.update(b"~," if value is None else b"%d:%s," % (len(value), value))
    return hashed.hexdigest()


def broken(number, why):
    print(f"line {number}: {why}")
    sys.exit(1)


def main(path, kept):
    last, count, seq, ended, kept_seen = "", 0, 0, False, not kept
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                event = json.loads(line)
                same = json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" == line
            except ValueError:
                same, event = False, {}
            if number == 1:
                if event.get("agent_intercom_audit") != 1:
                    sys.exit(2)
                last, seq = event["prev"], event["after"]
            elif ended or not same:
                broken(number, "it is not a line of the export")
            elif "count" in event:
                ended = event["count"] == count and event["hash"] == last and event["last"] == seq
            elif list(event) != COLUMNS + ["prev", "hash"] or seal(event["prev"], event) != event["hash"]:
                broken(number, f"event {event.get('seq')} does not match its seal")
            elif event["prev"] != last or event["seq"] <= seq:
                broken(number, f"event {event['seq']} does not stand behind event {seq}")
            else:
                last, seq, count = event["hash"], event["seq"], count + 1
                kept_seen = kept_seen or kept == f"{seq}:{last}"
    if not ended or not kept_seen:
        broken(number, "the end is missing" if not ended else "the seal that you keep is not there")
    print(f"{count} events match their seals; head {seq}:{last}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
