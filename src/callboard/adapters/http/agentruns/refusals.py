"""Refusals in the casing of the Multi-agent runtime specification."""

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
    """Translate the field names of refusals raised within the block to those of the request."""
    try:
        yield
    except Refusal as refusal:
        problem = refusal.problem
        field = _FIELDS.get(problem.field, problem.field)
        raise Refusal(problem.code, problem.message, field=field, hint=problem.hint) from refusal
