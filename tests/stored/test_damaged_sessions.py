"""R5: a session that cannot be read stays in every list, with the reason."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callboard.app.reading.local_reader import LocalReader
from callboard.contracts.commands.session import ListSessions, OpenWorkspace, SessionList
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.session import SessionCard
from callboard.log.sqlite.store import open_store
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says

from .views import change


async def _write_sessions(place: Path) -> tuple[str, str, str]:
    """Run a turn in each of two folders. Return the sessions and the second workspace."""
    (place / "other").mkdir()
    async with open_runtime(place, calls(says("Hello."), says("Again."))) as rig:
        first = (await rig.submit("one")).session_id
        await rig.until(first, "turn.completed")
        other = (await rig.do(OpenWorkspace(path=str(place / "other")))).workspace_id
        two = (await rig.do(SubmitTurn(text="two", workspace_id=other))).session_id
        await rig.until(two, "turn.completed")
    return first, two, other


def _damage(place: Path, stream: str, *, views: bool) -> None:
    with closing(sqlite3.connect(place / "state" / "callboard.db", isolation_level=None)) as log:
        log.execute(
            "UPDATE facts SET payload = zeroblob(3)"
            " WHERE sequence = 2 AND stream = (SELECT number FROM streams WHERE name = ?)",
            (stream,),
        )
    if views:
        change(place / "state", "DELETE FROM snapshots")
    else:
        (place / "state" / "views.db").unlink()


async def _list_cards(rig: RuntimeRig, workspace: str | None = None) -> dict[str, SessionCard]:
    listed: SessionList = await rig.do(ListSessions(workspace_id=workspace))
    return {card.session_id: card for card in listed.sessions}


async def _list_cards_read_only(place: Path) -> dict[str, SessionCard]:
    store = open_store(place / "state", read_only=True)
    try:
        return {card.session_id: card for card in (await LocalReader(store).list_sessions()).cards}
    finally:
        await store.close()


@pytest.mark.parametrize("damage", ["session", "workspace"])
async def test_r5_a_list_shows_damaged_sessions_with_the_reason_and_the_others_unchanged(
    tmp_path: Path, damage: str
) -> None:
    """R5: with a process that writes, and without one."""
    first, two, other = await _write_sessions(tmp_path)
    _damage(tmp_path, two if damage == "session" else other, views=False)

    alone = await _list_cards_read_only(tmp_path)
    async with open_runtime(tmp_path, calls(says("Hello.")), rebuild_wait=60.0) as rig:
        beside = await _list_cards(rig)
        page = [card.session_id for host in rig.runtime.workspaces.all() for card in host.cards()]

    for cards in (alone, beside):
        assert {name: card.state for name, card in cards.items()} == {first: "idle", two: "damaged"}
        assert "/2 differs from the appended one" in cards[two].problem
        assert cards[two].problem_code == "chain_broken"
        assert (cards[two].attention, cards[two].title, cards[two].workspace_id) == ("failed", "two", other)
        assert cards[two].order > 0
    assert page == ([first, two] if damage == "session" else [first])


async def test_r5_a_session_that_turns_out_to_be_damaged_is_listed_so_from_then_on(tmp_path: Path) -> None:
    """R5: its stored rows are sound, so only opening it shows the damage of its log."""
    first, two, other = await _write_sessions(tmp_path)
    _damage(tmp_path, two, views=True)
    async with open_runtime(tmp_path, calls(says("Hello."))) as rig:
        assert (await _list_cards(rig, other))[two].state == "idle"
        with pytest.raises(Refusal, match="chain_broken"):
            await rig.submit("again", two)
        assert (await _list_cards(rig, other))[two].state == "damaged"
        assert (await _list_cards(rig))[first].state == "idle"
