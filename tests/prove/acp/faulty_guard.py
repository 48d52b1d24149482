"""A guard that ends only the command and none of its processes, for a sabotage of prove-acp.

Runs alone, as the guard does.
"""

from __future__ import annotations

import importlib.util
import os
import signal
from contextlib import suppress
from pathlib import Path

_GUARD = Path(__file__).resolve().parents[3] / "src" / "callboard" / "tools" / "sandbox" / "guard.py"


def end_command_only(child: int) -> None:
    """Kill only the command."""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def main() -> None:
    """Run the guard with that fault."""
    spec = importlib.util.spec_from_file_location("guard", _GUARD)
    if spec is None or spec.loader is None:
        raise ImportError(str(_GUARD))
    guard = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guard)
    guard.__dict__["_end_all"] = end_command_only
    guard.main()


if __name__ == "__main__":
    main()
