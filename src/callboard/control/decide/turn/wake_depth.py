"""How long a chain of agents may grow that wake each other."""

from __future__ import annotations

from callboard.contracts.facts import ThreadPaused

from ...batch import Batch, thread_scope
from ...state.session import Thread

#: How many agents may pass on what one of them began, before a person has to say that it is to go on.
MAX_HOPS = 32


def pause_chain(batch: Batch, thread: Thread, hops: int) -> None:
    """The chain ends here until a person says otherwise."""
    batch.add(
        ThreadPaused(cause="no_progress", reason=f"{hops} agents passed this on without a person"),
        thread_scope(thread),
    )
