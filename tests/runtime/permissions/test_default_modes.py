"""The permission mode of a turn without an explicit one."""

from __future__ import annotations

from pathlib import Path

from callboard.contracts.commands.permission import RevokeTrust
from callboard.contracts.facts.turn import TurnSubmitted
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, says
from tests.runtime.rigs.trusted_folder import open_with_settings, trust_folder, write_folder_settings

TALKS = calls(*([says("Done.")] * 5))
FULL = 'permission_mode = "full"\n'


async def run_turn(rig: RuntimeRig, session: str | None = None, **more: str) -> tuple[str, str]:
    """Run a turn to its end, and return its mode and session."""
    turn = await rig.submit("go", session, **more)
    await rig.until(turn.session_id, "turn.completed", after=turn.sequence - 1)
    submitted = [record.fact for record in await rig.facts(turn.session_id) if record.scope.turn == turn.turn_id]
    fact = next(fact for fact in submitted if isinstance(fact, TurnSubmitted))
    return fact.permission_mode, turn.session_id


async def test_a_new_session_starts_in_the_users_mode(tmp_path: Path) -> None:
    async with open_with_settings(tmp_path, TALKS, user='permission_mode = "edits"\n') as rig:
        assert (await run_turn(rig))[0] == "edits"


async def test_the_folders_mode_applies_only_if_the_folder_is_trusted(tmp_path: Path) -> None:
    """SAFE-08"""
    async with open_with_settings(tmp_path, TALKS, FULL) as rig:
        assert (await run_turn(rig))[0] == "ask"
        await trust_folder(rig)
        folder_mode, session = await run_turn(rig)
        assert folder_mode == "full"
        assert (await run_turn(rig, session))[0] == "full"
        await rig.do(RevokeTrust(workspace_id=rig.workspace))
        assert (await run_turn(rig, session))[0] == "ask"
        assert (await run_turn(rig))[0] == "ask"


async def test_outdated_trust_does_not_carry_a_mode_on(tmp_path: Path) -> None:
    """SAFE-08"""
    async with open_with_settings(tmp_path, TALKS, FULL) as rig:
        await trust_folder(rig)
        _, session = await run_turn(rig)
        write_folder_settings(rig.folder, "")
        assert (await run_turn(rig, session))[0] == "ask"


async def test_a_session_keeps_the_mode_that_a_person_chose(tmp_path: Path) -> None:
    async with open_with_settings(tmp_path, TALKS) as rig:
        _, session = await run_turn(rig, permission_mode="edits")
        assert (await run_turn(rig, session))[0] == "edits"
