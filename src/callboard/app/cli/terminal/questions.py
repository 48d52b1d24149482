"""A question to a person on a terminal: what stands beside its words, how it can be settled, and what a line says to it."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from callboard.contracts.facts.action import ApprovalScope, ContinuationMode, Decision
from callboard.contracts.rows import ActionRow
from callboard.contracts.text.exact import count_invisible, count_masked

from .output import mark_hidden
from .wording import format_count

_APPROVING = ("a", "y", "approve", "yes")


class Answer(msgspec.Struct, frozen=True):
    decision: Decision
    scope: ApprovalScope = "once"
    reason: str = ""
    text: str | None = None
    unattended: bool = False
    permission_mode: ContinuationMode | None = None


class QuestionContext(msgspec.Struct, frozen=True):
    """What there is beside the words of a question: `options` to choose from, the `steps` of a plan, the `schema` of a form."""

    options: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None

    def lines(self) -> list[str]:
        """One for each of them, with nothing hidden."""
        numbered = (f"{number} {one}" for number, one in enumerate(self.options or self.steps, start=1))
        return [" ".join(mark_hidden(one).split()) for one in (*numbered, *self._fields())]

    def fields(self) -> dict[str, Any]:
        """What a form asks for, by name."""
        found = (self.schema or {}).get("properties")
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    def _fields(self) -> list[str]:
        needed: Any = (self.schema or {}).get("required")
        told: list[str] = []
        for name, field in self.fields().items():
            one = cast("dict[str, Any]", field) if isinstance(field, dict) else {}
            choices: Any = one.get("enum")
            kind = " | ".join(map(str, cast("list[Any]", choices))) if isinstance(choices, list) else one.get("type")
            optional = not (isinstance(needed, list) and name in needed)
            words = [str(kind or "any")] + ["optional"] * optional
            told.append(f"{name}: {', '.join(words)} {one.get('description') or ''}".rstrip())
        return told


def read_context(row: ActionRow, arguments: str) -> QuestionContext:
    """What stands in the arguments of the call that asks; nothing for a call that only waits for leave."""
    if not is_question(row):
        return QuestionContext()
    try:
        return msgspec.json.decode(arguments, type=QuestionContext)
    except msgspec.MsgspecError:
        return QuestionContext()


def count_commands(row: ActionRow) -> int | None:
    """Return the number of commands; None for a shell text that cannot be read."""
    return None if row.tool == "Bash" and row.commands == 0 and row.preview is not None else row.commands


def preview_notes(preview: str, arguments: str, commands: int | None) -> list[str]:
    """Lines below what would run: how many commands, how much is invisible or masked, and what the agent says that it does."""
    text = preview or arguments
    invisible, masked = count_invisible(text), count_masked(text)
    described = _described(arguments)
    return [
        *(["cannot be read as commands: their number is unknown"] if commands is None else []),
        *([format_count(commands, "command")] if commands is not None and commands > 1 else []),
        *([f"{format_count(invisible, 'invisible character')}, written as ⟨U+…⟩"] if invisible else []),
        *([f"{format_count(masked, 'value')} masked as secret"] if masked else []),
        *([f"the agent says: {' '.join(mark_hidden(described).split())}"] if described else []),
    ]


def _described(arguments: str) -> str:
    try:
        found = msgspec.json.decode(arguments, type=dict[str, Any])
    except msgspec.MsgspecError:
        return ""
    return str(found.get("description") or "") if "command" in found else ""


def is_question(row: ActionRow) -> bool:
    """True where words settle it."""
    return "answer" in row.decisions


def format_choices(row: ActionRow, there: QuestionContext, *, more: bool) -> str:
    """One line for what decides this request alone, one for each rule that an answer would make."""
    reject = "[r]eject (r REASON)"
    if is_question(row):
        if "approve" in row.decisions:
            said = f"{_approve(row)} · {reject} · or what to change, in one line"
        elif there.options:
            said = f"a number, or your answer in one line · {reject}"
        elif len(there.fields()) > 1:
            said = f"your answer in one line, as a JSON object of these · {reject}"
        else:
            said = f"your answer in one line · {reject}"
        return f"  {said}\n  >"
    lines = [" · ".join(["[a]pprove once", reject, *(["[v]iew all"] if more else [])])]
    for scope, key in (("session", "[s]ession"), ("workspace", "[w]orkspace")):
        if scope in row.scopes:
            lines.append(f"{key}: {mark_hidden(row.matchers.get(scope, 'every one'))}")
    return "".join(f"  {line}\n" for line in lines) + "  >"


def _approve(row: ActionRow) -> str:
    """The answer that approves; that of a plan names the modes in which the next turn can carry it out."""
    if not row.modes:
        return "[a]pprove"
    others = "".join(f", `a {mode}`: in {mode}" for mode in row.modes[1:])
    return f"[a]pprove, continue in {row.modes[0]}{others}"


def parse_answer(line: str | None, row: ActionRow, there: QuestionContext) -> Answer | None:
    """The answer that a line gives; None where it gives none."""
    said = (line or "").strip()
    word, _, rest = said.partition(" ")
    if is_question(row) and word.lower() not in ("r", "reject"):
        if "approve" in row.decisions and word.lower() in _APPROVING:
            named: list[ContinuationMode] = [mode for mode in row.modes if mode == rest.strip().lower()]
            mode = named[0] if named else None
            if mode is not None or not rest.strip():
                return Answer("approve", permission_mode=mode)
            if len(rest.split()) == 1:
                # Perhaps a mistyped mode: that is neither an approval nor a change of the plan.
                return None
        if said.isdecimal() and 0 < int(said) <= len(there.options):
            said = there.options[int(said) - 1]
        return Answer("answer", text=said) if said else None
    match word.lower():
        case "a" | "y" | "approve" | "yes" | "once":
            return Answer("approve")
        case "s" | "session" if "session" in row.scopes:
            return Answer("approve", "session")
        case "w" | "workspace" if "workspace" in row.scopes:
            return Answer("approve", "workspace")
        case "r" | "n" | "reject" | "no":
            return Answer("reject", reason=rest.strip())
        case _:
            return None
