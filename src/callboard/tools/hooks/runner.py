"""Runner of the hooks of a call.

Hooks run once, when the model makes the call, and their result stays. A hook can deny the call, ask
for approval, or rewrite the arguments; only one hook may rewrite. A hook never allows: the gate
checks the final call. A hook that fails denies the call.
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
from callboard.contracts.text.sentences import clause

from ..files.paths import display
from ..gate import rule_trial, rules
from ..mcp.environment import base_environment
from ..mcp.server_log import ServerLog
from ..reasons import reason
from ..unsandboxed.reach import Reach, check_program
from .hook_process import run

EVERY = "*"
#: Codes for a decision with a reason.
_BECAUSE: dict[ReasonCode, ReasonCode] = {
    "hook_denied": "hook_denied_because",
    "hook_rewrote": "hook_rewrote_because",
    "hook_asks": "hook_asks_because",
}
#: Maximum number of hook programs that run at once.
MOST_AT_ONCE = 4
#: Maximum length of a reason, in characters.
_MOST_TOLD = 500


class _HookRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Input of a hook's program."""

    tool: str
    arguments: msgspec.Raw
    agent: str
    thread: str
    session: str
    folder: str
    mode: str
    permission_mode: str


class _HookAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answer of a hook's program. Empty output is a pass."""

    decision: Literal["deny", "ask", "pass"] = "pass"
    reason: str = ""
    arguments: dict[str, Any] | None = None


class _HookDenial(Exception):
    """Denial by a hook, or by its failure."""

    def __init__(self, code: Code, why: Reason) -> None:
        super().__init__(to_english((why,)))
        self.code: Code = code
        self.reasons = (why,)


class HookRunner:
    """Runs the hooks of calls.

    Args:
        reveal: Returns the value of a hook's setting, such as of a handle. Raises Refusal if it is
            missing.
        starts: Returns the folder in which a hook starts.
        reach: Returns the folders where agents could change the hook's program.
        veil: Returns a new redactor for the hook's output.
    """

    def __init__(
        self,
        reveal: Callable[[Hook, str], str],
        starts: Callable[[Hook, str], str],
        reach: Callable[[Hook, str], Reach],
        veil: Callable[[], StreamRedaction],
    ) -> None:
        self._reveal = reveal
        self._starts = starts
        self._reach = reach
        self._veil = veil
        self._room = asyncio.Semaphore(MOST_AT_ONCE)

    async def run(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """Run the hooks of a new call. Return None if none decides, or if the arguments are not an
        object, which the gate denies.
        """
        text = _canonical(call.arguments)
        if text is None:
            return None
        verdict: Verdict = "allow"
        by, said = "", list[Reason]()
        away = _names(context.changed_hooks, call.tool, text, context.folder)
        if away:
            verdict = "ask"
            said.append(reason("hooks_changed", hooks=away))
        try:
            for hook in context.hooks:
                if not _speaks_of(hook, call.tool, text, context.folder):
                    continue
                answer = await self._answer(hook, _asked(call.tool, text, context, session, thread), context)
                explanation = self._told(answer.reason.strip())
                if answer.decision == "deny":
                    raise _HookDenial("hook_denied", _because("hook_denied", hook, explanation))
                changed = text if answer.arguments is None else _encoded(hook, answer.arguments)
                if changed != text:
                    if by:
                        raise _failed(hook, f"would rewrite the arguments, which {by} did already")
                    by, text = hook.name, changed
                    passed = answer.decision == "pass"
                    said.append(_because("hook_rewrote", hook, clause(explanation) if passed else ""))
                if answer.decision == "ask":
                    verdict = "ask"
                    said.append(_because("hook_asks", hook, clause(explanation)))
        except _HookDenial as no:
            rewritten = text if by else None
            return HookResult(
                verdict="deny", detail=str(no), code=no.code, arguments=rewritten, rewritten_by=by, reasons=no.reasons
            )
        if not said:
            return None
        rewritten = text if by else None
        return HookResult(
            verdict=verdict, detail=to_english(said), arguments=rewritten, rewritten_by=by, reasons=tuple(said)
        )

    async def _answer(self, hook: Hook, given: bytes, context: ToolContext) -> _HookAnswer:
        """Run one hook.

        Raises:
            _HookDenial: The hook failed.
        """
        serves = context.trusted_folder or context.folder
        start = self._starts(hook, serves)
        # The session's own folder counts also if trust is bound to the program. A hook runs too
        # often to compare its program each time.
        own = Reach((serves, context.folder))
        async with self._room:
            try:
                reach = self._reach(hook, serves)
                values = base_environment() | {name: self._reveal(hook, value) for name, value in hook.env.items()}
                looked = await asyncio.to_thread(check_program, hook.command, start, values["PATH"], own, reach)
            except Refusal as refusal:
                raise _failed(hook, f"cannot be started: {refusal.problem.message}") from refusal
            except FileNotFoundError as error:
                raise _failed(hook, f"cannot be started: {error.filename}: {error.strerror}") from error
            if looked.exposed is not None:
                raise _failed(hook, f"{looked.exposed.problem}. {looked.exposed.remedy}")
            said = ServerLog(self._veil)
            ended = await run(looked.command, start, values, given, hook.timeout, said)
        if ended.problem:
            raise _failed(hook, ended.problem)
        if not ended.answer.strip():
            return _HookAnswer()
        try:
            return msgspec.json.decode(ended.answer, type=_HookAnswer)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _failed(hook, f"answered what is not understood: {self._told(str(error))}") from error

    def _told(self, text: str) -> str:
        """Return a hook's text on one line, redacted before it is truncated."""
        return display(ServerLog(self._veil).redact(text), _MOST_TOLD)


def preview(call: ToolCall, context: ToolContext) -> HookResult | None:
    """Return what is known about the hooks of a past call, without running them."""
    text = _canonical(call.arguments)
    if text is None:
        return None
    away = _names(context.changed_hooks, call.tool, text, context.folder)
    there = _names(context.hooks, call.tool, text, context.folder)
    found: tuple[tuple[ReasonCode, str], ...] = (("hooks_changed", away), ("hooks_unasked", there))
    said = tuple(reason(code, hooks=names) for code, names in found if names)
    return HookResult(verdict="ask" if away else "allow", detail=to_english(said), reasons=said) if said else None


def _because(code: ReasonCode, hook: Hook, said: str) -> Reason:
    """Return what a hook decided, with the reason that it gives, if any."""
    return reason(_BECAUSE[code], hook=hook.name, said=said) if said else reason(code, hook=hook.name)


def _names(hooks: tuple[Hook, ...], tool: str, arguments: str, folder: str) -> str:
    """Return the names of the hooks that match a call."""
    return ", ".join(one.name for one in hooks if _speaks_of(one, tool, arguments, folder))


def _speaks_of(hook: Hook, tool: str, arguments: str, folder: str) -> bool:
    """Return True if a matcher of the hook matches the call.

    Matchers are read as widely as those of rules that deny. If the subject of the call is unknown,
    the tool's name decides.
    """
    target = rule_trial.read_target(tool, arguments, folder)
    blank = target.path is None and target.command is None
    matchers = (one.partition("(")[0] if blank else one for one in hook.tools)
    return any(
        matcher.strip() == EVERY
        or rules.matches(Rule(rule_id="", matcher=matcher, verdict="deny", scope="session"), target)
        for matcher in matchers
    )


def _asked(tool: str, arguments: str, context: ToolContext, session: str, thread: str) -> bytes:
    asked = _HookRequest(
        tool=tool,
        arguments=msgspec.Raw(arguments.encode()),
        agent=context.agent,
        thread=thread,
        session=session,
        folder=context.folder,
        mode=context.mode,
        permission_mode=context.permission_mode,
    )
    return msgspec.json.encode(asked) + b"\n"


def _canonical(arguments: str) -> str | None:
    """Return the arguments as JSON with sorted keys; None if they are not a JSON object."""
    try:
        return _sorted(msgspec.json.decode(arguments.strip() or "{}", type=dict[str, Any]))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _encoded(hook: Hook, arguments: dict[str, Any]) -> str:
    try:
        return _sorted(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _failed(hook, "answered arguments that cannot be written") from error


def _sorted(arguments: dict[str, Any]) -> str:
    return msgspec.json.encode(arguments, order="sorted").decode()


def _failed(hook: Hook, how: str) -> _HookDenial:
    return _HookDenial("hook_failed", reason("hook_failed", hook=hook.name, how=how))
