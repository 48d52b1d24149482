"""S1: derived data that does not fit is discarded and rebuilt, and the session opens as without it."""

from __future__ import annotations

import ast
import logging
from collections.abc import Callable
from importlib.util import find_spec, resolve_name
from pathlib import Path

import msgspec
import pytest

from callboard.contracts.errors import Refusal
from callboard.runtime import fingerprint
from callboard.runtime.prompts import history, stored_history
from callboard.runtime.views.session import SessionViews
from tests.app.rigs.product import Product
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says

from . import views

PARTIAL_STATE = msgspec.msgpack.encode({"sequence": "not a number"})
Damage = Callable[[Path], int]

#: Each way in which derived data does not fit, and the logged reason.
DAMAGES: dict[str, tuple[Damage, str]] = {
    "a view state that does not decode": (
        lambda folder: views.replace_view_states(folder, PARTIAL_STATE),
        "does not decode",
    ),
    "a view state whose bytes changed": (
        lambda folder: views.change(folder, "UPDATE views SET state = state || x'00'"),
        "is damaged",
    ),
    "a watermark that changed": (
        lambda folder: views.change(folder, "UPDATE views SET watermark = watermark + 1"),
        "is damaged",
    ),
    "a row that does not decode": (lambda folder: views.replace_rows(folder, b'{"kind":"new_kind"}'), "is damaged"),
    "a row whose bytes changed": (
        lambda folder: views.change(folder, "UPDATE rows SET data = substr(data, 1, length(data) - 1)"),
        "is damaged",
    ),
    "a row in another place": (lambda folder: views.change(folder, "UPDATE rows SET place = place + 1"), "is damaged"),
    "a snapshot that does not decode": (
        lambda folder: views.replace_snapshots(folder, b'{"session":1}'),
        "does not decode",
    ),
    "a snapshot whose bytes changed": (
        lambda folder: views.change(folder, "UPDATE snapshots SET state = state || x'00'"),
        "is damaged",
    ),
    "a snapshot of another history": (
        lambda folder: views.change(folder, "UPDATE snapshots SET link = zeroblob(32)"),
        "is damaged",
    ),
}


async def _conversation(rig: RuntimeRig, session: str) -> object:
    read = await rig.read(session)
    assert read.last_turn is not None
    return msgspec.to_builtins((read, await rig.parts(session, read.last_turn.turn_id)))


@pytest.mark.parametrize("name", DAMAGES)
async def test_s1_derived_data_that_does_not_fit_is_rebuilt_and_the_reason_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    damage, reason = DAMAGES[name]
    async with open_runtime(tmp_path, calls(says("Hello."), says("Again."))) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        before = await _conversation(rig, turn.session_id)
        store = tmp_path / "state"
    assert damage(store) > 0

    async with open_runtime(tmp_path, calls(says("Hello."), says("Again."))) as rig:
        assert await _conversation(rig, turn.session_id) == before
        again = await rig.submit("again", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", 2)
        last = (await rig.read(turn.session_id)).last_turn
        assert last is not None
        assert last.turn_id == again.turn_id
    assert reason in caplog.text


async def test_s1_a_row_that_is_damaged_while_its_session_is_open_is_rebuilt_during_a_turn(
    tmp_path: Path,
) -> None:
    waits = [{"wait_for": "never"}]
    async with open_runtime(tmp_path, calls(says("Hello."), waits)) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        before = await rig.parts(turn.session_id, turn.turn_id)
        await rig.submit("wait", turn.session_id)
        await rig.until(turn.session_id, "model.requested", 2)
        store = tmp_path / "state"
        assert views.change(store, "UPDATE rows SET data = x'00'") > 0

        assert await rig.parts(turn.session_id, turn.turn_id) == before
        assert (await rig.read(turn.session_id)).status.detail == "asking_model"


async def test_s1_another_fingerprint_discards_snapshots_rows_and_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        before = await _conversation(rig, turn.session_id)
    fingerprint.compute_view_fingerprint.cache_clear()
    monkeypatch.setattr(fingerprint, "__version__", "another")
    monkeypatch.setattr(fingerprint, "_list_sources", lambda *_: iter(()))
    try:
        async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
            assert await rig.runtime.dependencies.store.rows.read_all_rows("sessions", "another") == ()
            assert await _conversation(rig, turn.session_id) == before
    finally:
        fingerprint.compute_view_fingerprint.cache_clear()
    assert "another version" in caplog.text


def test_s1_a_fingerprint_covers_every_source_of_derived_data(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.py").write_text("A = 1\n")
    (tmp_path / "deep" / "b.py").write_text("B = 1\n")
    first = fingerprint.compute_fingerprint(("one", tmp_path))
    assert fingerprint.compute_fingerprint(("one", tmp_path)) == first

    (tmp_path / "notes.txt").write_text("not code")
    assert fingerprint.compute_fingerprint(("one", tmp_path)) == first
    (tmp_path / "deep" / "b.py").write_text("B = 2\n")
    changed = fingerprint.compute_fingerprint(("one", tmp_path))
    (tmp_path / "deep" / "b.py").rename(tmp_path / "deep" / "c.py")
    assert len({first, changed, fingerprint.compute_fingerprint(("one", tmp_path))}) == 3
    assert fingerprint.compute_state_fingerprint() != fingerprint.compute_view_fingerprint()


def test_s1_the_fingerprint_of_conversations_covers_the_code_that_makes_them() -> None:
    """A conversation of other code is read from the log."""
    covered = ("callboard.contracts.", "callboard.control.", "callboard.runtime.prompts.")
    # It only pauses long work.
    elsewhere = {"callboard.runtime.slices"}
    pending, modules = {history.__name__, stored_history.__name__}, set[str]()
    while pending:
        name = pending.pop()
        modules.add(name)
        pending |= {imported for imported in list_imports(name) if imported.startswith("callboard.runtime.")} - modules
        elsewhere |= {imported for imported in list_imports(name) if not imported.startswith(covered)}

    assert {"callboard.runtime.prompts.content_renderer", "callboard.runtime.prompts.pending_messages"} <= modules
    assert elsewhere == {"callboard.runtime.slices"}
    state, prompts = fingerprint.compute_conversation_fingerprint().split("-")
    assert state == fingerprint.compute_state_fingerprint()
    assert prompts == fingerprint.compute_fingerprint(("prompts", Path(history.__file__).parent))


def list_imports(module: str) -> set[str]:
    """Return the modules of the package that a module imports."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    names = {
        resolve_name("." * node.level + (node.module or ""), spec.parent)
        for node in ast.walk(ast.parse(Path(spec.origin).read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    return {name for name in names if name.startswith("callboard.")}


def test_s1_a_run_in_a_session_whose_view_state_does_not_decode_ends(tmp_path: Path) -> None:
    """A host that was opened and never closed made it wait forever."""
    product = Product(tmp_path).plays(calls(says("Hello."), says("Again.")))
    assert product.run("run", "go").code == 0
    assert views.replace_view_states(tmp_path / "home" / "store", PARTIAL_STATE) > 0

    with product.started("run", "again", "--session", "last") as running:
        assert (running.rest()[-1:], running.wait()) == (["Again."], 0)


async def test_s1_a_session_that_does_not_open_leaves_no_host_and_no_task_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next opening is complete."""
    async with open_runtime(tmp_path, calls(says("Hello."), says("Again."))) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")
        await rig.read(turn.session_id)
        await rig.runtime.sessions.release(turn.session_id)
        closed: list[str] = []
        close, opened = SessionViews.close, SessionViews.open

        async def fails(self: SessionViews) -> None:
            await opened(self)
            raise Refusal("store_unusable", "the disk is gone")

        async def noted(self: SessionViews, sequence: int = 0) -> None:
            closed.append("views")
            await close(self, sequence)

        monkeypatch.setattr(SessionViews, "open", fails)
        monkeypatch.setattr(SessionViews, "close", noted)
        with pytest.raises(Refusal, match="the disk is gone"):
            await rig.read(turn.session_id)
        assert (closed, rig.runtime.sessions.open_sessions()) == (["views"], [])

        monkeypatch.setattr(SessionViews, "open", opened)
        await rig.submit("again", turn.session_id)
        await rig.until(turn.session_id, "turn.completed", 2)
