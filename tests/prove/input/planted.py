"""The product with a fault, so that the proof of input can fail: `planted.py FAULT COMMAND…`.

keep-refused  a refusal leaves an answer in the store
crash         an unknown session is an internal error
"""

from __future__ import annotations

import sys
from typing import Any

if __name__ == "__main__":
    # The product's imports must not find the proofs beside this file.
    sys.path.pop(0)

from callboard.app.cli.main import main
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import RUNTIME
from callboard.runtime.commands import CommandRunner


def plant(fault: str) -> None:
    """Add the fault."""
    right = CommandRunner.submit
    count = [0]

    async def submit(self: CommandRunner, command: Any, *, key: str = "", actor: Any) -> Any:
        try:
            return await right(self, command, key=key, actor=actor)
        except Refusal:
            if fault == "crash":
                raise RuntimeError("planted") from None
            count[0] += 1
            host = self._workspaces.all()[0]
            stored = StoredAnswer(key=f"planted-{count[0]}", body_hash="", answer=b"{}")
            await host.change(lambda _: ((), None), RUNTIME, stored_answer=stored)
            raise

    assert fault in ("keep-refused", "crash"), fault
    CommandRunner.submit = submit


if __name__ == "__main__":
    plant(sys.argv[1])
    # The rest is the command line of a person: python -m callboard VERB…
    sys.exit(main(sys.argv[5:]))
