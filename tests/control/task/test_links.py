"""Links of tasks."""

from __future__ import annotations

from callboard.contracts.commands.task import UnlinkTasks
from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.task import TaskUpdated
from tests.control.rigs.examples import SESSION
from tests.control.rigs.tasks import board, create, link, open_task, start
from tests.control.rigs.team import fact_types, only_fact

REF = Ref(type="file", ref="a.md")


def test_new_links_are_added_to_existing_ones() -> None:
    """Control plane spec: link_tasks updates parent, dependency and artifact edges."""
    session = board("tsk_a", "tsk_b", "tsk_c")
    session.when(link("tsk_a", depends_on=("tsk_b",)))
    result = session.when(link("tsk_a", depends_on=("tsk_c",), parent_task=None, refs=(REF,), reason="first those"))

    assert only_fact(result, TaskUpdated) == TaskUpdated(
        depends_on=("tsk_b", "tsk_c"), refs=(REF,), reason="first those"
    )
    session.when(link("tsk_b", parent_task="tsk_c"))
    assert open_task(session, "tsk_b").parent_task == "tsk_c"


def test_circular_links_are_refused() -> None:
    session = board("tsk_a", "tsk_b", "tsk_c")
    session.when(link("tsk_a", depends_on=("tsk_b",)))
    session.when(link("tsk_b", depends_on=("tsk_c",)))
    for circle in (
        link("tsk_a", depends_on=("tsk_a",)),
        link("tsk_c", depends_on=("tsk_a",)),
        link("tsk_a", parent_task="tsk_a"),
        link("tsk_a", parent_task="tsk_c"),
    ):
        assert session.refuses(circle).code == "invalid_input"
    session.when(link("tsk_c", parent_task="tsk_a"))
    assert session.refuses(link("tsk_c", depends_on=("tsk_a",))).code == "invalid_input", (
        "a subtask does not wait for its parent"
    )


def test_a_link_that_makes_a_task_wait_for_its_new_parent_is_refused() -> None:
    session = board("tsk_a", "tsk_b", "tsk_c")
    session.when(link("tsk_b", depends_on=("tsk_c",)))
    assert session.refuses(link("tsk_a", parent_task="tsk_c", depends_on=("tsk_b",))).code == "invalid_input"
    assert session.refuses(link("tsk_a", parent_task="tsk_c", depends_on=("tsk_c",))).code == "invalid_input"


def test_a_new_task_that_would_wait_for_its_parent_is_refused() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(link("tsk_b", depends_on=("tsk_a",)))
    for waits_for in ("tsk_a", "tsk_b"):
        problem = session.refuses(create("tsk_c", parent_task="tsk_a", depends_on=(waits_for,)))
        assert (problem.code, problem.field) == ("invalid_input", "dependsOn")
    session.when(create("tsk_c", parent_task="tsk_b", depends_on=("tsk_a",)))
    assert open_task(session, "tsk_c").depends_on == ("tsk_a",)


def test_links_of_and_to_unknown_tasks_are_refused() -> None:
    session = board("tsk_a")
    assert session.refuses(link("tsk_a", depends_on=("tsk_none",))).field == "dependsOn"
    assert session.refuses(link("tsk_a", parent_task="tsk_none")).field == "parentTask"
    assert session.refuses(link("tsk_none")).code == "unknown_task"


def test_links_are_removed_and_a_repeated_removal_changes_nothing() -> None:
    session = board("tsk_a", "tsk_b")
    session.when(link("tsk_a", depends_on=("tsk_b",), parent_task=None, refs=(REF,)))
    unlink = UnlinkTasks(session_id=SESSION, task_id="tsk_a", depends_on=("tsk_b",), refs=(REF,), parent=True)

    assert only_fact(session.when(unlink), TaskUpdated) == TaskUpdated(depends_on=(), refs=())
    session.when(unlink).then_nothing()
    assert fact_types(session.when(start("tsk_a")))[0] == "task.started"
