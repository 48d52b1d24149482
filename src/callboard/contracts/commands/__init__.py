"""The commands: each is declared once, and every surface derives from its declaration."""

from __future__ import annotations

from . import (
    actions,
    agents,
    artifacts,
    context,
    demos,
    evidence,
    imports,
    jobs,
    models,
    past,
    processes,
    secrets,
    sessions,
    settings,
    sizes,
    tasks,
    team,
    tooling,
    trust,
    turns,
)
from .base import COMMANDS, Declaration

_FAMILIES = (
    *(sessions, turns, actions, agents, team, tasks, jobs, artifacts, context, trust, settings, secrets, models),
    *(tooling, processes, evidence, sizes, past, imports, demos),
)
#: Every command: the families in their order, the commands of each in the order of declaration.
TABLE: tuple[Declaration, ...] = tuple(
    row for family in _FAMILIES for row in COMMANDS.values() if row.command.__module__ == family.__name__
)
