"""Facts of assistant text and of reasoning: finished parts, and parts cut short."""

from __future__ import annotations

from typing import ClassVar

from ..content import Text
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


MessageFact = MessageText | MessageInterrupted
