"""Facts of what an agent writes in a turn: text, reasoning, its plan and the final output."""

from __future__ import annotations

from typing import ClassVar

from ..content import Text
from ..entities.plan import PlanStep
from ..scope import ScopeKey
from .base import ERASED, ErasedForm, Fact

_PART: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step")


class MessageText(Fact, frozen=True, kw_only=True):
    """One text part of the assistant's message, finished. The step is the part. `revised` says that it differs from what was
    streamed, as where a secret was found only in the whole."""

    type: ClassVar[str] = "message.text"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text
    revised: bool = False


class MessageInterrupted(Fact, frozen=True, kw_only=True):
    """A text part that was cut short; the content is what was there."""

    type: ClassVar[str] = "message.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text


class ReasoningCompleted(Fact, frozen=True, kw_only=True):
    """One reasoning part, finished. `signature` is what the provider wants back with it, opaque."""

    type: ClassVar[str] = "reasoning.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text
    signature: str = ""


class ReasoningInterrupted(Fact, frozen=True, kw_only=True):
    """A reasoning part that was cut short; the content is what was there."""

    type: ClassVar[str] = "reasoning.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text


class OutputFinal(Fact, frozen=True, kw_only=True):
    """The final answer of the run: the text parts (steps) that follow its last tool call, in order. Earlier text keeps its
    place as commentary."""

    type: ClassVar[str] = "output.final"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    parts: tuple[int, ...]


class PlanUpdated(Fact, frozen=True, kw_only=True):
    """The agent's plan, whole, as it is now. The last one of a run is `final`. One that was sent back and is proposed anew is
    the next `revision`, at a step of its own; the former stays where it is."""

    type: ClassVar[str] = "plan.updated"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("agent", "thread", "turn", "run", "step")
    erased: ClassVar[ErasedForm] = {"steps": ()}
    steps: tuple[PlanStep, ...]
    final: bool = False
    revision: int = 1


MessageFact = MessageText | MessageInterrupted | ReasoningCompleted | ReasoningInterrupted | PlanUpdated | OutputFinal
