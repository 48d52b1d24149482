"""A conversation from its rows, for a terminal."""

from __future__ import annotations

from callboard.contracts.rows import (
    ActionPart,
    ActionRow,
    ContextPart,
    ErrorPart,
    HandoffPart,
    NoticePart,
    NotificationPart,
    Part,
    PlanPart,
    ReasoningPart,
    RemoteStatusPart,
    RunRow,
    SteerPart,
    TextPart,
    ToolPart,
    TurnRow,
)
from callboard.contracts.text.sentences import clause
from callboard.projection.rows import Table

from ...reading import Reader
from .output import Style, print_out, strip_controls, terminal_width, to_line
from .wording import INPUT_PLACEHOLDERS, PLAN_STATES, format_count, format_missing, format_notice, format_outcome

#: Longer lines are hard to read, however wide the terminal is.
WIDEST = 120
#: What the reading edge says of whatever ran in a process that is gone.
LOST = "lost"
_OVER = ("output-available", "output-error", "cancelled")


class ConversationRenderer:
    """Prints turns of a table; texts of which a row holds a preview are read whole."""

    def __init__(self, source: Reader, table: Table, style: Style, *, thinking: bool) -> None:
        self._source = source
        self._style = style
        self._thinking = thinking
        self._parts: dict[str, list[Part]] = {}
        for part in table.panel(Part):
            self._parts.setdefault(part.turn_id, []).append(part)
        self._pending = {row.action_id: row for row in table.panel(ActionRow)}
        self._lost = {row.turn_id for row in table.panel(RunRow) if row.detail == LOST}
        self._several = len({turn.agent_id for turn in table.panel(TurnRow)}) > 1

    async def print_turn(self, turn: TurnRow) -> None:
        """Prints what was asked, of whom where there are several, what happened and how it ended."""
        style = self._style
        text = strip_controls("(erased)" if turn.input.erased else await self._source.read_text(turn.input))
        whose = f"{style.bold(to_line(turn.agent_id))} " if self._several else ""
        print_out(f"\n{whose}{style.bold('›')} {text or style.dim(INPUT_PLACEHOLDERS.get(turn.source, ''))}")
        for part in self._parts.get(turn.turn_id, []):
            await self._part(part)
        print_out(format_turn(turn, style, lost=turn.turn_id in self._lost))

    async def _part(self, part: Part) -> None:
        style = self._style
        match part:
            case TextPart():
                text = "(erased)" if part.content.erased else strip_controls(await self._source.read_text(part.content))
                print_out(f"\n{_laid_out(text) if style.on else text.rstrip()}\n")
                if part.state == "interrupted":
                    print_out(style.warn("  (interrupted)"))
            case ReasoningPart():
                if self._thinking:
                    print_out(style.dim(strip_controls(await self._source.read_text(part.content)).rstrip()))
            case ToolPart():
                print_out(format_tool(part, style))
            case ActionPart() if part.outcome == "pending" and part.action_id in self._pending:
                print_out(style.warn(f"  ? {format_outcome(part.prompt, 'waits for an answer')}"))
            case _:
                if line := format_aside(part, style):
                    print_out(line)


def _laid_out(text: str) -> str:
    """Markdown as a terminal shows it. Links are written out: a terminal would hide where they lead."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=True, width=min(terminal_width(), WIDEST), color_system="standard")
    with console.capture() as captured:
        console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
    return captured.get().rstrip()


def format_tool(part: ToolPart, style: Style) -> str:
    """A tool call on one line: what it did, what it came to, how long it took."""
    marks = {"output-available": style.good("✓"), "output-error": style.bad("✗"), "cancelled": style.warn("■")}
    what = to_line(part.summary or part.tool)
    label = what if what.startswith(part.tool) else f"{to_line(part.tool)} {what}"
    end = [f"{to_line(change.path)} +{change.added} -{change.removed}" for change in part.changes]
    if part.exit_code:
        end.append(f"exit {part.exit_code}")
    if part.code:
        end.append(to_line(f"{part.code}: {part.message}" if part.message else part.code))
    if part.state in _OVER and part.duration_ms:
        end.append(f"{part.duration_ms} ms")
    room = terminal_width() - 4
    text = to_line(" · ".join([label, *end]), room)
    return f"  {marks.get(part.state, '…')} {text[: len(label)]}{style.dim(text[len(label) :])}"


def format_aside(part: Part, style: Style) -> str:
    """Whatever stands beside the conversation, on a line."""
    match part:
        case ActionPart():
            mode = f", continues in {part.permission_mode}" if part.permission_mode else ""
            said = f": {clause(to_line(part.answer.text))}" if part.answer.text else ""
            why = f" ({clause(to_line(part.reason))})" if part.reason else ""
            return style.dim(f"  · {format_outcome(part.prompt, f'{part.outcome}{mode}{said}{why}')}")
        case SteerPart():
            return style.dim(f"  › {to_line(part.content.text)} (steered, {part.outcome})")
        case ContextPart():
            return _context(part, style)
        case PlanPart():
            return "\n".join(format_plan(part, style))
        case NotificationPart() | HandoffPart() | RemoteStatusPart():
            return style.dim(f"  {format_notice(part, terminal_width() - 4)}")
        case NoticePart() if part.agent_id:
            return style.dim(f"  · {to_line(part.agent_id)}: {to_line(part.message, terminal_width() - 8)}")
        case NoticePart():
            again = "" if part.retry_in_ms is None else f" Waiting {_seconds(part.retry_in_ms)} s, try {part.attempt}."
            return style.warn(f"  ! {to_line(part.message)}{again}")
        case ErrorPart():
            hint = f" {to_line(part.hint)}" if part.hint else ""
            return style.bad(f"  ✗ {part.code}: {to_line(part.message)}{hint}")
        case _:
            return ""


def _context(part: ContextPart, style: Style) -> str:
    room = terminal_width() - 4
    match part.event:
        case "resolved" if part.missing:
            return style.warn(f"  ! not given: {to_line(', '.join(map(format_missing, part.missing)), room)}")
        case "resolved" if part.given:
            return style.dim(f"  · {format_count(part.given, 'thing')} given with it")
        case "compacted":
            return style.dim("  · the older conversation was summarised")
        case "compaction_failed":
            return style.warn(f"  ! the older conversation was not summarised: {to_line(part.message, room)}")
        case _:
            return ""


def format_plan(part: PlanPart, style: Style) -> list[str]:
    """A plan, a line each, as far as it is done."""
    marks = {"completed": style.good("✓"), "in_progress": "…", "pending": style.dim("·")}
    over = "" if part.state == "final" else style.dim(f" ({PLAN_STATES[part.state]})")
    return [
        f"  plan{over}",
        *(f"    {marks[step.status]} {to_line(step.content, terminal_width() - 8)}" for step in part.steps),
    ]


def format_turn(turn: TurnRow, style: Style, *, lost: bool = False) -> str:
    """How the turn stands, or how it ended and what it took. `lost` says that the process which ran it is gone."""
    took = [format_count(turn.iterations, "model call")] if turn.iterations else []
    if turn.tool_calls:
        took.append(format_count(turn.tool_calls, "tool call"))
    if turn.files_changed:
        took.append(f"{format_count(turn.files_changed, 'file')} changed")
    if turn.input_tokens is not None or turn.output_tokens is not None:
        took.append(f"{turn.input_tokens or 0} + {turn.output_tokens or 0} tokens")
    # One that was imported is told at one moment: how long it took nobody knows.
    if 0 < turn.started_at < turn.ended_at:
        took.append(f"{(turn.ended_at - turn.started_at) / 1_000_000:.1f} s")
    why = f" ({to_line(turn.code)})" if turn.code and turn.state != "completed" else ""
    state = LOST if lost and turn.state == "running" else turn.state
    return style.dim(" · ".join([f"{state}{why}", *took]))


def _seconds(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"
