"""Facts of a turn's answer."""

from __future__ import annotations

from typing import ClassVar

from ..scope import ScopeKey
from .base import Fact


class OutputFinal(Fact, frozen=True, kw_only=True):
    """The final answer of the run: the text parts (steps) that follow its last tool call, in order. Earlier text keeps its
    place as commentary."""

    type: ClassVar[str] = "output.final"
    needs: ClassVar[tuple[ScopeKey, ...]] = ("thread", "turn", "run")
    parts: tuple[int, ...]


OutputFact = OutputFinal
