"""What looks like a secret though nobody named it: tokens by what their issuers put in front, keys in PEM, passwords in
addresses. Each shape is anchored by a literal text, bounded in length, and can say where one may be beginning."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Not in the middle of a word, nor right behind a handle; what an escape in a JSON text ends is none.
_BEGIN = r"(?:(?<![A-Za-z0-9_~])|(?<=\\[nrt]))"


@dataclass(frozen=True)
class Shape:
    """Every match has one of the literal texts `marks` so many characters `behind` its beginning. The group of `full` is the
    secret, or else all of it. `open` matches up to the end of a text what may be the beginning of a match: within its last
    word, or behind the mark where a match has `spaces`."""

    marks: tuple[str, ...]
    full: re.Pattern[str]
    open: str
    behind: int = 0
    spaces: bool = False


def beginning(literal: str) -> str:
    """Matches each proper beginning of a text."""
    pattern = ""
    for character in reversed(literal[:-1]):
        pattern = f"{re.escape(character)}(?:{pattern})?" if pattern else re.escape(character)
    return pattern


def _token(mark: str, characters: str, least: int, most: int, *, digit: bool = True) -> Shape:
    """A token whose issuer marks it. One without a digit is a word."""
    literal = re.escape(mark)
    looks = rf"(?=[{characters}]{{0,{most - 1}}}[0-9])" if digit else ""
    return Shape(
        marks=(mark,),
        full=re.compile(rf"{_BEGIN}{literal}{looks}[{characters}]{{{least},{most}}}"),
        open=rf"{_BEGIN}(?:{beginning(mark)}|{literal}[{characters}]{{0,{most - 1}}})\Z",
    )


_WORD = r"A-Za-z0-9_\-"
_ALNUM = "A-Za-z0-9"

_TOKENS = (
    _token("sk-", _WORD, 18, 255),
    *(_token(f"gh{kind}_", _ALNUM, 30, 255, digit=False) for kind in "pousr"),
    _token("github_pat_", "A-Za-z0-9_", 22, 255),
    _token("glpat-", _WORD, 18, 255),
    *(_token(f"xox{kind}-", r"A-Za-z0-9\-", 10, 255) for kind in "abeprs"),
    _token("xapp-", r"A-Za-z0-9\-", 20, 255),
    *(_token(mark, "A-Z0-9", 16, 16, digit=False) for mark in ("AKIA", "ASIA")),
    _token("AIza", _WORD, 35, 35, digit=False),
    _token("npm_", _ALNUM, 36, 36, digit=False),
    _token("hf_", _ALNUM, 30, 64, digit=False),
    _token("gsk_", _ALNUM, 40, 128, digit=False),
    *(_token(f"{kind}_{use}_", _ALNUM, 16, 255) for kind in ("sk", "rk") for use in ("live", "test")),
    _token("pypi-", _WORD, 50, 512, digit=False),
    _token("ya29.", _WORD, 20, 512),
    _token("dop_v1_", "a-f0-9", 64, 64, digit=False),
)

_JWT = Shape(
    marks=("eyJ",),
    full=re.compile(rf"{_BEGIN}eyJ[{_WORD}]{{8,2048}}\.[{_WORD}]{{8,4096}}\.[{_WORD}]{{0,1024}}"),
    open=rf"{_BEGIN}(?:{beginning('eyJ')}|eyJ[{_WORD}.]{{0,7200}})\Z",
)

#: Between the lines of a key: breaks, also escaped ones, and what a listing puts in front of a line.
_GAP = r"(?:[\s0-9:|>\"'+,→]|\\[nrt]){0,24}+"
_KEY = "-----BEGIN "
_PEM = Shape(
    marks=(_KEY,),
    spaces=True,
    full=re.compile(
        rf"{_KEY}[A-Z0-9 ]{{0,40}}PRIVATE KEY-----(?:{_GAP}[A-Z][A-Za-z\-]{{2,20}}: [A-Za-z0-9,\- ]{{1,90}}){{0,4}}"
        rf"(?:{_GAP}[A-Za-z0-9+/=]{{16,90}}+){{1,120}}+"
        rf"(?:(?:{_GAP}[A-Za-z0-9+/=]{{1,90}}+)?{_GAP}-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY-----)?"
    ),
    open=rf"(?:{beginning(_KEY)}|{_KEY}[A-Za-z0-9+/=\s\\:|>\"',→\-]{{0,16000}})\Z",
)

#: What stands where a password would, and is none.
_NO_PLACEHOLDER = r"(?![$%*{<\[]|secret://)"
_ADDRESS = Shape(
    marks=("://",),
    full=re.compile(rf"://[^\s/:@\"'<>\\]{{0,128}}:{_NO_PLACEHOLDER}([^\s/@\"'<>\\]{{3,256}})@"),
    open=r"(?::/?|://[^\s/@\"'<>\\]{0,386})\Z",
)

_NAMES = (
    *("password", "passwd", "pwd", "token", "access_token", "refresh_token", "id_token", "auth_token", "api_key"),
    *("apikey", "api-key", "key", "secret", "client_secret", "signature", "sig"),
)
_NAMED = tuple(word for name in _NAMES for word in (name, name.capitalize(), name.upper()))
_QUERY = Shape(
    marks=tuple(f"{sign}{name}=" for name in _NAMED for sign in "?&"),
    full=re.compile(
        rf"[?&][A-Za-z_\-]{{3,13}}={_NO_PLACEHOLDER}(?=[^\s&\"'#<>\\;`)]{{0,511}}[0-9])([^\s&\"'#<>\\;`)]{{8,512}})"
    ),
    open=rf"[?&](?:[A-Za-z_\-]{{0,13}}|(?:{'|'.join(_NAMED)})=[^\s&\"'#<>\\]{{0,511}})\Z",
)

_SAID = r"[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
_HEADER = Shape(
    marks=("uthorization", "UTHORIZATION"),
    behind=1,
    spaces=True,
    full=re.compile(
        rf"[Aa](?i:uthorization){_SAID}(?i:bearer|basic|token) (?=[A-Za-z0-9._~+/=\-]{{0,2047}}[0-9])"
        r"([A-Za-z0-9._~+/=\-]{16,2048})"
    ),
    open=rf"[Aa](?:(?i:{beginning('uthorization.')})?|(?i:uthorization)[\"':=\s]{{0,7}}(?:[A-Za-z]{{0,6}}|"
    r"(?i:bearer|basic|token) [A-Za-z0-9._~+/=\-]{0,2047}))\Z",
)

SHAPES: tuple[Shape, ...] = (*_TOKENS, _JWT, _PEM, _ADDRESS, _QUERY, _HEADER)
#: How far from the end of a text a match may have begun that is not complete yet; in one word, and in one with dots.
LONGEST_OPEN = 16_100
LONGEST_WORD = 600
LONGEST_DOTTED = 7300
