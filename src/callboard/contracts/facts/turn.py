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
#: `person`: a person asked. `crash`: found running under a dead epoch. `lost`: the host was
#: unreachable. `replaced`: newer input replaced it. `shutdown`: the process ended. `cancelled`,
#: `closed`: the child was. `storage`: the disk was full or failed.
InterruptCause = Literal["person", "crash", "lost", "replaced", "shutdown", "cancelled", "closed", "storage"]
#: Source of a turn's input. `inbox`: messages of other agents to an idle agent. `compaction`: no
#: input; a person had the thread summarised. `notice`: text that another product wrote into its own
#: session, such as the end of a background task; imported turns only.
InputSource = Literal["person", "agent", "inbox", "schedule", "compaction", "notice"]

#: `role` is the agent's complete definition as JSON (`contracts.ports.agents.Definition`), with the
#: limits that the gate enforces. `instructions` are the text of instruction files in the folder.
PromptLayer = Literal["system", "role", "mode", "task", "instructions"]

_TURN: tuple[ScopeKey, ...] = ("thread", "turn")
_RUN: tuple[ScopeKey, ...] = ("thread", "turn", "run")


class PromptRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A layer of the prompt, stored as the blob `hash` of `size` bytes."""

    layer: PromptLayer
    hash: str
    size: int


class TurnSubmitted(Fact, frozen=True, kw_only=True):
    """Input was accepted for a thread; the next facts start or queue the turn.

    `given` is the attached and named context, `missing` the names that could not be resolved.
    """

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
    """A run of the turn began.

    It pins the workspace's sequence, the definition, the layers of the prompt and the tools of its
    model.
    """

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
    """The turn finished after `iterations` model calls.

    With `plain_text` the agent answered in plain text although it had to finalize: the text is its
    result and does not claim that the objective is met.
    """

    type: ClassVar[str] = "turn.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    closes: ClassVar[ScopeKey | None] = "turn"
    erased: ClassVar[ErasedForm] = {"iterations": 0}
    iterations: int
    plain_text: bool = False


class TurnFailed(Fact, frozen=True, kw_only=True):
    """The turn failed: the model failed, or a limit such as `max_iters` was reached."""

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
    """An interrupt was requested. The facts of stopped work follow, then `turn.interrupted`."""

    type: ClassVar[str] = "turn.interrupt.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = _RUN
    erased: ClassVar[ErasedForm] = {}
    queued: Literal["keep", "clear"] = "keep"
    cause: InterruptCause = "person"
    reason: str = ""


class TurnInterrupted(Fact, frozen=True, kw_only=True):
    """The turn was interrupted. Facts before this one record the stopped work."""

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
