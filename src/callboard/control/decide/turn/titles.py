"""What a session or a task is called that nobody gave a name."""

from __future__ import annotations

#: The longest title, in characters.
LONGEST = 80


def title_of(text: str) -> str:
    """The first line of the text, cut between words where it is long; empty where the text has no line."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= LONGEST:
        return line
    head = line[: LONGEST - 1]
    whole = head.rsplit(" ", 1)[0]
    # A text without spaces is cut where it has to be.
    return f"{(whole if len(whole) > LONGEST // 2 else head).rstrip(' ,;:.')}…"
