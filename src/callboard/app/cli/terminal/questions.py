"""Questions in the terminal: their context, their choices, and the parsing of an answer."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from callboard.contracts.facts.action import ApprovalScope, ContinuationMode, Decision
from callboard.contracts.rows.action import ActionRow
from callboard.contracts.text.exact import count_invisible, count_masked
from callboard.contracts.text.sentences import format_count

from .output import mark_hidden

_APPROVING = ("a", "y", "approve", "yes")


class Answer(msgspec.Struct, frozen=True):
    """The decision on an action."""

    decision: Decision
    scope: ApprovalScope = "once"
    reason: str = ""
    text: str | None = None
    unattended: bool = False
    permission_mode: ContinuationMode | None = None


class QuestionContext(msgspec.Struct, frozen=True):
    """Extra context of a question: `options` to choose from, the `steps` of a plan, the `schema` of a form."""

    options: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None

    def format_lines(self) -> list[str]:
        """Return one line for each item, with hidden characters written out."""
        numbered = (f"{number} {text}" for number, text in enumerate(self.options or self.steps, start=1))
        return [" ".join(mark_hidden(text).split()) for text in (*numbered, *self._format_fields())]

    def read_fields(self) -> dict[str, Any]:
        """Return the fields of a form by name."""
        fields = (self.schema or {}).get("properties")
        return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}

    def _format_fields(self) -> list[str]:
        required: Any = (self.schema or {}).get("required")
        lines: list[str] = []
        for name, value in self.read_fields().items():
            field = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
            choices: Any = field.get("enum")
            kind = " | ".join(map(str, cast("list[Any]", choices))) if isinstance(choices, list) else field.get("type")
            is_optional = not (isinstance(required, list) and name in required)
            notes = [str(kind or "any")] + ["optional"] * is_optional
            lines.append(f"{name}: {', '.join(notes)} {field.get('description') or ''}".rstrip())
        return lines


def read_context(row: ActionRow, arguments: str) -> QuestionContext:
    """Decode the context from the arguments of a question; empty for a call that only needs approval."""
    if not is_question(row):
        return QuestionContext()
    try:
        return msgspec.json.decode(arguments, type=QuestionContext)
    except msgspec.MsgspecError:
        return QuestionContext()


def count_commands(row: ActionRow) -> int | None:
    """Return the number of commands; None for shell text that cannot be parsed."""
    return None if row.tool == "Bash" and row.commands == 0 and row.preview is not None else row.commands


def list_preview_notes(preview: str, arguments: str, commands: int | None) -> list[str]:
    """Return notes on a preview: command count, invisible characters, masked values, and the agent's description."""
    text = preview or arguments
    invisible, masked = count_invisible(text), count_masked(text)
    description = _read_description(arguments)
    return [
        *(["cannot be parsed as commands: their number is unknown"] if commands is None else []),
        *([format_count(commands, "command")] if commands is not None and commands > 1 else []),
        *([f"{format_count(invisible, 'invisible character')}, written as ⟨U+…⟩"] if invisible else []),
        *([f"{format_count(masked, 'value')} masked as secret"] if masked else []),
        *([f"message from the agent: {' '.join(mark_hidden(description).split())}"] if description else []),
    ]


def _read_description(arguments: str) -> str:
    try:
        fields = msgspec.json.decode(arguments, type=dict[str, Any])
    except msgspec.MsgspecError:
        return ""
    return str(fields.get("description") or "") if "command" in fields else ""


def is_question(row: ActionRow) -> bool:
    """Return True if a text answers it."""
    return "answer" in row.decisions


def format_choices(row: ActionRow, context: QuestionContext, *, is_folded: bool) -> str:
    """Return a line of choices for this request, and one for each rule that an answer would add."""
    reject = "[r]eject (r REASON)"
    if is_question(row):
        if "approve" in row.decisions:
            choices = f"{_format_approval(row)} · {reject} · or what to change, in one line"
        elif context.options:
            choices = f"a number, or your answer in one line · {reject}"
        elif len(context.read_fields()) > 1:
            choices = f"your answer in one line, as a JSON object of these fields · {reject}"
        else:
            choices = f"your answer in one line · {reject}"
        return f"  {choices}\n  >"
    lines = [" · ".join(["[a]pprove once", reject, *(["[v]iew all"] if is_folded else [])])]
    for scope, key in (("session", "[s]ession"), ("workspace", "[w]orkspace")):
        if scope in row.scopes:
            lines.append(f"{key}: {mark_hidden(row.matchers.get(scope, 'all calls'))}")
    return "".join(f"  {line}\n" for line in lines) + "  >"


def _format_approval(row: ActionRow) -> str:
    """Return the approving choice; for a plan, with the permission modes of the turn that carries it out."""
    if not row.modes:
        return "[a]pprove"
    others = "".join(f", `a {mode}`: in {mode}" for mode in row.modes[1:])
    return f"[a]pprove, continue in {row.modes[0]}{others}"


def parse_answer(line: str | None, row: ActionRow, context: QuestionContext) -> Answer | None:
    """Return the answer of a typed line; None if the line is not an answer."""
    text = (line or "").strip()
    word, _, rest = text.partition(" ")
    if is_question(row) and word.lower() not in ("r", "reject"):
        if "approve" in row.decisions and word.lower() in _APPROVING:
            modes: list[ContinuationMode] = [mode for mode in row.modes if mode == rest.strip().lower()]
            mode = modes[0] if modes else None
            if mode is not None or not rest.strip():
                return Answer("approve", permission_mode=mode)
            if len(rest.split()) == 1:
                # Probably a mistyped mode: neither an approval nor a change of the plan.
                return None
        if text.isdecimal() and 0 < int(text) <= len(context.options):
            text = context.options[int(text) - 1]
        return Answer("answer", text=text) if text else None
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
