"""The facts that a conversation handles."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.base import Fact
from callboard.runtime.prompts import history, pending_messages


def list_matched(module: ModuleType) -> set[str]:
    """Return the classes of facts in the patterns of a module."""
    patterns = (node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.MatchClass))
    return {ast.unparse(pattern.cls) for pattern in patterns}


@pytest.mark.parametrize(
    ("module", "listed"), [(history, history.APPLIED), (pending_messages, pending_messages.RECEIVED)]
)
def test_each_fact_that_a_conversation_matches_reaches_it(module: ModuleType, listed: frozenset[type[Fact]]):
    """Other facts are skipped before the match, so a fact that is not listed would be lost."""
    assert {kind.__name__ for kind in listed} == list_matched(module)
    assert listed <= set(FACTS.values())
