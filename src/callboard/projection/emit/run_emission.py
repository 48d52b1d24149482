"""Multi-agent runtime events of a fact, as data before their envelope, and its translation into all vocabularies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.session import AgentKind
from callboard.contracts.vocabulary import SubagentEventType

from .agentui_emission import AgentUiTranslation

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
#: The phases of an agent's status: the state, and the text of `detail`.
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
#: Events that remain of an erased fact, without its content.
_KEPT_WHEN_ERASED: frozenset[RunEventName] = frozenset({"Message", "SubagentSpawned", "SubagentResult", "Outcome"})

RunEmission = tuple[RunEventName, dict[str, Any]]
RunEmitter = Callable[[Fact], tuple[RunEmission, ...]]


class RunTranslation(msgspec.Struct, frozen=True, gc=False):
    """The events of a readable fact, and the event that remains when the fact is erased."""

    emit: RunEmitter
    erased: RunEventName | None = None

    def build_events(self, fact: Fact) -> tuple[RunEmission, ...]:
        """Return the events of the fact."""
        if fact.readable:
            return self.emit(fact)
        return () if self.erased is None else ((self.erased, {"erased": True}),)


class Translation(msgspec.Struct, frozen=True, gc=False):
    """The events of one type of fact.

    `agent_ui` is empty where other facts produce the events, and `runs` is absent where that specification has no event.
    `children_only` limits `subagents` to facts of a child's thread.
    """

    agent_ui: AgentUiTranslation
    runs: RunTranslation | None = None
    subagents: tuple[SubagentEventType, ...] = ()
    children_only: bool = False


def emit_event(name: RunEventName, **data: Any) -> RunTranslation:
    """Emit one event with `data` and the fact's fields."""
    return RunTranslation(
        lambda fact: ((name, {**data, **collect_fields(fact)}),), name if name in _KEPT_WHEN_ERASED else None
    )


def update_state(change: str) -> RunTranslation:
    """Emit `StateUpdated` with the fact's fields."""
    return emit_event("StateUpdated", change=change)


def update_settings(change: str) -> RunTranslation:
    """Emit `SettingsUpdated` with the fact's fields."""
    return emit_event("SettingsUpdated", change=change)


def update_queue(change: str) -> RunTranslation:
    """Emit `QueueUpdated` with the fact's fields."""
    return emit_event("QueueUpdated", change=change)


def send_text(field: str, role: str, **data: Any) -> RunTranslation:
    """Emit `Message` with the fact's fields, and the text of `field` as `text`."""

    def emit(fact: Fact) -> tuple[RunEmission, ...]:
        fields = collect_fields(fact)
        text = {"text": fields.pop(field, "")}
        if f"{field}_ref" in fields:
            text["text_ref"] = fields.pop(f"{field}_ref")
        return (("Message", {"role": role, **data, **fields, **text}),)

    return RunTranslation(emit, "Message")


def show_phase(phase: str) -> RunTranslation:
    """Emit `AgentStatus` with that phase."""
    return RunTranslation(lambda fact: (emit_agent_status(phase),))


def emit_agent_status(phase: str, **data: str) -> RunEmission:
    """Return the `AgentStatus` of a phase."""
    state, detail = PHASES[phase]
    return "AgentStatus", {"state": state, "phase": phase, "detail": detail.format(**data), **data}


def collect_fields(fact: Fact) -> dict[str, Any]:
    """Return the fact's fields in this specification's casing; a large text adds its hash as `<field>_ref`."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(fact)):
        value = getattr(fact, field.name)
        if isinstance(value, Text):
            fields[field.name] = value.text
            if value.ref is not None:
                fields[f"{field.name}_ref"] = value.ref.hash
        else:
            fields[field.name] = msgspec.to_builtins(value)
    return fields


def to_run_kind(kind: AgentKind | str, *, parent: bool) -> Literal["main", "subagent"]:
    """Return the agent's kind in this specification's terms: an agent with a parent is a subagent, others are main."""
    return "subagent" if parent or kind == "subagent" else "main"
