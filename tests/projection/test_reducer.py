"""Dispatch of facts to handlers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, get_args

import pytest

from callboard.contracts.facts.action import ActionEndFact, ActionFact
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.task import TaskEndFact, TaskFact, TaskPaused, TaskResumed, TaskStarted
from callboard.contracts.facts.tool import ToolEndFact, ToolFact
from callboard.contracts.facts.turn import TurnEndFact, TurnFact
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope, ScopeKey
from callboard.projection import reducer
from callboard.projection.reducer import Reducer, on
from tests.projection.runs import Log

TASK = Scope(agent="critic", thread="thr_1", task="tsk_1", attempt=1)


class Counter(Reducer):
    """A reducer that counts pauses and resumes."""

    total: int = 0

    @on
    def count(self, record: Record, fact: TaskPaused | TaskResumed) -> int:
        self.total += 1
        return self.total


def test_a_reducer_handles_the_facts_that_its_handlers_annotate_and_no_others():
    log, counter = Log("ses_1"), Counter()
    facts: list[Fact] = [TaskPaused(), TaskStarted(assignee="critic"), TaskResumed()]

    assert [counter.handle(log.add(fact, TASK)) for fact in facts] == [1, None, 2]
    assert set(Counter.HANDLERS) == {TaskPaused, TaskResumed}


def test_a_fact_with_two_handlers_in_one_reducer_is_an_error():
    with pytest.raises(TypeError, match="Two handlers of TaskPaused"):

        class Twice(Counter):
            @on
            def pause(self, record: Record, fact: TaskPaused) -> None: ...

            @on
            def stop(self, record: Record, fact: TaskPaused) -> None: ...


@pytest.mark.parametrize(
    ("entity", "ends", "family"),
    [
        ("turn", TurnEndFact, TurnFact),
        ("action", ActionEndFact, ActionFact),
        ("tool_call", ToolEndFact, ToolFact),
        ("task", TaskEndFact, TaskFact),
    ],
)
def test_the_ends_of_an_entity_are_the_facts_that_close_it(entity: ScopeKey, ends: Any, family: Any):
    """A panel that handles these facts handles every end."""
    assert get_args(ends) == tuple(fact for fact in get_args(family) if fact.closes == entity)


def test_panels_receive_facts_only_through_handlers():
    """A panel names a fact once. A match on a record's fact would dispatch it a second time."""
    folder = Path(reducer.__file__).parent
    modules = [path for path in folder.rglob("*.py") if "emit" not in path.relative_to(folder).parts]
    matches = [f"{path.name}:{line}" for path in modules for line in _lines_that_match_facts(path.read_text("utf-8"))]
    assert modules
    assert matches == []


def _lines_that_match_facts(source: str) -> list[int]:
    lines: list[int] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Match(subject=ast.Attribute(attr="fact")):
                lines.append(node.lineno)
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Attribute(attr="fact"), _]):
                lines.append(node.lineno)
            case _:
                pass
    return lines
