"""Facts of reasoning: kept apart from the answer in every form."""

from __future__ import annotations

from typing import ClassVar

from ..content import Text
from ..scope import ScopeKey
from .base import ERASED, ErasedForm, Fact

_PART: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step")


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


ReasoningFact = ReasoningCompleted | ReasoningInterrupted
