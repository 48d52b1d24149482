"""Values that cannot be secrets, because they occur in ordinary text."""

from __future__ import annotations

from callboard.contracts.ports.secrets import HANDLE

from .forms import SHORTEST

#: Up to this length, letters of one case are taken for a word, and digits for a number.
_LONGEST_WORD = 16
_LONGEST_NUMBER = 8


def explain_ordinary(name: str, value: str) -> str:
    """Return why the value cannot be a secret; empty if it can."""
    bare = value.strip()
    if len(bare) < SHORTEST:
        return f"it has fewer than {SHORTEST} characters"
    if len(set(bare)) < 4:
        return "it has fewer than 4 different characters"
    if bare.isalpha() and bare in (bare.lower(), bare.upper(), bare.capitalize()) and len(bare) < _LONGEST_WORD:
        return "it reads like a word"
    if bare.isdecimal() and len(bare) < _LONGEST_NUMBER:
        return "it reads like a number"
    if bare.lower() in f"{HANDLE}{name}".lower():
        return "it is part of its own handle"
    return ""
