"""Facts of processes: commands that go on in the background behind the call that started them."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact

#: How a process came to its end: by itself, because somebody said so, by a limit of the settings, with its session, or
#: with a host that died, when nobody saw it.
ProcessEnd = Literal["exited", "terminated", "limited", "session_closed", "lost"]


class ProcessStarted(Fact, frozen=True, kw_only=True):
    """A command runs in the background from here on. What holds it in stands in its call's `sandbox.applied`."""

    type: ClassVar[str] = "process.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call", "process")
    erased: ClassVar[ErasedForm] = {"command": ERASED}
    command: Text
    summary: str = ""


class ProcessInputGiven(Fact, frozen=True, kw_only=True):
    """Somebody writes to the process; with `end` nothing comes after it. Whether the process read it nobody knows."""

    type: ClassVar[str] = "process.input"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "process")
    text: Text = Text()
    end: bool = False


class ProcessStopRequested(Fact, frozen=True, kw_only=True):
    """Somebody wants the process to end."""

    type: ClassVar[str] = "process.stop.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "process")
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class ProcessEnded(Fact, frozen=True, kw_only=True):
    """The process and all that came of it are over. `output` is its head and its tail; `code` and `message` say which limit
    ended it, or what else went wrong."""

    type: ClassVar[str] = "process.ended"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "process")
    closes: ClassVar[ScopeKey | None] = "process"
    erased: ClassVar[ErasedForm] = {"status": UNKNOWN, "output": ERASED}
    status: ProcessEnd
    exit_code: int | None = None
    output: Text = Text()
    duration_ms: int = 0
    code: str = ""
    message: str = ""


ProcessFact = ProcessStarted | ProcessInputGiven | ProcessStopRequested | ProcessEnded
