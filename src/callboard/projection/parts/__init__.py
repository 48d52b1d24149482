"""The conversation within turns: one row per part, in the order in which the parts started."""

from __future__ import annotations

import msgspec

from callboard.contracts.record import Record
from callboard.contracts.rows.base import Op

from ..reducer import EVERY_FACT, Reducer, collect_handlers
from . import action, context, message, model, notices, received, remote, tool, turn
from .received import Waiting
from .run import Runs

#: Handlers of facts within an open run.
_IN_RUN = collect_handlers(*(vars(module) for module in (action, context, message, model, remote, tool, turn)))
#: Handlers of facts that an open run can receive from the items that wait.
_RECEIVED = collect_handlers(vars(received))
#: Handlers of facts within and outside of runs.
_NOTICES = collect_handlers(vars(notices))


class PartsPanel(Reducer):
    """The state of the conversation: its runs, and the items from other agents that no turn has received."""

    #: Every fact of a run can raise its step.
    USES = (EVERY_FACT,)
    runs: Runs = msgspec.field(default_factory=Runs)
    waiting: Waiting = msgspec.field(default_factory=Waiting)

    def apply(self, record: Record) -> list[Op]:
        """Return the row operations of the fact."""
        fact, kind = record.fact, type(record.fact)
        if kind in Runs.FACTS:
            self.runs.handle(record)
            return []
        if kind in Waiting.FACTS:
            self.waiting.handle(record)
            return []
        run = self.runs.find(record.scope)
        if run is not None:
            run.step = max(run.step, record.scope.step)
            if fact.closes == "turn":
                del self.runs.open[record.scope.turn]
            if handler := _IN_RUN.get(kind):
                return handler(run, record, fact)
            if handler := _RECEIVED.get(kind):
                return handler(self.waiting, record, fact, run)
        handler = _NOTICES.get(kind)
        return [] if handler is None else handler(self.runs, record, fact)
