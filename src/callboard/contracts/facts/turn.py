"""Facts of a turn: one input cycle of a thread, from submitted to a terminal state."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ..content import Text
from ..refs import ContextRef, MissingRef
from ..scope import ScopeKey
from .base import ERASED, UNKNOWN, ErasedForm, Fact

Mode = Literal["chat", "auto"]
PermissionMode = Literal["ask", "edits", "planning", "full"]
#: `person` asked for it, `crash` found it running under a dead epoch, `lost` could not reach its host, `replaced` made
#: room for newer input, `shutdown` ended with the process that ran it, `cancelled` and `closed` were asked of a child,
#: `storage` found that nothing could be kept, because the disk was full or failed.
InterruptCause = Literal["person", "crash", "lost", "replaced", "shutdown", "cancelled", "closed", "storage"]
#: Where the input of a turn came from: `inbox` is what other agents sent while the agent was idle. A turn of `compaction` has
#: none: a person had the thread summarised, and nothing is answered. `notice` is text that another product wrote into its own
#: session without a person, such as the end of a background task; only imported turns have it.
InputSource = Literal["person", "agent", "inbox", "schedule", "compaction", "notice"]

#: The role is kept as the agent's definition, whole, as JSON (`contracts.ports.agents.Definition`): beside its prompt it has
#: what the gate holds the run to. `instructions` are what files of the folder say, told as the folder's words.
PromptLayer = Literal["system", "role", "mode", "task", "instructions"]

_TURN: tuple[ScopeKey, ...] = ("thread", "turn")
_RUN: tuple[ScopeKey, ...] = ("thread", "turn", "run")


class PromptRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One layer of the prompt, kept as a blob; `hash` names it. `size` is in bytes."""

    layer: PromptLayer
    hash: str
    size: int


class TurnSubmitted(Fact, frozen=True, kw_only=True):
    """Input was accepted for a thread. The facts after it say whether it starts or waits. `given` is its context, `missing` the
    references that could not be resolved. `resumes` is True if Callboard wrote the input to continue interrupted work."""

    type: ClassVar[str] = "turn.submitted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"input": ERASED, "mode": "chat", "permission_mode": "ask"}
    input: Text
    mode: Mode
    permission_mode: PermissionMode
    source: InputSource = "person"
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
    resumes: bool = False


class TurnStarted(Fact, frozen=True, kw_only=True):
    """A run of the turn began. It pins what holds for all of it: the workspace's sequence, the definition, the layers of the
    prompt and the tools that its model is told of."""

    type: ClassVar[str] = "turn.started"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    erased: ClassVar[ErasedForm] = {
        "mode": "chat",
        "permission_mode": "ask",
        "max_iters": 0,
        "definition": "",
        "definition_hash": "",
        "workspace_sequence": 0,
    }
    mode: Mode
    permission_mode: PermissionMode
    max_iters: int
    definition: str
    definition_hash: str
    workspace_sequence: int
    prompts: tuple[PromptRef, ...] = ()
    tools: tuple[str, ...] = ()


class TurnCompleted(Fact, frozen=True, kw_only=True):
    """The turn reached its end by itself. `iterations` counts model calls. `plain_text` is set where the agent was to end
    with Finalize and answered in plain text instead: the text is its result, and does not claim that the objective is met."""

    type: ClassVar[str] = "turn.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    closes: ClassVar[ScopeKey | None] = "turn"
    erased: ClassVar[ErasedForm] = {"iterations": 0}
    iterations: int
    plain_text: bool = False


class TurnFailed(Fact, frozen=True, kw_only=True):
    """The turn ended without its end being reached: a failure of the model, or a bound such as `max_iters`."""

    type: ClassVar[str] = "turn.failed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    closes: ClassVar[ScopeKey | None] = "turn"
    erased: ClassVar[ErasedForm] = {"code": UNKNOWN, "message": ""}
    code: str
    message: str
    hint: str = ""
    retryable: bool = False
    iterations: int = 0


class TurnInterruptRequested(Fact, frozen=True, kw_only=True):
    """Somebody asked for the turn to stop. The intent comes first; what it stopped follows, then `turn.interrupted`."""

    type: ClassVar[str] = "turn.interrupt.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    erased: ClassVar[ErasedForm] = {}
    queued: Literal["keep", "clear"] = "keep"
    cause: InterruptCause = "person"
    reason: str = ""


class TurnInterrupted(Fact, frozen=True, kw_only=True):
    """The turn was stopped before its end. What was under way is recorded before this fact."""

    type: ClassVar[str] = "turn.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    closes: ClassVar[ScopeKey | None] = "turn"
    erased: ClassVar[ErasedForm] = {"cause": UNKNOWN}
    cause: InterruptCause
    reason: str = ""
    iterations: int = 0


#: The ends of a run.
TurnEndFact = TurnCompleted | TurnFailed | TurnInterrupted
TurnFact = TurnSubmitted | TurnStarted | TurnInterruptRequested | TurnEndFact
