"""Requests drawn from the OpenAPI document find no defect.

Those at its limits are in `tests/adapters/http`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case

from tests.adapters.http.rigs.conformance import OPERATIONS, SCHEMA, Served, judge


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("folder")) as running:
        yield running


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_drawn_request_finds_a_defect_or_an_undeclared_answer(operation: str, served: Served) -> None:
    """SAFE-05"""
    drawn = SCHEMA.find_operation_by_label(operation)
    assert drawn is not None
    modes = SCHEMA.config.generation_for(operation=drawn, phase="fuzzing").modes

    @given(case=st.one_of([drawn.as_strategy(generation_mode=mode) for mode in modes]))
    @settings(
        max_examples=14,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    def ask(case: Case) -> None:
        judge(case, served)

    ask()
