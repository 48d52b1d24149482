"""Secrets that nobody has seen before, every form in which they may stand, and where they are looked for."""

from __future__ import annotations

import base64
import io
import json
import secrets
import string
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

_LETTERS = string.ascii_letters + string.digits
#: Any so many characters of a secret in a row are a part of it that must not be found either.
WINDOW = 12


@dataclass(frozen=True)
class Made:
    """Those of one run. `known` are given to the product under their names, `key` is the key of a provider; `tokens` are given
    to nobody and are found by their shape."""

    known: dict[str, str]
    key: str
    tokens: tuple[str, ...]
    pem: str

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, without what is public of a token."""
        body = "".join(self.pem.splitlines()[1:-1])
        return (*self.known.values(), self.key, *map(_secret, self.tokens), body)


def make() -> Made:
    """Draws new ones."""
    draw = lambda size: "".join(secrets.choice(_LETTERS) for _ in range(size))
    hard = f"{draw(9)}\"{draw(4)}\\{draw(4)}/+{draw(4)}é&=%{draw(5)}'{draw(6)}"
    return Made(
        known={"DEPLOY": draw(32), "HARD": hard, "VAULT": draw(24), "LATER": draw(28)},
        key=draw(40),
        tokens=(
            f"ghp_{draw(35)}7",
            f"sk-proj-{draw(40)}4",
            f"eyJ{draw(20)}.{draw(40)}.{draw(30)}",
            f"AKIA{''.join(secrets.choice(string.ascii_uppercase) for _ in range(15))}7",
            f"https://bob:{draw(16)}1@db.internal/x",
            f"https://api.internal/v1?access_token={draw(24)}5&page=2",
            f"Authorization: Bearer {draw(40)}3",
        ),
        pem="-----BEGIN PRIVATE KEY-----\n"
        + "\n".join(draw(64) for _ in range(6))
        + f"\n{draw(30)}==\n-----END PRIVATE KEY-----\n",
    )


def forms(value: str) -> list[str]:
    """A value as it may stand in a text: itself, escaped, encoded."""
    data = value.encode()
    once = json.dumps(value)[1:-1]
    return list(
        dict.fromkeys(
            [
                *(value, once, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(once)[1:-1]),
                *(quote(value, safe=""), quote(value), quote_plus(value), data.hex(), data.hex().upper()),
                *(code(b"x" * shift + data).decode() for shift in range(3) for code in _CODES),
            ]
        )
    )


_CODES = (base64.b64encode, base64.urlsafe_b64encode)


def needles(made: Made) -> list[bytes]:
    """What must be found nowhere: every part of a secret, and every form of what the product was given."""
    found: list[str] = []
    for value in made.every:
        found += [value[at : at + WINDOW] for at in range(len(value) - WINDOW + 1)]
    for value in (*made.known.values(), made.key):
        for form in forms(value):
            # What stands before and behind a value decides the characters at the edges of its base64 form.
            found.append(form[4:-4])
    return [one.encode() for one in dict.fromkeys(found) if len(one) >= WINDOW - 2]


class Looking:
    """Looks for all of them in bytes. Nothing is told but where, and what sort of place it was."""

    def __init__(self, made: Made) -> None:
        # This alone is not the standard library: a thousand texts are looked for in megabytes.
        from ahocorasick_rs import BytesAhoCorasick

        self._needles = needles(made)
        self._all = BytesAhoCorasick(self._needles)
        self.bytes = 0

    def found(self, place: str, data: bytes) -> list[str]:
        """Where in the data something is, with the surroundings, at most a few."""
        self.bytes += len(data)
        hits = self._all.find_matches_as_indexes(data)
        told: list[str] = []
        for index, start, end in hits[:3]:
            told.append(f"{place}: {self._needles[index]!r} in {data[max(0, start - 60) : end + 30]!r}")
        return told + [f"{place}: and {len(hits) - 3} more"] * (len(hits) > 3)

    def under(self, folder: Path) -> list[str]:
        """The same of every file below a folder, packs of it opened."""
        told: list[str] = []
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                told += self.found(path.name, path.name.encode() + b"\n" + path.read_bytes())
        return told

    def pack(self, data: bytes) -> list[str]:
        """The same of what a pack of evidence holds."""
        return [one for name, content in _unzipped(data) for one in self.found(f"pack/{name}", content)]


def _unzipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        for name in pack.namelist():
            yield name, pack.read(name)


def _secret(token: str) -> str:
    """A token without what anybody knows of it."""
    for mark in (
        "ghp_",
        "sk-",
        "eyJ",
        "AKIA",
        "https://bob:",
        "https://api.internal/v1?access_token=",
        "Authorization: Bearer ",
    ):
        if token.startswith(mark):
            return token.removeprefix(mark).removesuffix("@db.internal/x").removesuffix("&page=2")
    raise LookupError(token)


def lines(values: Iterable[str]) -> str:
    """The values, each in a line of a file."""
    return "".join(f"{value}\n" for value in values)
