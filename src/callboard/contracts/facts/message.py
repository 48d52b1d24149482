"""Facts of an agent's output in a turn: text, reasoning and the final output."""

from __future__ import annotations

from typing import ClassVar

from ..content import Text
from ..scope import ScopeKey
from .base import ERASED, ErasedForm, Fact

_PART: tuple[ScopeKey, ...] = ("thread", "turn", "run", "step")


class MessageText(Fact, frozen=True, kw_only=True):
    """A text part of the assistant's message was finished, at this step.

    `revised`: it differs from the streamed text, for example because the complete text contains a
    secret.
    """

    type: ClassVar[str] = "message.text"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text
    revised: bool = False


class MessageInterrupted(Fact, frozen=True, kw_only=True):
    """A text part was interrupted; the content is the text so far."""

    type: ClassVar[str] = "message.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text


class ReasoningCompleted(Fact, frozen=True, kw_only=True):
    """A reasoning part was finished. `signature` is opaque and is sent back to the provider."""

    type: ClassVar[str] = "reasoning.completed"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text
    signature: str = ""


class ReasoningInterrupted(Fact, frozen=True, kw_only=True):
    """A reasoning part was interrupted; the content is the text so far."""

    type: ClassVar[str] = "reasoning.interrupted"
    needs: ClassVar[tuple[ScopeKey, ...]] = _PART
    erased: ClassVar[ErasedForm] = {"content": ERASED}
    content: Text


class OutputFinal(Fact, frozen=True, kw_only=True):
    """The final answer of the run: the steps of its text parts after the last tool call, in order.

    Earlier texts are commentary.
    """

    type: ClassVar[str] = "output.final"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    parts: tuple[int, ...]


MessageFact = MessageText | MessageInterrupted | ReasoningCompleted | ReasoningInterrupted | OutputFinal
