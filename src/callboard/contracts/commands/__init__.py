"""The commands: each is declared once, and every surface derives from its declaration."""

from __future__ import annotations

from . import (
    action,
    agent,
    artifact,
    context,
    evidence,
    job,
    model,
    permission,
    process,
    queue,
    secret,
    session,
    session_import,
    settings,
    subagent,
    task,
    tool,
    turn,
)
from .base import COMMANDS, Declaration
from .exchange import handoff, message, review

_FAMILIES = (
    *(session, turn, queue, action, agent, subagent, handoff, message, task, review, job, artifact, context),
    *(permission, settings, secret, model, tool, process, evidence, session_import),
)
#: Every command: the families in their order, the commands of each in the order of declaration.
TABLE: tuple[Declaration, ...] = tuple(
    row for family in _FAMILIES for row in COMMANDS.values() if row.command.__module__ == family.__name__
)
