"""`up`: the workbench on a folder, from start to stop, told as milestones."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Generator, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from callboard import __version__
from callboard.client.endpoint import Endpoint
from callboard.contracts.commands import ListSessions, OpenWorkspace, SessionList, WorkspaceIsOpen
from callboard.contracts.commands.trust import GetTrust, TrustRead
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import PERSON
from callboard.contracts.settings import Settings

from ..folder_use import FolderUse, find_others
from ..state_folder import StateFolder
from .announcement import find_unused_models
from .host import HostedRuntime, find_or_open, host_runtime

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
    """The folder is open. `link` opens the page once, within `link_expires_s` seconds, and `opener` is a file that redirects to
    it; `running` says that another process had been serving;
    `unused_models` are those that are set here and that it does not ask. `untrusted` counts what the folder's own files ask for
    and nobody let them. `also_served_by` are the processes that serve the folder with another state folder."""

    link: str
    link_expires_s: int
    opener: str
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
    also_served_by: tuple[FolderUse, ...] = ()


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


class _Page(Protocol):
    """An address that opens the page, as this process or another one issued it."""

    @property
    def link(self) -> str: ...
    @property
    def opener(self) -> str: ...
    @property
    def expires_in_s(self) -> int: ...


Milestones = Starting | Ready | Stopping | Stopped | Forced
MilestoneHandler = Callable[[Milestones], None]
#: Opens a folder with a command of its own. It may ask a person before it does.
FolderOpener = Callable[[Callable[[OpenWorkspace], Awaitable[WorkspaceIsOpen]]], Awaitable[WorkspaceIsOpen]]


async def serve_folder(
    home: StateFolder,
    settings: Settings,
    environment: Mapping[str, str],
    folder: Path,
    tell: MilestoneHandler,
    unusable: Refusal | None = None,
    opens: FolderOpener | None = None,
) -> None:
    """Serves the folder until a signal comes; where another process serves already, opens the folder there and returns.
    `unusable` is why the file of settings cannot be used: nothing is served with the rest of them. `opens` opens the folder; a
    signal ends it.

    Raises Refusal, `no_folder` and `folder_too_broad` included.
    """
    opens = opens or (lambda submit: submit(OpenWorkspace(path=str(folder))))
    tell(Starting(version=__version__, folder=str(folder)))
    with stop_signal(home, tell) as stop:
        found = await find_or_open(home)
        if isinstance(found, Endpoint):
            ready = await _join(found, home, opens, find_unused_models(found, settings.models, environment))
            tell(_shared(ready, home, environment))
            return
        if unusable is not None:
            await found.close()
            raise unusable
        async with host_runtime(found, home, settings, environment, stays=True) as host:
            opening = asyncio.ensure_future(_open(host, home, opens))
            try:
                await asyncio.wait((opening, stop), return_when=asyncio.FIRST_COMPLETED)
                if opening.done():
                    tell(_shared(opening.result(), home, environment))
            finally:
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
            name = await stop
            sessions = await _sessions(host)
            working = sessions.count("running")
            tell(Stopping(signal=name, working=working))
        tell(Stopped(sessions=len(sessions), store=str(home.store)))


async def _join(endpoint: Endpoint, home: StateFolder, opens: FolderOpener, models: tuple[str, ...]) -> Ready:
    from callboard.client.client import Client

    async with Client(endpoint) as client:
        opened = await opens(client.submit)
        trust: TrustRead = await client.submit(GetTrust(workspace_id=opened.workspace_id))
        page = await client.create_page_link(f"/w/{opened.workspace_id}")
    ready = _ready(endpoint, home, opened, page, running=True)
    return msgspec.structs.replace(ready, unused_models=models, untrusted=count_untrusted(trust))


async def _open(host: HostedRuntime, home: StateFolder, opens: FolderOpener) -> Ready:
    opened = await opens(lambda command: host.commands.submit(command, actor=PERSON))
    trust: TrustRead = await host.commands.submit(GetTrust(workspace_id=opened.workspace_id), actor=PERSON)
    page = host.page_link(f"/w/{opened.workspace_id}")
    return msgspec.structs.replace(
        _ready(host.endpoint, home, opened, page, running=False), untrusted=count_untrusted(trust)
    )


def _shared(ready: Ready, home: StateFolder, environment: Mapping[str, str]) -> Ready:
    """Add who else serves the folder, without the other folders of those processes."""
    others = find_others(ready.folder, home.folder, environment)
    also = tuple(msgspec.structs.replace(one, folders=(ready.folder,)) for one in others)
    return msgspec.structs.replace(ready, also_served_by=also)


def count_untrusted(trust: TrustRead) -> int:
    """How much a folder's own files ask for that nobody let them."""
    return len(trust.widenings) if trust.state in ("untrusted", "changed") else 0


def _ready(endpoint: Endpoint, home: StateFolder, opened: WorkspaceIsOpen, page: _Page, *, running: bool) -> Ready:
    return Ready(
        link=page.link,
        link_expires_s=page.expires_in_s,
        opener=page.opener,
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


async def _sessions(host: HostedRuntime) -> tuple[str, ...]:
    listed: SessionList = await host.commands.submit(ListSessions(), actor=PERSON)
    return tuple(card.state for card in listed.sessions)


@contextlib.contextmanager
def stop_signal(home: StateFolder, tell: MilestoneHandler) -> Generator[asyncio.Future[str]]:
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
