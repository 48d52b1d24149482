"""`up`: the workbench on a folder, from start to stop, told as milestones."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

import msgspec

from callboard import __version__
from callboard.contracts.commands import ListSessions, OpenWorkspace, SessionList, WorkspaceIsOpen
from callboard.contracts.commands.trust import GetTrust, TrustRead
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import PERSON
from callboard.contracts.settings import Settings

from .endpoint import Endpoint, unused
from .home import Home
from .hosting import Hosted, find_or_open, hosted

#: How long stopping may take before it is forced, in seconds.
LONGEST_STOP_S = 8.0
#: The exit code of a process that was ended by Ctrl-C.
ENDED_BY_PERSON = 130


class Milestone(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="event", tag=str.lower):
    """A point that the process reached."""


class Starting(Milestone, frozen=True, kw_only=True):
    version: str
    folder: str


class Ready(Milestone, frozen=True, kw_only=True):
    """The folder is open. `link` opens the page with the token, `running` says that another process had been serving;
    `unused_models` are those that are set here and that it does not ask. `untrusted` counts what the folder's own files ask for
    and nobody let them."""

    link: str
    url: str
    pid: int
    epoch: int
    version: str
    home: str
    folder: str
    workspace_id: str
    running: bool
    stays: bool
    model: str
    unused_models: tuple[str, ...] = ()
    untrusted: int = 0


class Stopping(Milestone, frozen=True, kw_only=True):
    """A signal came. `working` counts the sessions that were at work."""

    signal: str
    working: int


class Stopped(Milestone, frozen=True, kw_only=True):
    """All is closed. `sessions` counts those that are kept in `store`."""

    sessions: int
    store: str


class Forced(Milestone, frozen=True, kw_only=True):
    """The process ends at once: a second signal came, or stopping took too long."""

    store: str


Milestones = Starting | Ready | Stopping | Stopped | Forced
Tell = Callable[[Milestones], None]


async def up(
    home: Home,
    settings: Settings,
    environment: Mapping[str, str],
    folder: Path,
    tell: Tell,
    unusable: Refusal | None = None,
) -> None:
    """Serves the folder until a signal comes; where another process serves already, opens the folder there and returns.
    `unusable` is why the file of settings cannot be used: nothing is served with the rest of them.

    Raises Refusal, `no_folder` included.
    """
    tell(Starting(version=__version__, folder=str(folder)))
    with asked_to_stop(home, tell) as stop:
        found = await find_or_open(home)
        if isinstance(found, Endpoint):
            tell(await _join(found, home, folder, unused(found, settings.models, environment)))
            return
        if unusable is not None:
            await found.close()
            raise unusable
        async with hosted(found, home, settings, environment, stays=True) as host:
            tell(await _open(host, home, folder))
            name = await stop
            sessions = await _sessions(host)
            working = sessions.count("running")
            tell(Stopping(signal=name, working=working))
        tell(Stopped(sessions=len(sessions), store=str(home.store)))


async def _join(endpoint: Endpoint, home: Home, folder: Path, models: tuple[str, ...]) -> Ready:
    from .client import Client

    async with Client(endpoint) as client:
        opened: WorkspaceIsOpen = await client.submit(OpenWorkspace(path=str(folder)))
        trust: TrustRead = await client.submit(GetTrust(workspace_id=opened.workspace_id))
    ready = _ready(endpoint, home, opened, running=True)
    return msgspec.structs.replace(ready, unused_models=models, untrusted=not_held(trust))


async def _open(host: Hosted, home: Home, folder: Path) -> Ready:
    opened: WorkspaceIsOpen = await host.commands.submit(OpenWorkspace(path=str(folder)), actor=PERSON)
    trust: TrustRead = await host.commands.submit(GetTrust(workspace_id=opened.workspace_id), actor=PERSON)
    return msgspec.structs.replace(_ready(host.endpoint, home, opened, running=False), untrusted=not_held(trust))


def not_held(trust: TrustRead) -> int:
    """How much a folder's own files ask for that nobody let them."""
    return len(trust.widenings) if trust.state in ("untrusted", "changed") else 0


def _ready(endpoint: Endpoint, home: Home, opened: WorkspaceIsOpen, *, running: bool) -> Ready:
    return Ready(
        link=f"{endpoint.link}#/w/{opened.workspace_id}",
        url=endpoint.url,
        pid=endpoint.pid,
        epoch=endpoint.epoch,
        version=endpoint.version,
        home=str(home.folder),
        folder=opened.path,
        workspace_id=opened.workspace_id,
        running=running,
        stays=endpoint.stays,
        model=endpoint.model,
    )


async def _sessions(host: Hosted) -> tuple[str, ...]:
    listed: SessionList = await host.commands.submit(ListSessions(), actor=PERSON)
    return tuple(card.state for card in listed.sessions)


@contextlib.contextmanager
def asked_to_stop(home: Home, tell: Tell) -> Generator[asyncio.Future[str]]:
    """The name of the first signal that asks to stop, once it came. A second one, or a stop that lasts, ends the process."""
    loop = asyncio.get_running_loop()
    first: asyncio.Future[str] = loop.create_future()
    timers: list[asyncio.TimerHandle] = []

    def force(code: int) -> None:
        tell(Forced(store=str(home.store)))
        os._exit(code)

    def come(name: str) -> None:
        if first.done():
            force(ENDED_BY_PERSON)
            return
        first.set_result(name)
        timers.append(loop.call_later(LONGEST_STOP_S, force, 1))

    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        wanted.append(signal.SIGHUP)
    for one in wanted:
        loop.add_signal_handler(one, come, one.name)
    try:
        yield first
    finally:
        for one in wanted:
            loop.remove_signal_handler(one)
        for timer in timers:
            timer.cancel()
