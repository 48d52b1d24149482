"""Model calls that wait for their provider (M4): limited by settings, shown, interruptible, and
safe over a crash."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

from callboard.contracts.commands.turn import InterruptTurn
from callboard.contracts.facts.model import ModelFailed, ModelRequested, RoutingResolved
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.ports.model import Finished, ModelEvent, ModelRequest, Route, TextDelta
from callboard.contracts.rows.part import NoticePart
from callboard.contracts.settings import RetrySettings
from callboard.models.registry import ConfiguredModels
from tests.runtime.rigs.runtime_rig import calls, open_runtime, says
from tests.runtime.sessions.test_recovery import copy_as_killed
from tests.runtime.turns.test_models import facts_of, plays


def busy(**more: Any) -> dict[str, Any]:
    return {"fail": {"code": "model_unavailable", "message": "Overloaded.", "retryable": True, **more}}


async def test_m4_the_patience_setting_limits_the_wait(tmp_path: Path) -> None:
    patience = RetrySettings(patience=0.2, attempts=1)
    async with open_runtime(tmp_path, calls([busy(retry_after=0.06)]), model_retry=patience) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.failed")
        failures = [fact for fact in await facts_of(rig, turn.session_id) if isinstance(fact, ModelFailed)]
    *waits, last = [fact.retry_in_ms for fact in failures]
    assert last is None
    assert 2 <= len(waits) <= 3
    assert all(wait is not None and 60 <= wait <= 66 for wait in waits)


async def test_m4_a_fallback_replaces_a_long_wait(tmp_path: Path) -> None:
    models = plays(tmp_path, first=calls([busy(retry_after=60)]), second=calls(says("From the second.")))
    async with open_runtime(tmp_path, calls(), models=models) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        facts = await facts_of(rig, turn.session_id)
    assert [fact.provider for fact in facts if isinstance(fact, ModelRequested)] == ["first", "second"]
    assert [fact.chosen.provider for fact in facts if isinstance(fact, RoutingResolved)] == ["first", "second"]


async def test_m4_a_waiting_call_is_one_row_with_wait_and_attempt(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls([busy(retry_after=0.01, attempts=3), *says("Hello.")])) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        notices = [part for part in await rig.parts(turn.session_id, turn.turn_id) if isinstance(part, NoticePart)]
    assert [(notice.code, notice.message, notice.attempt) for notice in notices] == [
        ("model_unavailable", "Overloaded.", 4)
    ]


async def test_m4_an_interrupt_ends_a_wait_at_once(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls([busy(retry_after=200)])) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "model.failed")
        began = time.monotonic()
        await rig.do(InterruptTurn(session_id=turn.session_id))
        await rig.until(turn.session_id, "turn.interrupted")
        assert time.monotonic() - began < 20


async def test_m4_a_waiting_call_of_a_dead_process_is_interrupted(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls([busy(retry_after=200)])) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "model.failed")
        async with open_runtime(copy_as_killed(rig, tmp_path), calls(says("Again."))) as after:
            await after.read(turn.session_id)
            assert (await after.types(turn.session_id))[-3:] == [
                "session.taken_over",
                "model.interrupted",
                "turn.interrupted",
            ]


class Ends:
    """A model that ends its response for an unknown reason."""

    provider, name, label = "odd", "m", "odd"
    window: int | None = None
    images = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        yield TextDelta(0, "Half of it")
        yield Finished(stop_reason="unknown", provider_reason="moon_phase")

    def choose_route(self, wanted: str) -> Route:
        return Route(candidates=((self.provider, self.name),), chosen=0, reason="It is the only one.")

    def get_model(self, provider: str, name: str) -> Ends:
        return self


async def test_m4_an_unknown_stop_reason_is_recorded_with_a_warning(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(), models=cast("ConfiguredModels", Ends())) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        completed = (await rig.until(turn.session_id, "model.completed")).fact
        warned = [fact for fact in await facts_of(rig, turn.session_id) if isinstance(fact, WarningRaised)]
    assert getattr(completed, "provider_reason", "") == "moon_phase"
    assert [fact.code for fact in warned] == ["answer_end_unknown"]
    assert "moon_phase" in warned[0].message
