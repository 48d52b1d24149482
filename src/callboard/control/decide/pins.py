"""A person says what every turn of a thread is given."""

from __future__ import annotations

from callboard.contracts.commands.context import ContextChanged, SetContext
from callboard.contracts.facts import ContextPinned

from ..batch import Batch, thread_scope
from ..resolved_context import merge_contexts
from .turn.start import require_thread


def pin_context(batch: Batch, request: SetContext) -> ContextChanged:
    """Changes what every turn of the thread is given. Raises `unknown_thread`."""
    thread = require_thread(batch.state, request.thread_id)
    pinned = tuple(dict.fromkeys(request.pinned))
    found = merge_contexts(*(batch.inputs.resolve_pin(name) for name in pinned))
    if pinned != thread.pinned:
        batch.add(ContextPinned(pinned=pinned), thread_scope(thread))
    return ContextChanged(
        session_id=batch.state.session,
        thread_id=thread.thread,
        pinned=pinned,
        missing=found.missing,
        sequence=batch.state.sequence,
    )
