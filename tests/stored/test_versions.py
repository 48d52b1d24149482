"""S2: facts and stores of other versions are read where possible, else refused with the reason."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from callboard.contracts import record
from callboard.contracts.commands.permission import AddRule
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import FACTS
from callboard.contracts.facts.base import Fact, UnknownFact
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.permission import PermissionRuleAdded
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.upcasts import UPCASTS
from callboard.log.sqlite import open_store, schema
from callboard.log.sqlite.schema import FACTS_SCHEMA
from callboard.runtime.runtime import Runtime
from tests.log.samples import STREAM, batch, fill
from tests.runtime.rigs.runtime_rig import RuntimeRig, build_dependencies, calls, open_runtime, says, use_tool


class Note(Fact, frozen=True, kw_only=True):
    """A fact in its third version: `note` became `words`, and then a list."""

    type: ClassVar[str] = "test.noted"
    schema_version: ClassVar[int] = 3
    words: tuple[str, ...]


@pytest.fixture
def register_note(monkeypatch: pytest.MonkeyPatch) -> None:
    decoders: dict[str, Any] = getattr(record, "_payload_decoders")  # noqa: B009
    monkeypatch.setitem(FACTS, Note.type, Note)
    monkeypatch.setitem(decoders, Note.type, msgspec.json.Decoder(Note))
    steps = {
        (Note.type, 1): lambda old: {"words": old["note"]},
        (Note.type, 2): lambda old: {"words": old["words"].split()},
    }
    monkeypatch.setattr(record, "UPCASTS", steps)


@pytest.mark.usefixtures("register_note")
@pytest.mark.parametrize(
    ("version", "payload"),
    [(1, {"note": "so it is"}), (2, {"words": "so it is"}), (3, {"words": ["so", "it", "is"]})],
)
def test_s2_an_older_version_of_a_fact_reads_as_the_present_one(version: int, payload: dict[str, Any]) -> None:
    fact = record.decode_payload(Note.type, json.dumps(payload).encode(), version)

    assert fact == Note(words=("so", "it", "is"))


@pytest.mark.usefixtures("register_note")
@pytest.mark.parametrize(
    ("version", "data"),
    [(4, b'{"words":["later"]}'), (1, b'{"words":"no note"}'), (3, b'{"words":1}'), (3, b"no JSON")],
)
def test_s2_an_unreadable_fact_is_unknown_and_keeps_its_bytes(version: int, data: bytes) -> None:
    assert record.decode_payload(Note.type, data, version) == UnknownFact(payload=msgspec.Raw(data))


@pytest.mark.usefixtures("register_note")
async def test_s2_an_upcast_changes_no_stored_byte_and_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class First(Fact, frozen=True, kw_only=True):
        type: ClassVar[str] = Note.type
        note: str

    store = open_store(tmp_path)
    await fill(store, 1)
    await store.facts.append(batch(1, record.NewFact(First(note="so it is"))))
    before = await store.facts.read_bytes(STREAM)
    await store.close()

    store = open_store(tmp_path)
    (read,) = await store.facts.read(STREAM, after=1)
    assert (read.fact, read.header.version, read.schema_version) == (Note(words=("so", "it", "is")), 1, 3)
    assert await store.facts.read_bytes(STREAM) == before
    assert (await store.facts.verify(STREAM)).sequence == 2
    await store.close()


def test_s2_every_fact_of_a_higher_version_has_all_its_upcasters() -> None:
    lacks = [
        (tag, version)
        for tag, kind in FACTS.items()
        for version in range(1, kind.schema_version)
        if (tag, version) not in UPCASTS
    ]
    assert lacks == []


async def test_s2_a_session_with_a_fact_of_a_newer_version_is_read_and_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = calls(says("Hello."), says("Again."))
    monkeypatch.setattr(TurnCompleted, "schema_version", 2)
    async with open_runtime(tmp_path, scenario) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
    monkeypatch.setattr(TurnCompleted, "schema_version", 1)
    # Another version has other fingerprints, so it does not use derived data of this one.
    (tmp_path / "state" / "views.db").unlink()

    async with open_runtime(tmp_path, scenario) as rig:
        before = await rig.facts(turn.session_id)
        texts = [record.fact.content.text for record in before if isinstance(record.fact, MessageText)]
        assert texts == ["Hello."]
        assert [record.header.type for record in before if record.is_unreadable] == ["turn.completed"]
        with pytest.raises(Refusal, match=r"turn\.completed, version 2") as refused:
            await rig.submit("again", turn.session_id)
        assert refused.value.code == "facts_unreadable"
        assert (await rig.read(turn.session_id)).head == len(before)
        other = await rig.submit("go")
        await rig.until(other.session_id, "turn.completed")
        assert await rig.facts(turn.session_id) == before

    # The version that wrote the session continues it, without data of the other version.
    monkeypatch.setattr(TurnCompleted, "schema_version", 2)
    async with open_runtime(tmp_path, scenario) as rig:
        await rig.submit("again", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", 2)


@pytest.mark.parametrize("how", ["newer", "damaged"])
async def test_s2_a_session_whose_workspace_cannot_be_read_is_not_continued_without_its_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    scenario = calls(says("Hello."), use_tool("Write", file_path="a.txt", content="x"), says("Done."))
    if how == "newer":
        monkeypatch.setattr(PermissionRuleAdded, "schema_version", 2)
    async with open_runtime(tmp_path, scenario) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        await rig.do(AddRule(workspace_id=rig.workspace, matcher="Write(a.txt)", verdict="deny"))
        workspace, before = rig.workspace, await rig.facts(turn.session_id)
    monkeypatch.undo()
    if how == "damaged":
        of_workspace = "stream = (SELECT number FROM streams WHERE name LIKE 'wks_%')"
        _change(tmp_path / "state", f"UPDATE facts SET payload = zeroblob(3) WHERE {of_workspace} AND sequence = 1")

    async with Runtime(build_dependencies(tmp_path, scenario)) as runtime:
        rig = RuntimeRig(runtime, workspace, tmp_path / "work")
        wanted: list[dict[str, Any]] = [{"session": turn.session_id}, {}]
        for where in wanted:
            with pytest.raises(Refusal) as refused:
                await rig.submit("again", permission_mode="edits", **where)
            assert refused.value.code == ("facts_unreadable" if how == "newer" else "chain_broken")
        assert await rig.facts(turn.session_id) == before
    assert not (tmp_path / "work" / "a.txt").exists()


async def test_s2_a_stored_answer_that_does_not_decode_is_refused_and_not_carried_out_again(tmp_path: Path) -> None:
    async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
        turn = await rig.submit("go", turn_id="trn_00000000000000000000AA")
        await rig.until(turn.session_id, "turn.completed")
        before = await rig.facts(turn.session_id)
        _change(tmp_path / "state", "UPDATE answers SET answer = CAST('{\"shape\":1}' AS BLOB) WHERE key LIKE 'turn:%'")

        with pytest.raises(Refusal) as refused:
            await rig.submit("go", turn_id="trn_00000000000000000000AA")
        assert refused.value.code == "answer_unreadable"
        assert await rig.facts(turn.session_id) == before


async def test_s2_a_part_in_the_making_that_does_not_decode_does_not_stop_its_session(tmp_path: Path) -> None:
    waits = [{"text": "Half of it."}, {"wait_for": "never"}]
    async with open_runtime(tmp_path, calls(waits)) as rig:
        turn = await rig.submit("go")
        await rig.wait_partial(turn.session_id, "Half of it.")
        _change(tmp_path / "state", "UPDATE partials SET scope = x'00'")
        assert await rig.runtime.dependencies.store.partials.read(turn.session_id) == ()


def _step(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE store ADD COLUMN note TEXT NOT NULL DEFAULT ''")


async def test_s2_a_store_of_an_older_layout_is_migrated_behind_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    await fill(store, 5)
    before = await store.facts.read_bytes(STREAM)
    await store.close()
    monkeypatch.setattr(schema, "FACTS_SCHEMA", FACTS_SCHEMA + 1)
    monkeypatch.setattr(schema, "STEPS", {FACTS_SCHEMA: _step})
    with pytest.raises(Refusal, match="older layout"):
        open_store(tmp_path, read_only=True)

    store = open_store(tmp_path)
    assert await store.facts.read_bytes(STREAM) == before
    await store.close()

    copy = tmp_path / f"callboard.db.layout-{FACTS_SCHEMA}"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert [_layout(path) for path in (tmp_path / "callboard.db", copy)] == [FACTS_SCHEMA + 1, FACTS_SCHEMA]
    monkeypatch.undo()
    with pytest.raises(Refusal, match="newer Callboard"):
        open_store(tmp_path)


@pytest.mark.parametrize(
    "steps", [{}, {FACTS_SCHEMA: _step, FACTS_SCHEMA + 1: lambda database: database.execute("no SQL")}]
)
async def test_s2_a_migration_is_whole_or_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: dict[int, Any]
) -> None:
    store = open_store(tmp_path)
    await fill(store, 5)
    before = await store.facts.read_bytes(STREAM)
    await store.close()
    monkeypatch.setattr(schema, "FACTS_SCHEMA", FACTS_SCHEMA + 2)
    monkeypatch.setattr(schema, "STEPS", steps)
    with pytest.raises(Refusal) as refused:
        open_store(tmp_path)
    assert refused.value.code == "store_unusable"
    monkeypatch.undo()

    assert _layout(tmp_path / "callboard.db") == FACTS_SCHEMA
    store = open_store(tmp_path)
    assert await store.facts.read_bytes(STREAM) == before
    await store.close()


def _layout(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def _change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "callboard.db", isolation_level=None)) as outside:
        assert outside.execute(statement).rowcount > 0
