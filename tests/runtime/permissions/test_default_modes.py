"""The mode of a turn for which nobody chose one, by the settings of the person and of the folder."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.commands.trust import RevokeTrust
from callboard.contracts.facts import TurnSubmitted
from tests.runtime.rigs.house import House, calls
from tests.runtime.rigs.house import says as answers
from tests.runtime.rigs.trusted_folder import says, settled, trusts

TALKS = calls(*([answers("Done.")] * 5))
FULL = 'permission_mode = "full"\n'


async def mode(home: House, session: str | None = None, **more: str) -> tuple[str, str]:
    """The mode of a turn that was given to its end, and its session."""
    turn = await home.submit("go", session, **more)
    await home.until(turn.session_id, "turn.completed", after=turn.sequence - 1)
    submitted = [record.fact for record in await home.facts(turn.session_id) if record.scope.turn == turn.turn_id]
    fact = next(fact for fact in submitted if isinstance(fact, TurnSubmitted))
    return fact.permission_mode, turn.session_id


async def test_a_new_session_begins_in_the_mode_of_the_persons_settings(tmp_path: Path) -> None:
    async with settled(tmp_path, TALKS, user='permission_mode = "edits"\n') as home:
        assert (await mode(home))[0] == "edits"


async def test_a_mode_that_the_folder_asks_for_begins_a_session_only_where_it_is_trusted(tmp_path: Path) -> None:
    """SAFE-08"""
    async with settled(tmp_path, TALKS, FULL) as home:
        assert (await mode(home))[0] == "ask"
        await trusts(home)
        found, session = await mode(home)
        assert found == "full"
        assert (await mode(home, session))[0] == "full"
        await home.do(RevokeTrust(workspace_id=home.workspace))
        assert (await mode(home, session))[0] == "ask"
        assert (await mode(home))[0] == "ask"


async def test_trust_for_what_the_files_said_before_carries_no_mode_on(tmp_path: Path) -> None:
    """SAFE-08"""
    async with settled(tmp_path, TALKS, FULL) as home:
        await trusts(home)
        _, session = await mode(home)
        says(home.folder, "")
        assert (await mode(home, session))[0] == "ask"


async def test_a_session_goes_on_in_the_mode_that_a_person_chose(tmp_path: Path) -> None:
    async with settled(tmp_path, TALKS) as home:
        _, session = await mode(home, permission_mode="edits")
        assert (await mode(home, session))[0] == "edits"
