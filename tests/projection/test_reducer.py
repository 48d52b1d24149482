"""Dispatch of facts to handlers."""

from __future__ import annotations

import pytest

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.task import TaskPaused, TaskResumed, TaskStarted
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from callboard.projection.reducer import Reducer, on
from tests.projection.runs import Log

TASK = Scope(agent="critic", thread="thr_1", task="tsk_1", attempt=1)


class Counter(Reducer):
    """Counts pauses and resumes."""

    total: int = 0

    @on
    def count(self, record: Record, fact: TaskPaused | TaskResumed) -> int:
        self.total += 1
        return self.total


def test_a_reducer_handles_the_facts_that_its_handlers_annotate_and_no_others():
    log, counter = Log("ses_1"), Counter()
    facts: list[Fact] = [TaskPaused(), TaskStarted(assignee="critic"), TaskResumed()]

    assert [counter.handle(log.say(fact, TASK)) for fact in facts] == [1, None, 2]
    assert set(Counter.HANDLERS) == {TaskPaused, TaskResumed}


def test_a_fact_with_two_handlers_in_one_reducer_is_an_error():
    with pytest.raises(TypeError, match="Two handlers of TaskPaused"):

        class Twice(Counter):
            @on
            def pause(self, record: Record, fact: TaskPaused) -> None: ...

            @on
            def stop(self, record: Record, fact: TaskPaused) -> None: ...
