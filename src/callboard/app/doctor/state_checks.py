"""The state folder, the store in it, the process that serves, and the port."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from callboard.client.endpoint import Endpoint
from callboard.contracts.errors import Refusal
from callboard.log.sqlite.lock import writer_of
from callboard.log.sqlite.upkeep.checking import check_store

from ..hosting.announcement import find_endpoint
from ..settings.loader import PORT, load_settings
from ..state_folder import VARIABLE, StateFolder
from .finding import Finding, bad, ok, warn

#: How much room there must be for work to go on, and for it to go on for a while, in bytes.
_LEAST_ROOM, _ENOUGH_ROOM = 20_000_000, 500_000_000


async def check_state(home: StateFolder, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    """Opens the store for reading where there is one."""
    endpoint = await find_endpoint(home)
    return (
        _folder(home),
        _room(home),
        await _store(home, endpoint),
        _process(home, endpoint),
        _port(home, environment, endpoint),
    )


def _folder(home: StateFolder) -> Finding:
    mend = f"export {VARIABLE}=FOLDER (one that you may write to)"
    above = home.folder
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        return bad("state folder", f"{above} is not a folder", "Callboard cannot start.", mend)
    if not os.access(above, os.R_OK | os.W_OK | os.X_OK):
        return bad("state folder", f"{above} may not be written to", "Callboard cannot start.", mend)
    if not home.folder.exists():
        return ok("state folder", f"{home.folder} will be made by the first start")
    mode = home.folder.stat().st_mode & 0o077
    if mode:
        means = "Others on this machine may see its names; what is in it has modes of its own."
        return warn("state folder", f"{home.folder} is open to others", means, f"chmod 700 {home.folder}")
    return ok("state folder", str(home.folder))


def _room(home: StateFolder) -> Finding:
    above = home.folder
    while not above.exists():
        above = above.parent
    free = shutil.disk_usage(above).free
    said = f"{free // 1_000_000:,} MB are free where the state folder is"
    if free < _LEAST_ROOM:
        return bad("disk", said, "Nothing new can be kept, so nothing is done.", "make room on that disk")
    if free < _ENOUGH_ROOM:
        return warn(
            "disk", said, "Work stops when it is full; what was acknowledged is kept.", "make room on that disk"
        )
    return ok("disk", said)


async def _store(home: StateFolder, endpoint: Endpoint | None) -> Finding:
    if not home.has_store():
        return ok("store", "there is none yet; the first start makes it")
    aside = f"mv {home.store} {home.store}.aside"
    try:
        checked = await asyncio.to_thread(check_store, home.store, whole=False)
    except Refusal as refusal:
        mend = refusal.problem.hint or aside
        return bad("store", refusal.problem.message, "What was kept cannot be read.", mend)
    if checked.damages:
        first = checked.damages[0]
        if checked.sound:
            return warn("store", first.message, first.advice)
        return bad("store", first.message, first.advice, "callboard check")
    written = "" if endpoint is None else f", written by process {endpoint.pid}"
    looked = f"{checked.facts:,} newest facts and {checked.blobs:,} newest blobs are as they were written"
    return ok("store", f"{home.store}: quick check, the {looked}{written}")


def _process(home: StateFolder, endpoint: Endpoint | None) -> Finding:
    if endpoint is not None:
        return ok("process", f"process {endpoint.pid} serves at {endpoint.url}")
    try:
        writer = writer_of(home.store)
    except OSError as error:
        return warn(
            "process", f"it cannot be seen whether one runs: {error.strerror}", "Another may write to the store."
        )
    if writer is not None:
        return _silent(writer)
    if home.endpoint.exists():
        return ok("process", "none runs; the file that names one is left from before and is not believed")
    return ok("process", "none runs")


def _silent(writer: int) -> Finding:
    """A process that has the store locked and does not answer."""
    name = f"process {writer}" if writer else "a process"
    if _is_stopped(writer):
        means = "Nothing is done until it continues; what it acknowledged is kept."
        return bad("process", f"{name} writes to the store and is stopped", means, f"kill -CONT {writer}")
    means = "It is starting, busy, or hangs. No other process can write; what it acknowledged is kept."
    return bad("process", f"{name} writes to the store and does not answer", means, f"kill {writer}" if writer else "")


def _is_stopped(process: int) -> bool:
    """True where a signal or a debugger stopped the process."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return state.rpartition(") ")[2][:1] in ("T", "t")


def _port(home: StateFolder, environment: Mapping[str, str], endpoint: Endpoint | None) -> Finding:
    try:
        port = load_settings(home, environment).port
    except Refusal:
        port = PORT
    if endpoint is not None or port == 0 or _is_free(port):
        return ok("port", f"{port} is free" if endpoint is None and port else "the one that is taken is ours or any")
    means = "Callboard takes the next free one, so its address differs."
    return warn("port", f"{port} is taken by another program", means, "callboard up --port PORT")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
