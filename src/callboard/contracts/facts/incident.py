"""Facts of what went wrong or looks wrong: warnings and errors with stable codes."""

from __future__ import annotations

from typing import ClassVar

from .base import ErasedForm, Fact


class WarningRaised(Fact, frozen=True, kw_only=True):
    """Something deserves attention; nothing was lost."""

    type: ClassVar[str] = "warning.raised"
    erased: ClassVar[ErasedForm] = {"code": "erased", "message": ""}
    code: str
    message: str
    hint: str = ""


class ErrorRaised(Fact, frozen=True, kw_only=True):
    """Something failed that no other fact tells."""

    type: ClassVar[str] = "error.raised"
    erased: ClassVar[ErasedForm] = {"code": "erased", "message": ""}
    code: str
    message: str
    hint: str = ""


IncidentFact = WarningRaised | ErrorRaised
