"""Text of an input: the names mentioned with an @, and a title."""

from __future__ import annotations

import re

#: A text with more mentions is pasted text.
MAX_MENTIONS = 50

#: Maximum length of a title, in characters.
MAX_TITLE_CHARS = 80

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
    names: dict[str, None] = {}
    bare = _CODE.sub(lambda code: " " * len(code.group()), text)
    lines = bare.split("\n")
    for number, line in enumerate(lines):
        if "@" not in line or _TAG.match(line) or _is_annotation(lines, number):
            continue
        for mention in _MENTION.finditer(line):
            name = mention["quoted"] or mention["word"].rstrip(_TAIL)
            if name.strip():
                names[name.strip()] = None
    return tuple(names)[:MAX_MENTIONS]


def _is_annotation(lines: list[str], number: int) -> bool:
    if not _ANNOTATION.match(lines[number]):
        return False
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    return bool(_DEFINES.match(following))


def make_title(text: str) -> str:
    """Return the first line of the text, truncated between words; empty if there is none."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= MAX_TITLE_CHARS:
        return line
    head = line[: MAX_TITLE_CHARS - 1]
    whole = head.rsplit(" ", 1)[0]
    # A text without spaces is cut at the limit.
    return f"{(whole if len(whole) > MAX_TITLE_CHARS // 2 else head).rstrip(' ,;:.')}…"
