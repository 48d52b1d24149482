"""Encoded forms of a value. Each is determined by its name and the value."""

from __future__ import annotations

import binascii
import json
import re
from base64 import b32encode
from urllib.parse import quote, quote_plus

#: Names of forms in handles. Other text after a # is not part of a handle.
FORM = (
    r"(?:json(?:-json)?(?:-ascii)?|json-slash|url(?:-plus|-path)?(?:-lower)?|hex(?:-upper)?"
    r"|url-all(?:-lower)?|escape-[ux](?:-upper)?(?:-json)?|html-(?:dec|hex)|base32-[0-4](?:-lower)?"
    r"|shell-(?:quotes|slash)(?:-json(?:-json)?)?|base64-[012](?:-url|-slash)?|base64url-[012]|half-[12]|line-[0-9]{1,5})"
)
#: A shorter value would be found in ordinary text.
MIN_VALUE_CHARS = 6
#: Halves of a value from this length on are secrets.
MIN_HALVED_CHARS = 20
#: A line of a multi-line value is a secret from this length on.
MIN_LINE_CHARS = 16
#: Forms with several characters per character are searched up to this length of the value.
MAX_WIDE_CHARS = 512
#: Matches the handle of such a form. A stream does not search for line breaks within one.
WIDE = re.compile(r"#(?:url-all|escape|html)")


def encode_forms(value: str) -> dict[str, str]:
    """Return the name of the form for each encoded text. The value has the name "". The first name wins."""
    forms: dict[str, str] = {}
    for name, text in _list_forms(value):
        if len(text) >= MIN_VALUE_CHARS:
            forms.setdefault(text, name)
    return forms


def _list_forms(value: str) -> list[tuple[str, str]]:
    data = value.encode("utf-8", "surrogatepass")
    once, ascii_once = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
    forms = [
        ("", value),
        ("json", once),
        ("json-ascii", ascii_once),
        ("json-slash", once.replace("/", "\\/")),
        ("json-json", json.dumps(once, ensure_ascii=False)[1:-1]),
        ("json-json-ascii", json.dumps(ascii_once)[1:-1]),
    ]
    for name, text in (("url", quote(data, safe="")), ("url-plus", quote_plus(data)), ("url-path", quote(data))):
        forms += [(name, text), (f"{name}-lower", _lower_escapes(text))]
    if "'" in value:
        for name, quoted in (("shell-quotes", "'\"'\"'"), ("shell-slash", "'\\''")):
            text = value.replace("'", quoted)
            escaped = json.dumps(text, ensure_ascii=False)[1:-1]
            twice = json.dumps(escaped, ensure_ascii=False)[1:-1]
            forms += [(name, text), (f"{name}-json", escaped), (f"{name}-json-json", twice)]
    forms += [("hex", data.hex()), ("hex-upper", data.hex().upper())]
    for shift in range(3):
        core = _encode_base64(data, shift)
        forms += [
            (f"base64-{shift}", core),
            (f"base64url-{shift}", core.replace("+", "-").replace("/", "_")),
            (f"base64-{shift}-url", quote(core, safe="")),
            (f"base64-{shift}-slash", core.replace("/", "\\/")),
        ]
    for shift in range(5):
        core = _encode_base32(data, shift)
        forms += [(f"base32-{shift}", core), (f"base32-{shift}-lower", core.lower())]
    if len(value) <= MAX_WIDE_CHARS:
        forms += _list_wide(value, data)
    if len(value) >= MIN_HALVED_CHARS:
        # A tool may show only a part of a line or output.
        middle = len(value) // 2
        forms += [("half-1", value[:middle]), ("half-2", value[middle:])]
    lines = value.splitlines()
    if len(lines) > 1:
        stripped = [(f"line-{number}", line.strip()) for number, line in enumerate(lines, 1)]
        forms += [(name, line) for name, line in stripped if len(line) >= MIN_LINE_CHARS]
    return forms


def _encode_base64(data: bytes, shift: int) -> str:
    """Return the base64 characters that only depend on the value, at this offset in a group of three bytes."""
    text = binascii.b2a_base64(bytes(shift) + data, newline=False).decode()
    return text[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]


def _encode_base32(data: bytes, shift: int) -> str:
    """Return the base32 characters that only depend on the value, at this offset in a group of five bytes."""
    text = b32encode(bytes(shift) + data).decode()
    return text[-(-shift * 8 // 5) : (shift + len(data)) * 8 // 5]


def _list_wide(value: str, data: bytes) -> list[tuple[str, str]]:
    """Return forms with an escape for each character or byte."""
    percent = "".join(f"%{byte:02X}" for byte in data)
    units = value.encode("utf-16-be", "surrogatepass").hex()
    forms = [("url-all", percent), ("url-all-lower", percent.lower())]
    for name, hexes in (
        ("escape-u", [units[at : at + 4] for at in range(0, len(units), 4)]),
        ("escape-x", [f"{byte:02x}" for byte in data]),
    ):
        for suffix, upper in (("", False), ("-upper", True)):
            text = "".join(f"\\{name[-1]}{digits.upper() if upper else digits}" for digits in hexes)
            forms += [(f"{name}{suffix}", text), (f"{name}{suffix}-json", text.replace("\\", "\\\\"))]
    forms.append(("html-dec", "".join(f"&#{ord(char)};" for char in value)))
    forms.append(("html-hex", "".join(f"&#x{ord(char):x};" for char in value)))
    return forms


def _lower_escapes(text: str) -> str:
    pieces = text.split("%")
    return pieces[0] + "".join(f"%{piece[:2].lower()}{piece[2:]}" for piece in pieces[1:])
