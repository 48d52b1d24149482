"""Fingerprints of the code that derives state, rows and view states from facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from callboard import __version__


@cache
def state_fingerprint() -> str:
    """Return the fingerprint of the deciders' state: 32 hex digits.

    It covers the source of all that a snapshot depends on: the facts and their shapes (`contracts`), the state and its
    fold (`control`), and the codec. It changes with every edit there, whether or not the edit matters: folding a session
    anew is cheap, and a missed change is not. Two versions without such an edit share their snapshots.
    """
    return fingerprint(("contracts", _package("contracts")), ("control", _package("control")))


@cache
def view_fingerprint() -> str:
    """Return the fingerprint of rows and view states: 32 hex digits. See `state_fingerprint`."""
    return fingerprint(("contracts", _package("contracts")), ("projection", _package("projection")))


def fingerprint(*packages: tuple[str, Traversable]) -> str:
    """Hash the Python sources below these folders, by their paths."""
    digest = hashlib.blake2b(f"msgspec {msgspec.__version__}".encode(), digest_size=16)
    found = [one for name, folder in packages for one in _sources(name, folder)]
    # An installation may come without its sources; its version stands in for them.
    for path, data in sorted(found) or [("callboard", __version__.encode())]:
        digest.update(f"\0{path}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _package(name: str) -> Traversable:
    return files("callboard").joinpath(name)


def _sources(path: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.name.endswith(".py"):
            yield f"{path}/{entry.name}", entry.read_bytes()
        elif entry.is_dir():
            yield from _sources(f"{path}/{entry.name}", entry)
