"""Models behind real runs: fallbacks and replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from callboard.contracts.commands.context import CompactThread
from callboard.contracts.commands.evidence import ExportEvidence
from callboard.contracts.commands.model import ListModels, TryModel
from callboard.contracts.commands.turn import InterruptTurn, SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.model import ModelRequested, RoutingResolved
from callboard.contracts.facts.turn import TurnFailed
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool


def plays(place: Path, **scenarios: dict[str, Any]) -> ConfiguredModels:
    """Return a provider per scenario; the first falls back on the others in order."""
    providers: list[ProviderSettings] = []
    for name, scenario in scenarios.items():
        path = place / f"{name}.yaml"
        path.write_text(yaml.safe_dump({"name": "m", **scenario}))
        providers.append(ProviderSettings(name=name, kind="scripted", scenario=str(path)))
    return ConfiguredModels(ModelSettings(providers=tuple(providers), fallback=tuple(scenarios)))


async def facts_of(rig: RuntimeRig, session: str) -> list[Any]:
    return [record.fact for record in await rig.facts(session)]


async def test_a_failed_model_is_replaced_by_its_fallback(tmp_path: Path):
    refuses = calls([{"text": "Half"}, {"fail": {"code": "model_auth", "message": "No such key.", "retryable": False}}])
    models = plays(tmp_path, first=refuses, second=calls(says("From the second.")))
    async with open_runtime(tmp_path, calls(), models=models) as rig:
        session = (await rig.submit("Go.")).session_id
        await rig.until(session, "turn.completed")
        facts = await facts_of(rig, session)

    routes = [fact for fact in facts if isinstance(fact, RoutingResolved)]
    requests = [(fact.provider, fact.iteration) for fact in facts if isinstance(fact, ModelRequested)]
    assert [route.chosen.provider for route in routes] == ["first", "second"]
    assert routes[1].reason == "first/m failed: No such key."
    assert requests == [("first", 1), ("second", 1)]
    assert [fact.content.text for fact in facts if isinstance(fact, MessageText)] == ["From the second."]


async def test_if_all_models_fail_the_turn_fails_with_the_last_error(tmp_path: Path):
    def fails(code: str) -> dict[str, Any]:
        return calls([{"fail": {"code": code, "message": f"It says {code}.", "retryable": False}}])

    models = plays(tmp_path, one=fails("model_auth"), two=fails("model_quota"), three=fails("model_unavailable"))
    async with open_runtime(tmp_path, calls(), models=models) as rig:
        session = (await rig.submit("Go.")).session_id
        await rig.until(session, "turn.failed")
        (failed,) = [fact for fact in await facts_of(rig, session) if isinstance(fact, TurnFailed)]

    assert (failed.code, failed.message) == ("model_unavailable", "It says model_unavailable.")
    assert failed.hint.startswith("The models before it also failed.")


async def test_a_replay_repeats_a_run_and_reports_where_it_leaves_it(tmp_path: Path):
    scenario = calls(use_tool("Read", file_path="note.md"), says("It says one."))
    first = tmp_path / "first"
    first.mkdir()
    async with open_runtime(first, scenario) as rig:
        (rig.folder / "note.md").write_text("one\n")
        session = (await rig.submit("What does it say?")).session_id
        await rig.until(session, "turn.completed")
        packed = await rig.do(ExportEvidence(session_id=session))
        data = await rig.runtime.dependencies.store.blobs.get(packed.pack.hash)
    assert data is not None
    (tmp_path / "former.zip").write_bytes(data)
    replay = ProviderSettings(name="replay", kind="recorded", recording=str(tmp_path / "former.zip"))
    again = tmp_path / "again"
    again.mkdir()
    models = ConfiguredModels(ModelSettings(providers=(replay,)))
    async with open_runtime(again, calls(), models=models) as rig:
        (rig.folder / "note.md").write_text("one\n")
        session = (await rig.submit("What does it say?")).session_id
        await rig.until(session, "turn.completed")
        texts = [fact.content.text for fact in await facts_of(rig, session) if isinstance(fact, MessageText)]
        (rig.folder / "note.md").write_text("two\n")
        other = (await rig.submit("What does it say?")).session_id
        await rig.until(other, "turn.failed")
        (failed,) = [fact for fact in await facts_of(rig, other) if isinstance(fact, TurnFailed)]

    assert texts == ["It says one."]
    assert failed.code == "bad_recording"
    assert failed.message.startswith(
        "The run differs from its recording at call 2 of the agent 'solo': "
        "the result of call 1 of Read differs: recorded '1 one'"
    )


async def test_a_replay_works_for_interrupted_and_summarised_runs(tmp_path: Path):
    """The run is repeated after an interrupt, with a requested summary in between."""
    played = {
        "agents": {"compaction": [says("They said one.")]},
        "match": [
            {"text": "one", "calls": [[{"wait_for": str(tmp_path / "go")}, {"text": "First."}]]},
            *({"text": text, "calls": [says(answer)]} for text, answer in (("two", "Second."), ("three", "Third."))),
        ],
    }
    first = tmp_path / "first"
    first.mkdir()
    async with open_runtime(first, played) as rig:
        session = (await rig.submit("one")).session_id
        await rig.until(session, "model.requested")
        await rig.do(InterruptTurn(session_id=session))
        await rig.until(session, "turn.interrupted")
        (tmp_path / "go").touch()
        for count, text in enumerate(("one", "two"), start=1):
            await rig.submit(text, session)
            await rig.until(session, "turn.completed", count)
        await rig.do(CompactThread(session_id=session))
        await rig.until(session, "turn.completed", 3)
        await rig.submit("three", session)
        await rig.until(session, "turn.completed", 4)
        packed = await rig.do(ExportEvidence(session_id=session))
        data = await rig.runtime.dependencies.store.blobs.get(packed.pack.hash)
    assert data is not None
    (tmp_path / "former.zip").write_bytes(data)
    replay = ProviderSettings(name="replay", kind="recorded", recording=str(tmp_path / "former.zip"))
    again = tmp_path / "again"
    again.mkdir()
    async with open_runtime(again, calls(), models=ConfiguredModels(ModelSettings(providers=(replay,)))) as rig:
        session: str | None = None
        for count, text in enumerate(("one", "two", "three"), start=1):
            session = (await rig.submit(text, session)).session_id
            ended = await rig.until(session, "turn.completed", count)
        texts = [fact.content.text for fact in await facts_of(rig, ended.stream) if isinstance(fact, MessageText)]

    assert texts == ["First.", "Second.", "Third."]


async def test_without_a_model_catalog_listing_is_refused(tmp_path: Path):
    async with open_runtime(tmp_path, calls()) as rig:
        for query in (ListModels(), TryModel()):
            with pytest.raises(Refusal) as refused:
                await rig.do(query)
            assert refused.value.code == "model_unconfigured"


async def test_a_run_keeps_its_model_when_another_is_configured(tmp_path: Path):
    waits = calls(
        [{"wait_for": str(tmp_path / "go")}, *use_tool("Read", file_path="note.md")], says("From the former.")
    )
    models = plays(tmp_path, former=waits)
    async with open_runtime(tmp_path, calls(), models=models) as rig:
        (rig.folder / "note.md").write_text("one\n")
        session = (await rig.submit("Go.")).session_id
        await rig.until(session, "model.requested")
        newer = tmp_path / "newer.yaml"
        newer.write_text(yaml.safe_dump({"name": "n", **calls(says("From the newer."))}))
        models.configure(
            ModelSettings(providers=(ProviderSettings(name="newer", kind="scripted", scenario=str(newer)),))
        )
        (tmp_path / "go").touch()
        await rig.until(session, "turn.completed")
        later = await rig.do(SubmitTurn(text="Go.", workspace_id=rig.workspace))
        await rig.until(later.session_id, "turn.completed")
        texts = [
            [fact.content.text for fact in await facts_of(rig, entry) if isinstance(fact, MessageText)]
            for entry in (session, later.session_id)
        ]

    assert texts == [["From the former."], ["From the newer."]]
