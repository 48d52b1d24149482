"""Refusals as answers: the one table of statuses, and the faults that HTTP itself has names for."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from callboard.contracts.disk import disk_refusal
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

#: A method that a route does not have is an `unknown_route`, and a body in another format `invalid_input`, with these.
METHOD_NOT_ALLOWED = 405
UNSUPPORTED_MEDIA = 415

#: No message repeats more of what was sent than this, in characters.
_LONGEST_MESSAGE = 300
_LONGEST_FIELD = 100

_PLACE = re.compile(r"^(?P<message>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_NAMED = re.compile(r"^Object (?:contains unknown|missing required) field `(?P<name>.*)`$", re.DOTALL)
#: The bounds that a value did not keep, as msgspec tells them, and as a person reads them of the field.
_BOUNDS = (
    (re.compile(r"Expected `\w+` of length >= 1"), "must not be empty"),
    (re.compile(r"Expected `str` of length >= (\d+)"), r"must have at least \1 characters"),
    (re.compile(r"Expected `str` of length <= (\d+)"), r"must have at most \1 characters"),
    (re.compile(r"Expected `\w+` of length >= (\d+)"), r"must have at least \1 entries"),
    (re.compile(r"Expected `\w+` of length <= (\d+)"), r"must have at most \1 entries"),
    (re.compile(r"Expected `\w+` >= (\S+)"), r"must be at least \1"),
    (re.compile(r"Expected `\w+` <= (\S+)"), r"must be at most \1"),
    (re.compile(r"Expected `str` matching regex '\\\\S'"), "must not be empty"),
    (re.compile(r"Expected `str` matching regex .*", re.DOTALL), "has characters that it must not have"),
)
_INDEX = re.compile(r"\[(\d+)\]")
_ANY_KEY = "[...]"


class WrongMediaError(Refusal):
    """The body is in a format that the route does not take."""


def invalid_input(error: Exception, *, field: str = "") -> Refusal:
    """The refusal of input that msgspec could not take: its field is the path in dots, in the names that were sent.

    `field` names the input where it has no fields, such as a path's segment.
    """
    found = _PLACE.match(str(error))
    message, path = (found["message"], found["path"] or "") if found else (str(error), "")
    path = _INDEX.sub(r".\1", path.replace(_ANY_KEY, ".*")).removeprefix(".")
    missing = _NAMED.match(message)
    if missing:
        path = f"{path}.{missing['name']}" if path else missing["name"]
    named = path or field
    return Refusal(
        "invalid_input", _short(_said(message, named), _LONGEST_MESSAGE), field=_short(named, _LONGEST_FIELD)
    )


def _said(message: str, field: str) -> str:
    """The message; of a bound that was not kept, in words of the field."""
    for pattern, words in _BOUNDS:
        if found := pattern.fullmatch(message):
            return f"{field or 'The value'} {found.expand(words)}."
    return message


def incident(error: BaseException, doing: str) -> Problem:
    """Return the problem of an incident: the id of its entry in the log, or the refusal of a full or failed disk."""
    number = f"inc_{secrets.token_hex(6)}"
    log.error("%s: %s failed", number, doing, exc_info=error)
    if refusal := disk_refusal(error):
        return refusal.problem
    return Problem(
        code="internal",
        message=f"Something went wrong inside Callboard (incident {number}).",
        hint="The server's log has the details under the incident's id.",
    )


def problem_response(problem: Problem, *, status: int = 0, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that carries a problem, with the status of its code where none is given."""
    sent = dict(headers or {})
    if problem.code == "unauthenticated":
        sent["WWW-Authenticate"] = "Bearer"
        # What is left of the request is not read, and the connection makes room for others.
        sent["Connection"] = "close"
    return Response(
        msgspec.json.encode(problem), status or STATUS[problem.code], headers=sent, media_type="application/json"
    )


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
