"""Links of tasks."""

from __future__ import annotations

from callboard.contracts.commands.task import UnlinkTasks
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.task import TaskUpdated
from tests.control.rigs.examples import SESSION
from tests.control.rigs.tasks import board, create, link, start, task
from tests.control.rigs.team import one, types

REF = Ref(type="file", ref="a.md")


def test_links_are_added_to_those_that_are_there() -> None:
    """Control plane spec: link_tasks updates parent, dependency and artifact edges."""
    given = board("tsk_a", "tsk_b", "tsk_c")
    given.when(link("tsk_a", depends_on=("tsk_b",)))
    then = given.when(link("tsk_a", depends_on=("tsk_c",), parent_task=None, refs=(REF,), reason="first those"))

    assert one(then, TaskUpdated) == TaskUpdated(depends_on=("tsk_b", "tsk_c"), refs=(REF,), reason="first those")
    given.when(link("tsk_b", parent_task="tsk_c"))
    assert task(given, "tsk_b").parent_task == "tsk_c"


def test_tasks_never_wait_for_each_other() -> None:
    given = board("tsk_a", "tsk_b", "tsk_c")
    given.when(link("tsk_a", depends_on=("tsk_b",)))
    given.when(link("tsk_b", depends_on=("tsk_c",)))
    for circle in (
        link("tsk_a", depends_on=("tsk_a",)),
        link("tsk_c", depends_on=("tsk_a",)),
        link("tsk_a", parent_task="tsk_a"),
        link("tsk_a", parent_task="tsk_c"),
    ):
        assert given.refuses(circle).code == "invalid_input"
    given.when(link("tsk_c", parent_task="tsk_a"))
    assert given.refuses(link("tsk_c", depends_on=("tsk_a",))).code == "invalid_input", (
        "a part does not wait for its whole"
    )


def test_a_task_is_never_made_to_wait_for_what_it_becomes_a_part_of() -> None:
    given = board("tsk_a", "tsk_b", "tsk_c")
    given.when(link("tsk_b", depends_on=("tsk_c",)))
    assert given.refuses(link("tsk_a", parent_task="tsk_c", depends_on=("tsk_b",))).code == "invalid_input"
    assert given.refuses(link("tsk_a", parent_task="tsk_c", depends_on=("tsk_c",))).code == "invalid_input"


def test_a_task_is_not_created_to_wait_for_what_it_is_a_part_of() -> None:
    given = board("tsk_a", "tsk_b")
    given.when(link("tsk_b", depends_on=("tsk_a",)))
    for waits_for in ("tsk_a", "tsk_b"):
        problem = given.refuses(create("tsk_c", parent_task="tsk_a", depends_on=(waits_for,)))
        assert (problem.code, problem.field) == ("invalid_input", "dependsOn")
    given.when(create("tsk_c", parent_task="tsk_b", depends_on=("tsk_a",)))
    assert task(given, "tsk_c").depends_on == ("tsk_a",)


def test_links_to_what_is_over_or_never_was_are_refused() -> None:
    given = board("tsk_a")
    assert given.refuses(link("tsk_a", depends_on=("tsk_none",))).field == "dependsOn"
    assert given.refuses(link("tsk_a", parent_task="tsk_none")).field == "parentTask"
    assert given.refuses(link("tsk_none")).code == "unknown_task"


def test_links_are_taken_away_and_a_second_time_nothing_happens() -> None:
    given = board("tsk_a", "tsk_b")
    given.when(link("tsk_a", depends_on=("tsk_b",), parent_task=None, refs=(REF,)))
    gone = UnlinkTasks(session_id=SESSION, task_id="tsk_a", depends_on=("tsk_b",), refs=(REF,), parent=True)

    assert one(given.when(gone), TaskUpdated) == TaskUpdated(depends_on=(), refs=())
    given.when(gone).then_nothing()
    assert types(given.when(start("tsk_a")))[0] == "task.started"
