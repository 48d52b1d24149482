"""Translations of facts about tool calls, tool servers and processes."""

from __future__ import annotations

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.process import ProcessEnded
from callboard.contracts.facts.tool import (
    ToolCancelled,
    ToolCatalogResolved,
    ToolCompleted,
    ToolFailed,
    ToolLost,
    ToolRefused,
    ToolRequested,
    ToolServerLost,
    ToolStarted,
)
from callboard.contracts.vocabulary import EventClass, Owner, Phase

from ..agentui_emission import Emission, Emissions, emit_context, emit_diagnostic, emit_run
from ..run_emission import RunEmission, RunTranslation, Translation, emit_agent_status


def _emit_tool(kind: EventClass, phase: Phase, state: str, owner: Owner = "tool") -> Emissions:
    return (Emission(kind, owner, "tool_call", phase, "tool_ui", "archive", None, {"toolState": state}),)


def _show_call(fact: Fact) -> tuple[RunEmission, ...]:
    return (emit_agent_status("calling", tool=str(getattr(fact, "tool", ""))),)


def _end_call(outcome: str) -> RunTranslation:
    def emit(fact: Fact) -> tuple[RunEmission, ...]:
        name, data = emit_agent_status("called")
        return ((name, {**data, "tool_outcome": outcome, "code": str(getattr(fact, "code", ""))}),)

    return RunTranslation(emit)


TRANSLATIONS: dict[type[Fact], Translation] = {
    ToolRequested: Translation(_emit_tool("tool.args", "acting", "input-available", "model")),
    ToolStarted: Translation(
        (*_emit_tool("tool.started", "acting", "running"), *emit_run("run.status", "acting", "streaming")),
        RunTranslation(_show_call),
        ("tool.started",),
    ),
    ToolCompleted: Translation(
        _emit_tool("tool.result", "completed", "output-available"),
        _end_call("completed"),
        ("tool.result", "artifact.changed"),
    ),
    ToolFailed: Translation(
        _emit_tool("tool.failed", "failed", "output-error"), _end_call("failed"), ("tool.result", "artifact.changed")
    ),
    ToolRefused: Translation(_emit_tool("tool.failed", "failed", "output-error"), _end_call("refused")),
    ToolLost: Translation(_emit_tool("tool.failed", "failed", "output-error"), _end_call("lost")),
    ToolCancelled: Translation(_emit_tool("tool.failed", "cancelled", "cancelled"), _end_call("cancelled")),
    ToolCatalogResolved: Translation(emit_context("diagnostics")),
    ToolServerLost: Translation(emit_diagnostic("failed")),
    ProcessEnded: Translation(emit_diagnostic("completed")),
}
