"""Redaction of quoted texts: it masks stretches that look like secrets."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(?i)((?:[\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key|authorization)[\w-]*)[\"']?\s*(?:[=:](?!//)| )\s*[\"']?"
    r"(?:(?:bearer|basic)\s+)?)[^\s\"';&|]+|\b(sk-|gh[oprsu]_|xox[abp]-|AKIA|AIza)[\w-]{8,}"
)


def mask_secrets(text: str) -> str:
    """Return the text with stretches that look like secrets masked."""
    return _SECRET.sub(lambda match: f"{match[1] or match[2]}***", text)
