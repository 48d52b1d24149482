"""Proof that an evidence pack proves the content of the log to a receiver without the product.

A team works, its session and a child's task are exported, and the server is killed with SIGKILL
during an export; the repeated request then gets one answer. The packs are downloaded as the page
does. `auditor`, which shares no code with the product, and `callboard verify` check them, and the
proof compares them byte by byte with the log on disk. Then texts of the child are erased: no stored
or later pack has them, and the chain still verifies. Finally bytes of packs are changed, in every
field of the zip and between the fields, and each change must be reported.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
import sqlite3
import sys
import time
import zipfile
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.prove import auditor
from tests.prove.driver import scenes, store
from tests.prove.driver.crew import begin, lead, plays, started, worker
from tests.prove.driver.kills import kill_after
from tests.prove.driver.product import ROOT, Place, Server, environment_of, place
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import do
from tests.prove.driver.wire import Gone

HOLDS = "the auditor and `callboard verify` accept a pack"
LOG = "a pack has the very bytes of the log, all of them"
ONCE = "an export that a kill interrupted is made once, and its answer stays"
TASK = "a pack of a child's task has the child's work, and a fact of it the child's ids"
ERASED = "what was erased is in no pack that the log keeps or makes"
DELETED = "a deleted session takes its packs with it"
FLIPPED = "a changed byte anywhere is found"
#: The child's text that a person erases.
SECRET = "the word on the paper is marzipan"
REST_S = 60.0
#: Bytes to change at random places, besides one in each field.
ANYWHERE = 100
#: Changed packs for which `callboard verify` is started; each start takes a while.
STARTS = 4
Row = dict[str, Any]


async def _work(server: Server) -> str:
    """Run a team in a session. Return the session."""
    followed = await begin(server, "have a note written", mode="auto", permissionMode="edits")
    rests = lambda: not followed.open_runs and not followed.open_children and followed.count("subagent.completed") == 2
    rested = await followed.until(rests, REST_S)
    await followed.close()
    assert rested, f"{followed.session} has not come to rest within {REST_S:.0f} s"
    return followed.session


def _play(at: Place) -> None:
    lead(at)
    worker(at)
    (at.folder / "long.txt").write_text(scenes.prose(40_000, "long"))
    delegates = [
        scenes.calls("spawn_subagent", agent="worker", objective="write the note"),
        scenes.calls("spawn_subagent", agent="worker", objective="read the long file"),
        scenes.calls("wait_subagents"),
        scenes.calls("Finalize", summary="The note is there."),
    ]
    note = [
        [scenes.says(SECRET, kind="reasoning"), scenes.calls("Write", file_path="note.md", content="# A note\n")],
        [scenes.calls("Write", file_path="/etc/note.md", content="never")],
        [scenes.says(f"It is written: {SECRET}.")],
    ]
    reads = [[scenes.calls("Read", file_path="long.txt")], [scenes.says(scenes.prose(12_000, "read"))]]
    plays(
        at,
        [
            ("lead", "have a note written", [[scenes.says("So be it."), call] for call in delegates]),
            ("lead", "", [[scenes.calls("Finalize", summary="All is reported.")]]),
            ("worker", "write the note", note),
            ("worker", "read the long file", reads),
        ],
    )


async def _export(server: Server, session: str, key: str, task: str = "") -> Row:
    return await do(server, "export_evidence", key, sessionId=session, **({"taskId": task} if task else {}))


async def _killed(server: Server, session: str, key: str, draw: random.Random) -> Row | None:
    """Request an export and kill the server at some moment of it.

    Return the answer if it arrived before.
    """
    asking = asyncio.create_task(_export(server, session, key))
    await asyncio.sleep(0)
    delay = draw.randrange(60_000)
    await asyncio.to_thread(kill_after, server.pid, delay)
    await server.gone()
    try:
        return await asking
    except Gone:
        return None


async def _download(server: Server, packed: Row) -> bytes:
    """Download the pack, as a browser does."""
    data = bytearray()
    async with server.wire.stream(f"/blobs/{packed['pack']['hash']}?name=pack.zip") as body:
        while piece := await body.read(1 << 16):
            data += piece
    return bytes(data)


async def _is_kept(server: Server, packed: Row) -> bool:
    """Return True if the pack can still be downloaded."""
    try:
        return bool(await _download(server, packed))
    except AssertionError as error:
        if "answered 404" not in str(error):
            raise
        return False


async def _verified(at: Place, data: bytes) -> Row:
    """Return the output of `callboard verify` for a pack, in its own process and without a server."""
    file = at.root / "checked.zip"
    await asyncio.to_thread(file.write_bytes, data)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "callboard", "verify", str(file), "--json"),
        stdout=asyncio.subprocess.PIPE,
        env=environment_of(at) | {"CALLBOARD_HOME": str(at.root / "nowhere")},
    )
    output, _ = await process.communicate()
    return json.loads(output) | {"exit": process.returncode}


def _rows(folder: Path, session: str) -> list[tuple[int, bytes, bytes, bytes, bytes | None]]:
    """Return the facts of the session on disk."""
    with closing(sqlite3.connect(f"{(folder / store.DATABASE).absolute().as_uri()}?mode=rw", uri=True)) as connection:
        return connection.execute(
            "SELECT sequence, header, facts.link, seal, payload FROM facts JOIN streams ON number = stream"
            " WHERE name = ? ORDER BY sequence",
            (session,),
        ).fetchall()


def _unlike(data: bytes, rows: list[tuple[int, bytes, bytes, bytes, bytes | None]], through: int) -> list[str]:
    """Return the places where a pack differs from the log on disk."""
    lines = auditor.rows_of(data)
    packed = [
        (
            line["sequence"],
            base64.b64decode(line["header"]),
            bytes.fromhex(line["link"]),
            bytes.fromhex(line.get("salt") or line["digest"]),
            None if line.get("erased") else line["payload"].encode(),
        )
        for line in lines
    ]
    problems = [f"fact {a[0]} differs" for a, b in zip(packed, rows, strict=False) if a != b]
    if len(packed) != through:
        problems.append(f"the pack has {len(packed)} facts, and {through} precede its own fact")
    return problems


def _flips(data: bytes, draw: random.Random) -> dict[str, int]:
    """Return places of every kind in a pack: each byte of a local header, of a directory entry and
    of the end, the first, a middle and the last byte of each file, the comment, and random ones.
    """
    places: dict[str, int] = {}
    with zipfile.ZipFile(BytesIO(data)) as pack:
        members = pack.infolist()
        first = members[0].header_offset
        places |= {f"local header +{at}": first + at for at in range(30 + len(members[0].filename))}
        for info in members:
            begin_ = info.header_offset + 30 + len(info.filename)
            size = info.compress_size
            name = info.filename[:12]
            places |= {f"{name} data +{at}": begin_ + at for at in (0, size // 2, size - 1)}
        places |= {f"directory +{at}": pack.start_dir + at for at in range(46 + len(members[0].filename))}
        places |= {f"end +{at}": len(data) - auditor.COMMENT - 22 + at for at in range(22)}
        places |= {f"comment +{at}": len(data) - auditor.COMMENT + at for at in range(0, auditor.COMMENT, 7)}
    return places | {f"anywhere {at}": draw.randrange(len(data)) for at in range(ANYWHERE)}


def _flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


async def _flip(at: Place, report: Report, data: bytes, draw: random.Random) -> int:
    places = _flips(data, draw)
    for name, where in places.items():
        changed = _flipped(data, where, draw.randrange(8))
        report.check(FLIPPED, bool(auditor.problems(changed)), f"not by the auditor: {name}")
    for name in draw.sample(sorted(places), STARTS):
        verdict = await _verified(at, _flipped(data, places[name], draw.randrange(8)))
        report.check(FLIPPED, verdict["exit"] == 1 and not verdict["ok"], f"not by the product: {name}")
    return len(places)


async def _checked(at: Place, report: Report, server: Server, packed: Row) -> bytes:
    """Check a pack in every way, and return it."""
    data = await _download(server, packed)
    wrong = auditor.problems(data)
    if hashlib.sha256(data).hexdigest() != packed["pack"]["hash"]:
        wrong.append("what was downloaded is not what was made")
    verdict = await _verified(at, data)
    if (verdict["exit"], verdict["ok"], verdict["link"]) != (0, True, packed["link"]):
        wrong.append(f"callboard verify: {verdict}")
    report.none(HOLDS, wrong)
    return data


async def _erase(at: Place, session: str, sequences: list[int], fault: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.prove.evidence.erasure", str(at.store), session, *map(str, sequences)),
        *(("--fault", fault) if fault == "keep-packs" else ()),
        cwd=ROOT,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0, "the facts could not be erased"


def _of_child(data: bytes, task: str, agent: str) -> list[str]:
    """Return what a pack of a child's task lacks of the child's work or ids."""
    manifest, lines = auditor.manifest_of(data), auditor.rows_of(data)
    chosen = {at for first, last in manifest["task"]["facts"] for at in range(first, last + 1)}
    theirs = [line for line in lines if line["ids"].get("agentId") == agent]
    problems = [
        f"fact {line['sequence']} is the child's and not chosen" for line in theirs if line["sequence"] not in chosen
    ]
    if (manifest["task"]["tasks"], manifest["task"]["agents"]) != ([task], [agent]):
        problems.append(f"it names {manifest['task']['tasks']} and {manifest['task']['agents']}")
    types = {line["type"] for line in theirs}
    problems += [f"the child's {type} is not there" for type in ("tool.completed", "tool.refused") if type not in types]
    return problems


async def _round(at: Place, report: Report, fault: str, draw: random.Random, number: int) -> tuple[float, int]:
    """Run one session. Return the seconds of an export and the number of changed bytes."""
    server = await started(at, fault)
    session = await _work(server)
    key = f"pack-{number}"
    early = await _killed(server, session, key, draw)
    report.progress(f"round {number}: killed {'before' if early is None else 'after'} the answer")
    server = await started(at, fault)
    try:
        began = time.monotonic()
        whole = await _export(server, session, key)
        took = time.monotonic() - began
        again = await _export(server, session, key)
        report.check(ONCE, whole == again and early in (None, whole), f"{early} {whole} {again}")
        data = await _checked(at, report, server, whole)
        spawned = next(line for line in auditor.rows_of(data) if line["type"] == "subagent.spawned")["ids"]
        of_task = await _export(server, session, f"{key}-task", spawned["taskId"])
        theirs = await _checked(at, report, server, of_task)
        report.none(TASK, _of_child(theirs, spawned["taskId"], spawned["agentId"]))
    finally:
        await server.stop()
    rows = _rows(at.store, session)
    for packed, pack in ((whole, data), (of_task, theirs)):
        report.none(LOG, _unlike(pack, rows, packed["sequence"] - 1))
    payloads = [json.loads(row[4] or b"{}") for row in rows]
    pack_hashes = [payload["pack"]["hash"] for payload in payloads if "pack" in payload]
    report.check(ONCE, pack_hashes.count(whole["pack"]["hash"]) == 1, f"{pack_hashes}")
    fact = next(line for line in _facts_of(at, session) if line.get("pack") == of_task["pack"]["hash"])
    report.check(TASK, (fact["g"], fact["w"]) == (spawned["agentId"], spawned["taskId"]), f"{fact}")

    secret = [row[0] for row in rows if SECRET.encode() in (row[4] or b"")]
    await _erase(at, session, secret, fault)
    server = await started(at, fault)
    try:
        report.check(ONCE, await _export(server, session, key) == whole, "the answer is another after an erasure")
        for packed in (whole, of_task):
            report.check(ERASED, not await _is_kept(server, packed), "an earlier pack is still there")
        later = await _export(server, session, f"{key}-later")
        pack = await _checked(at, report, server, later)
        with zipfile.ZipFile(BytesIO(pack)) as opened:
            inside = b"".join(opened.read(name) for name in opened.namelist())
        report.check(ERASED, bool(secret) and SECRET.encode() not in inside, f"{len(secret)} facts had it")
        changed = await _flip(at, report, pack, draw)
        await do(server, "delete_session", sessionId=session, confirm=session)
        report.check(DELETED, not await _is_kept(server, later), "it is still there")
    finally:
        await server.stop()
    return took, changed


def _facts_of(at: Place, session: str) -> list[Row]:
    """Return the exports of a session on disk: the ids of each, by their short names, and its pack."""
    return [
        {**fact.scope, "pack": fact.payload["pack"]["hash"]}
        for fact in store.read(at.store, session).facts[session]
        if fact.type == "evidence.exported"
    ]


async def prove(n: int, sabotage: str, seed: int) -> int:
    report = Report("prove-evidence")
    draw = random.Random(seed)
    took: list[float] = []
    changed = 0
    for number in range(1, n + 1):
        with place() as at:
            _play(at)
            seconds, flips = await _round(at, report, sabotage, draw, number)
            took.append(seconds)
            changed += flips
            report.progress(f"round {number} of {n}")
    report.figure("exports", f"{n} sessions, {quantiles(took)} for the first pack of each after a kill")
    report.figure("changed bytes", changed)
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=2, help_n="sessions").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=60 + 60 * options.n)


if __name__ == "__main__":
    sys.exit(main())
