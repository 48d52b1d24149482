"""Every row of a turn with two model calls and one tool call that needs approval."""

from __future__ import annotations

from typing import Any

from callboard.contracts.content import Text
from callboard.contracts.entities.team import WorkUsage
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.message import MessageText, OutputFinal, ReasoningCompleted
from callboard.contracts.facts.model import CostRecorded, ModelCompleted, ModelRequested
from callboard.contracts.facts.permission import Check, PermissionEvaluated, list_checks
from callboard.contracts.facts.tool import FileChange, SandboxApplied, ToolCompleted, ToolRequested, ToolStarted
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.rows.action import ActionPart
from callboard.contracts.rows.message import ReasoningPart, TextPart
from callboard.contracts.rows.part import compute_part_order
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.session import SessionCard, SessionRow
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.rows.turn import TurnRow
from tests.projection.session_builder import RUN, SessionBuilder, model_session, step

CALL = step(4, tool_call="cal_1")
ACTION = step(5, tool_call="cal_1", action="act_1")
WRITE = Text(text='{"path":"a.md","content":"a"}')
CHECKS = (Check(name="rules", verdict="ask", detail="no rule"),)
CHANGE = FileChange(path="a.md", kind="created", added=1)
TEXT: dict[str, Any] = {"turn_id": "trn_1", "thread_id": "thr_1"}


def golden_session() -> SessionBuilder:
    session = model_session()
    session.stream("reasoning", step(2), "A file ").stream("reasoning", step(2), "is needed.", offset=7)
    session.stream("text", step(3), "I write ").stream("text", step(3), "it.", offset=8)
    session.stream("arguments", CALL, '{"path":', tool="Write")
    session.add(ReasoningCompleted(content=Text(text="A file is needed.")), step(2))
    session.add(MessageText(content=Text(text="I write it.")), step(3))
    session.add(ModelCompleted(stop_reason="tool_calls", first_ms=1, duration_ms=2), step(1))
    session.add(CostRecorded(input_tokens=100, output_tokens=20), step(1))
    session.add(ToolRequested(tool="Write", arguments=WRITE, summary="Write a.md", provider_call_id="call_7"), CALL)
    evaluated = PermissionEvaluated(tool="Write", verdict="ask", risk="low", arguments_hash="h", checks=CHECKS)
    session.add(evaluated, CALL)
    required = ActionRequired(
        action_type="tool_approval",
        prompt="May it write a.md?",
        decisions=("approve", "reject"),
        scopes=("once", "session"),
        risk="low",
        tool="Write",
        arguments=WRITE,
    )
    session.add(required, ACTION)
    session.add(ActionResolved(decision="approve", scope="once"), ACTION)
    session.add(SandboxApplied(level="paths", network=False), CALL)
    session.add(ToolStarted(tool="Write"), CALL)
    session.stream("output", CALL, "wrote")
    session.add(ToolCompleted(output=Text(text="wrote a.md"), duration_ms=4, changes=(CHANGE,)), CALL)
    session.add(ModelRequested(provider="scripted", model="m", iteration=2, context_through=17), step(6))
    session.stream("text", step(7), "Done")
    session.add(MessageText(content=Text(text="Done.")), step(7))
    session.add(ModelCompleted(stop_reason="stop"), step(6))
    session.add(CostRecorded(input_tokens=150, output_tokens=5), step(6))
    session.add(OutputFinal(parts=(7,)), RUN)
    return session.add(TurnCompleted(iterations=2), RUN)


def test_a_turn_with_a_tool_and_an_approval_leaves_exactly_these_rows():
    """UI-03, UI-05, UI-06, UI-08, UI-09, MAR-16: the answer is separate from the process, each call
    has one row, the approval one audit line.
    """
    start = 1_700_000_000_000_000
    assert golden_session().table.group_rows() == {
        "parts": [
            ReasoningPart(
                key="run_1.2",
                order=compute_part_order(4, 2),
                sequence=7,
                at=start + 7_000,
                state="final",
                content=Text(text="A file is needed."),
                **TEXT,
            ),
            TextPart(
                key="run_1.3",
                order=compute_part_order(4, 3),
                sequence=11,
                at=start + 8_000,
                state="final",
                content=Text(text="I write it."),
                commentary=True,
                **TEXT,
            ),
            ToolPart(
                key="cal_1",
                order=compute_part_order(4, 4),
                sequence=17,
                at=start + 11_000,
                tool_call_id="cal_1",
                tool="Write",
                state="output-available",
                summary="Write a.md",
                arguments=WRITE,
                output=Text(text="wrote a.md"),
                duration_ms=4,
                started_at=start + 16_000,
                changes=(CHANGE,),
                verdict="ask",
                risk="low",
                checks=list_checks(CHECKS),
                sandbox="paths",
                action_id="act_1",
                **TEXT,
            ),
            ActionPart(
                key="act_1",
                order=compute_part_order(4, 5),
                sequence=14,
                at=start + 13_000,
                action_id="act_1",
                action_type="tool_approval",
                tool="Write",
                prompt="May it write a.md?",
                outcome="approved",
                answered_scope="once",
                actor="person",
                settled_at=start + 14_000,
                **TEXT,
            ),
            TextPart(
                key="run_1.7",
                order=compute_part_order(4, 7),
                sequence=19,
                at=start + 19_000,
                state="final",
                content=Text(text="Done."),
                **TEXT,
            ),
        ],
        "runs": [
            RunRow(
                key="run_1",
                order=4,
                sequence=23,
                agent_id="solo",
                agent_kind="main",
                thread_id="thr_1",
                turn_id="trn_1",
                status="completed",
                started=start + 4_000,
                ended=start + 23_000,
                usage=WorkUsage(input_tokens=250, output_tokens=25, duration_ms=19, model_calls=2, tool_calls=1),
                epoch=1,
            )
        ],
        "session": [
            SessionRow(
                key="ses_1",
                order=1,
                sequence=23,
                session_id="ses_1",
                workspace_id="wks_1",
                folder="/work",
                title="Tidy the prompts",
                created_at=start + 1_000,
                updated_at=start + 23_000,
                epoch=1,
            )
        ],
        "sessions": [
            SessionCard(
                key="ses_1",
                order=start + 3_000,
                sequence=23,
                session_id="ses_1",
                workspace_id="wks_1",
                title="Tidy the prompts",
                state="idle",
                turns=1,
                updated_at=start + 23_000,
                last_text="Done.",
                epoch=1,
            )
        ],
        "status": [
            StatusRow(
                key="thr_1",
                order=2,
                sequence=23,
                thread_id="thr_1",
                agent_id="solo",
                agent_name="Solo",
                status="done",
                detail="completed",
                since=start + 23_000,
                turn_id="trn_1",
                run_id="run_1",
                provider="scripted",
                model="m",
                iteration=2,
                max_iters=8,
                epoch=1,
                input_tokens=250,
                output_tokens=25,
            )
        ],
        "turns": [
            TurnRow(
                key="trn_1",
                order=4,
                sequence=23,
                turn_id="trn_1",
                thread_id="thr_1",
                agent_id="solo",
                run_id="run_1",
                state="completed",
                input=Text(text="Tidy up."),
                mode="chat",
                permission_mode="ask",
                submitted_at=start + 3_000,
                started_at=start + 4_000,
                ended_at=start + 23_000,
                waited_us=1_000,
                iterations=2,
                tool_calls=1,
                files_changed=1,
                input_tokens=250,
                output_tokens=25,
                final_parts=("run_1.7",),
            )
        ],
    }


def test_an_ended_turn_leaves_nothing_pending():
    """UI-09: an answered action needs no attention."""
    rows = golden_session().table.group_rows()
    assert "actions" not in rows
    assert "queue" not in rows
