"""Serving of the workbench on a folder, with milestones from start to stop."""

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
from callboard.client import Endpoint
from callboard.contracts.commands.permission import GetTrust, TrustRead
from callboard.contracts.commands.session import ListSessions, OpenedWorkspace, OpenWorkspace, SessionList
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import PERSON
from callboard.contracts.settings import Settings

from ..folder_use import FolderUse, find_others
from ..state_folder import StateFolder
from .announcement import find_unused_models
from .host import HostedRuntime, find_or_open, host_runtime

#: Seconds before a stop is forced.
MAX_STOP_SECONDS = 8.0
#: Exit code after Ctrl-C.
ENDED_BY_PERSON = 130


def _build_tag(name: str) -> str:
    return name.removesuffix("Milestone").lower()


class Milestone(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="event", tag=_build_tag):
    """An event of the serving process."""


class StartingMilestone(Milestone, frozen=True, kw_only=True):
    """The process has started."""

    version: str
    folder: str


class ReadyMilestone(Milestone, frozen=True, kw_only=True):
    """The folder is open.

    Attributes:
        link: Address that opens the page once, within `link_expires_s` seconds.
        opener: File that redirects to the address.
        running: True if another process was already serving.
        unused_models: Models that are set here, but not in use by that process.
        untrusted: Number of permissions that the folder's own files request without trust.
        also_served_by: Processes that serve the folder with another state folder.
    """

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


class StoppingMilestone(Milestone, frozen=True, kw_only=True):
    """The process received a signal. `working` counts the running sessions."""

    signal: str
    working: int


class StoppedMilestone(Milestone, frozen=True, kw_only=True):
    """The process has stopped. `sessions` counts the sessions in `store`."""

    sessions: int
    store: str


class ForcedMilestone(Milestone, frozen=True, kw_only=True):
    """The process ends immediately, after a second signal or a stop that took too long."""

    store: str


class _Page(Protocol):
    """An address that opens the page, from this or another process."""

    @property
    def link(self) -> str: ...
    @property
    def opener(self) -> str: ...
    @property
    def expires_in_s(self) -> int: ...


Milestones = StartingMilestone | ReadyMilestone | StoppingMilestone | StoppedMilestone | ForcedMilestone
MilestoneHandler = Callable[[Milestones], None]
#: Opens a folder through the given submit function. It may ask a person first.
FolderOpener = Callable[[Callable[[OpenWorkspace], Awaitable[OpenedWorkspace]]], Awaitable[OpenedWorkspace]]


async def serve_folder(
    state_folder: StateFolder,
    settings: Settings,
    environment: Mapping[str, str],
    folder: Path,
    report: MilestoneHandler,
    invalid: Refusal | None = None,
    open_folder: FolderOpener | None = None,
) -> None:
    """Serve a folder until a signal; if another process is serving, open the folder there and return.

    Args:
        report: Receives each milestone.
        invalid: Why the settings file is invalid. This process then refuses to serve.
        open_folder: Opens the folder; a signal cancels it.
    Raises:
        Refusal: `invalid`, `no_folder`, `folder_too_broad`, or any refusal of the store.
    """
    open_folder = open_folder or (lambda submit: submit(OpenWorkspace(path=str(folder))))
    report(StartingMilestone(version=__version__, folder=str(folder)))
    with handle_stop_signals(state_folder, report) as stop:
        opened = await find_or_open(state_folder)
        if isinstance(opened, Endpoint):
            unused = find_unused_models(opened, settings.models, environment)
            ready = await _open_remote(opened, state_folder, open_folder, unused)
            report(_add_others(ready, state_folder, environment))
            return
        if invalid is not None:
            await opened.close()
            raise invalid
        async with host_runtime(opened, state_folder, settings, environment, stays=True) as host:
            opening = asyncio.ensure_future(_open(host, state_folder, open_folder))
            try:
                await asyncio.wait((opening, stop), return_when=asyncio.FIRST_COMPLETED)
                if opening.done():
                    report(_add_others(opening.result(), state_folder, environment))
            finally:
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
            name = await stop
            sessions = await _list_session_states(host)
            working = sessions.count("running")
            report(StoppingMilestone(signal=name, working=working))
        report(StoppedMilestone(sessions=len(sessions), store=str(state_folder.store)))


async def _open_remote(
    endpoint: Endpoint, state_folder: StateFolder, open_folder: FolderOpener, unused: tuple[str, ...]
) -> ReadyMilestone:
    from callboard.client import Client

    async with Client(endpoint) as client:
        opened = await open_folder(client.submit)
        trust: TrustRead = await client.submit(GetTrust(workspace_id=opened.workspace_id))
        page = await client.create_page_link(f"/w/{opened.workspace_id}")
    ready = _build_ready(endpoint, state_folder, opened, page, running=True)
    return msgspec.structs.replace(ready, unused_models=unused, untrusted=count_untrusted(trust))


async def _open(host: HostedRuntime, state_folder: StateFolder, open_folder: FolderOpener) -> ReadyMilestone:
    opened = await open_folder(lambda command: host.commands.submit(command, actor=PERSON))
    trust: TrustRead = await host.commands.submit(GetTrust(workspace_id=opened.workspace_id), actor=PERSON)
    page = host.page_link(f"/w/{opened.workspace_id}")
    return msgspec.structs.replace(
        _build_ready(host.endpoint, state_folder, opened, page, running=False), untrusted=count_untrusted(trust)
    )


def _add_others(ready: ReadyMilestone, state_folder: StateFolder, environment: Mapping[str, str]) -> ReadyMilestone:
    """Add other processes that serve the folder, without their other folders."""
    others = find_others(ready.folder, state_folder.folder, environment)
    uses = tuple(msgspec.structs.replace(use, folders=(ready.folder,)) for use in others)
    return msgspec.structs.replace(ready, also_served_by=uses)


def count_untrusted(trust: TrustRead) -> int:
    """Count the permissions that a folder's own files request without trust."""
    return len(trust.widenings) if trust.state in ("untrusted", "changed") else 0


def _build_ready(
    endpoint: Endpoint, state_folder: StateFolder, opened: OpenedWorkspace, page: _Page, *, running: bool
) -> ReadyMilestone:
    return ReadyMilestone(
        link=page.link,
        link_expires_s=page.expires_in_s,
        opener=page.opener,
        url=endpoint.url,
        pid=endpoint.pid,
        epoch=endpoint.epoch,
        version=endpoint.version,
        home=str(state_folder.folder),
        folder=opened.path,
        workspace_id=opened.workspace_id,
        running=running,
        stays=endpoint.stays,
        model=endpoint.model,
    )


async def _list_session_states(host: HostedRuntime) -> tuple[str, ...]:
    listed: SessionList = await host.commands.submit(ListSessions(), actor=PERSON)
    return tuple(card.state for card in listed.sessions)


@contextlib.contextmanager
def handle_stop_signals(state_folder: StateFolder, report: MilestoneHandler) -> Generator[asyncio.Future[str]]:
    """Provide the name of the first stop signal. A second signal, or a stop that takes too long, ends the process."""
    loop = asyncio.get_running_loop()
    first: asyncio.Future[str] = loop.create_future()
    timers: list[asyncio.TimerHandle] = []

    def force(code: int) -> None:
        report(ForcedMilestone(store=str(state_folder.store)))
        os._exit(code)

    def handle(name: str) -> None:
        if first.done():
            force(ENDED_BY_PERSON)
            return
        first.set_result(name)
        timers.append(loop.call_later(MAX_STOP_SECONDS, force, 1))

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, handle, number.name)
    try:
        yield first
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
        for timer in timers:
            timer.cancel()
