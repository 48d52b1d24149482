"""Text of an input: the names mentioned with an @, and a title."""

from __future__ import annotations

import re

#: A text with more mentions is pasted text.
MOST = 50

_CODE = re.compile(r"(?P<fence>```+|~~~+).*?(?:(?P=fence)|\Z)|(?P<tick>`+)[^`]*?(?P=tick)", re.DOTALL)
_MENTION = re.compile(r"(?<![\w@/.\\-])@(?:\"(?P<quoted>[^\"\n]{1,4096})\"|(?P<word>[\w./~-][^\s\"'`<>()\[\]{},;|]*))")
#: An annotation is alone on its line, before its definition.
_ANNOTATION = re.compile(r"\s*@[\w.]+(?:\(.*\)?)?\s*$")
_DEFINES = re.compile(
    r"\s*(?:@|async\s+def\b|def\b|class\b|export\b|public\b|private\b|protected\b|static\b|final\b|abstract\b|interface\b|"
    r"fun\b|func\b|function\b|const\b|let\b|var\b|void\b|int\b|struct\b|enum\b)"
)
#: A tag of a comment that documents something, such as `* @param name`.
_TAG = re.compile(r"\s*(?:\*+|//+|/\*+|#+|--+)\s*@[A-Za-z]+(?=\s|$)")
_TAIL = ".,:;!?…"


def find_mentions(text: str) -> tuple[str, ...]:
    """Return the mentioned names without the @, each once and in order. Code, e-mail addresses,
    documentation tags and annotations of definitions are not mentions."""
    if "@" not in text:
        return ()
    found: dict[str, None] = {}
    bare = _CODE.sub(lambda code: " " * len(code.group()), text)
    lines = bare.split("\n")
    for number, line in enumerate(lines):
        if "@" not in line or _TAG.match(line) or _annotates(lines, number):
            continue
        for one in _MENTION.finditer(line):
            name = one["quoted"] or one["word"].rstrip(_TAIL)
            if name.strip():
                found[name.strip()] = None
    return tuple(found)[:MOST]


def _annotates(lines: list[str], number: int) -> bool:
    if not _ANNOTATION.match(lines[number]):
        return False
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    return bool(_DEFINES.match(following))
