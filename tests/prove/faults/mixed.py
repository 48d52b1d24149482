"""The run that faults hit: turns with tools and approvals, an attached upload, a long answer, and a
job.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.prove.driver import crew, scenes
from tests.prove.driver.product import Place, Server
from tests.prove.driver.wire import API, Answer, Gone

#: Longest wait of the run, in seconds.
MAX_SECONDS = 20.0
_ITEMS = ("alpha", "beta")


@dataclass(frozen=True)
class Acknowledged:
    """Something that the product acknowledged.

    `count` is the number of operations on its files by then.
    """

    count: int
    claim: str
    stream: str = ""
    sequence: int = 0
    type: str = ""
    key: str = ""
    upload: str = ""
    digest: str = ""


@dataclass
class Client:
    """The person of the run. A problem in an answer is recorded, and the run continues."""

    server: Server
    count: Callable[[], int]
    acknowledged: list[Acknowledged] = field(default_factory=list[Acknowledged])
    problems: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    followed: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    facts: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    number: int = 0

    async def send(self, command: str, **body: Any) -> dict[str, Any] | None:
        """Send a command. Return its answer; None if it was refused or no answer arrived."""
        self.number += 1
        key = f"{command}-{self.number}"
        try:
            async with asyncio.timeout(MAX_SECONDS):
                answer = await self.server.wire.post(command, body, key)
        except Gone:
            return None
        except TimeoutError:
            self.problems.append({"code": "no answer", "command": command})
            return None
        if answer.status != 200:
            self.problems.append({**answer.body, "status": answer.status, "command": command})
            return None
        stream = answer.body.get("sessionId", "")
        acknowledged = Acknowledged(
            self.count(), f"{command} answered", stream, answer.body.get("sequence", 0), key=key
        )
        self.acknowledged.append(acknowledged)
        return answer.body

    async def upload(self, name: str, data: bytes) -> str:
        """Send a file. Return its id; empty if it was refused."""
        try:
            answer = await upload(self.server, name, data)
        except Gone:
            return ""
        if answer.status != 200:
            self.problems.append({**answer.body, "status": answer.status, "command": "upload"})
            return ""
        upload_id = answer.body["upload"]
        digest = hashlib.sha256(data).hexdigest()
        self.acknowledged.append(Acknowledged(self.count(), "upload answered", upload=upload_id, digest=digest))
        return upload_id

    def follow(self, session: str) -> None:
        """Record each fact that the product shows of a session, and approve its requests."""
        if session and session not in self.followed:
            self.facts[session] = []
            self.followed[session] = asyncio.create_task(self._follow(session))

    async def until(self, session: str, condition: Callable[[list[dict[str, Any]]], bool], longest: float) -> bool:
        """Wait until the shown facts of a session fulfil the condition. Return whether they do."""
        end = asyncio.get_running_loop().time() + longest
        while not condition(self.facts.get(session, [])):
            task = self.followed.get(session)
            if task is None or task.done() or asyncio.get_running_loop().time() > end:
                return condition(self.facts.get(session, []))
            await asyncio.sleep(0.01)
        return True

    async def close(self) -> None:
        """Stop following."""
        for task in self.followed.values():
            task.cancel()
        await asyncio.gather(*self.followed.values(), return_exceptions=True)

    async def _follow(self, session: str) -> None:
        approving: set[asyncio.Task[Any]] = set()
        try:
            async for event in self.server.wire.events(f"/sessions/{session}/facts"):
                fact = event.data
                self.facts[session].append(fact)
                self.acknowledged.append(
                    Acknowledged(self.count(), "a fact was shown", session, fact["sequence"], fact["type"])
                )
                if fact["type"] == "action.required":
                    answer = {"sessionId": session, "actionId": fact["actionId"], "decision": "approve"}
                    approving.add(asyncio.create_task(self.send("respond_action", **answer)))
        except (Gone, AssertionError):
            pass
        finally:
            for action in approving:
                action.cancel()


def prepare(at: Place) -> None:
    """Write the agents and their model's answers."""
    crew.lead(at)
    crew.worker(at)
    long = scenes.prose(30_000, "long")
    crew.plays(
        at,
        [
            (
                "lead",
                "first",
                [[_writes("first.md")], [_runs("first")], [scenes.says(scenes.prose(12_000, "w"), chunk=400)]],
            ),
            ("lead", "second", [[_runs("second")], [scenes.says("Done.")]]),
            ("lead", "long", [[scenes.says(long, chunk=600, delay_ms=2)]]),
            *(("worker", item, [[_writes(f"{item}.md")], [scenes.says(f"{item} is done.")]]) for item in _ITEMS),
            ("lead", "", [[scenes.says("Hello.")]]),
        ],
    )


async def run(client: Client, longest: float = MAX_SECONDS) -> None:
    """Run everything that the product permits. Each wait has at most `longest` seconds."""
    file = await client.upload("notes.txt", b"notes of the run\n" * 3000)
    attached = {"attachments": [{"upload": file}]} if file else {}
    workspace = client.server.workspace
    first = await client.send("submit_turn", workspaceId=workspace, text="first", **attached)
    second = await client.send("submit_turn", workspaceId=workspace, text="long", permissionMode="full")
    for begun in (first, second):
        client.follow((begun or {}).get("sessionId", ""))
    if second is not None:
        await client.send("submit_turn", sessionId=second["sessionId"], text="second")
    items = [{"input": item} for item in _ITEMS]
    job = await client.send(
        "create_job", workspaceId=workspace, title="All", items=items, agent="worker", permissionMode="full"
    )
    if job is not None:
        client.follow(job["sessionId"])
        await client.until(job["sessionId"], lambda facts: _ended(facts, ("task.completed", "task.failed"), 3), longest)
    for begun, turns in ((first, 1), (second, 2)):
        if begun is not None:
            ends = ("turn.completed", "turn.failed", "turn.interrupted")
            await client.until(begun["sessionId"], lambda facts, n=turns, e=ends: _ended(facts, e, n), longest)


async def upload(server: Server, name: str, data: bytes) -> Answer:
    """Send a file as it is.

    Raises:
        Gone: No answer arrived.
    """
    # The body is the bytes of the file, unlike in every other request of the proofs.
    ask: Any = server.wire._ask
    return await ask("POST", f"{API}/uploads?name={quote(name)}", data)


def _ended(facts: list[dict[str, Any]], types: tuple[str, ...], times: int) -> bool:
    return sum(fact["type"] in types for fact in facts) >= times


def _writes(path: str) -> scenes.Part:
    return scenes.calls("Write", file_path=path, content=f"# {path}\n")


def _runs(name: str) -> scenes.Part:
    return scenes.calls("Bash", command=f"echo {name}")
