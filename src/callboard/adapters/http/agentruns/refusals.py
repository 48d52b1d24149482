"""Refusals in the casing of the Multi-agent runtime specification: the field that is named is the one that was sent."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from callboard.contracts.errors import Refusal

_FIELDS = {
    "text": "message",
    "sessionId": "session_id",
    "threadId": "agent_id",
    "workspaceId": "project_root",
    "turnId": "run_id",
    "agent": "run_id",
    "permissionMode": "permission_mode",
    "path": "path",
}


@contextmanager
def translate_refusals() -> Generator[None]:
    """A refusal within this names the field as this contract does."""
    try:
        yield
    except Refusal as refusal:
        problem = refusal.problem
        field = _FIELDS.get(problem.field, problem.field)
        raise Refusal(problem.code, problem.message, field=field, hint=problem.hint) from refusal
