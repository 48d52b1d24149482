"""A fact in the three vocabularies that other programs read."""

from __future__ import annotations

import msgspec

from callboard.contracts.vocabulary import SubagentEventType

from .agentui_emission import AgentUiTranslation
from .run_emission import RunTranslation


class Translation(msgspec.Struct, frozen=True):
    """The events of one type of fact.

    `agent_ui` is empty where other facts produce the events, and `runs` is None where that specification has no event.
    `children_only` limits `subagents` to facts of a child's thread.
    """

    agent_ui: AgentUiTranslation
    runs: RunTranslation | None = None
    subagents: tuple[SubagentEventType, ...] = ()
    children_only: bool = False
