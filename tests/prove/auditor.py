"""Check of an evidence pack as its README describes, with Python alone.

`python3 auditor.py PACK` prints the problems of the pack, and exits with 1 if there are any. It was
written from the README of a pack and the MessagePack specification, and imports only the standard
library.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

COMMENT = 71
#: Ids in a header are 22 digits of six bits each: their digits, prefixes and full names.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PACKED = {
    "t": "thr",
    "u": "trn",
    "r": "run",
    "k": "cal",
    "a": "act",
    "ps": "ses",
    "pt": "thr",
    "pr": "run",
    "c": "cmd",
}
_NAMES = {
    "g": "agentId", "t": "threadId", "u": "turnId", "r": "runId", "s": "step", "n": "attempt", "k": "toolCallId",
    "a": "actionId", "w": "taskId", "f": "artifactId", "e": "evidenceId", "h": "handoffId", "ch": "channelId",
    "v": "reviewId", "ps": "parentSessionId", "pt": "parentThreadId", "pr": "parentRunId",
}  # fmt: skip
Row = dict[str, Any]


def problems(data: bytes) -> list[str]:
    """Return the problems of a pack as text; empty for a valid one."""
    all_problems: list[str] = []
    if data[-COMMENT:] != b"sha256:" + hashlib.sha256(data[:-COMMENT]).hexdigest().encode():
        all_problems.append("the comment is not the hash of the bytes before it")
    # An unreadable pack is wrong.
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            files = {name: pack.read(name) for name in pack.namelist()}
            if len(files) != len(pack.namelist()):
                all_problems.append("a file is there twice")
        all_problems += _manifest(files)
    except Exception as error:
        all_problems.append(f"it cannot be read: {type(error).__name__}: {error}")
    return all_problems


def rows_of(data: bytes) -> list[Row]:
    """Return the lines of a pack."""
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        return [json.loads(line) for line in pack.read("facts.jsonl").splitlines()]


def manifest_of(data: bytes) -> Row:
    """Return the manifest of a pack."""
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        return json.loads(pack.read("manifest.json"))


def _manifest(files: dict[str, bytes]) -> list[str]:
    manifest = json.loads(files["manifest.json"])
    lines = [json.loads(line) for line in files["facts.jsonl"].splitlines()]
    problems, link = _chain(lines, manifest["sessionId"])
    if (len(lines), len(lines), link) != (manifest["through"], manifest["facts"], manifest["link"]):
        problems.append(f"the manifest has {manifest['through']} facts, and there are {len(lines)}")
    if _spans(line["sequence"] for line in lines if line.get("erased")) != manifest["erased"]:
        problems.append("the manifest names other facts as erased")
    blobs = {f"blobs/{blob['hash']}": blob for blob in manifest["blobs"]}
    if set(files) != {*blobs, "facts.jsonl", "manifest.json", "README.txt"}:
        problems.append("there are other files than the manifest names")
    problems += [
        f"{name} has other bytes"
        for name, blob in blobs.items()
        if (_sha(files.get(name, b"")).hex(), len(files.get(name, b""))) != (blob["hash"], blob["size"])
    ]
    problems += [
        f"{name} was changed" for name, expected in manifest["files"].items() if _sha(files[name]).hex() != expected
    ]
    if set(manifest["files"]) != {"facts.jsonl", "README.txt"}:
        problems.append("the manifest does not name the files that are no blobs")
    left_out = {blob["hash"] for blob in manifest["leftOut"]}
    named = {name for line in lines for name in _named(json.loads(line.get("payload") or "{}"))}
    if named != left_out | {blob["hash"] for blob in manifest["blobs"]}:
        problems.append("a blob that a readable fact names is neither there nor left out")
    if manifest["task"]:
        problems += _task(lines, manifest["task"])
    return problems


def _chain(lines: list[Row], session: str) -> tuple[list[str], str]:
    problems: list[str] = []
    link = _sha(b"callboard.chain.v1" + session.encode())
    for at, line in enumerate(lines, start=1):
        if line["sequence"] != at:
            problems.append(f"fact {line['sequence']} is in place of {at}")
        header = base64.b64decode(line["header"], validate=True)
        if line.get("erased"):
            digest = bytes.fromhex(line["digest"])
            if "payload" in line or "salt" in line or len(digest) != 32:
                problems.append(f"fact {at} is not erased as it says")
        else:
            salt = bytes.fromhex(line["salt"])
            digest = _sha(salt + line["payload"].encode())
            if len(salt) != 16:
                problems.append(f"the salt of fact {at} has {len(salt)} bytes")
        link = _sha(link + header + digest)
        if line["link"] != link.hex():
            problems.append(f"the chain breaks at fact {at}")
        problems += _check_header(line, header)
    return problems, link.hex()


def _check_header(line: Row, data: bytes) -> list[str]:
    """Return the differences between the readable part of a line and its header."""
    header, rest = _unpack(data)
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=header["at"])
    readable = {
        "sequence": line["sequence"],
        "type": header["y"],
        "time": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "epoch": header["e"],
        "version": header.get("v", 1),
        "commandId": _id("c", header.get("c", "")),
        "actor": header.get("by"),
        "cause": header.get("from", ""),
        "ids": {_NAMES[short]: _id(short, value) for short, value in header.get("i", {}).items()},
    }
    chained = {"header", "salt", "digest", "erased", "payload", "link"}
    expected = {"version": 1, "commandId": "", "actor": None, "cause": ""}
    expected |= {name: value for name, value in line.items() if name not in chained}
    return [] if expected == readable and not rest else [f"fact {line['sequence']} differs from its header"]


def _task(lines: list[Row], task: Row) -> list[str]:
    """Return why the facts of the manifest's task are not closed under its ids, or have none of
    them.
    """
    tasks = set(task["tasks"])
    chosen = {at for first, last in task["facts"] for at in range(first, last + 1)}
    working_for: dict[str, str] = {}
    owners: dict[int, str] = {}
    turns: set[str] = set()
    problems: list[str] = [] if task["taskId"] in tasks else ["the task is not among its own"]
    for line in lines:
        ids = line["ids"]
        if line["type"] == "task.created" and "parentThreadId" in ids:
            working_for[ids["threadId"]] = ids["taskId"]
        owners[line["sequence"]] = working_for.get(ids.get("threadId", ""), "")
        if line["type"] in ("task.created", "task.started") and ids["taskId"] in tasks:
            turns.add(ids.get("turnId", ""))
        if line["type"] == "task.created" and not line.get("erased"):
            parent = json.loads(line["payload"]).get("parentTask")
            if parent in tasks and ids["taskId"] not in tasks:
                problems.append(f"{ids['taskId']} is a part of {parent} and is not named")
    turns.discard("")
    of_it = lambda line: (
        line["ids"].get("taskId") in tasks
        or owners[line["sequence"]] in tasks
        or line["ids"].get("turnId", "") in turns
    )
    shared = {value for line in lines if of_it(line) for value in _between(line["ids"])}
    closed = {line["sequence"] for line in lines if of_it(line) or not shared.isdisjoint(_between(line["ids"]))}
    if closed != chosen:
        problems.append(f"the task's facts differ: {sorted(closed ^ chosen)[:5]}")
    agents = {line["ids"].get("agentId") for line in lines if owners[line["sequence"]] in tasks} - {None}
    if not agents <= set(task["agents"]):
        problems.append(f"{agents - set(task['agents'])} worked on the task and are not named")
    return problems


def _between(ids: Row) -> set[tuple[str, str]]:
    return {(name, ids[name]) for name in ("handoffId", "channelId", "reviewId") if name in ids}


def _named(payload: Any) -> set[str]:
    """Return the blobs that a payload refers to."""
    if isinstance(payload, list):
        return {name for item in payload for name in _named(item)}
    if not isinstance(payload, dict):
        return set()
    names = {name for item in payload.values() for name in _named(item)}
    own = payload.get("hash")
    return names | {own} if isinstance(own, str) and len(own) == 64 else names


def _spans(sequences: Any) -> list[list[int]]:
    groups: list[list[int]] = []
    for sequence in sequences:
        if groups and groups[-1][1] == sequence - 1:
            groups[-1][1] = sequence
        else:
            groups.append([sequence, sequence])
    return groups


def _id(short: str, value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    number = int.from_bytes(value, "big")
    digits = (_DIGITS[number >> 6 * place & 63] for place in reversed(range(22)))
    return f"{_PACKED[short]}_{''.join(digits)}"


def _unpack(data: bytes) -> tuple[Any, bytes]:
    """Decode one value of MessagePack, as far as headers use it. Return it with the rest."""
    kind, rest = data[0], data[1:]
    if kind <= 0x7F:
        return kind, rest
    if kind <= 0x8F:
        return _map(kind & 0x0F, rest)
    if 0xA0 <= kind <= 0xBF:
        return rest[: kind & 0x1F].decode(), rest[kind & 0x1F :]
    if kind in (0xC4, 0xC5, 0xD9, 0xDA):
        width = 1 if kind in (0xC4, 0xD9) else 2
        size = int.from_bytes(rest[:width], "big")
        piece = rest[width : width + size]
        return piece if kind < 0xD0 else piece.decode(), rest[width + size :]
    if 0xCC <= kind <= 0xCF:
        width = 1 << kind - 0xCC
        return int.from_bytes(rest[:width], "big"), rest[width:]
    if kind == 0xDE:
        return _map(int.from_bytes(rest[:2], "big"), rest[2:])
    raise ValueError(f"the byte {kind:#x} is not of a header")


def _map(count: int, data: bytes) -> tuple[Row, bytes]:
    entries: Row = {}
    for _ in range(count):
        name, data = _unpack(data)
        entries[name], data = _unpack(data)
    return entries, data


def _sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


if __name__ == "__main__":
    breaches = problems(Path(sys.argv[1]).read_bytes())
    print("\n".join(breaches) or "it holds")
    sys.exit(1 if breaches else 0)
