"""Proof that malformed requests are refused by name and write nothing.

Thousands of authenticated requests derive from the OpenAPI document of a running process. A
twentieth is valid and succeeds. Each other one is a valid request with one error (`malformed`). Its
answer must be a refusal with a code that the document lists for its status, a message, and the
field if one is at fault; never a 500 or a stack trace. Between valid requests no row of the log
changes, nor the folder or the state folder.

    make prove-input N=10000
    make prove-input ARGS="--sabotage keep-refused"
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2

from tests.prove.driver import scenes, store
from tests.prove.driver.product import ROOT, Place, Server, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.driver.session_driver import over, submit
from tests.prove.input.malformed import Document, Malformed, MalformedRequest

_SHARE = 20
_ROUND = 250
_AT_ONCE = 8
_QUIET_S = 0.3
_ANSWER_S = 30.0
_PLANTED = str(ROOT / "tests" / "prove" / "input" / "planted.py")

REFUSED = "a malformed request is refused"
NAMED = "a refusal has a code of its status, a message and the field"
NO_DEFECT = "no answer is a defect or a stack trace"
WRITES_NOTHING = "what was refused wrote nothing"
VALID = "a valid request succeeds"


class Asking:
    """A client of one server that checks its answers."""

    def __init__(self, report: Report, server: Server, document: Document) -> None:
        self._report = report
        self._document = document
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._client = httpx2.AsyncClient(
            base_url=server.wire.url,
            headers={"authorization": f"Bearer {server.wire.token}"},
            timeout=_ANSWER_S,
            trust_env=False,
            http2=False,
        )
        self.kinds: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.paths: set[str] = set()

    async def close(self) -> None:
        await self._client.aclose()

    async def wrong(self, request: MalformedRequest) -> None:
        """Send a malformed request."""
        async with self._slots:
            status, body = await self._send(request)
        self.kinds[request.wrong] += 1
        self.paths.add(request.target.partition("?")[0])
        line = (
            f"{request.method} {request.target[:150]} ({request.wrong}) {request.body[:200]!r}: {status} {body[:300]!r}"
        )
        self._report.check(NO_DEFECT, status < 500 and b"Traceback" not in body, line)
        if not self._report.check(REFUSED, 400 <= status < 500, line):
            return
        try:
            problem: dict[str, Any] = json.loads(body)
        except ValueError:
            problem = {}
        code = str(problem.get("code", ""))
        self.codes[code] += 1
        holds = code in self._document.codes(status) and bool(problem.get("message"))
        if request.named and code == "invalid_input":
            holds = holds and bool(problem.get("field"))
        self._report.check(NAMED, holds, line)

    async def valid(self, command: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a valid command."""
        sent = await self._client.post(f"/api/v1/commands/{command}", json=body)
        self._report.check(VALID, sent.status_code == 200, f"{command} {body}: {sent.status_code} {sent.text[:300]}")
        return sent.json()

    async def query(self, query: str, **parameters: str) -> None:
        """Send a valid query."""
        sent = await self._client.get(f"/api/v1/queries/{query}", params=parameters)
        self._report.check(
            VALID, sent.status_code == 200, f"{query} {parameters}: {sent.status_code} {sent.text[:300]}"
        )

    async def _send(self, request: MalformedRequest) -> tuple[int, bytes]:
        headers = [(name.encode(), value.encode("latin-1")) for name, value in request.headers.items()]
        try:
            answer = await self._client.request(request.method, request.target, content=request.body, headers=headers)
        except httpx2.HTTPError as error:
            # The server may answer a too large body early, and close the connection.
            return (
                (413, b'{"code":"too_large","message":"cut"}')
                if request.wrong == "too large"
                else (599, repr(error).encode())
            )
        return answer.status_code, answer.content


async def prove(n: int, seed: int, sabotage: str) -> int:
    report = Report("prove-input")
    draw = random.Random(seed)
    with place() as at:
        at.play(scenes.scenario([("say hello", [[scenes.says("hello", chunk=5, delay_ms=0)]])]))
        planted = [sys.executable, _PLANTED, sabotage] if sabotage else []
        server = await Server.start(at, before=planted)
        try:
            await _prove(report, server, at, n, draw)
        finally:
            await server.stop()
        log = at.home / "callboard.log"
        report.check(
            NO_DEFECT, not log.exists() or "Traceback" not in log.read_text(), "callboard.log has a stack trace"
        )
        stored_log = store.read(at.store)
        report.none("the log holds afterwards", stored_log.broken)
    return report.end()


async def _prove(report: Report, server: Server, at: Place, n: int, draw: random.Random) -> None:
    session = await submit(server, "say hello")
    await over(server, session)
    read = (await server.wire.get(f"/queries/get_session?sessionId={session}")).body
    existing = {
        "workspaceId": server.workspace,
        "sessionId": session,
        "stream": session,
        "threadId": read["threads"][0]["threadId"],
        "agentId": read["threads"][0]["agentId"],
        "turnId": read["turns"][0]["turnId"],
        "path": str(at.folder),
        "digest": "0" * 64,
        "hash": "0" * 64,
        "matcher": "Edit(a)",
        "media": "text/plain",
    }
    strangers = (server.workspace, session, existing["threadId"], existing["turnId"])
    document = Document((await server.wire.get("/openapi.json")).body, existing, draw)
    malformed = Malformed(document, draw, strangers)
    asking = Asking(report, server, document)
    try:
        sent = 0
        while sent < n:
            count = min(_ROUND, n - sent)
            valid = max(1, count // _SHARE)
            await _valid(asking, server, session, valid, sent)
            before = await _quiet(server, session, at)
            await asyncio.gather(*(asking.wrong(malformed.draw_request()) for _ in range(count - valid)))
            after = _held(at)
            report.none(WRITES_NOTHING, [f"{name} changed" for name in after if after[name] != before.get(name)])
            report.check(WRITES_NOTHING, len(after) == len(before), f"{len(before)} files became {len(after)}")
            sent += count
            report.progress(f"{sent} requests")
    finally:
        await asking.close()
    report.figure("requests", f"{sum(asking.kinds.values())} malformed, {report.checked.get(VALID, 0)} valid")
    report.figure("operations", f"{len(asking.paths)} addresses of {len(document.operations)} operations")
    report.figure("wrong", ", ".join(f"{kind} {count}" for kind, count in asking.kinds.most_common()))
    report.figure("codes", ", ".join(f"{code} {count}" for code, count in asking.codes.most_common()))


async def _valid(asking: Asking, server: Server, session: str, count: int, seed: int) -> None:
    """Return valid requests, which write."""
    for number in range(count):
        match number % 6:
            case 0:
                await asking.valid("update_session", {"sessionId": session, "title": f"round {seed} {number}"})
            case 1:
                await asking.query("get_session", sessionId=session)
            case 2:
                body = {"workspaceId": server.workspace, "matcher": f"Edit(a{seed}-{number})", "verdict": "deny"}
                rule = await asking.valid("add_rule", body)
                await asking.valid("revoke_rule", {"workspaceId": server.workspace, "ruleId": rule.get("ruleId", "")})
            case 3:
                await asking.query("list_rules", workspaceId=server.workspace)
            case 4:
                call = {"tool": "Read", "arguments": '{"file_path":"a"}', "workspaceId": server.workspace}
                await asking.valid("evaluate_permission", call)
            case _:
                await asking.valid("submit_turn", {"sessionId": session, "text": "say hello"})


async def _quiet(server: Server, session: str, at: Place) -> dict[str, str]:
    """Return the stored state once nothing is running."""
    await over(server, session)
    held = _held(at)
    while True:
        await asyncio.sleep(_QUIET_S)
        now = _held(at)
        if now == held:
            return held
        held = now


def _held(at: Place) -> dict[str, str]:
    """Return the hash of every table of the log by row, and of every file beside the store that the
    product or an agent could write.

    The log's files are not compared by bytes: SQLite copies content between them at any time. Views
    derive from facts and may be rebuilt at any time.
    """
    files = [path for root in (at.home, at.folder) for path in sorted(root.rglob("*")) if path.is_file()]
    beside = {str(path): _hash(path) for path in files if at.store not in path.parents}
    return {**_tables(at.store / store.DATABASE), **beside}


def _tables(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as log:
        names = [name for (name,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: _rows(log, name) for name in names}


def _rows(log: sqlite3.Connection, table: str) -> str:
    rows = hashlib.sha256()
    for row in log.execute(f"SELECT * FROM {table}"):
        rows.update(repr(row).encode())
    return rows.hexdigest()


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""


def main() -> int:
    parser = arguments(__doc__, n=8_000, help_n="how many requests")
    options = parser.parse_args()
    return run(prove(options.n, options.seed, options.sabotage), longest=60 + options.n * 0.1)


if __name__ == "__main__":
    sys.exit(main())
