"""Shapes of unnamed secrets: tokens by their marks, PEM keys, and passwords in addresses and headers.

Each shape starts at a literal text and has a maximum length. The mark stays and shows what kind of
secret the handle replaces. A stream withholds text only after a mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .repeats import match_all
from .tokens import TOKENS, WORD

#: Not within a word or right after a handle. The letter of a JSON escape is not part of a word.
_BEGIN = r"(?:(?<![A-Za-z0-9_~])|(?<=\\[nrt]))"


@dataclass(frozen=True)
class Shape:
    """A shape of secrets.

    Every match has one of the literal texts `marks` at the offset `behind`. Group 1 of `full` is
    the secret. `open` matches up to the end of a text, and its group 1 may be the beginning of a
    secret. A pattern is compiled at its first mark: compiling all of them would add 50 ms to the start.
    """

    marks: tuple[str, ...]
    full_pattern: str
    open_pattern: str
    behind: int = 0

    @cached_property
    def full(self) -> re.Pattern[str]:
        """Pattern of a whole secret."""
        return re.compile(self.full_pattern)

    @cached_property
    def open(self) -> re.Pattern[str]:
        """Pattern of a possible beginning of a secret."""
        return re.compile(self.open_pattern)


def _build_token(mark: str, characters: str, min_chars: int, max_chars: int, *, digit: bool, begin: str) -> Shape:
    """Return the shape of a marked token. If it needs a digit, text without one is a word."""
    looks = rf"(?=[{characters}]{{0,{max_chars - 1}}}[0-9])" if digit else ""
    begin += re.escape(mark)
    return Shape(
        marks=(mark,),
        full_pattern=rf"{begin}{looks}([{characters}]{{{min_chars},{max_chars}}})",
        open_pattern=rf"{begin}([{characters}]{{0,{max_chars - 1}}})\Z",
    )


_TOKENS = tuple(
    # A mark that does not begin a word needs no boundary before it.
    _build_token(
        mark,
        token.characters,
        token.min_chars,
        token.max_chars,
        digit=token.has_digit,
        begin=token.begin or (_BEGIN if mark[0].isalnum() else ""),
    )
    for token in TOKENS
    for mark in token.marks
)

_JWT = Shape(
    marks=("eyJ",),
    full_pattern=rf"{_BEGIN}eyJ([{WORD}]{{8,2048}}\.[{WORD}]{{8,4096}}\.[{WORD}]{{0,1024}})",
    open_pattern=rf"{_BEGIN}eyJ([{WORD}.]{{0,7200}})\Z",
)

#: Between the lines of a key: line breaks, also escaped ones, and a listing's line prefix.
_GAP = match_all(r"[\s0-9:|>\"'+,→]|\\[nrt]", max_count=24)
_KEY = "-----BEGIN "
_HEAD = rf"{_KEY}[A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
_BASE64 = "[A-Za-z0-9+/=]"
#: A whole line of a key. Other text is shorter or of one case.
_LINE = rf"(?={_BASE64}{{0,89}}[A-Z])(?={_BASE64}{{0,89}}[a-z]){_BASE64}{{40,90}}+"
#: Maximum number of lines of a key without and with its end in the text.
_MAX_OPEN_LINES, _MAX_LINES = 64, 120
_LINES = match_all(rf"{_GAP}{_BASE64}{{16,90}}+", max_count=_MAX_LINES)
_HEADERS = rf"(?:{_GAP}[A-Z][A-Za-z\-]{{2,20}}: [A-Za-z0-9,.()/\- ]{{1,90}}){{0,4}}"
_END = rf"(?={_GAP}-----END )"
_PEM = Shape(
    marks=(_KEY,),
    full_pattern=(
        rf"{_HEAD}{_HEADERS}{_GAP}("
        rf"{_BASE64}{{16,90}}+{_LINES}(?:{_GAP}{_BASE64}{{1,90}}+){{0,2}}{_END}"
        rf"|{_LINE}(?:{_GAP}{_LINE}){{0,{_MAX_OPEN_LINES - 1}}})"
    ),
    open_pattern=rf"{_HEAD}((?:(?!-----END )[A-Za-z0-9+/=\s\\:|>\"',→\-]){{0,16000}})\Z",
)
#: The password of a .netrc file.
_NETRC = Shape(
    marks=("machine ",),
    full_pattern=r"machine\s+\S{1,255}\s+login\s+\S{1,255}\s+password\s+(?!secret://)(\S{3,255})",
    open_pattern=r"machine\s+\S{1,255}\s+login\s+\S{1,255}\s+password\s+(\S{0,255})\Z",
)

#: Excludes placeholders for a password.
_NO_PLACEHOLDER = r"(?![$%*{<\[]|secret://)"
#: Excludes shell substitutions, which end a literal.
_NO_STRUCTURE = r"(?!\$[({])"
_ADDRESS = Shape(
    marks=("://",),
    full_pattern=(
        rf"://[^\s/:@\"'<>\\;|&`$]{{0,128}}:{_NO_PLACEHOLDER}((?:{_NO_STRUCTURE}[^\s/@\"'<>\\;|&`]){{3,256}})"
        r"(?:@|(?=[;|&`$][^\s/\"'<>\\]{0,256}@))"
    ),
    open_pattern=r"://[^\s/:@\"'<>\\;|&`$]{0,128}:([^\s/@\"'<>\\]{0,512})\Z",
)

_NAMES = (
    *("password", "passwd", "pwd", "token", "access_token", "refresh_token", "id_token", "auth_token", "api_key"),
    *("apikey", "api-key", "key", "secret", "client_secret", "signature", "sig"),
)
_CASED_NAMES = tuple(word for name in _NAMES for word in (name, name.capitalize(), name.upper()))
_QUERY = Shape(
    marks=tuple(f"{sign}{name}=" for name in _CASED_NAMES for sign in "?&"),
    full_pattern=rf"[?&][A-Za-z_\-]{{3,13}}={_NO_PLACEHOLDER}(?=[^\s&\"'#<>\\;`()|$]{{0,511}}[0-9])([^\s&\"'#<>\\;`()|$]{{8,512}})",
    open_pattern=r"[?&][A-Za-z_\-]{3,13}=([^\s&\"'#<>\\;`)]{0,511})\Z",
)

_SCHEME = r"[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?i:bearer|basic|token) "
_HEADER = Shape(
    marks=("uthorization", "UTHORIZATION"),
    behind=1,
    full_pattern=rf"[Aa](?i:uthorization){_SCHEME}(?=[A-Za-z0-9._~+/=\-]{{0,2047}}[0-9])([A-Za-z0-9._~+/=\-]{{16,2048}})",
    open_pattern=rf"[Aa](?i:uthorization){_SCHEME}([A-Za-z0-9._~+/=\-]{{0,2047}})\Z",
)

_SECRET_NAMES = (
    *("PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY"),
    *("SECRET_KEY", "SIGNING_KEY", "ENCRYPTION_KEY", "MASTER_KEY", "CREDENTIAL", "CREDENTIALS", "DB_PASS", "_PWD"),
)
_VALUE = r"[^\s\"'`$();|&<>{}\[\]\\,]"
#: An assignment of an .env file or a shell. A value without a digit is a word.
_ASSIGNMENT = Shape(
    marks=tuple(f"{name}=" for name in _SECRET_NAMES),
    full_pattern=rf"[A-Z_]{{4,16}}=[\"']?{_NO_PLACEHOLDER}(?={_VALUE}{{0,511}}[0-9])({_VALUE}{{8,512}})",
    open_pattern=rf"[A-Z_]{{4,16}}=[\"']?({_VALUE}{{0,511}})\Z",
)

SHAPES: tuple[Shape, ...] = (*_TOKENS, _JWT, _PEM, _NETRC, _ADDRESS, _QUERY, _HEADER, _ASSIGNMENT)
#: Maximum distance of a mark before its secret, in characters.
MAX_MARK_CHARS = 240
