"""Facts of background processes: commands that outlive their tool call."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact

#: How a process ended: without a request, on request, by a limit of the settings, with its session,
#: or unobserved because its host died.
ProcessEnd = Literal["exited", "terminated", "limited", "session_closed", "lost"]


class ProcessStarted(Fact, frozen=True, kw_only=True):
    """A command runs in the background. The `sandbox.applied` of its call has its confinement."""

    type: ClassVar[str] = "process.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step", "tool_call", "process")
    is_diagnostic: ClassVar[bool] = True
    erased: ClassVar[ErasedForm] = {"command": ERASED}
    command: Text
    summary: str = ""


class ProcessInputGiven(Fact, frozen=True, kw_only=True):
    """A person or an agent wrote to the process; `end` closes its input. It is unknown whether the process read it."""

    type: ClassVar[str] = "process.input"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "process")
    is_diagnostic: ClassVar[bool] = True
    text: Text = Text()
    end: bool = False


class ProcessStopRequested(Fact, frozen=True, kw_only=True):
    """A person or an agent requested the end of the process."""

    type: ClassVar[str] = "process.stop.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "process")
    is_diagnostic: ClassVar[bool] = True
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class ProcessEnded(Fact, frozen=True, kw_only=True):
    """The process and all its child processes ended.

    `output` is its head and tail. `code` and `message` name the limit that ended it, or another
    failure.
    """

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
