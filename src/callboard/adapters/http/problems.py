"""Refusals as responses: the status of each code, validation errors and incidents."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from callboard.contracts.disk import build_disk_refusal
from callboard.contracts.errors import Code, Problem, Refusal

log = logging.getLogger(__name__)

#: The HTTP status of every code.
STATUS: dict[Code, int] = {
    "invalid_input": 400,
    "unauthenticated": 401,
    "forbidden_origin": 403,
    "confirmation_required": 403,
    "unknown_route": 404,
    "too_large": 413,
    "unknown_command": 404,
    "unknown_workspace": 404,
    "unknown_session": 404,
    "unknown_thread": 404,
    "unknown_turn": 404,
    "unknown_action": 404,
    "unknown_blob": 404,
    "unknown_rule": 404,
    "unknown_agent": 404,
    "unknown_task": 404,
    "unknown_job": 404,
    "unknown_handoff": 404,
    "unknown_review": 404,
    "unknown_run": 404,
    "unknown_artifact": 404,
    "unknown_export": 404,
    "unknown_secret": 404,
    "unknown_server": 404,
    "unknown_process": 404,
    "unknown_model": 404,
    "idempotency_conflict": 409,
    "thread_busy": 409,
    "thread_not_paused": 409,
    "nothing_running": 409,
    "turn_not_queued": 409,
    "turn_already_ended": 409,
    "turn_id_used": 409,
    "decision_not_offered": 409,
    "scope_not_offered": 409,
    "session_archived": 409,
    "session_imported": 409,
    "not_authorised": 403,
    "artifact_conflict": 409,
    "artifact_deleted": 409,
    "trust_changed": 409,
    "nothing_to_trust": 409,
    "nothing_to_compact": 409,
    "context_missing": 409,
    "subagent_spawns": 403,
    "subagents_do_not_talk": 403,
    "delegate_target_denied": 403,
    "not_your_child": 403,
    "not_yours": 403,
    "no_edge": 403,
    "ownership_not_allowed": 403,
    "agent_to_itself": 422,
    "empty_message": 422,
    "message_too_large": 422,
    "handoff_not_waiting": 409,
    "review_judged": 409,
    "review_not_judged": 409,
    "review_failed": 409,
    "task_id_used": 409,
    "task_not_ready": 409,
    "task_running": 409,
    "task_not_running": 409,
    "task_paused": 409,
    "task_not_paused": 409,
    "task_of_job": 409,
    "job_item_done": 409,
    "capability_missing": 403,
    "agent_exists": 409,
    "edge_exists": 409,
    "worktree_failed": 409,
    "merge_failed": 409,
    "conflict": 409,
    "fenced": 503,
    "read_only": 503,
    "store_locked": 503,
    "store_unusable": 503,
    "chain_broken": 500,
    "blob_damaged": 500,
    "rows_damaged": 503,
    "facts_unreadable": 409,
    "answer_unreadable": 409,
    "gap": 410,
    "store_full": 507,
    "store_exists": 409,
    "tool_unknown": 422,
    "tool_not_listed": 403,
    "tool_arguments": 422,
    "policy_denied": 403,
    "hook_denied": 403,
    "hook_failed": 403,
    "mode_denied": 403,
    "path_denied": 403,
    "rule_denied": 403,
    "person_denied": 403,
    "nobody_there": 403,
    "approval_expired": 409,
    "one_call_at_a_time": 409,
    "file_changed": 409,
    "tool_failed": 422,
    "tool_timeout": 504,
    "resource_limit": 409,
    "process_unavailable": 409,
    "server_unavailable": 502,
    "server_failed": 502,
    "untrusted": 403,
    "secret_missing": 409,
    "secret_store_unavailable": 409,
    "unsupported_media": 415,
    "images_unsupported": 422,
    "transcript_unreadable": 422,
    "nothing_to_import": 409,
    "session_driven": 409,
    "model_unconfigured": 409,
    "model_auth": 502,
    "model_rate_limited": 429,
    "model_quota": 429,
    "model_unavailable": 502,
    "model_refused_request": 502,
    "model_context_full": 422,
    "model_cut_stream": 502,
    "model_garbled": 502,
    "model_timeout": 504,
    "agent_mode_unavailable": 422,
    "max_iters": 409,
    "no_progress": 409,
    "bad_scenario": 422,
    "bad_recording": 422,
    "bad_definition": 422,
    "bad_settings": 422,
    "no_folder": 422,
    "folder_too_broad": 422,
    "not_installed": 422,
    "unreachable": 502,
    "remote_unavailable": 502,
    "remote_refused": 502,
    "internal": 500,
}

#: Status of `unknown_route` for an unsupported method.
METHOD_NOT_ALLOWED = 405
#: Status of `invalid_input` for a body in another format.
UNSUPPORTED_MEDIA = 415

#: Limits of messages and field names, which repeat input, in characters.
_MAX_MESSAGE_CHARS = 300
_MAX_FIELD_CHARS = 100

_PLACE = re.compile(r"^(?P<message>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_NAMED = re.compile(r"^Object (?:contains unknown|missing required) field `(?P<name>.*)`$", re.DOTALL)
#: Invalid values: msgspec's message, and the predicate of a sentence about the field.
_BOUNDS = (
    (re.compile(r"Expected `\w+` of length >= 1"), "must not be empty"),
    (re.compile(r"Expected `str` of length >= (\d+)"), r"must have at least \1 characters"),
    (re.compile(r"Expected `str` of length <= (\d+)"), r"must have at most \1 characters"),
    (re.compile(r"Expected `\w+` of length >= (\d+)"), r"must have at least \1 entries"),
    (re.compile(r"Expected `\w+` of length <= (\d+)"), r"must have at most \1 entries"),
    (re.compile(r"Expected `\w+` >= (\S+)"), r"must be at least \1"),
    (re.compile(r"Expected `\w+` <= (\S+)"), r"must be at most \1"),
    (re.compile(r"Expected `str` matching regex '\\\\S'"), "must not be empty"),
    (re.compile(r"Expected `str` matching regex .*", re.DOTALL), "contains invalid characters"),
    (re.compile(r"Object missing required field `.*`", re.DOTALL), "is missing"),
    (re.compile(r"Object contains unknown field `.*`", re.DOTALL), "is an unknown field"),
    (re.compile(r"Invalid enum value (.*)", re.DOTALL), r"does not accept the value \1"),
    (re.compile(r"Expected `(.*)`, got `(.*)`"), r"must be `\1`, not `\2`"),
)
_HINT = "GET /api/v1/openapi.json lists the fields and their values."
_INDEX = re.compile(r"\[(\d+)\]")
_ANY_KEY = "[...]"


class WrongMediaError(Refusal):
    """The body is in a format that the route does not accept."""


def build_input_refusal(error: Exception, *, field: str = "") -> Refusal:
    """Return the refusal of input that msgspec rejected. Its field is the path with dots, in the names of the wire.

    Args:
        field: Name of an input without fields, such as a segment of the path.
    """
    match = _PLACE.match(str(error))
    message, path = (match["message"], match["path"] or "") if match else (str(error), "")
    path = _INDEX.sub(r".\1", path.replace(_ANY_KEY, ".*")).removeprefix(".")
    missing = _NAMED.match(message)
    if missing:
        path = f"{path}.{missing['name']}" if path else missing["name"]
    name = path or field
    return Refusal(
        "invalid_input",
        _shorten(_format_message(message, name), _MAX_MESSAGE_CHARS),
        field=_shorten(name, _MAX_FIELD_CHARS),
        hint=_HINT,
    )


def _format_message(message: str, field: str) -> str:
    """Return a sentence about the field; or the message if it has no field."""
    for pattern, text in _BOUNDS:
        if match := pattern.fullmatch(message):
            return f"{_shorten(field or 'The value', _MAX_FIELD_CHARS)} {match.expand(text)}."
    return message


def record_incident(error: BaseException, operation: str) -> Problem:
    """Log a defect and return its problem, with the id of the log entry. A full or failed disk has its own problem."""
    number = f"inc_{secrets.token_hex(6)}"
    log.error("%s: %s failed", number, operation, exc_info=error)
    if refusal := build_disk_refusal(error):
        return refusal.problem
    return Problem(
        code="internal",
        message=f"Internal error in Callboard (incident {number}).",
        hint="The server's log has the details under the incident's id.",
    )


def build_problem_response(problem: Problem, *, status: int = 0, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response of a problem. The default is the status of its code."""
    fields = dict(headers or {})
    if problem.code == "unauthenticated":
        fields["WWW-Authenticate"] = "Bearer"
        # Do not read the rest of the request, and free the connection for other clients.
        fields["Connection"] = "close"
    return Response(
        msgspec.json.encode(problem), status or STATUS[problem.code], headers=fields, media_type="application/json"
    )


def _shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
