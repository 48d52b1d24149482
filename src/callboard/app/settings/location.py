"""Where a problem is, beside what its message says of that already."""

from __future__ import annotations


def beside(message: str, field: str) -> str:
    """The field in brackets, to stand behind the message; nothing where that names it itself, as a key or at its beginning."""
    named = f"`{field}`" in message or message.startswith(f"{field}:")
    return f" [{field}]" if field and not named else ""
