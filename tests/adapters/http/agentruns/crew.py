"""A lead with workers behind the API of the Multi-agent runtime specification, and event clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from callboard.agents.folder import FolderDefinitions
from tests.adapters.http.rigs.server import SOON, Board, serving

Event = dict[str, Any]

AGENTS = {
    "lead.md": "---\nname: lead\ndescription: Leads.\nkind: main\nlead: true\ntools: ['*']\n"
    "policy: [Delegate, Patch]\n---\nYou lead.\n",
    "second.md": "---\nname: second\ndescription: Helps.\nkind: main\ntools: ['*']\npolicy: [Patch]\n---\nYou help.\n",
    "worker.md": "---\nname: worker\ndescription: Works.\nkind: subagent\ntools: [Read]\npolicy: []\n---\nYou work.\n",
}
#: `team` delegates to two workers, the second of which waits; `alone` streams; `hold` waits for the file `go`.
SCENARIO = """
name: crew
match:
  - text: team
    calls:
      - - tool: {name: spawn_subagent, arguments: {agent: worker, objective: quick look, title: Quick}}
      - - tool: {name: spawn_subagent, arguments: {agent: worker, objective: slow look, title: Slow}}
      - - tool: {name: wait_subagents, arguments: {}}
      - - text: Both are done.
  - text: quick
    calls: [[{text: "Quick is done."}]]
  - text: slow
    calls: [[{text: "Slow so far. "}, {wait_for: go}, {text: "Slow is done."}]]
  - text: hold
    calls: [[{text: "Half of it. "}, {wait_for: go}, {text: "The rest."}]]
  - text: write
    calls:
      - - reasoning: What is to be written?
        - tool: {name: Write, arguments: {file_path: notes.txt, content: "one\\ntwo\\n"}}
      - - text: Written.
  - text: alone
    calls: [[{repeat: {text: "word ", times: 60}, delay_ms: 2}]]
  - text: ""
    calls: [[{text: "The answer."}]]
"""


@asynccontextmanager
async def crew(folder: Path) -> AsyncGenerator[Board]:
    """Run a Callboard with a team in an open workspace."""
    agents = folder / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    for name, text in AGENTS.items():
        (agents / name).write_text(text)
    async with serving(folder, scenario=SCENARIO, definitions=FolderDefinitions()) as board:
        await board.workspace()
        yield board


def release(board: Board) -> None:
    """Release the waiting models."""
    (board.folder.with_name(f"{board.folder.name}-beside") / "go").touch()


async def send_read(board: Board, route: str, **params: Any) -> Any:
    """Send a read; return the answer."""
    answer = await board.http.get(route, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def send_write(board: Board, path: str, **fields: Any) -> Any:
    """Send a write; return the answer."""
    answer = await board.http.post(path, json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def check_refusal(answer: httpx2.Response, status: int) -> dict[str, Any]:
    """Return code and field of a refusal."""
    assert answer.status_code == status, answer.text
    return answer.json()


async def wait_for_fact(board: Board, session: str, type: str, count: int = 1) -> None:
    """Wait for the nth fact of a type."""
    async with asyncio.timeout(SOON):
        async for records in board.store.facts.subscribe(session):
            count -= sum(record.header.type == type for record in records)
            if count <= 0:
                return


async def read_events(
    client: httpx2.AsyncClient, done: Callable[[list[Event]], bool], after: int | None = None, *, header: bool = True
) -> list[Event]:
    """Return the events after a `seq` until the condition is true. Checks the envelope of each."""
    received: list[Event] = []
    headers = {"Last-Event-ID": str(after)} if after is not None and header else {}
    params = {"after": str(after)} if after is not None and not header else {}
    async with asyncio.timeout(SOON), client.stream("GET", "/api/events", headers=headers, params=params) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for event in httpx2.EventSource(answer, max_event_size=None):
            wrapped = json.loads(event.data)
            assert (event.id, event.event) == (str(wrapped["seq"]), wrapped["event"]["type"]), event.data
            received.append({"seq": wrapped["seq"], **wrapped["event"]})
            if done(received):
                break
    return received


def runs_ended(count: int) -> Callable[[list[Event]], bool]:
    """Return a condition: the given number of runs is idle."""
    return lambda events: (
        sum(event["type"] == "AgentStatus" and event["data"]["state"] == "idle" for event in events) >= count
    )


def texts(events: list[Event]) -> dict[str, str]:
    """Return each message as a client shows it: tokens at their offsets, replaced by the final message."""
    texts_by_key: dict[str, str] = {}
    for event in events:
        part = event.get("part_id", "")
        if event["type"] == "Token":
            before = texts_by_key.get(part, "")
            offset = event["data"]["offset"]
            assert offset <= len(before), f"a piece of {part} is missing before {offset}"
            texts_by_key[part] = before[:offset] + event["data"]["text"]
        elif event["type"] == "Message" and event["data"]["role"] == "assistant":
            texts_by_key[part] = event["data"]["text"]
    return texts_by_key
