"""D7: the state of a session is one function of the facts, for its card and its shell."""

from __future__ import annotations

import msgspec

from callboard.contracts.rows.conversation import TurnRow
from callboard.contracts.rows.session import SessionCard, SessionRow
from tests.control.rigs.examples import ASK, RUN_CONFIG, SESSION, model_answer, requested_call, submit
from tests.control.rigs.jobs import retry_item, session_with_job
from tests.control.rigs.team import Team, agent_definition, team
from tests.control.rigs.team_histories import Rows


def states(given: Team) -> tuple[str, str]:
    """Return state and attention of the session. Its card and its shell must agree."""
    rows = Rows()
    for record in given.records:
        rows.apply(record)
    card, shell = rows.rows["sessions", SESSION], rows.rows["session", SESSION]
    assert isinstance(card, SessionCard)
    assert isinstance(shell, SessionRow)
    assert (card.state, card.attention) == (shell.state, shell.attention)
    return card.state, card.attention


def test_a_session_whose_lead_is_done_waits_while_a_teammate_asks() -> None:
    given = team(agent_definition("lead"), agent_definition("other"))
    given.uses("lead", "send_message", to=["other"], text="begin")
    given.answers("lead")
    assert states(given) == ("running", "none")

    run = int(given.run_of("other").run.removeprefix("run_"))
    given.when(model_answer(requested_call(1, 2, ASK), run=run, thread=given.thread_of("other").thread))

    assert states(given) == ("waiting", "needs_input")


def test_a_session_shows_its_running_or_failed_job() -> None:
    given = session_with_job("alpha")
    assert states(given) == ("running", "none")
    given.fails("worker-1")
    assert states(given) == ("failed", "failed")
    given.when(retry_item())
    assert states(given) == ("running", "none")


def test_a_failed_child_does_not_fail_the_session() -> None:
    given = team()
    given.spawns()
    given.fails("worker-1")
    assert states(given) == ("running", "none")
    given.answers("lead")
    assert states(given) == ("paused", "needs_input")


def test_a_failed_turn_shows_until_the_next_turn() -> None:
    given = team()
    given.fails("lead")
    assert states(given) == ("failed", "failed")
    given.when(submit("again", session_id=SESSION))
    assert states(given) == ("running", "none")


def test_a_turn_row_shows_the_permission_mode_in_force() -> None:
    """D3: the definition narrows the requested mode."""
    given = team(permission_mode="full")
    given.configure_run = lambda *modes: msgspec.structs.replace(RUN_CONFIG, permission_mode="ask", max_iters=9)
    given.answers("lead")
    given.when(submit("again", session_id=SESSION, permission_mode="full"))
    rows = Rows()
    for record in given.records:
        rows.apply(record)
    turns = [row for row in rows.rows.values() if isinstance(row, TurnRow)]
    assert [row.permission_mode for row in turns] == ["full", "ask"]
