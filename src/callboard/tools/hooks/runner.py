"""Which hooks a call is for, and what their answers come to.

A hook is asked once about a call, when the model makes it; what it said holds from then on. It can deny the call, have a person
asked, or rewrite the arguments, which one of them may do. It lets nothing through: all that stands behind it in the gate
looks at the call as it is then. One that fails in any way denies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from callboard.contracts.errors import Code, Refusal
from callboard.contracts.facts.permission import Rule, Verdict
from callboard.contracts.facts.reason import Reason, ReasonCode
from callboard.contracts.ports.secrets import StreamRedaction
from callboard.contracts.ports.tools import HookResult, ToolCall, ToolContext
from callboard.contracts.settings import Hook
from callboard.contracts.text.sentences import clause

from ..files.paths import display
from ..gate import rule_trial, rules
from ..mcp.environment import base_environment
from ..mcp.server_log import ServerLog
from ..reasons import reason, to_english
from ..unsandboxed.reach import Reach, check_program
from .hook_process import run

EVERY = "*"
#: What a hook decides, where it gives a reason.
_BECAUSE: dict[ReasonCode, ReasonCode] = {
    "hook_denied": "hook_denied_because",
    "hook_rewrote": "hook_rewrote_because",
    "hook_asks": "hook_asks_because",
}
#: How many of their programs run at once.
MOST_AT_ONCE = 4
#: How much of a reason is told, in characters.
_MOST_TOLD = 500


class _HookRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a program is given on its input."""

    tool: str
    arguments: msgspec.Raw
    agent: str
    thread: str
    session: str
    folder: str
    mode: str
    permission_mode: str


class _HookAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What it answers; nothing at all is a pass."""

    decision: Literal["deny", "ask", "pass"] = "pass"
    reason: str = ""
    arguments: dict[str, Any] | None = None


class _HookDenial(Exception):
    """A hook denies the call, or fails and so denies it."""

    def __init__(self, code: Code, why: Reason) -> None:
        said = to_english((why,))
        # What a hook says itself ends as it says.
        super().__init__(said if "said" in why.parameters else f"{said}.")
        self.code: Code = code
        self.reasons = (why,)


class HookRunner:
    """Asks them. `reveal` gives the value of a setting of one, such as of a handle, and raises Refusal where there is none;
    `starts` the folder in which one that works for another is started, `reach` where agents change files that could be its
    program, and `veil` a new veil for what one says."""

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

    async def ask(self, call: ToolCall, context: ToolContext, *, session: str, thread: str) -> HookResult | None:
        """What they say of a new call; None where they say nothing. Arguments that are no object are for the gate to refuse."""
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
        """Raises _No where it fails."""
        serves = context.trusted_folder or context.folder
        start = self._starts(hook, serves)
        # A session's own folder counts also where trust is bound to the program: one that runs at every call is asked for
        # too often to be looked at in time.
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
                raise _failed(hook, f"is not run: {looked.exposed.problem}. {looked.exposed.remedy}")
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
        """What a hook says, on one line: without secrets before it is cut."""
        return display(ServerLog(self._veil).safe(text), _MOST_TOLD)


def unasked(call: ToolCall, context: ToolContext) -> HookResult | None:
    """What is known of a call that nobody makes, where no program is run."""
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
    """Those of the hooks that such a call is for."""
    return ", ".join(one.name for one in hooks if _speaks_of(one, tool, arguments, folder))


def _speaks_of(hook: Hook, tool: str, arguments: str, folder: str) -> bool:
    """True where one of its matchers fits the call. They are read as widely as a rule that denies; where nobody can say what
    a call is about, the tool's name is enough."""
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
    """The arguments as one text with sorted keys; None for what is no JSON object."""
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
