"""The preloaded library: compiled at each run, and controlled through a mapped file."""

from __future__ import annotations

import mmap
import struct
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

SOURCE = Path(__file__).with_name("preload.c")
Kind = Literal["none", "io-error", "full", "short", "kill", "torn"]
_KINDS: tuple[Kind, ...] = ("none", "io-error", "full", "short", "kill", "torn")
_CONTROL = struct.Struct("QQqQq")
_BYTES = 4096


def compile_library(folder: Path) -> Path:
    """Compile the library into a folder.

    Raises:
        CalledProcessError: The compiler failed.
    """
    compiled = folder / "faults.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", compiled, SOURCE, "-ldl", "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return compiled


class Faults:
    """Faults of one server after another, below one folder."""

    def __init__(self, shared: mmap.mmap, command: list[str]) -> None:
        self._shared = shared
        #: Environment of a server with these faults.
        self.command = command

    @property
    def count(self) -> int:
        """Return the number of writes, syncs and truncations."""
        return self._read()[0]

    @property
    def hits(self) -> int:
        """Return the number of failed operations."""
        return self._read()[3]

    def arm(self, kind: Kind, at: int = 1) -> None:
        """Add a fault at an operation, counted from now on."""
        count, _, _, _, clock = self._read()
        _CONTROL.pack_into(self._shared, 0, count, count + at, _KINDS.index(kind), 0, clock)

    def disarm(self) -> None:
        """Let every operation succeed again."""
        count, _, _, hits, clock = self._read()
        _CONTROL.pack_into(self._shared, 0, count, 0, 0, hits, clock)

    def move_clock(self, seconds: float) -> None:
        """Set the offset of the clock to the machine's, in seconds."""
        struct.pack_into("q", self._shared, 32, round(seconds * 1_000_000))

    def _read(self) -> tuple[int, int, int, int, int]:
        return _CONTROL.unpack_from(self._shared)


@contextmanager
def faults(library: Path, folder: Path, under: Path, trace: Path | None = None) -> Generator[Faults]:
    """Return faults for the files below `under`.

    `folder` has the control file. With `trace`, all operations are recorded there.
    """
    control = folder / "control"
    control.write_bytes(bytes(_BYTES))
    with control.open("r+b") as file, mmap.mmap(file.fileno(), _BYTES) as shared:
        variables = {
            "LD_PRELOAD": str(library),
            "FAULTS_CONTROL": str(control),
            "FAULTS_UNDER": f"{under}/",
            "FAULTS_TRACE": "" if trace is None else str(trace),
        }
        yield Faults(shared, ["env", *(f"{name}={value}" for name, value in variables.items())])
