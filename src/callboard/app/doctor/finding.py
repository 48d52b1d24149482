"""One thing that was looked at."""

from __future__ import annotations

import shutil
from typing import Literal

import msgspec

#: `warn` is what works with less, `bad` what does not work.
State = Literal["ok", "warn", "bad"]

#: What installs a program, by the installer that the machine has.
_INSTALLERS = (
    ("apt-get", "sudo apt-get install {}"),
    ("dnf", "sudo dnf install {}"),
    ("pacman", "sudo pacman -S {}"),
    ("zypper", "sudo zypper install {}"),
    ("apk", "sudo apk add {}"),
    ("brew", "brew install {}"),
)


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was looked at under `name`, and how it is. `means` says what follows from it, `mend` is the command that mends it,
    empty where there is nothing to mend."""

    name: str
    state: State
    said: str
    means: str = ""
    mend: str = ""


def ok(name: str, said: str) -> Finding:
    return Finding(name=name, state="ok", said=said)


def warn(name: str, said: str, means: str, mend: str = "") -> Finding:
    return Finding(name=name, state="warn", said=said, means=means, mend=mend)


def bad(name: str, said: str, means: str, mend: str = "") -> Finding:
    return Finding(name=name, state="bad", said=said, means=means, mend=mend)


def install_command(package: str) -> str:
    """The command that installs a package here, for the installer that there is."""
    found = next((line for program, line in _INSTALLERS if shutil.which(program)), "")
    return found.format(package) if found else f"install {package}"
