"""A runtime on real parts: SQLite, the live feed, the real tools in a real folder, and a scenario in place of the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands import GetParts, GetThreadRead, OpenWorkspace, SubmitTurn, ThreadRead, TurnAccepted
from callboard.contracts.commands.base import Command
from callboard.contracts.live import Cursor, Partial
from callboard.contracts.ports.agents import Definition, Definitions, Roster
from callboard.contracts.ports.external import ExternalAgents, RemoteAgents
from callboard.contracts.ports.past import PastSessions
from callboard.contracts.ports.settings import SettingsBook
from callboard.contracts.record import Record
from callboard.contracts.rows import AnyPart, AnyRow, AppendText, Remove, Upsert
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

#: How long a test waits for something that must come, in seconds.
PATIENCE = 30.0


class House:
    """A running runtime with one workspace, and what tests ask of it."""

    def __init__(self, runtime: Runtime, workspace: str, folder: Path) -> None:
        self.runtime = runtime
        self.workspace = workspace
        self.folder = folder

    async def do(self, command: Command, key: str = "") -> Any:
        """The answer of a command of the person's."""
        return await self.runtime.commands.submit(command, key=key, actor=PERSON)

    async def submit(self, text: str, session: str | None = None, **more: Any) -> TurnAccepted:
        """A turn, in a new session where none is named."""
        workspace = None if session else self.workspace
        return await self.do(SubmitTurn(text=text, session_id=session, workspace_id=workspace, **more))

    async def facts(self, session: str) -> tuple[Record, ...]:
        """All facts of a session."""
        return await self.runtime.dependencies.store.facts.read(session, limit=100_000)

    async def types(self, session: str) -> list[str]:
        """The types of a session's facts, in order."""
        return [record.header.type for record in await self.facts(session)]

    async def until(self, session: str, type: str, count: int = 1, after: int = 0) -> Record:
        """Waits for the nth fact of a type."""
        async with asyncio.timeout(PATIENCE):
            async for records in self.runtime.dependencies.store.facts.subscribe(session, after=after):
                for record in records:
                    if record.header.type == type:
                        count -= 1
                        if count == 0:
                            return record
        raise AssertionError(f"{session} ended without {type}")

    async def kept(self, session: str, text: str) -> None:
        """Waits until the store keeps this text as a partial."""
        partials = self.runtime.dependencies.store.partials
        await self._soon(lambda: _holds(partials.read(session), text))

    async def exists(self, name: str) -> None:
        """Waits for a file of the folder."""

        async def there() -> bool:
            return (self.folder / name).exists()

        await self._soon(there)

    async def gone(self, session: str) -> None:
        """Waits until nothing of the session is left in the log."""

        async def empty() -> bool:
            return (await self.runtime.dependencies.store.facts.head(session)).sequence == 0

        await self._soon(empty)

    async def swept(self) -> None:
        """Waits until the runtime holds no session any more."""

        async def none() -> bool:
            await self.runtime.sessions.sweep()
            return self.runtime.sessions.open_sessions() == []

        await self._soon(none)

    async def _soon(self, true: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await true():  # noqa: ASYNC110 - what is waited for is in the store or the folder
                await asyncio.sleep(0)

    async def read(self, session: str) -> ThreadRead:
        """The lead thread as it is after all its facts."""
        head = await self.runtime.dependencies.store.facts.head(session)
        return await self.do(GetThreadRead(session_id=session, wait_for=head.sequence))

    async def parts(self, session: str, turn: str) -> tuple[AnyPart, ...]:
        """The parts of a turn."""
        await self.read(session)
        return (await self.do(GetParts(session_id=session, turn_id=turn))).parts

    async def watch(self, session: str, seen: Callable[[Table], bool], after: Cursor | None = None) -> Table:
        """Follows the session as a client does, until what it shows is as asked."""
        table = Table()
        async with asyncio.timeout(PATIENCE):
            async for chunk in self.runtime.feeds.ops(session, after=after):
                for kind, ops in events(chunk):
                    if kind == "snapshot":
                        table = Table()
                    table.apply(ops)
                if seen(table):
                    return table
        raise AssertionError("the stream ended")


class Changing(FolderDefinitions):
    """The port `Definitions` with one agent, which a test changes as a person changes its file."""

    def __init__(self, **differs: Any) -> None:
        super().__init__()
        self.now = msgspec.structs.replace(FolderDefinitions().lead(""), **differs)

    def change(self, **differs: Any) -> None:
        """The agent is another from now on."""
        self.now = msgspec.structs.replace(self.now, **differs)

    def roster(self, folder: str) -> Roster:
        return msgspec.structs.replace(super().roster(folder), definitions=(self.now,), hash=self.now.hash)

    def lead(self, folder: str) -> Definition:
        return self.now

    def get(self, folder: str, name: str) -> Definition:
        return self.now


async def _holds(partials: Awaitable[tuple[Partial, ...]], text: str) -> bool:
    return any(partial.text == text for partial in await partials)


class MovedClock(Clock):
    """The machine's clock, which a test moves on."""

    def __init__(self) -> None:
        self._moved = 0

    def move(self, seconds: float) -> None:
        """So many seconds pass at once."""
        self._moved += int(seconds * 1_000_000)

    def now(self) -> int:
        return super().now() + self._moved


def events(chunk: bytes) -> list[tuple[str, list[Upsert | Remove | AppendText]]]:
    """The server-sent events of a chunk, decoded as a client would."""
    found: list[tuple[str, list[Upsert | Remove | AppendText]]] = []
    for event in chunk.decode().strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in event.split("\n"))
        found.append((fields["event"], [_op(raw) for raw in msgspec.json.decode(fields["data"])["ops"]]))
    return found


def _op(raw: dict[str, Any]) -> Upsert | Remove | AppendText:
    if raw["op"] == "upsert":
        return Upsert(raw["panel"], msgspec.convert(raw["row"], AnyRow))
    kind = Remove if raw["op"] == "remove" else AppendText
    return msgspec.convert(raw, kind)


def calls(*played: list[dict[str, Any]]) -> dict[str, Any]:
    """A scenario that plays these calls, one after the other."""
    return {"calls": list(played)}


def says(text: str) -> list[dict[str, Any]]:
    """A call that answers with a text."""
    return [{"text": text}]


def uses(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """A call that asks for a tool."""
    return [{"tool": {"name": tool, "arguments": arguments}}]


def parts_in(
    place: Path,
    scenario: dict[str, Any],
    definitions: Definitions | None = None,
    external: ExternalAgents | None = None,
    remotes: RemoteAgents | None = None,
    clock: Clock | None = None,
    settings: SettingsBook | None = None,
    models: ConfiguredModels | None = None,
    secrets: Redaction | None = None,
    past_sessions: PastSessions | None = None,
    **limits: Any,
) -> Dependencies:
    """What a runtime in `place` is built from. It opens the store, which its runtime closes."""
    (place / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    store = open_store(place / "state")
    secrets = secrets or Redaction()
    played = ProviderSettings(name="scripted", kind="scripted", scenario=str(place / "scenario.yaml"))
    return Dependencies(
        store=store,
        feed=InProcessLiveFeed(store.facts.head),
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
async def house(
    place: Path,
    scenario: dict[str, Any],
    definitions: Definitions | None = None,
    external: ExternalAgents | None = None,
    remotes: RemoteAgents | None = None,
    **more: Any,
) -> AsyncIterator[House]:
    """A runtime in `place`: its store in `state`, its folder in `work`. Entering it again opens the same store. `more` is as
    in `parts_in`."""
    folder = place / "work"
    folder.mkdir(exist_ok=True)
    async with Runtime(parts_in(place, scenario, definitions, external, remotes, **more)) as runtime:
        opened = await runtime.commands.submit(OpenWorkspace(path=str(folder)), actor=PERSON)
        yield House(runtime, opened.workspace_id, folder)
