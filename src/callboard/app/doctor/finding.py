"""Result of one check."""

from __future__ import annotations

import shutil
from typing import Literal

import msgspec

#: `warn`: something works with limits; `bad`: something does not work.
State = Literal["ok", "warn", "bad"]

#: Commands that install a package, by the installer of the machine.
_INSTALLERS = (
    ("apt-get", "sudo apt-get install {}"),
    ("dnf", "sudo dnf install {}"),
    ("pacman", "sudo pacman -S {}"),
    ("zypper", "sudo zypper install {}"),
    ("apk", "sudo apk add {}"),
    ("brew", "brew install {}"),
)


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The result of one check, its effect, and the command that fixes it; empty if nothing needs a fix."""

    name: str
    state: State
    message: str
    effect: str = ""
    fix: str = ""


def report_ok(name: str, message: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(name=name, state="ok", message=message)


def report_warning(name: str, message: str, effect: str, fix: str = "") -> Finding:
    """Return a finding of something that works with limits."""
    return Finding(name=name, state="warn", message=message, effect=effect, fix=fix)


def report_bad(name: str, message: str, effect: str, fix: str = "") -> Finding:
    """Return a finding of something that does not work."""
    return Finding(name=name, state="bad", message=message, effect=effect, fix=fix)


def find_install_command(package: str) -> str:
    """Return the command that installs a package with the installer of this machine."""
    command = next((command for program, command in _INSTALLERS if shutil.which(program)), "install {}")
    return command.format(package)
