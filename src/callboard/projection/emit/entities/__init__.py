"""The translations of facts, by entity."""

from __future__ import annotations

from callboard.contracts.facts import FACTS

from ..run_emission import Translation
from . import agent, artifact, context, handoff, model, permission, session, subagent, task, tool, turn

_MODULES = (agent, artifact, context, handoff, model, permission, session, subagent, task, tool, turn)
#: The translation of a fact, by wire tag. A diagnostic has none.
TRANSLATIONS: dict[str, Translation] = {
    fact.type: translation for module in _MODULES for fact, translation in module.TRANSLATIONS.items()
}


def list_mistranslated() -> list[str]:
    """Return the facts without a translation that are not declared as diagnostics, and diagnostics with one."""
    return [fact.__name__ for fact in FACTS.values() if (fact.type in TRANSLATIONS) == fact.is_diagnostic]


if names := list_mistranslated():
    raise TypeError(f"Translate {', '.join(names)} in the module of its entity, or declare it as `is_diagnostic`.")
