"""How long a chain of agents may grow that wake each other."""

from __future__ import annotations

from callboard.contracts.facts import ThreadPaused

from ...batch import Batch, thread_scope
from ...state.session import Thread

#: Maximum number of agents in a chain of wakes without a person.
MAX_HOPS = 32


def pause_chain(batch: Batch, thread: Thread, hops: int) -> None:
    """The chain ends here until a person says otherwise."""
    batch.add(
        ThreadPaused(cause="no_progress", reason=f"{hops} agents woke each other without a person"),
        thread_scope(thread),
    )
