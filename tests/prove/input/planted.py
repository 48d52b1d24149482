"""Starts the product with a fault in it, so that the proof of input can be seen to fail: `planted.py FAULT COMMAND…`.

keep-refused   what is refused leaves an answer in the store
crash          a session that there is not is a defect
"""

from __future__ import annotations

import sys
from typing import Any

if __name__ == "__main__":
    # The product's own imports are not to find the proofs beside this file.
    sys.path.pop(0)

from callboard.app.cli.main import main
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import RUNTIME
from callboard.runtime.commands import CommandRunner


def plant(fault: str) -> None:
    """Puts the fault in place of what is right."""
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
            kept = StoredAnswer(key=f"planted-{count[0]}", body_hash="", answer=b"{}")
            await host.change(lambda _: ((), None), RUNTIME, stored_answer=kept)
            raise

    assert fault in ("keep-refused", "crash"), fault
    CommandRunner.submit = submit


if __name__ == "__main__":
    plant(sys.argv[1])
    # What follows is the command line as a person starts it: python -m callboard VERB…
    sys.exit(main(sys.argv[5:]))
