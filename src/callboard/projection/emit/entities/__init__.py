"""The translations of facts, by entity."""

from __future__ import annotations

from ..run_emission import Translation
from . import agent, artifact, context, handoff, model, permission, session, subagent, task, tool, turn

_MODULES = (agent, artifact, context, handoff, model, permission, session, subagent, task, tool, turn)
#: The translation of a fact, by wire tag. A fact without one is a diagnostic in Agent UI, and has no other event.
TRANSLATIONS: dict[str, Translation] = {
    fact.type: translation for module in _MODULES for fact, translation in module.TRANSLATIONS.items()
}
