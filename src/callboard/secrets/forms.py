"""The forms in which a value stands in a text, each of which can be told from its name and the value."""

from __future__ import annotations

import binascii
import json
from urllib.parse import quote, quote_plus

#: The names of forms, as they stand in handles; nothing else behind a # is part of one.
FORM = (
    r"(?:json(?:-json)?(?:-ascii)?|json-slash|url(?:-plus|-path)?(?:-lower)?|hex(?:-upper)?"
    r"|shell-(?:quotes|slash)(?:-json(?:-json)?)?|base64-[012](?:-url|-slash)?|base64url-[012]|half-[12]|line-[0-9]{1,5})"
)
#: What is shorter would be found in ordinary text.
SHORTEST = 6
#: Of a value from this length on each half is a secret of its own.
SHORTEST_HALVED = 20
#: A line of a value of several lines is a secret of its own from this length on.
SHORTEST_LINE = 16


def forms(value: str) -> dict[str, str]:
    """The form's name by the text that it has; the value itself has the name ''. Of equal texts the first name counts."""
    found: dict[str, str] = {}
    for name, text in _all(value):
        if len(text) >= SHORTEST:
            found.setdefault(text, name)
    return found


def _all(value: str) -> list[tuple[str, str]]:
    data = value.encode("utf-8", "surrogatepass")
    once, ascii_once = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
    listed = [
        ("", value),
        ("json", once),
        ("json-ascii", ascii_once),
        ("json-slash", once.replace("/", "\\/")),
        ("json-json", json.dumps(once, ensure_ascii=False)[1:-1]),
        ("json-json-ascii", json.dumps(ascii_once)[1:-1]),
    ]
    for name, text in (("url", quote(data, safe="")), ("url-plus", quote_plus(data)), ("url-path", quote(data))):
        listed += [(name, text), (f"{name}-lower", _lower_escapes(text))]
    if "'" in value:
        for name, quoted in (("shell-quotes", "'\"'\"'"), ("shell-slash", "'\\''")):
            text = value.replace("'", quoted)
            escaped = json.dumps(text, ensure_ascii=False)[1:-1]
            twice = json.dumps(escaped, ensure_ascii=False)[1:-1]
            listed += [(name, text), (f"{name}-json", escaped), (f"{name}-json-json", twice)]
    listed += [("hex", data.hex()), ("hex-upper", data.hex().upper())]
    for shift in range(3):
        core = _base64(data, shift)
        listed += [
            (f"base64-{shift}", core),
            (f"base64url-{shift}", core.replace("+", "-").replace("/", "_")),
            (f"base64-{shift}-url", quote(core, safe="")),
            (f"base64-{shift}-slash", core.replace("/", "\\/")),
        ]
    if len(value) >= SHORTEST_HALVED:
        # Where a tool shows a part of a line or of an output, a value may be cut.
        middle = len(value) // 2
        listed += [("half-1", value[:middle]), ("half-2", value[middle:])]
    lines = value.splitlines()
    if len(lines) > 1:
        stripped = [(f"line-{number}", line.strip()) for number, line in enumerate(lines, 1)]
        listed += [(name, line) for name, line in stripped if len(line) >= SHORTEST_LINE]
    return listed


def _base64(data: bytes, shift: int) -> str:
    """The characters of a base64 text that the value alone decides, where it begins `shift` bytes into a group of three."""
    text = binascii.b2a_base64(bytes(shift) + data, newline=False).decode()
    return text[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]


def _lower_escapes(text: str) -> str:
    pieces = text.split("%")
    return pieces[0] + "".join(f"%{piece[:2].lower()}{piece[2:]}" for piece in pieces[1:])
