"""Catalog of demos, and the folder of each."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
import yaml

from callboard.contracts.errors import Refusal
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.demos import DemoFolder

from .remote_agent import RemoteShop, write_address

_PLAYS = Path(__file__).parent / "plays"
#: In the order in which they are listed.
NAMES = (
    "solo_run",
    "coordinator_team",
    "parallel_workers",
    "specialist_handoff",
    "review_team",
    "human_agent_board",
    "background_teammate",
    "remote_teammate",
)
_MAX_NAME_CHARS = 80


class Demo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One demo.

    `asks` is the number of approvals it needs, `next` the person's next step at its end, `say` a message for the lead,
    and `elsewhere` the name of its remote agent.
    """

    name: str
    title: str
    about: str
    objective: str
    mode: Mode
    permission_mode: PermissionMode
    asks: int
    next: str = ""
    say: str = ""
    elsewhere: str = ""


def list_demos() -> tuple[Demo, ...]:
    """Return all demos."""
    return tuple(load_demo(name) for name in NAMES)


@cache
def load_demo(name: str) -> Demo:
    """Return a demo by name; `-` equals `_`. Raises Refusal `invalid_input`."""
    normalized = name.replace("-", "_")
    if normalized not in NAMES:
        hint = f"Available demos: {', '.join(NAMES)}."
        raise Refusal("invalid_input", f"Unknown demo: {name[:_MAX_NAME_CHARS]}.", field="name", hint=hint)
    return Demo(name=normalized, **yaml.safe_load((_PLAYS / normalized / "demo.yaml").read_text("utf-8")))


def list_scenario_files() -> Mapping[str, Path]:
    """Return the scenario files by model name `script:NAME`."""
    return {f"script:{name}": _PLAYS / name / "scenario.yaml" for name in NAMES}


class DemoCatalog:
    """Implement the port `Demos`: copy each demo into a new folder in `parent`."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._shop = RemoteShop()

    def create_folder(self, name: str) -> DemoFolder:
        demo = load_demo(name)
        url = self._shop.ensure_started() if demo.elsewhere else ""
        try:
            folder = copy_folder(name, self._parent)
            if url:
                write_address(folder, demo.elsewhere, url)
        except OSError as error:
            message = f"Cannot write to {self._parent}: {error.strerror or error}."
            hint = "Set CALLBOARD_HOME to another folder. Demos are created next to it."
            raise Refusal("invalid_input", message, field="name", hint=hint) from error
        return DemoFolder(
            folder=str(folder),
            objective=demo.objective,
            mode=demo.mode,
            permission_mode=demo.permission_mode,
        )


def copy_folder(name: str, parent: Path) -> Path:
    """Copy the files of a demo into a new folder in `parent`; return it with symlinks resolved.

    Raises Refusal `invalid_input`, and OSError if `parent` is not writable.
    """
    source = _PLAYS / load_demo(name).name / "folder"
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / f"{load_demo(name).name}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            break
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder.resolve()
