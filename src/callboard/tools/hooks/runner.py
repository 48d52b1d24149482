"""Runner of hooks.

Hooks run once, when the model makes a call. A hook can deny the call, require approval, or rewrite
the arguments; only one hook may rewrite. A hook cannot allow: the gate checks the final call. A hook
that fails denies the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Reason, ReasonCode, Rule, Verdict
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import HookResult, ToolCall, ToolContext
from callboard.contracts.settings import Hook
from callboard.contracts.text.reasons import to_english
from callboard.contracts.text.sentences import to_clause

from ..files.paths import display
from ..gate import rule_trial, rules
from ..mcp.server_log import ServerLog
from ..reasons import reason
from ..unsandboxed.reach import Reach, check_program
from ..unsandboxed.variables import build_base_environment
from .hook_process import run

EVERY = "*"
#: Codes of decisions with an explanation.
_WITH_EXPLANATION: dict[ReasonCode, ReasonCode] = {
    "hook_denied": "hook_denied_because",
    "hook_rewrote": "hook_rewrote_because",
    "hook_asks": "hook_asks_because",
}
#: Maximum number of hook programs that run in parallel.
MAX_CONCURRENT = 4
#: Maximum length of a reason, in characters.
_MAX_REASON_CHARS = 500


class _HookRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Input of a hook."""

    tool: str
    arguments: msgspec.Raw
    agent: str
    thread: str
    session: str
    folder: str
    mode: str
    permission_mode: str


class _HookResponse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Response of a hook. Empty output is a pass."""

    decision: Literal["deny", "ask", "pass"] = "pass"
    reason: str = ""
    arguments: dict[str, Any] | None = None


class _HookDenial(Exception):
    """Denial by a hook or because of its failure."""

    def __init__(self, code: Code, why: Reason) -> None:
        super().__init__(to_english((why,)))
        self.code: Code = code
        self.reasons = (why,)


class HookRunner:
    """Runs the hooks of calls.

    Args:
        reveal: Returns the value of a hook's setting, such as of a handle. Raises Refusal.
        start_folder: Returns the folder in which a hook starts.
        reach: Returns the folders where agents could change the hook's program.
        new_redactor: Returns a new redactor for the hook's output.
    """

    def __init__(
        self,
        reveal: Callable[[Hook, str], str],
        start_folder: Callable[[Hook, str], str],
        reach: Callable[[Hook, str], Reach],
        new_redactor: Callable[[], StreamRedaction],
    ) -> None:
        self._reveal = reveal
        self._start_folder = start_folder
        self._reach = reach
        self._new_redactor = new_redactor
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def run(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """Run the hooks of a new call. Return None if none decides, or for invalid arguments, which the gate denies."""
        text = _canonicalize(call.arguments)
        if text is None:
            return None
        verdict: Verdict = "allow"
        rewriter, reasons = "", list[Reason]()
        changed_hooks = _join_names(context.changed_hooks, call.tool, text, context.folder)
        if changed_hooks:
            verdict = "ask"
            reasons.append(reason("hooks_changed", hooks=changed_hooks))
        try:
            for hook in context.hooks:
                if not _is_match(hook, call.tool, text, context.folder):
                    continue
                response = await self._run_hook(
                    hook, _encode_request(call.tool, text, context, session, thread), context
                )
                explanation = self._to_line(response.reason.strip())
                if response.decision == "deny":
                    raise _HookDenial("hook_denied", _to_reason("hook_denied", hook, explanation))
                new_text = text if response.arguments is None else _encode(hook, response.arguments)
                if new_text != text:
                    if rewriter:
                        raise _to_failure(hook, f"would rewrite the arguments, which {rewriter} already rewrote")
                    rewriter, text = hook.name, new_text
                    passed = response.decision == "pass"
                    reasons.append(_to_reason("hook_rewrote", hook, to_clause(explanation) if passed else ""))
                if response.decision == "ask":
                    verdict = "ask"
                    reasons.append(_to_reason("hook_asks", hook, to_clause(explanation)))
        except _HookDenial as error:
            rewritten = text if rewriter else None
            return HookResult(
                verdict="deny",
                detail=str(error),
                code=error.code,
                arguments=rewritten,
                rewritten_by=rewriter,
                reasons=error.reasons,
            )
        if not reasons:
            return None
        rewritten = text if rewriter else None
        return HookResult(
            verdict=verdict,
            detail=to_english(reasons),
            arguments=rewritten,
            rewritten_by=rewriter,
            reasons=tuple(reasons),
        )

    async def _run_hook(self, hook: Hook, request: bytes, context: ToolContext) -> _HookResponse:
        """Run a hook. Raises _HookDenial if it fails."""
        workspace = context.trusted_folder or context.folder
        start = self._start_folder(hook, workspace)
        # Trust in a program does not cover the session's folder: comparing the program for each call
        # would take too long.
        session_reach = Reach((workspace, context.folder))
        async with self._slots:
            try:
                reach = self._reach(hook, workspace)
                values = build_base_environment() | {
                    name: self._reveal(hook, value) for name, value in hook.env.items()
                }
                lookup = await asyncio.to_thread(
                    check_program, hook.command, start, values["PATH"], session_reach, reach
                )
            except Refusal as refusal:
                raise _to_failure(hook, f"cannot start: {refusal.problem.message}") from refusal
            except FileNotFoundError as error:
                raise _to_failure(hook, f"cannot start: {error.filename}: {error.strerror}") from error
            if lookup.exposed is not None:
                raise _to_failure(hook, f"{lookup.exposed.problem}. {lookup.exposed.remedy}")
            log = ServerLog(self._new_redactor)
            result = await run(lookup.command, start, values, request, hook.timeout, log)
        if result.problem:
            raise _to_failure(hook, result.problem)
        if not result.response.strip():
            return _HookResponse()
        try:
            return msgspec.json.decode(result.response, type=_HookResponse)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _to_failure(hook, f"returned an invalid response: {self._to_line(str(error))}") from error

    def _to_line(self, text: str) -> str:
        """Return a hook's text on one line, redacted and then truncated."""
        return display(ServerLog(self._new_redactor).redact(text), _MAX_REASON_CHARS)


def preview(call: ToolCall, context: ToolContext) -> HookResult | None:
    """Return the hooks that match a past call, without running them."""
    text = _canonicalize(call.arguments)
    if text is None:
        return None
    changed = _join_names(context.changed_hooks, call.tool, text, context.folder)
    matching = _join_names(context.hooks, call.tool, text, context.folder)
    codes: tuple[tuple[ReasonCode, str], ...] = (("hooks_changed", changed), ("hooks_unasked", matching))
    reasons = tuple(reason(code, hooks=names) for code, names in codes if names)
    return (
        HookResult(verdict="ask" if changed else "allow", detail=to_english(reasons), reasons=reasons)
        if reasons
        else None
    )


def _to_reason(code: ReasonCode, hook: Hook, explanation: str) -> Reason:
    """Return a hook's decision, with its explanation if there is one."""
    return (
        reason(_WITH_EXPLANATION[code], hook=hook.name, said=explanation)
        if explanation
        else reason(code, hook=hook.name)
    )


def _join_names(hooks: tuple[Hook, ...], tool: str, arguments: str, folder: str) -> str:
    """Return the names of the hooks that match a call."""
    return ", ".join(hook.name for hook in hooks if _is_match(hook, tool, arguments, folder))


def _is_match(hook: Hook, tool: str, arguments: str, folder: str) -> bool:
    """Return True if a matcher of the hook matches the call, as broadly as rules that deny.

    If the subject of the call is unknown, only the tool's name counts.
    """
    target = rule_trial.read_target(tool, arguments, folder)
    is_unknown = target.path is None and target.command is None
    matchers = (pattern.partition("(")[0] if is_unknown else pattern for pattern in hook.tools)
    return any(
        matcher.strip() == EVERY
        or rules.matches(Rule(rule_id="", matcher=matcher, verdict="deny", scope="session"), target)
        for matcher in matchers
    )


def _encode_request(tool: str, arguments: str, context: ToolContext, session: str, thread: str) -> bytes:
    request = _HookRequest(
        tool=tool,
        arguments=msgspec.Raw(arguments.encode()),
        agent=context.agent,
        thread=thread,
        session=session,
        folder=context.folder,
        mode=context.mode,
        permission_mode=context.permission_mode,
    )
    return msgspec.json.encode(request) + b"\n"


def _canonicalize(arguments: str) -> str | None:
    """Return the arguments as JSON with sorted keys; None if they are not a JSON object."""
    try:
        return _encode_sorted(msgspec.json.decode(arguments.strip() or "{}", type=dict[str, Any]))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _encode(hook: Hook, arguments: dict[str, Any]) -> str:
    try:
        return _encode_sorted(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _to_failure(hook, "returned arguments that cannot be encoded as JSON") from error


def _encode_sorted(arguments: dict[str, Any]) -> str:
    return msgspec.json.encode(arguments, order="sorted").decode()


def _to_failure(hook: Hook, how: str) -> _HookDenial:
    return _HookDenial("hook_failed", reason("hook_failed", hook=hook.name, how=how))
