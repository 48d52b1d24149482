"""What there is to watch, and how a demo is set out in a folder."""

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
#: As they are told: from one agent to several, from agents to people.
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
_LONGEST_NAME = 80


class Demo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One demo. `asks` counts the approvals that a person gives in it; `next` says what is left to the person at its end,
    `say` what they might tell the lead then. `elsewhere` is the agent that runs as a process of its own."""

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
    """All demos."""
    return tuple(load_demo(name) for name in NAMES)


@cache
def load_demo(name: str) -> Demo:
    """The demo of that name; `-` and `_` are the same in it. Raises Refusal `invalid_input`."""
    found = name.replace("-", "_")
    if found not in NAMES:
        hint = f"There are {', '.join(NAMES)}."
        raise Refusal("invalid_input", f"There is no demo {name[:_LONGEST_NAME]}.", field="name", hint=hint)
    return Demo(name=found, **yaml.safe_load((_PLAYS / found / "demo.yaml").read_text("utf-8")))


def scenario_files() -> Mapping[str, Path]:
    """The scripts by the names under which agents ask for them and people read them: `script:NAME` of `scripted`."""
    return {f"script:{name}": _PLAYS / name / "scenario.yaml" for name in NAMES}


class DemoCatalog:
    """Implements the port `Demos`: each demo is set out in a new folder in `place`."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._shop = RemoteShop()

    def set_out(self, name: str) -> DemoFolder:
        found = load_demo(name)
        url = self._shop.url() if found.elsewhere else ""
        try:
            folder = copy_folder(name, self._place)
            if url:
                write_address(folder, found.elsewhere, url)
        except OSError as error:
            message = f"{self._place} cannot be written: {error.strerror or error}."
            hint = "Set CALLBOARD_HOME to another folder: demos are set out beside it."
            raise Refusal("invalid_input", message, field="name", hint=hint) from error
        return DemoFolder(
            folder=str(folder),
            objective=found.objective,
            mode=found.mode,
            permission_mode=found.permission_mode,
        )


def copy_folder(name: str, place: Path) -> Path:
    """Copies what the demo's agents work on into a new folder in `place`; returns that folder, with symlinks resolved.

    Raises Refusal `invalid_input`, and OSError where nothing can be written there.
    """
    source = _PLAYS / load_demo(name).name / "folder"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = 1
    while True:
        folder = place / f"{load_demo(name).name}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            break
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder.resolve()
