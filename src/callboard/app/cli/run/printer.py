"""Live output of a turn: the answer on standard output, everything else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.content import Text
from callboard.contracts.rows.action import ActionPart
from callboard.contracts.rows.agent import RemoteStatusPart
from callboard.contracts.rows.base import AppendText, Op, Upsert
from callboard.contracts.rows.context import ContextPart
from callboard.contracts.rows.exchange.handoff import HandoffPart
from callboard.contracts.rows.message import ReasoningPart, TextPart
from callboard.contracts.rows.part import ErrorPart, NoticePart, Part
from callboard.contracts.rows.plan import PlanPart
from callboard.contracts.rows.queue import SteerPart
from callboard.contracts.rows.subagent import NotificationPart
from callboard.contracts.rows.tool import ToolPart

from ..terminal.output import ControlStripper, Style, print_err, print_out, read_terminal_width, to_line
from ..terminal.renderer import format_aside, format_tool

_ENDED = ("output-available", "output-error", "cancelled")


class _Stream:
    """A streamed text. `printed` counts its characters, as the rows do."""

    def __init__(self, *, is_answer: bool) -> None:
        self.is_answer = is_answer
        self.printed = 0
        self.has_ended = False
        self.stripper = ControlStripper()


class Printer:
    """Printer of the parts of a turn, and of the turn that carries out its plan, from row operations.

    Printed text is never removed.
    """

    def __init__(self, turn: str, read_text: Callable[[Text], Awaitable[str]]) -> None:
        self._turns = {turn}
        self._read_text = read_text
        self._style = Style(sys.stderr)
        self._live = sys.stderr.isatty()
        self._streams: dict[str, _Stream] = {}
        self._lines: dict[str, str] = {}
        self._current: _Stream | None = None
        self._column = 0
        self._has_temporary_line = False

    async def show(self, ops: Iterable[Op]) -> None:
        """Print the new content of row operations."""
        for op in ops:
            match op:
                case Upsert(row=Part() as part) if part.turn_id in self._turns:
                    await self._print_part(part)
                case AppendText(panel="parts", field="content") if op.key in self._streams:
                    self._append(self._streams[op.key], op.text, op.offset)
                case _:
                    pass

    def print_line(self, text: str) -> None:
        """Print a line between the pieces of the answer."""
        self._start_line()
        print_err(text)

    def end(self) -> None:
        """End the current line."""
        self._start_line()

    async def _print_part(self, part: Part) -> None:
        match part:
            case TextPart():
                await self._print_text(part, is_answer=True, is_revised=part.revised)
            case ReasoningPart():
                await self._print_text(part, is_answer=False)
            case ToolPart():
                self._print_tool(part)
            case NoticePart() | ErrorPart() | SteerPart() | NotificationPart() | HandoffPart():
                self._print_once(part.key, format_aside(part, self._style))
            case ContextPart() if part.missing or part.event.startswith("compact"):
                self._print_once(part.key, format_aside(part, self._style))
            case ActionPart() if part.next_turn_id:
                self._turns.add(part.next_turn_id)
                self._print_once(part.key, format_aside(part, self._style))
            case PlanPart() | RemoteStatusPart() if self._is_news(part):
                self._print_once(part.key, format_aside(part, self._style))
            case _:
                pass

    async def _print_text(self, part: TextPart | ReasoningPart, *, is_answer: bool, is_revised: bool = False) -> None:
        content, has_ended = part.content, part.state != "streaming"
        stream = self._streams.setdefault(part.key, _Stream(is_answer=is_answer))
        if stream.has_ended:
            return
        if is_revised and stream.printed:
            # The provider's final text differs from its stream, and replaces it.
            self.print_line(self._style.warn("  ! the answer was revised:"))
            stream.printed = 0
        text = content.text
        if content.ref is not None and has_ended:
            text = await self._read_text(content)
        self._append(stream, text[stream.printed :], stream.printed)
        if has_ended:
            stream.has_ended = True
            self._print(stream, stream.stripper.end())
            if stream is self._current:
                self._start_line()

    def _append(self, stream: _Stream, text: str, offset: int) -> None:
        fresh = text[max(0, stream.printed - offset) :]
        stream.printed = max(stream.printed, offset + len(text))
        self._print(stream, stream.stripper.feed(fresh))

    def _print(self, stream: _Stream, text: str) -> None:
        if not text or not (stream.is_answer or self._live):
            return
        if stream is not self._current:
            self._start_line()
            self._current = stream
        self._clear_temporary_line()
        if stream.is_answer:
            print_out(text, end="")
        else:
            print_err(self._style.dim(text), end="")
        self._column = len(text) - text.rfind("\n") - 1 if "\n" in text else self._column + len(text)

    def _print_tool(self, part: ToolPart) -> None:
        if part.state in _ENDED:
            self._print_once(part.key, format_tool(part, self._style))
        elif self._live and part.state in ("running", "progress") and self._lines.get(part.key) != "temporary":
            self._lines[part.key] = "temporary"
            self._start_line()
            print_err(self._style.dim(f"  … {to_line(part.summary or part.tool, read_terminal_width() - 6)}"), end="")
            self._has_temporary_line = True

    @staticmethod
    def _is_news(part: PlanPart | RemoteStatusPart) -> bool:
        """Return True for a final plan and for each state of a remote task: printed lines cannot change."""
        return isinstance(part, RemoteStatusPart) or part.state != "streaming"

    def _print_once(self, key: str, line: str) -> None:
        if line and self._lines.get(key) != line:
            self._lines[key] = line
            self.print_line(line)

    def _start_line(self) -> None:
        self._clear_temporary_line()
        if self._column:
            print_out()
            self._column = 0

    def _clear_temporary_line(self) -> None:
        """Erase the line of a running tool."""
        if self._has_temporary_line:
            print_err("\r\x1b[2K", end="")
            self._has_temporary_line = False
