"""Every fact's translation, by entity."""

from __future__ import annotations

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.base import Fact

from ..translation import Translation
from . import agent, artifact, context, handoff, model, permission, session, subagent, task, tool, turn

_BY_TYPE: dict[type[Fact], Translation] = {
    **session.TRANSLATIONS,
    **agent.TRANSLATIONS,
    **subagent.TRANSLATIONS,
    **handoff.TRANSLATIONS,
    **task.TRANSLATIONS,
    **turn.TRANSLATIONS,
    **model.TRANSLATIONS,
    **tool.TRANSLATIONS,
    **permission.TRANSLATIONS,
    **artifact.TRANSLATIONS,
    **context.TRANSLATIONS,
}

if missing := [fact.__name__ for fact in FACTS.values() if fact not in _BY_TYPE]:
    raise TypeError(f"No translation of {', '.join(missing)}. Add one to TRANSLATIONS of the fact's entity.")
#: Every fact's translation, by wire tag.
TRANSLATIONS: dict[str, Translation] = {tag: _BY_TYPE[fact] for tag, fact in FACTS.items()}
