"""The Multi-agent runtime specification's events: nine of them, for facts and for text in the making.

One map, complete for its vocabulary: what a fact is told as is a function of the fact alone, so that every client and every
process tells the same. Names and ids are in that specification's own casing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import ActionRequired, Fact, SteerAccepted, TurnInterrupted
from callboard.contracts.facts.thread import AgentKind
from callboard.contracts.ids import is_workspace_stream
from callboard.contracts.live import Frame, Partial
from callboard.contracts.record import Record
from callboard.contracts.rows.team import RunStatus
from callboard.contracts.scope import Scope
from callboard.contracts.times import timestamp

from .identity import step_of

RunEventName = Literal[
    "StateUpdated",
    "Message",
    "SubagentSpawned",
    "SubagentResult",
    "AgentStatus",
    "SettingsUpdated",
    "QueueUpdated",
    "Token",
    "Outcome",
]
StatusState = Literal["model_loading", "thinking", "calling_tool", "working", "idle"]
#: The phases of an agent's status, by name. `detail` is one of these, the tool's name filled in.
PHASES: dict[str, tuple[StatusState, str]] = {
    "begun": ("working", "Working"),
    "loading_model": ("model_loading", "Model loading"),
    "trying_again": ("model_loading", "Trying the model again"),
    "thinking": ("thinking", "Thinking"),
    "writing": ("working", "Writing"),
    "preparing_call": ("calling_tool", "Preparing {tool}"),
    "calling": ("calling_tool", "Calling {tool}"),
    "called": ("working", "Working"),
    "awaiting_approval": ("working", "Waiting for approval"),
    "awaiting_answer": ("working", "Waiting for an answer"),
    "answered": ("working", "Request settled"),
    "awaiting_subagents": ("working", "Waiting for subagents"),
    "stopping": ("working", "Stopping"),
    "completed": ("idle", "Completed"),
    "failed": ("idle", "Failed"),
    "stopped": ("idle", "Stopped"),
    "interrupted": ("idle", "Interrupted"),
}
#: How many events a fact is told as at most.
MOST = 4


class RunEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event. `event_id` is the fact's; text in the making has none. `message_id` is the run whose message it belongs to."""

    type: RunEventName
    session_id: str = ""
    agent_id: str = ""
    thread_id: str = ""
    turn_id: str = ""
    run_id: str = ""
    parent_run_id: str = ""
    message_id: str = ""
    part_id: str = ""
    task_id: str = ""
    event_id: str = ""
    timestamp: str = ""
    data: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


EmittedRunEvents = tuple[RunEventName, dict[str, Any]]
_Map = Callable[[Fact], tuple[EmittedRunEvents, ...]]


def run_status(how: str, cause: str = "") -> RunStatus:
    """The status of a run in this specification's words: what a person, a parent or newer input stopped was cancelled, what
    ended with its host failed."""
    if how == "completed":
        return "completed"
    if how == "interrupted" and cause in ("person", "replaced", "cancelled", "closed"):
        return "cancelled"
    return "failed" if how in ("failed", "interrupted") else "running"


def run_kind(kind: AgentKind | str, *, parent: bool) -> Literal["main", "subagent"]:
    """An agent's kind in this specification's words: whoever has a parent is a subagent, all others are mains."""
    return "subagent" if parent or kind == "subagent" else "main"


def run_events(record: Record) -> tuple[RunEvent, ...]:
    """The events that a fact is told as, in order; none where this specification has no word for it."""
    row = EVENTS.get(record.header.type)
    if row is None:
        return ()
    # Of an erased fact its kind is left, and that its content is gone.
    erased: tuple[EmittedRunEvents, ...] = tuple(
        (name, {"erased": True}) for name in ERASED.get(record.header.type, ())
    )
    told = row(record.fact) if record.fact.readable else erased
    scope = record.scope
    session = "" if is_workspace_stream(record.stream) else record.stream
    return tuple(
        RunEvent(
            type=name,
            session_id=session or str(data.get("session_id", "")),
            **_ids(scope),
            message_id=_message(record.header.type, name, scope),
            part_id=step_of(scope) if name == "Message" else "",
            event_id=record.event_id,
            timestamp=timestamp(record.header.at),
            data=data,
        )
        for name, data in told
    )


def frame_events(session: str, frame: Frame) -> tuple[RunEvent, ...]:
    """The events of a piece of a part in the making: where it begins, what the agent does now; of a text, the piece."""
    told: list[EmittedRunEvents] = []
    if frame.offset == 0:
        if frame.kind == "reasoning":
            told.append(_status("thinking"))
        elif frame.kind == "text":
            told.append(_status("writing"))
        elif frame.kind == "arguments" and frame.tool:
            told.append(_status("preparing_call", tool=frame.tool))
    if frame.kind == "text":
        told.append(("Token", {"offset": frame.offset, "text": frame.text}))
    return tuple(_live(session, frame.scope, name, data) for name, data in told)


def partial_event(session: str, partial: Partial) -> RunEvent:
    """The text so far of a part in the making, in place of the pieces that it was told in: it begins at 0."""
    return _live(session, partial.scope, "Token", {"offset": 0, "text": partial.text, "so_far": True})


def _live(session: str, scope: Scope, name: RunEventName, data: dict[str, Any]) -> RunEvent:
    return RunEvent(
        type=name, session_id=session, **_ids(scope), message_id=scope.run, part_id=step_of(scope), data=data
    )


def _ids(scope: Scope) -> dict[str, str]:
    return {
        "agent_id": scope.agent,
        "thread_id": scope.thread,
        "turn_id": scope.turn,
        "run_id": scope.run,
        "parent_run_id": scope.parent_run,
        "task_id": scope.task,
    }


def _message(tag: str, name: RunEventName, scope: Scope) -> str:
    """One message in progress for each agent: all that a run brings belongs to the run's message, a person's words to the
    turn's."""
    if name == "Message" and tag in ("turn.submitted", "queue.edited"):
        return scope.turn
    return scope.run


def _status(phase: str, **more: str) -> EmittedRunEvents:
    state, detail = PHASES[phase]
    return "AgentStatus", {"state": state, "phase": phase, "detail": detail.format(**more), **more}


def _said(fact: Fact) -> dict[str, Any]:
    """The fact's own fields, in this specification's casing; texts with the hash of what is large."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(fact)):
        value = getattr(fact, field.name)
        if isinstance(value, Text):
            found[field.name] = value.text
            if value.ref is not None:
                found[f"{field.name}_ref"] = value.ref.hash
        else:
            found[field.name] = msgspec.to_builtins(value)
    return found


def _state(change: str) -> _Map:
    return _as("StateUpdated", change=change)


def _as(name: RunEventName, **more: Any) -> _Map:
    return lambda fact: ((name, {**more, **_said(fact)}),)


def _text(field: str, role: str, **more: Any) -> _Map:
    def told(fact: Fact) -> tuple[EmittedRunEvents, ...]:
        said = _said(fact)
        text = {"text": said.pop(field, "")}
        if f"{field}_ref" in said:
            text["text_ref"] = said.pop(f"{field}_ref")
        return (("Message", {"role": role, **more, **said, **text}),)

    return told


def _queue(change: str) -> _Map:
    return _as("QueueUpdated", change=change)


def _only(phase: str) -> _Map:
    return lambda fact: (_status(phase),)


def _submitted(fact: Fact) -> tuple[EmittedRunEvents, ...]:
    source = getattr(fact, "source", "person")
    # What waits in an inbox is told by what was sent; the turn that it wakes brings no words of its own.
    return () if source == "inbox" else _text("input", "user" if source == "person" else "agent")(fact)


def _steered(fact: Fact) -> tuple[EmittedRunEvents, ...]:
    data = {"change": "steer_accepted"}
    return (("QueueUpdated", {**data, "steer_id": fact.steer_id} if isinstance(fact, SteerAccepted) else data),)


def _started(fact: Fact) -> tuple[EmittedRunEvents, ...]:
    said = _said(fact)
    kept = ("mode", "permission_mode", "max_iters", "definition", "tools")
    data = {"change": "run_started", "status": "running", **{name: said[name] for name in kept}}
    return ("StateUpdated", data), _status("begun")


def _over(how: str) -> _Map:
    def told(fact: Fact) -> tuple[EmittedRunEvents, ...]:
        cause = fact.cause if isinstance(fact, TurnInterrupted) else ""
        status = run_status(how, cause)
        detail = cause or str(getattr(fact, "code", ""))
        ended = {"status": status, "detail": detail}
        phase = {"completed": "completed", "failed": "failed"}.get(how) or (
            "stopped" if status == "cancelled" else "interrupted"
        )
        return (
            ("Outcome", {**_said(fact), **ended}),
            ("StateUpdated", {"change": "run_ended", **ended}),
            _status(phase),
        )

    return told


def _asked(fact: Fact) -> tuple[EmittedRunEvents, ...]:
    """An approval is asked for, or an answer to a question."""
    question = isinstance(fact, ActionRequired) and "answer" in fact.decisions
    return (_status("awaiting_answer" if question else "awaiting_approval"),)


def _retrying(fact: Fact) -> tuple[EmittedRunEvents, ...]:
    return (_status("trying_again"),) if getattr(fact, "retry_in_ms", None) is not None else ()


def _calling(fact: Fact) -> tuple[EmittedRunEvents, ...]:
    return (_status("calling", tool=str(getattr(fact, "tool", ""))),)


def _called(outcome: str) -> _Map:
    def told(fact: Fact) -> tuple[EmittedRunEvents, ...]:
        name, data = _status("called")
        return ((name, {**data, "tool_outcome": outcome, "code": str(getattr(fact, "code", ""))}),)

    return told


def _result(status: str) -> _Map:
    return _as("SubagentResult", status=status)


#: What is told of the facts that this specification has a word for, by their tags.
EVENTS: dict[str, _Map] = {
    "session.created": _state("session_created"),
    "session.taken_over": _state("session_taken_over"),
    "thread.opened": _state("agent_joined"),
    "agent.connected": _state("agent_connected"),
    "agent.mode.changed": _as("SettingsUpdated", change="agent_mode"),
    "agent.disconnected": _state("agent_disconnected"),
    "agent.slept": _state("agent_slept"),
    "agent.woke": _state("agent_woke"),
    "agent.defined": _as("SettingsUpdated", change="agent_defined"),
    "agent.edge.added": _as("SettingsUpdated", change="edge_added"),
    "remote.task": _state("remote_task"),
    "remote.artifact": _state("remote_artifact"),
    "plan.updated": _state("plan_updated"),
    "thread.paused": _state("thread_paused"),
    "thread.resumed": _state("thread_resumed"),
    "turn.submitted": _submitted,
    "turn.started": _started,
    "turn.interrupt.requested": _only("stopping"),
    "turn.completed": _over("completed"),
    "turn.failed": _over("failed"),
    "turn.interrupted": _over("interrupted"),
    "queue.added": _queue("added"),
    "queue.promoted": _queue("promoted"),
    "queue.edited": _queue("edited"),
    "queue.removed": _queue("removed"),
    "queue.steer.requested": _queue("steer_requested"),
    "queue.steer.accepted": _steered,
    "queue.steer.rejected": _queue("steer_rejected"),
    "model.requested": _only("loading_model"),
    "model.failed": _retrying,
    "message.text": _text("content", "assistant", state="final"),
    "message.interrupted": _text("content", "assistant", state="interrupted"),
    "output.final": _state("answer"),
    "tool.started": _calling,
    "tool.completed": _called("completed"),
    "tool.failed": _called("failed"),
    "tool.refused": _called("refused"),
    "tool.cancelled": _called("cancelled"),
    "tool.lost": _called("lost"),
    "action.required": _asked,
    "action.resolved": _only("answered"),
    "action.expired": _only("answered"),
    "action.withdrawn": _only("answered"),
    "permission.rule.added": _as("SettingsUpdated", change="rule_added"),
    "permission.rule.revoked": _as("SettingsUpdated", change="rule_revoked"),
    "subagent.spawned": _as("SubagentSpawned"),
    "subagent.queued": _state("subagent_queued"),
    "subagent.isolated": _state("subagent_isolated"),
    "subagent.merge.requested": _state("subagent_merging"),
    "subagent.merged": _state("subagent_merged"),
    "subagent.started": _state("subagent_started"),
    "subagent.continued": _state("subagent_continued"),
    "subagent.completed": _result("completed"),
    "subagent.failed": _result("failed"),
    "subagent.cancelled": _result("cancelled"),
    "subagent.closed": _state("subagent_closed"),
    "subagent.awaited": _only("awaiting_subagents"),
    "worker.notification": _state("subagent_reported"),
    "team.changed": _state("team_changed"),
    "handoff.requested": _as("Message", role="agent", channel="handoff"),
    "handoff.accepted": _state("handoff_accepted"),
    "handoff.rejected": _state("handoff_rejected"),
    "handoff.completed": _state("handoff_completed"),
    "channel.message": _text("message", "agent", channel="message"),
    "task.created": _state("task_created"),
    "task.started": _state("task_started"),
    "task.paused": _state("task_paused"),
    "task.resumed": _state("task_resumed"),
    "task.cancel.requested": _state("task_cancel_requested"),
    "task.updated": _state("task_updated"),
    "task.completed": _state("task_completed"),
    "task.failed": _state("task_failed"),
    "task.cancelled": _state("task_cancelled"),
    "review.requested": _state("review_requested"),
    "review.verdict": _state("review_judged"),
    "review.applied": _state("review_applied"),
    "evidence.exported": _state("evidence_exported"),
    "warning.raised": _state("warning"),
    "error.raised": _state("error"),
    "workspace.opened": _state("workspace_opened"),
    "workspace.session.titled": _state("session_titled"),
    "workspace.session.pinned": _state("session_pinned"),
    "workspace.session.archived": _state("session_archived"),
    "workspace.session.deleted": _state("session_deleted"),
}

#: What is left of a fact whose content was erased.
ERASED: dict[str, tuple[RunEventName, ...]] = {
    "turn.submitted": ("Message",),
    "message.text": ("Message",),
    "message.interrupted": ("Message",),
    "handoff.requested": ("Message",),
    "channel.message": ("Message",),
    "turn.completed": ("Outcome",),
    "turn.failed": ("Outcome",),
    "turn.interrupted": ("Outcome",),
    "subagent.spawned": ("SubagentSpawned",),
    "subagent.completed": ("SubagentResult",),
    "subagent.failed": ("SubagentResult",),
    "subagent.cancelled": ("SubagentResult",),
}
