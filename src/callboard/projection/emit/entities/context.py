"""Translations of facts about context and its compaction."""

from __future__ import annotations

from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.context import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextPinned,
    ContextResolved,
)
from callboard.contracts.vocabulary import EventClass, Phase

from ..agentui_emission import Emission, Emissions, emit_context
from ..run_emission import Translation


def _emit_compaction(kind: EventClass, phase: Phase) -> Emissions:
    return (Emission(kind, "context", "thread", phase, "inline_process", "archive"),)


TRANSLATIONS: dict[type[Fact], Translation] = {
    ContextResolved: Translation(emit_context("inline_process")),
    ContextPinned: Translation(
        (Emission("context.changed", "context", "thread", "accepted", "inline_process", "snapshot"),)
    ),
    CompactionStarted: Translation(_emit_compaction("context.compaction.started", "preparing")),
    CompactionCompleted: Translation(_emit_compaction("context.compaction.completed", "completed")),
    CompactionFailed: Translation(_emit_compaction("context.compaction.completed", "failed")),
}
