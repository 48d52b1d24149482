"""A runtime with real parts: SQLite, the live feed, real tools in a real folder, and a scenario as
its model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands.base import Command
from callboard.contracts.commands.session import GetParts, GetThreadRead, OpenWorkspace, ThreadRead
from callboard.contracts.commands.turn import SubmitTurn, TurnAccepted
from callboard.contracts.live import Cursor, Partial
from callboard.contracts.ports.agents import Definition, Definitions, Roster
from callboard.contracts.ports.external import ExternalAgents, RemoteAgents
from callboard.contracts.ports.past import PastSessions
from callboard.contracts.ports.settings import SettingsStore
from callboard.contracts.record import Record
from callboard.contracts.rows import AnyPart, AnyRow
from callboard.contracts.rows.base import AppendText, Remove, Upsert
from callboard.contracts.scope import PERSON
from callboard.log.live import InProcessLiveFeed
from callboard.log.sqlite.store import open_store
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from callboard.projection.rows import Table
from callboard.runtime.clock import Clock, UuidIds
from callboard.runtime.dependencies import Dependencies, Limits
from callboard.runtime.runtime import Runtime
from callboard.runtime.workspaces.uploads import UploadFolder
from callboard.secrets.redaction import Redaction
from callboard.tools.shell.folder_shells import FolderShells
from callboard.tools.toolbox import FolderToolbox

#: Longest wait for an expected event, in seconds.
PATIENCE = 30.0


class RuntimeRig:
    """A running runtime with one workspace, and helpers for tests."""

    def __init__(self, runtime: Runtime, workspace: str, folder: Path) -> None:
        self.runtime = runtime
        self.workspace = workspace
        self.folder = folder

    async def do(self, command: Command, key: str = "") -> Any:
        """Run a command of the person and return its answer."""
        return await self.runtime.commands.submit(command, key=key, actor=PERSON)

    async def submit(self, text: str, session: str | None = None, **more: Any) -> TurnAccepted:
        """Submit a turn, in a new session by default."""
        workspace = None if session else self.workspace
        return await self.do(SubmitTurn(text=text, session_id=session, workspace_id=workspace, **more))

    async def facts(self, session: str) -> tuple[Record, ...]:
        """Return all facts of a session."""
        return await self.runtime.dependencies.store.facts.read(session, limit=100_000)

    async def types(self, session: str) -> list[str]:
        """Return the types of a session's facts, in order."""
        return [record.header.type for record in await self.facts(session)]

    async def until(self, session: str, type: str, count: int = 1, after: int = 0) -> Record:
        """Wait for the nth fact of a type."""
        async with asyncio.timeout(PATIENCE):
            async for records in self.runtime.dependencies.store.facts.subscribe(session, after=after):
                for record in records:
                    if record.header.type == type:
                        count -= 1
                        if count == 0:
                            return record
        raise AssertionError(f"{session} ended without {type}")

    async def wait_partial(self, session: str, text: str) -> None:
        """Wait until the store has this text as a partial."""
        partials = self.runtime.dependencies.store.partials
        await self.wait_until(lambda: _has_partial(partials.read(session), text))

    async def wait_file(self, name: str) -> None:
        """Wait for a file of the folder."""

        async def there() -> bool:
            return (self.folder / name).exists()

        await self.wait_until(there)

    async def wait_deleted(self, session: str) -> None:
        """Wait until the log has nothing of the session."""

        async def empty() -> bool:
            return (await self.runtime.dependencies.store.facts.read_head(session)).sequence == 0

        await self.wait_until(empty)

    async def wait_closed(self) -> None:
        """Wait until the runtime has no open session."""

        async def none() -> bool:
            await self.runtime.sessions.sweep()
            return self.runtime.sessions.open_sessions() == []

        await self.wait_until(none)

    async def wait_until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await condition():  # noqa: ASYNC110 - the store and the folder have no event for it
                await asyncio.sleep(0)

    async def read(self, session: str) -> ThreadRead:
        """Return the lead thread after all its facts."""
        head = await self.runtime.dependencies.store.facts.read_head(session)
        return await self.do(GetThreadRead(session_id=session, wait_for=head.sequence))

    async def parts(self, session: str, turn: str) -> tuple[AnyPart, ...]:
        """Return the parts of a turn."""
        await self.read(session)
        return (await self.do(GetParts(session_id=session, turn_id=turn))).parts

    async def watch(self, session: str, condition: Callable[[Table], bool], after: Cursor | None = None) -> Table:
        """Follow the session like a client until its rows satisfy a condition."""
        table = Table()
        async with asyncio.timeout(PATIENCE):
            async for chunk in self.runtime.feeds.follow_ops(session, after=after):
                for kind, ops in events(chunk):
                    if kind == "snapshot":
                        table = Table()
                    table.apply(ops)
                if condition(table):
                    return table
        raise AssertionError("the stream ended")


class ChangingDefinitions(FolderDefinitions):
    """Implements the port `Definitions` with one agent that a test can change."""

    def __init__(self, **differs: Any) -> None:
        super().__init__()
        self.now = msgspec.structs.replace(FolderDefinitions().find_lead(""), **differs)

    def change(self, **differs: Any) -> None:
        """Replace the agent."""
        self.now = msgspec.structs.replace(self.now, **differs)

    def read_roster(self, folder: str) -> Roster:
        return msgspec.structs.replace(super().read_roster(folder), definitions=(self.now,), hash=self.now.hash)

    def find_lead(self, folder: str) -> Definition:
        return self.now

    def get(self, folder: str, name: str) -> Definition:
        return self.now


async def _has_partial(partials: Awaitable[tuple[Partial, ...]], text: str) -> bool:
    return any(partial.text == text for partial in await partials)


class MovableClock(Clock):
    """The machine's clock, which a test can advance."""

    def __init__(self) -> None:
        self._moved = 0

    def move(self, seconds: float) -> None:
        """Advance the clock by that many seconds."""
        self._moved += int(seconds * 1_000_000)

    def now(self) -> int:
        return super().now() + self._moved


def events(chunk: bytes) -> list[tuple[str, list[Upsert | Remove | AppendText]]]:
    """Decode the server-sent events of a chunk."""
    parsed: list[tuple[str, list[Upsert | Remove | AppendText]]] = []
    for event in chunk.decode().strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in event.split("\n"))
        parsed.append((fields["event"], [_op(raw) for raw in msgspec.json.decode(fields["data"])["ops"]]))
    return parsed


def _op(raw: dict[str, Any]) -> Upsert | Remove | AppendText:
    if raw["op"] == "upsert":
        return Upsert(raw["panel"], msgspec.convert(raw["row"], AnyRow))
    kind = Remove if raw["op"] == "remove" else AppendText
    return msgspec.convert(raw, kind)


def calls(*played: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a scenario that plays these calls in order."""
    return {"calls": list(played)}


def says(text: str) -> list[dict[str, Any]]:
    """Return a call that answers with text."""
    return [{"text": text}]


def use_tool(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """Return a call that requests a tool."""
    return [{"tool": {"name": tool, "arguments": arguments}}]


def build_dependencies(
    place: Path,
    scenario: dict[str, Any],
    definitions: Definitions | None = None,
    external: ExternalAgents | None = None,
    remotes: RemoteAgents | None = None,
    clock: Clock | None = None,
    settings: SettingsStore | None = None,
    models: ConfiguredModels | None = None,
    secrets: Redaction | None = None,
    past_sessions: PastSessions | None = None,
    **limits: Any,
) -> Dependencies:
    """Return the dependencies of a runtime in `place`. This opens the store; the runtime closes it."""
    (place / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    store = open_store(place / "state")
    secrets = secrets or Redaction()
    played = ProviderSettings(name="scripted", kind="scripted", scenario=str(place / "scenario.yaml"))
    return Dependencies(
        store=store,
        feed=InProcessLiveFeed(store.facts.read_head),
        models=models or ConfiguredModels(ModelSettings(providers=(played,))),
        toolbox=FolderToolbox(hidden=(str(place / "state"),)),
        shells=FolderShells(hidden=(str(place / "state"),)),
        definitions=definitions or FolderDefinitions(),
        closed_folders=(str(place / "state"),),
        external_agents=external,
        remote_agents=remotes,
        uploads=UploadFolder(place / "state" / "uploads", UuidIds(), (clock or Clock()).now, secrets.redact_stream),
        secrets=secrets,
        clock=clock or Clock(),
        settings=settings,
        past_sessions=past_sessions,
        limits=Limits(**{"write_behind": 0.01, **limits}),
    )


@asynccontextmanager
async def open_runtime(
    place: Path,
    scenario: dict[str, Any],
    definitions: Definitions | None = None,
    external: ExternalAgents | None = None,
    remotes: RemoteAgents | None = None,
    **more: Any,
) -> AsyncIterator[RuntimeRig]:
    """Yield a runtime in `place`, with its store in `state` and its folder in `work`.

    Entering it again opens the same store. `more` is as in `build_dependencies`.
    """
    folder = place / "work"
    folder.mkdir(exist_ok=True)
    async with Runtime(build_dependencies(place, scenario, definitions, external, remotes, **more)) as runtime:
        opened = await runtime.commands.submit(OpenWorkspace(path=str(folder)), actor=PERSON)
        yield RuntimeRig(runtime, opened.workspace_id, folder)
