"""Refusals and the closed list of their codes.

A refusal reports a caller's mistake or a limit. It changes nothing and explains what to do next. Any
other error is a defect or a failure of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

Code = Literal[
    # the request itself
    "invalid_input",
    "unauthenticated",
    "forbidden_origin",
    "confirmation_required",
    "unknown_route",
    "too_large",
    # what it names
    "unknown_command",
    "unknown_workspace",
    "unknown_session",
    "unknown_thread",
    "unknown_turn",
    "unknown_action",
    "unknown_blob",
    "unknown_rule",
    "unknown_agent",
    "unknown_task",
    "unknown_job",
    "unknown_handoff",
    "unknown_review",
    "unknown_run",
    "unknown_artifact",
    "unknown_export",
    "unknown_secret",
    "unknown_server",
    "unknown_process",
    "unknown_model",
    # conflicts with the present state
    "idempotency_conflict",
    "thread_busy",
    "thread_not_paused",
    "nothing_running",
    "turn_not_queued",
    "turn_already_ended",
    "turn_id_used",
    "decision_not_offered",
    "scope_not_offered",
    "session_archived",
    "session_imported",
    "not_authorised",
    "artifact_conflict",
    "artifact_deleted",
    "trust_changed",
    "nothing_to_trust",
    "nothing_to_compact",
    "context_missing",
    "images_unsupported",
    # a team
    "subagent_spawns",
    "subagents_do_not_talk",
    "delegate_target_denied",
    "not_your_child",
    "not_yours",
    "no_edge",
    "ownership_not_allowed",
    "agent_to_itself",
    "empty_message",
    "message_too_large",
    "handoff_not_waiting",
    "review_judged",
    "review_not_judged",
    "review_failed",
    "task_id_used",
    "task_not_ready",
    "task_running",
    "task_not_running",
    "task_paused",
    "task_not_paused",
    "task_of_job",
    "job_item_done",
    "capability_missing",
    "agent_exists",
    "edge_exists",
    "worktree_failed",
    "merge_failed",
    # the log
    "conflict",
    "fenced",
    "read_only",
    "store_locked",
    "store_unusable",
    "chain_broken",
    "blob_damaged",
    "rows_damaged",
    "facts_unreadable",
    "answer_unreadable",
    "gap",
    "store_full",
    "store_exists",
    # tools and the gate
    "tool_unknown",
    "tool_not_listed",
    "tool_arguments",
    "policy_denied",
    "hook_denied",
    "hook_failed",
    "mode_denied",
    "path_denied",
    "rule_denied",
    "person_denied",
    "nobody_there",
    "approval_expired",
    "one_call_at_a_time",
    "file_changed",
    "tool_failed",
    "tool_timeout",
    "resource_limit",
    "process_unavailable",
    "server_unavailable",
    "server_failed",
    "untrusted",
    "secret_missing",
    "secret_store_unavailable",
    "unsupported_media",
    "transcript_unreadable",
    "nothing_to_import",
    "session_driven",
    # models
    "model_unconfigured",
    "model_auth",
    "model_rate_limited",
    "model_quota",
    "model_unavailable",
    "model_refused_request",
    "model_context_full",
    "model_cut_stream",
    "model_garbled",
    "model_timeout",
    "agent_mode_unavailable",
    "max_iters",
    "no_progress",
    # configuration
    "bad_scenario",
    "bad_recording",
    "bad_definition",
    "bad_settings",
    "no_folder",
    "folder_too_broad",
    "not_installed",
    "unreachable",
    "remote_unavailable",
    "remote_refused",
    "internal",
]

CODES: tuple[str, ...] = get_args(Code)


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A refusal on the wire. `field` is the path of the invalid input, such as `decision` or `input.text`.

    `reason` with `params` details the code for a client that translates it, such as a
    `SettingsProblemCode`. An empty reason has only the message.
    """

    code: Code
    message: str
    field: str = ""
    hint: str = ""
    reason: str = ""
    params: dict[str, str] = {}


class Refusal(Exception):
    """Error for a command, a read or a configuration that cannot be carried out. Nothing was written."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        field: str = "",
        hint: str = "",
        reason: str = "",
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.problem = Problem(
            code=code, message=message, field=field, hint=hint, reason=reason, params=dict(parameters or {})
        )

    @classmethod
    def from_problem(cls, problem: Problem) -> Refusal:
        """Return a refusal with this problem. Raising one exception object again would accumulate its frames."""
        return cls(
            problem.code,
            problem.message,
            field=problem.field,
            hint=problem.hint,
            reason=problem.reason,
            parameters=problem.params,
        )

    @property
    def text(self) -> str:
        """Return the message and the hint as one text, for a receiver that shows no separate hint."""
        return f"{self.problem.message} {self.problem.hint}".rstrip()

    @property
    def code(self) -> Code:
        """Return the code of the problem."""
        return self.problem.code
