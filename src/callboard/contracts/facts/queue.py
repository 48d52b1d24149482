"""Facts of the queue of a thread, and of input steered into a running turn."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..refs import ContextRef, MissingRef
from ..scope import ScopeKey
from .base import ERASED, LAST_POSITION, ErasedForm, Fact

SteerRejection = Literal["turn_completed", "turn_failed", "turn_interrupted"]
_TURN: tuple[ScopeKey, ...] = ("thread", "turn")


class QueueAdded(Fact, frozen=True, kw_only=True):
    """A submitted turn is queued. `position` counts from 1."""

    type: ClassVar[str] = "queue.added"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"position": LAST_POSITION}
    position: int


class QueuePromoted(Fact, frozen=True, kw_only=True):
    """A queued turn was moved to the front."""

    type: ClassVar[str] = "queue.promoted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class QueueEdited(Fact, frozen=True, kw_only=True):
    """The input of a queued turn was replaced, with its context."""

    type: ClassVar[str] = "queue.edited"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    erased: ClassVar[ErasedForm] = {"input": ERASED}
    input: Text
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class QueueRemoved(Fact, frozen=True, kw_only=True):
    """A queued turn was removed and will not run."""

    type: ClassVar[str] = "queue.removed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _TURN
    closes: ClassVar[ScopeKey | None] = "turn"
    erased: ClassVar[ErasedForm] = {}
    reason: str = ""


class SteerRequested(Fact, frozen=True, kw_only=True):
    """Input was sent to a running turn, for its next model call. `given` and `missing` are as in `TurnSubmitted`."""

    type: ClassVar[str] = "queue.steer.requested"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    steer_id: str
    input: Text
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class SteerAccepted(Fact, frozen=True, kw_only=True):
    """The model call in the scope's step includes the steer."""

    type: ClassVar[str] = "queue.steer.accepted"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run", "step")
    steer_id: str


class SteerRejected(Fact, frozen=True, kw_only=True):
    """The turn ended before a model call could include the steer. The sender's draft is kept."""

    type: ClassVar[str] = "queue.steer.rejected"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    steer_id: str
    input: Text
    reason: SteerRejection


QueueFact = QueueAdded | QueuePromoted | QueueEdited | QueueRemoved | SteerRequested | SteerAccepted | SteerRejected
