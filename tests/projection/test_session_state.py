"""D7: the state of a session is one function of the facts, for its card and its shell."""

from __future__ import annotations

import msgspec

from callboard.contracts.rows.session import SessionCard, SessionRow
from callboard.contracts.rows.turn import TurnRow
from tests.control.rigs.examples import ASK, RUN_CONFIG, SESSION, model_response, requested_call, submit
from tests.control.rigs.jobs import retry_item, session_with_job
from tests.control.rigs.team import Team, agent_definition, team
from tests.control.rigs.team_histories import Rows


def states(crew: Team) -> tuple[str, str]:
    """Return state and attention of the session. Its card and its shell must agree."""
    rows = Rows()
    for record in crew.records:
        rows.apply(record)
    card, shell = rows.rows["sessions", SESSION], rows.rows["session", SESSION]
    assert isinstance(card, SessionCard)
    assert isinstance(shell, SessionRow)
    assert (card.state, card.attention) == (shell.state, shell.attention)
    return card.state, card.attention


def test_a_session_whose_lead_is_done_waits_while_a_teammate_asks() -> None:
    crew = team(agent_definition("lead"), agent_definition("other"))
    crew.uses("lead", "send_message", to=["other"], text="begin")
    crew.responds("lead")
    assert states(crew) == ("running", "none")

    run = int(crew.run_of("other").run.removeprefix("run_"))
    crew.when(model_response(requested_call(1, 2, ASK), run=run, thread=crew.thread_of("other").thread))

    assert states(crew) == ("waiting", "needs_input")


def test_a_session_shows_its_running_or_failed_job() -> None:
    crew = session_with_job("alpha")
    assert states(crew) == ("running", "none")
    crew.fails("worker-1")
    assert states(crew) == ("failed", "failed")
    crew.when(retry_item())
    assert states(crew) == ("running", "none")


def test_a_failed_child_does_not_fail_the_session() -> None:
    crew = team()
    crew.spawns()
    crew.fails("worker-1")
    assert states(crew) == ("running", "none")
    crew.responds("lead")
    assert states(crew) == ("paused", "needs_input")


def test_a_failed_turn_shows_until_the_next_turn() -> None:
    crew = team()
    crew.fails("lead")
    assert states(crew) == ("failed", "failed")
    crew.when(submit("again", session_id=SESSION))
    assert states(crew) == ("running", "none")


def test_a_turn_row_shows_the_permission_mode_in_force() -> None:
    """D3: the definition narrows the requested mode."""
    crew = team(permission_mode="full")
    crew.configure_run = lambda *modes: msgspec.structs.replace(RUN_CONFIG, permission_mode="ask", max_iters=9)
    crew.responds("lead")
    crew.when(submit("again", session_id=SESSION, permission_mode="full"))
    rows = Rows()
    for record in crew.records:
        rows.apply(record)
    turns = [row for row in rows.rows.values() if isinstance(row, TurnRow)]
    assert [row.permission_mode for row in turns] == ["full", "ask"]
