"""Translations of facts about model calls, their text, reasoning and cost."""

from __future__ import annotations

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted, ReasoningInterrupted
from callboard.contracts.facts.model import (
    CostRecorded,
    ModelCompleted,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    QuotaReported,
)
from callboard.contracts.vocabulary import Phase

from ..agentui_emission import Emission, Emissions, emit_context, emit_diagnostic, emit_metric, emit_run
from ..run_emission import RunEmission, RunTranslation, Translation, emit_agent_status, send_text, show_phase


def _emit_failed(fact: Fact) -> Emissions:
    if isinstance(fact, ModelFailed) and fact.retry_in_ms is not None:
        return (*emit_run("run.status", "waiting", "retrying"), *emit_diagnostic("waiting"))
    return emit_diagnostic("failed")


def _show_retry(fact: Fact) -> tuple[RunEmission, ...]:
    return (
        (emit_agent_status("trying_again"),) if isinstance(fact, ModelFailed) and fact.retry_in_ms is not None else ()
    )


def _emit_text(phase: Phase) -> Emissions:
    return (Emission("text.final", "model", "part", phase, "conversation", "transcript"),)


def _emit_reasoning(phase: Phase) -> Emissions:
    return (Emission("reasoning.summary", "model", "part", phase, "inline_process", "archive"),)


TRANSLATIONS: dict[type[Fact], Translation] = {
    ModelRequested: Translation(
        (*emit_run("run.status", "preparing", "preparing"), *emit_context("diagnostics")),
        show_phase("loading_model"),
    ),
    ModelCompleted: Translation(emit_metric(), subagents=("subagent.progress",), children_only=True),
    ModelFailed: Translation(_emit_failed, RunTranslation(_show_retry)),
    ModelInterrupted: Translation(emit_diagnostic("interrupted")),
    # A quota belongs to a provider account, not to a run.
    QuotaReported: Translation(emit_metric("application")),
    CostRecorded: Translation(emit_metric()),
    MessageText: Translation(_emit_text("reconciling"), send_text("content", "assistant", state="final")),
    MessageInterrupted: Translation(_emit_text("interrupted"), send_text("content", "assistant", state="interrupted")),
    ReasoningCompleted: Translation(_emit_reasoning("reasoning")),
    ReasoningInterrupted: Translation(_emit_reasoning("interrupted")),
}
