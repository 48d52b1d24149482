"""Rendering of a conversation from its rows."""

from __future__ import annotations

from callboard.contracts.rows.action import ActionPart, ActionRow
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.context import ContextPart
from callboard.contracts.rows.exchange.handoff import HandoffPart
from callboard.contracts.rows.message import ReasoningPart, TextPart
from callboard.contracts.rows.part import ErrorPart, NoticePart, Part
from callboard.contracts.rows.plan import PlanPart
from callboard.contracts.rows.queue import SteerPart
from callboard.contracts.rows.run import RunRow
from callboard.contracts.rows.subagent import NotificationPart
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.text.sentences import format_count, to_clause
from callboard.projection.rows import Table

from ...reading import Reader
from .output import Style, print_out, read_terminal_width, strip_controls, to_line
from .wording import INPUT_PLACEHOLDERS, PLAN_STATES, PROCESS_ENDED, format_missing, format_notice, format_outcome

#: Longest text line, in characters.
MAX_LINE_CHARS = 120
_OVER = ("output-available", "output-error", "cancelled")


class ConversationRenderer:
    """Printer of the turns of a table. It reads the whole text if a row holds only a preview."""

    def __init__(self, reader: Reader, table: Table, style: Style, *, thinking: bool) -> None:
        self._reader = reader
        self._style = style
        self._thinking = thinking
        self._parts: dict[str, list[Part]] = {}
        for part in table.list_rows(Part):
            self._parts.setdefault(part.turn_id, []).append(part)
        self._pending = {row.action_id: row for row in table.list_rows(ActionRow)}
        self._lost = {row.turn_id for row in table.list_rows(RunRow) if row.detail == "lost"}
        self._has_several_agents = len({turn.agent_id for turn in table.list_rows(TurnRow)}) > 1

    async def print_turn(self, turn: TurnRow) -> None:
        """Print the prompt, the agent if there are several, the parts and the end of a turn."""
        style = self._style
        text = strip_controls("(erased)" if turn.input.erased else await self._reader.read_text(turn.input))
        agent = f"{style.bold(to_line(turn.agent_id))} " if self._has_several_agents else ""
        print_out(f"\n{agent}{style.bold('›')} {text or style.dim(INPUT_PLACEHOLDERS.get(turn.source, ''))}")
        for part in self._parts.get(turn.turn_id, []):
            await self._print_part(part)
        print_out(format_turn(turn, style, lost=turn.turn_id in self._lost))

    async def _print_part(self, part: Part) -> None:
        style = self._style
        match part:
            case TextPart():
                text = "(erased)" if part.content.erased else strip_controls(await self._reader.read_text(part.content))
                print_out(f"\n{_render_markdown(text) if style.on else text.rstrip()}\n")
                if part.state == "interrupted":
                    print_out(style.warn("  (interrupted)"))
            case ReasoningPart():
                if self._thinking:
                    print_out(style.dim(strip_controls(await self._reader.read_text(part.content)).rstrip()))
            case ToolPart():
                print_out(format_tool(part, style))
            case ActionPart() if part.outcome == "pending" and part.action_id in self._pending:
                print_out(style.warn(f"  ? {format_outcome(part.prompt, 'waits for an answer')}"))
            case _:
                if line := format_aside(part, style):
                    print_out(line)


def _render_markdown(text: str) -> str:
    """Render Markdown for a terminal. Links are written out, because a terminal would hide their target."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=True, width=min(read_terminal_width(), MAX_LINE_CHARS), color_system="standard")
    with console.capture() as captured:
        console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
    return captured.get().rstrip()


def format_tool(part: ToolPart, style: Style) -> str:
    """Format a tool call on one line: summary, outcome, duration."""
    marks = {"output-available": style.good("✓"), "output-error": style.bad("✗"), "cancelled": style.warn("■")}
    summary = to_line(part.summary or part.tool)
    label = summary if summary.startswith(part.tool) else f"{to_line(part.tool)} {summary}"
    end = [f"{to_line(change.path)} +{change.added} -{change.removed}" for change in part.changes]
    if part.exit_code:
        end.append(f"exit {part.exit_code}")
    if part.code:
        end.append(to_line(f"{part.code}: {part.message}" if part.message else part.code))
    if part.state in _OVER and part.duration_ms:
        end.append(f"{part.duration_ms} ms")
    width = read_terminal_width() - 4
    text = to_line(" · ".join([label, *end]), width)
    return f"  {marks.get(part.state, '…')} {text[: len(label)]}{style.dim(text[len(label) :])}"


def format_aside(part: Part, style: Style) -> str:
    """Format a part that is neither text nor a tool call; empty if it needs no line."""
    match part:
        case ActionPart():
            mode = f", continues in {part.permission_mode}" if part.permission_mode else ""
            answer = f": {to_clause(to_line(part.answer.text))}" if part.answer.text else ""
            reason = f" ({to_clause(to_line(part.reason))})" if part.reason else ""
            return style.dim(f"  · {format_outcome(part.prompt, f'{part.outcome}{mode}{answer}{reason}')}")
        case SteerPart():
            return style.dim(f"  › {to_line(part.content.text)} (steered, {part.outcome})")
        case ContextPart():
            return _format_context(part, style)
        case PlanPart():
            return "\n".join(format_plan(part, style))
        case NotificationPart() | HandoffPart() | RemoteStatusPart():
            return style.dim(f"  {format_notice(part, read_terminal_width() - 4)}")
        case NoticePart() if part.agent_id:
            return style.dim(f"  · {to_line(part.agent_id)}: {to_line(part.message, read_terminal_width() - 8)}")
        case NoticePart():
            retry = (
                "" if part.retry_in_ms is None else f" Attempt {part.attempt} in {_format_seconds(part.retry_in_ms)} s."
            )
            return style.warn(f"  ! {to_line(part.message)}{retry}")
        case ErrorPart():
            hint = f" {to_line(part.hint)}" if part.hint else ""
            return style.bad(f"  ✗ {part.code}: {to_line(part.message)}{hint}")
        case _:
            return ""


def _format_context(part: ContextPart, style: Style) -> str:
    width = read_terminal_width() - 4
    match part.event:
        case "resolved" if part.missing:
            return style.warn(f"  ! missing: {to_line(', '.join(map(format_missing, part.missing)), width)}")
        case "resolved" if part.given:
            return style.dim(f"  · {format_count(part.given, 'attachment')}")
        case "compacted":
            return style.dim("  · older conversation compacted")
        case "compaction_failed":
            return style.warn(f"  ! older conversation not compacted: {to_line(part.message, width)}")
        case _:
            return ""


def format_plan(part: PlanPart, style: Style) -> list[str]:
    """Format a plan, one line per step."""
    marks = {"completed": style.good("✓"), "in_progress": "…", "pending": style.dim("·")}
    note = "" if part.state == "final" else style.dim(f" ({PLAN_STATES[part.state]})")
    return [
        f"  plan{note}",
        *(f"    {marks[step.status]} {to_line(step.content, read_terminal_width() - 8)}" for step in part.steps),
    ]


def format_turn(turn: TurnRow, style: Style, *, lost: bool = False) -> str:
    """Format the state and usage of a turn. `lost` marks a turn whose process has ended."""
    usage = [format_count(turn.iterations, "model call")] if turn.iterations else []
    if turn.tool_calls:
        usage.append(format_count(turn.tool_calls, "tool call"))
    if turn.files_changed:
        usage.append(f"{format_count(turn.files_changed, 'file')} changed")
    if turn.input_tokens is not None or turn.output_tokens is not None:
        usage.append(f"{turn.input_tokens or 0} + {turn.output_tokens or 0} tokens")
    # All times of an imported turn are equal: its duration is unknown.
    if 0 < turn.started_at < turn.ended_at:
        usage.append(f"{(turn.ended_at - turn.started_at) / 1_000_000:.1f} s")
    code = f" ({to_line(turn.code)})" if turn.code and turn.state != "completed" else ""
    state = PROCESS_ENDED if lost and turn.state == "running" else turn.state
    return style.dim(" · ".join([f"{state}{code}", *usage]))


def _format_seconds(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"
