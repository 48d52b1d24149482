"""Rendering of parts other than messages."""

from __future__ import annotations

import io
from typing import Any

import pytest

from callboard.app.cli.terminal.output import Style
from callboard.app.cli.terminal.renderer import ConversationRenderer, format_aside
from callboard.contracts.content import Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.refs import MissingRef
from callboard.contracts.rows.action import ActionPart, ActionRow
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.context import ContextPart
from callboard.contracts.rows.exchange.handoff import HandoffPart
from callboard.contracts.rows.part import NoticePart, Part
from callboard.contracts.rows.plan import PlanPart
from callboard.contracts.rows.subagent import NotificationPart
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.rows import Table

_AT: dict[str, Any] = {"key": "k", "order": 1, "sequence": 1, "turn_id": "trn_1", "thread_id": "thr_1", "at": 1}
_BETWEEN: dict[str, Any] = {"handoff_id": "han_1", "source": "writer", "target": "lead"}


@pytest.mark.parametrize(
    ("part", "line"),
    [
        (
            NotificationPart(**_AT, agent_id="writer-1", task_id="tsk_1", status="needs_input", summary="A key?"),
            "  ⇐ writer-1: needs input. A key?",
        ),
        (HandoffPart(**_AT, **_BETWEEN, message="It is written."), "  ⇐ writer hands off: It is written."),
        (
            HandoffPart(**_AT, **_BETWEEN, message="no time", news="rejected"),
            "  ⇐ lead rejected the handoff: no time",
        ),
        (HandoffPart(**_AT, **_BETWEEN, message="", news="expired"), "  ⇐ lead did not answer in time"),
        (
            RemoteStatusPart(
                **_AT,
                agent_id="scout",
                remote_task_id="rmt_1",
                task_state="input_required",
                message=Text(text="Which branch?"),
                artifacts=("report",),
            ),
            "  ~ remote task: input required. Which branch? It delivered report.",
        ),
        (
            PlanPart(**_AT, state="final", steps=(PlanStep("Look", "completed"), PlanStep("Write", "pending"))),
            "  plan\n    ✓ Look\n    · Write",
        ),
        (PlanPart(**_AT, state="streaming", steps=(PlanStep("Look", "in_progress"),)), "  plan (so far)\n    … Look"),
        (
            ActionPart(
                **_AT,
                action_id="act_1",
                action_type="clarification",
                tool="",
                prompt="Which branch?",
                outcome="answered",
                answer=Text(text="main"),
            ),
            "  · Which branch? Answered: main.",
        ),
        (
            ActionPart(
                **_AT, action_id="act_1", action_type="tool_approval", tool="Bash", prompt="Run it.", outcome="rejected"
            ),
            "  · Run it. Rejected.",
        ),
        (
            ActionPart(
                **_AT,
                action_id="act_1",
                action_type="tool_approval",
                tool="Write",
                prompt="Create a.py (+1 −0)? The permission mode is ask.",
                outcome="rejected",
                reason="Use b.py.",
            ),
            "  · Create a.py (+1 −0)? The permission mode is ask. Rejected (Use b.py).",
        ),
        (
            ContextPart(
                **_AT,
                event="resolved",
                given=1,
                missing=(MissingRef(ref="gone.txt", source="mentioned", reason="not_found"),),
            ),
            "  ! missing: gone.txt does not exist",
        ),
        (ContextPart(**_AT, event="resolved", given=2), "  · 2 attachments"),
        (ContextPart(**_AT, event="compacting"), ""),
        (ContextPart(**_AT, event="compacted"), "  · older conversation compacted"),
        (
            NoticePart(**_AT, code="agent_message", message="Mind the style.", agent_id="lead"),
            "  · lead: Mind the style.",
        ),
    ],
)
def test_messages_of_others_and_plans_are_one_line_each(part: Part, line: str) -> None:
    """UI-16, UI-23, CTX-03: distinct from messages of the person and the agent."""
    assert format_aside(part, Style(io.StringIO())) == line


def test_text_of_others_prints_no_control_sequences() -> None:
    """SAFE-06"""
    part = NotificationPart(
        **_AT, agent_id="w\x1b[2J", task_id="t", status="completed", summary="\x1b]0;owned\x07done\n\nx"
    )
    assert "\x1b" not in format_aside(part, Style(io.StringIO()))
    assert "\n" not in format_aside(part, Style(io.StringIO()))


async def test_a_pending_question_of_several_sentences_is_followed_by_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """UI-24: it read "The permission mode is ask.: waits for an answer"."""
    fields: dict[str, Any] = {"action_id": "act_1", "action_type": "tool_approval", "tool": "Write"}
    prompt = "Create a.py (+1 −0)? The permission mode is ask."
    table = Table()
    part = ActionPart(**_AT, **fields, prompt=prompt, outcome="pending")
    row: dict[str, Any] = {key: _AT[key] for key in ("key", "order", "sequence", "turn_id", "thread_id")}
    action = ActionRow(**row, **fields, agent_id="agt_1", prompt=prompt, decisions=("approve",), required_at=1)
    turn = TurnRow(
        **row,
        agent_id="agt_1",
        state="running",
        input=Text(text="Go"),
        mode="chat",
        permission_mode="ask",
        submitted_at=1,
    )
    table.apply([Upsert(row.panel, row) for row in (part, action, turn)])
    reader: Any = _Texts()
    await ConversationRenderer(reader, table, Style(io.StringIO()), thinking=False).print_turn(turn)
    assert "  ? Create a.py (+1 −0)? The permission mode is ask. Waits for an answer.\n" in capsys.readouterr().out


class _Texts:
    """Reader of texts that are complete in their rows."""

    async def read_text(self, text: Text) -> str:
        return text.text
