"""Fingerprints of the code that derives state, conversations, rows and view states from facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from callboard import __version__


@cache
def compute_state_fingerprint() -> str:
    """Return the fingerprint of the deciders' state: 32 hex digits.

    It covers the source that a snapshot depends on: the facts (`contracts`), the state and its fold
    (`control`), and the codec. Every edit there changes it, because folding a session again is
    cheap and a missed change is not. Versions without such an edit share their snapshots.
    """
    return compute_fingerprint(("contracts", _find_package("contracts")), ("control", _find_package("control")))


@cache
def compute_conversation_fingerprint() -> str:
    """Return the fingerprint of conversations: `compute_state_fingerprint` and 32 hex digits.

    They cover the facts, the code that turns them into messages (`runtime/prompts`), and what that
    code imports from `control`.
    """
    prompts = _find_package("runtime").joinpath("prompts")
    return f"{compute_state_fingerprint()}-{compute_fingerprint(('prompts', prompts))}"


@cache
def compute_view_fingerprint() -> str:
    """Return the fingerprint of rows and view states: 32 hex digits. See `compute_state_fingerprint`."""
    return compute_fingerprint(("contracts", _find_package("contracts")), ("projection", _find_package("projection")))


def compute_fingerprint(*packages: tuple[str, Traversable]) -> str:
    """Hash the Python sources below these folders, by path."""
    digest = hashlib.blake2b(f"msgspec {msgspec.__version__}".encode(), digest_size=16)
    sources = [source for name, folder in packages for source in _list_sources(name, folder)]
    # If an installation has no sources, its version identifies them.
    for path, data in sorted(sources) or [("callboard", __version__.encode())]:
        digest.update(f"\0{path}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def _find_package(name: str) -> Traversable:
    return files("callboard").joinpath(name)


def _list_sources(path: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.name.endswith(".py"):
            yield f"{path}/{entry.name}", entry.read_bytes()
        elif entry.is_dir():
            yield from _list_sources(f"{path}/{entry.name}", entry)
