"""Checks of the state folder, the store, the running process and the port."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from callboard.client import Endpoint
from callboard.contracts.errors import Refusal
from callboard.contracts.text.sentences import format_count
from callboard.log.sqlite.lock import find_writer
from callboard.log.sqlite.upkeep.store_check import check_store

from ..hosting.announcement import find_endpoint
from ..settings.loader import PORT, load_settings
from ..state_folder import VARIABLE, StateFolder
from .finding import Finding, report_bad, report_ok, report_warning

#: Free bytes that work needs, and that it needs for a while.
_MIN_FREE, _AMPLE_FREE = 20_000_000, 500_000_000


async def check_state(state_folder: StateFolder, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    """Run the checks. An existing store is opened for reading."""
    endpoint = await find_endpoint(state_folder)
    return (
        _check_folder(state_folder),
        _check_disk(state_folder),
        await _check_store(state_folder, endpoint),
        _check_process(state_folder, endpoint),
        _check_port(state_folder, environment, endpoint),
    )


def _check_folder(state_folder: StateFolder) -> Finding:
    fix = f"export {VARIABLE}=FOLDER (a writable one)"
    parent = _find_existing(state_folder.folder)
    if not parent.is_dir():
        return report_bad("state folder", f"{parent} is not a folder", "Callboard cannot start.", fix)
    if not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
        return report_bad("state folder", f"{parent} is not writable", "Callboard cannot start.", fix)
    if not state_folder.folder.exists():
        return report_ok("state folder", f"the first start creates {state_folder.folder}")
    mode = state_folder.folder.stat().st_mode & 0o077
    if mode:
        effect = "Other users can see its file names, but not read the files."
        return report_warning(
            "state folder", f"{state_folder.folder} is open to other users", effect, f"chmod 700 {state_folder.folder}"
        )
    return report_ok("state folder", str(state_folder.folder))


def _find_existing(path: Path) -> Path:
    """Return the path, or its nearest existing parent."""
    while not path.exists():
        path = path.parent
    return path


def _check_disk(state_folder: StateFolder) -> Finding:
    free = shutil.disk_usage(_find_existing(state_folder.folder)).free
    message = f"{free // 1_000_000:,} MB are free on the disk of the state folder"
    if free < _MIN_FREE:
        return report_bad("disk", message, "Nothing can be recorded, so nothing runs.", "free space on that disk")
    if free < _AMPLE_FREE:
        effect = "Work stops when the disk is full; acknowledged work is kept."
        return report_warning("disk", message, effect, "free space on that disk")
    return report_ok("disk", message)


async def _check_store(state_folder: StateFolder, endpoint: Endpoint | None) -> Finding:
    if not state_folder.has_store():
        return report_ok("store", "none yet; the first start creates it")
    aside = f"mv {state_folder.store} {state_folder.store}.aside"
    try:
        checked = await asyncio.to_thread(check_store, state_folder.store, whole=False)
    except Refusal as refusal:
        fix = refusal.problem.hint or aside
        return report_bad("store", refusal.problem.message, "Stored sessions cannot be read.", fix)
    if checked.damages:
        first = checked.damages[0]
        if checked.is_sound:
            return report_warning("store", first.message, first.advice)
        return report_bad("store", first.message, first.advice, "callboard check")
    written = "" if endpoint is None else f", written by process {endpoint.pid}"
    counts = f"{format_count(checked.facts, 'fact')} and {format_count(checked.blobs, 'blob')}"
    return report_ok("store", f"{state_folder.store}: intact; quick check of the newest {counts}{written}")


def _check_process(state_folder: StateFolder, endpoint: Endpoint | None) -> Finding:
    if endpoint is not None:
        return report_ok("process", f"process {endpoint.pid} serves at {endpoint.url}")
    try:
        writer = find_writer(state_folder.store)
    except OSError as error:
        return report_warning(
            "process", f"the lock cannot be read: {error.strerror}", "Another process may write to the store."
        )
    if writer is not None:
        return _report_unresponsive(writer)
    if state_folder.endpoint.exists():
        return report_ok("process", "none is running; the endpoint file of an ended process is ignored")
    return report_ok("process", "none is running")


def _report_unresponsive(writer: int) -> Finding:
    """Report a process that locks the store and does not respond."""
    name = f"process {writer}" if writer else "a process"
    if _is_stopped(writer):
        effect = "No work is done until it continues; acknowledged work is kept."
        return report_bad("process", f"{name} writes to the store and is stopped", effect, f"kill -CONT {writer}")
    effect = "It is starting, busy or hanging. No other process can write; acknowledged work is kept."
    return report_bad(
        "process", f"{name} writes to the store and does not respond", effect, f"kill {writer}" if writer else ""
    )


def _is_stopped(process: int) -> bool:
    """Return True if a signal or a debugger stopped the process."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return state.rpartition(") ")[2][:1] in ("T", "t")


def _check_port(state_folder: StateFolder, environment: Mapping[str, str], endpoint: Endpoint | None) -> Finding:
    try:
        port = load_settings(state_folder, environment).port
    except Refusal:
        port = PORT
    if endpoint is not None or port == 0 or _is_free(port):
        return report_ok(
            "port", f"{port} is free" if endpoint is None and port else "in use by Callboard, or any free port"
        )
    effect = "Callboard uses the next free port, so its address changes."
    return report_warning("port", f"another program uses {port}", effect, "callboard up --port PORT")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
