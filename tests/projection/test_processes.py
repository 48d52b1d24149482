"""The panel of processes: one row for each, from start to end."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.facts.process import ProcessEnded, ProcessStarted, ProcessStopRequested
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.rows.conversation import NoticePart
from callboard.contracts.rows.process import ProcessRow
from callboard.contracts.scope import Scope

from .runs import within
from .story import RUN, Story, model_story

SCOPE = within(RUN, step=2, tool_call="cal_1", process="prc_1")


def started() -> Story:
    return model_story().say(ProcessStarted(command=Text(text="npm run dev"), summary="Bash npm run dev"), SCOPE)


def row(story: Story) -> ProcessRow:
    (found,) = story.table.panel(ProcessRow)
    return found


def test_a_process_is_shown_from_its_start_to_its_end():
    """CTL-09"""
    story = started()
    running = row(story)
    assert (running.process_id, running.state, running.command.text) == ("prc_1", "running", "npm run dev")
    assert (running.thread_id, running.turn_id, running.tool_call_id) == (RUN.thread, RUN.turn, "cal_1")

    story.say(ProcessStopRequested(reason="enough"), SCOPE)
    assert (row(story).state, row(story).reason) == ("stopping", "enough")

    story.say(ProcessEnded(status="terminated", exit_code=137, output=Text(text="ready\n")), SCOPE)
    over = row(story)
    assert (over.state, over.exit_code, over.output.text, over.order) == ("terminated", 137, "ready\n", running.order)
    assert over.ended_at > over.started_at


def test_a_lost_process_shows_its_state_and_its_warning():
    """CTL-09"""
    story = started()
    story.say(ProcessEnded(status="lost", code="process_unavailable", message="It is gone."), SCOPE)
    story.say(WarningRaised(code="process_unavailable", message="It is gone."), SCOPE)

    assert (row(story).state, row(story).message) == ("lost", "It is gone.")
    assert [part.code for part in story.table.panel(NoticePart)] == ["process_unavailable"]


def test_the_erased_end_of_a_process_is_unknown():
    story = started()
    log = story.log
    record = log.say(ProcessEnded(status="exited", output=Text(text="secret")), SCOPE)
    story._take(story.view.apply(msgspec.structs.replace(record, fact=ErasedFact())))

    assert (row(story).state, row(story).output) == ("unknown", Text(erased=True))


def test_facts_of_unknown_processes_change_nothing():
    story = model_story()
    story.say(ProcessEnded(status="exited"), within(Scope(), thread=RUN.thread, process="prc_9"))

    assert list(story.table.panel(ProcessRow)) == []
