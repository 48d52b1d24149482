"""Team presets: Markdown files of the package that a person copies into a folder and edits."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import resources
from pathlib import Path

import msgspec

from callboard.contracts.errors import Refusal

from . import presets
from .definition import load_definition
from .frontmatter import suggest
from .roster import FOLDER, build_roster

SOLO = "solo"
_MAX_NAME_CHARS = 80


class TeamPreset(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A preset, with the names of its agents, the lead first, and the description of the lead."""

    name: str
    description: str
    agents: tuple[str, ...]


def list_presets() -> tuple[TeamPreset, ...]:
    """Return the presets, sorted by name."""
    return tuple(_load_team(name) for name in _list_names())


def read_preset_files(name: str) -> tuple[tuple[str, bytes], ...]:
    """Return the names and contents of a preset's files. Raises Refusal `invalid_input` for an unknown preset."""
    if name not in _list_names():
        hint = suggest(name, _list_names()) or f"Presets: {', '.join(_list_names())}."
        raise Refusal("invalid_input", f"There is no preset {name[:_MAX_NAME_CHARS]}.", field="preset", hint=hint)
    files = resources.files(presets).joinpath(name).iterdir()
    return tuple(sorted((file.name, file.read_bytes()) for file in files if file.name.endswith(".md")))


def copy_preset(name: str, folder: str) -> tuple[str, ...]:
    """Write the files of a preset into the folder's `agents`. No file is overwritten.

    Returns:
        The paths of the files relative to the folder.
    Raises:
        Refusal: `invalid_input` for an unknown preset, or if a file already exists. Then no file is written.
        OSError: The folder is not writable.
    """
    files = read_preset_files(name)
    target = Path(folder) / FOLDER
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise Refusal("invalid_input", f"{target} is not a folder.", field="preset", hint="Move or rename it first.")
    existing = [file for file, _ in files if os.path.lexists(target / file)]
    if existing:
        paths = ", ".join(f"{FOLDER}/{file}" for file in existing)
        hint = "No file was written. Move or rename the existing files, or copy into another folder."
        raise Refusal("invalid_input", f"The folder already has {paths}.", field="preset", hint=hint)
    target.mkdir(exist_ok=True)
    written: list[Path] = []
    try:
        for file, source in files:
            with (target / file).open("xb") as opened:
                written.append(target / file)
                opened.write(source)
    except OSError:
        for path in written:
            with suppress(OSError):
                path.unlink()
        raise
    return tuple(f"{FOLDER}/{file}" for file, _ in files)


def _list_names() -> tuple[str, ...]:
    folders = resources.files(presets).iterdir()
    return tuple(sorted(folder.name for folder in folders if folder.is_dir() and not folder.name.startswith("_")))


def _load_team(name: str) -> TeamPreset:
    roster = build_roster(load_definition(source, f"{FOLDER}/{file}") for file, source in read_preset_files(name))
    lead = roster.find(roster.lead)
    others = sorted(definition.name for definition in roster.definitions if definition is not lead)
    return TeamPreset(
        name=name,
        description="" if lead is None else lead.description,
        agents=(*(() if lead is None else (lead.name,)), *others),
    )
