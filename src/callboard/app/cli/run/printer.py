"""A turn as it happens: the answer on standard output, what goes along with it on standard error."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable

from callboard.contracts.content import Text
from callboard.contracts.rows import (
    ActionPart,
    AppendText,
    ContextPart,
    ErrorPart,
    HandoffPart,
    NoticePart,
    NotificationPart,
    Op,
    Part,
    PlanPart,
    ReasoningPart,
    RemoteStatusPart,
    SteerPart,
    TextPart,
    ToolPart,
    Upsert,
)

from ..terminal.output import ControlStripper, Style, print_err, print_out, terminal_width, to_line
from ..terminal.renderer import format_aside, format_tool

_OVER = ("output-available", "output-error", "cancelled")


class _Stream:
    """A text that is printed as it comes. `told` counts its characters, as the rows do."""

    def __init__(self, *, aloud: bool) -> None:
        self.aloud = aloud
        self.told = 0
        self.over = False
        self.plain = ControlStripper()


class Printer:
    """Prints the parts of one turn out of row operations, and of the turn that carries out its plan; what was printed is never
    taken back."""

    def __init__(self, turn: str, whole: Callable[[Text], Awaitable[str]]) -> None:
        self._turns = {turn}
        self._whole = whole
        self._style = Style(sys.stderr)
        self._live = sys.stderr.isatty()
        self._streams: dict[str, _Stream] = {}
        self._told: dict[str, str] = {}
        self._current: _Stream | None = None
        self._column = 0
        self._passing = False

    async def show(self, ops: Iterable[Op]) -> None:
        """Prints what is new in these operations."""
        for op in ops:
            match op:
                case Upsert(row=Part() as part) if part.turn_id in self._turns:
                    await self._part(part)
                case AppendText(panel="parts", field="content") if op.key in self._streams:
                    self._more(self._streams[op.key], op.text, op.offset)
                case _:
                    pass

    def line(self, text: str) -> None:
        """A line beside the answer."""
        self._fresh()
        print_err(text)

    def end(self) -> None:
        """Ends the line that is being printed."""
        self._fresh()

    async def _part(self, part: Part) -> None:
        match part:
            case TextPart():
                await self._text(part.key, part.content, aloud=True, over=part.state != "streaming", anew=part.revised)
            case ReasoningPart():
                over = part.state != "streaming"
                await self._text(part.key, part.content, aloud=False, over=over, anew=False)
            case ToolPart():
                self._tool(part)
            case NoticePart() | ErrorPart() | SteerPart() | NotificationPart() | HandoffPart():
                self._once(part.key, format_aside(part, self._style))
            case ContextPart() if part.missing or part.event.startswith("compact"):
                self._once(part.key, format_aside(part, self._style))
            case ActionPart() if part.next_turn_id:
                self._turns.add(part.next_turn_id)
                self._once(part.key, format_aside(part, self._style))
            case PlanPart() | RemoteStatusPart() if self._is_news(part):
                self._once(part.key, format_aside(part, self._style))
            case _:
                pass

    async def _text(self, key: str, content: Text, *, aloud: bool, over: bool, anew: bool) -> None:
        stream = self._streams.setdefault(key, _Stream(aloud=aloud))
        if stream.over:
            return
        if anew and stream.told:
            # What the provider finished with differs from what it streamed; the former holds.
            self.line(self._style.warn("  ! the answer was revised:"))
            stream.told = 0
        whole = content.text
        if content.ref is not None and over:
            whole = await self._whole(content)
        self._more(stream, whole[stream.told :], stream.told)
        if over:
            stream.over = True
            self._say(stream, stream.plain.end())
            if stream is self._current:
                self._fresh()

    def _more(self, stream: _Stream, text: str, offset: int) -> None:
        fresh = text[max(0, stream.told - offset) :]
        stream.told = max(stream.told, offset + len(text))
        self._say(stream, stream.plain.feed(fresh))

    def _say(self, stream: _Stream, text: str) -> None:
        if not text or not (stream.aloud or self._live):
            return
        if stream is not self._current:
            self._fresh()
            self._current = stream
        self._pass()
        if stream.aloud:
            print_out(text, end="")
        else:
            print_err(self._style.dim(text), end="")
        self._column = len(text) - text.rfind("\n") - 1 if "\n" in text else self._column + len(text)

    def _tool(self, part: ToolPart) -> None:
        if part.state in _OVER:
            self._once(part.key, format_tool(part, self._style))
        elif self._live and part.state in ("running", "progress") and self._told.get(part.key) != "passing":
            self._told[part.key] = "passing"
            self._fresh()
            print_err(self._style.dim(f"  … {to_line(part.summary or part.tool, terminal_width() - 6)}"), end="")
            self._passing = True

    @staticmethod
    def _is_news(part: PlanPart | RemoteStatusPart) -> bool:
        """What was printed is not taken back: a plan is printed once it is final, a task elsewhere when its state changes."""
        return isinstance(part, RemoteStatusPart) or part.state != "streaming"

    def _once(self, key: str, line: str) -> None:
        if line and self._told.get(key) != line:
            self._told[key] = line
            self.line(line)

    def _fresh(self) -> None:
        self._pass()
        if self._column:
            print_out()
            self._column = 0

    def _pass(self) -> None:
        """Takes the line of a tool at work away."""
        if self._passing:
            print_err("\r\x1b[2K", end="")
            self._passing = False
