"""Teams to begin with: plain Markdown that comes with the package and is copied into a folder, where it is the person's."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import resources
from pathlib import Path

import msgspec

from callboard.contracts.errors import Refusal

from . import presets
from .definition import load_definition
from .marks import suggest
from .roster import FOLDER, build_roster

SOLO = "solo"
_LONGEST_NAME = 80


class TeamPreset(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A preset: the names of its agents, the lead first, and what the lead says of itself."""

    name: str
    description: str
    agents: tuple[str, ...]


def list_presets() -> tuple[TeamPreset, ...]:
    """The presets by name."""
    return tuple(_team(name) for name in _names())


def preset_files(name: str) -> tuple[tuple[str, bytes], ...]:
    """The files of a preset as they are, by file name. Raises Refusal `invalid_input`."""
    if name not in _names():
        hint = suggest(name, _names()) or f"There are {', '.join(_names())}."
        raise Refusal("invalid_input", f"There is no preset {name[:_LONGEST_NAME]}.", field="preset", hint=hint)
    place = resources.files(presets).joinpath(name)
    found = ((one.name, one.read_bytes()) for one in place.iterdir() if one.name.endswith(".md"))
    return tuple(sorted(found))


def copy_preset(name: str, folder: str) -> tuple[str, ...]:
    """Writes the files of a preset into the folder's `agents`; the answer is their paths in the folder.

    Nothing that is there is written over: where one of the files exists nothing is written at all. Raises Refusal
    `invalid_input`, and OSError where the folder cannot be written.
    """
    files = preset_files(name)
    place = Path(folder) / FOLDER
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise Refusal(
            "invalid_input", f"{place} is not a folder.", field="preset", hint="Move it out of the way first."
        )
    there = [file for file, _ in files if os.path.lexists(place / file)]
    if there:
        paths = ", ".join(f"{FOLDER}/{file}" for file in there)
        hint = "Nothing was written. Move or rename what is there, or copy into another folder."
        raise Refusal("invalid_input", f"The folder has {paths} already.", field="preset", hint=hint)
    place.mkdir(exist_ok=True)
    written: list[Path] = []
    try:
        for file, source in files:
            with (place / file).open("xb") as made:
                written.append(place / file)
                made.write(source)
    except OSError:
        for path in written:
            with suppress(OSError):
                path.unlink()
        raise
    return tuple(f"{FOLDER}/{file}" for file, _ in files)


def _names() -> tuple[str, ...]:
    found = (one.name for one in resources.files(presets).iterdir() if one.is_dir() and not one.name.startswith("_"))
    return tuple(sorted(found))


def _team(name: str) -> TeamPreset:
    found = build_roster(load_definition(source, f"{FOLDER}/{file}") for file, source in preset_files(name))
    lead = found.find(found.lead)
    others = sorted(one.name for one in found.definitions if one is not lead)
    return TeamPreset(
        name=name,
        description="" if lead is None else lead.description,
        agents=(*(() if lead is None else (lead.name,)), *others),
    )
