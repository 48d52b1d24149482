"""Stop reasons of all formats, and answers without one (M4)."""

from __future__ import annotations

from typing import get_args

import pytest

from callboard.contracts.ports.model import ModelFailure, TextContent
from callboard.models.wire import Format
from callboard.models.wire.finish import ENDINGS, Ending
from tests.models.requests import make_request, read_answer, read_failure
from tests.models.servers import connect_model
from tests.models.streams import TEXT, play_ending

FORMATS: tuple[Format, ...] = get_args(Format)
ROWS = [(format, word, ending) for format, table in ENDINGS.items() for word, ending in table.items()]
FAILURES = {"failed": "model_unavailable", "garbled": "model_garbled"}


@pytest.mark.parametrize(("format", "word", "ending"), ROWS, ids=[f"{format}-{word}" for format, word, _ in ROWS])
async def test_m4_each_stop_reason_has_its_listed_meaning(format: Format, word: str, ending: Ending) -> None:
    async with connect_model(play_ending(format, word), format=format) as (model, _):
        if ending in FAILURES:
            _, failed = await read_failure(model, make_request("go"))
            assert (failed.code, failed.retryable) == (FAILURES[ending], True)
        else:
            parts, end = await read_answer(model, make_request("go"))
            assert parts == [TextContent(TEXT)]
            assert (end.stop_reason, end.provider_reason) == (ending, word)


@pytest.mark.parametrize("format", FORMATS)
async def test_m4_an_unlisted_stop_reason_is_unknown_and_its_text_is_stored(format: Format) -> None:
    async with connect_model(play_ending(format, "moon_phase"), format=format) as (model, _):
        parts, end = await read_answer(model, make_request("go"))

    assert (parts, end.stop_reason, end.provider_reason) == ([TextContent(TEXT)], "unknown", "moon_phase")


@pytest.mark.parametrize("format", FORMATS)
async def test_m4_an_answer_without_a_stop_reason_is_a_retryable_failure(format: Format) -> None:
    async with connect_model(play_ending(format, None), format=format) as (model, _):
        parts, failed = await read_failure(model, make_request("go"))

    assert isinstance(failed, ModelFailure)
    assert (parts, failed.code, failed.retryable) == ([TextContent(TEXT)], "model_cut_stream", True)
