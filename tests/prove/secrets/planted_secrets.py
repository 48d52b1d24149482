"""New secrets, every form in which a text may have them, and a search for them."""

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
#: Any part of a secret with this many characters must not be found either.
WINDOW = 12


@dataclass(frozen=True)
class PlantedSecrets:
    """The secrets of one run.

    `named` are stored in the product under their names, `key` is the key of a provider. `tokens`
    are stored nowhere and have a recognisable shape.
    """

    named: dict[str, str]
    key: str
    tokens: tuple[str, ...]
    pem: str

    @property
    def every(self) -> tuple[str, ...]:
        """Return all secrets, without the public part of a token."""
        body = "".join(self.pem.splitlines()[1:-1])
        return (*self.named.values(), self.key, *map(_secret, self.tokens), body)


def draw_secrets() -> PlantedSecrets:
    """Draw new secrets."""
    draw = lambda size: "".join(secrets.choice(_LETTERS) for _ in range(size))
    hard = f"{draw(9)}\"{draw(4)}\\{draw(4)}/+{draw(4)}é&=%{draw(5)}'{draw(6)}"
    return PlantedSecrets(
        named={"DEPLOY": draw(32), "HARD": hard, "VAULT": draw(24), "LATER": draw(28)},
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
    """Return the forms of a value in a text: literal, escaped, encoded."""
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


def needles(drawn: PlantedSecrets) -> list[bytes]:
    """Return what must be found nowhere: every part of a secret, and every form of a named one."""
    parts: list[str] = []
    for value in drawn.every:
        parts += [value[at : at + WINDOW] for at in range(len(value) - WINDOW + 1)]
    for value in (*drawn.named.values(), drawn.key):
        for form in forms(value):
            # The text around a value decides the characters at the edges of its base64 form.
            parts.append(form[4:-4])
    return [form.encode() for form in dict.fromkeys(parts) if len(form) >= WINDOW - 2]


class Looking:
    """A search for all secrets in bytes. It reports only the place and its kind."""

    def __init__(self, drawn: PlantedSecrets) -> None:
        # The only import beyond the standard library: a thousand texts are searched for in
        # megabytes.
        from ahocorasick_rs import BytesAhoCorasick

        self._needles = needles(drawn)
        self._all = BytesAhoCorasick(self._needles)
        self.bytes = 0

    def find(self, place: str, data: bytes) -> list[str]:
        """Return the places of findings in the data with their surroundings, at most a few."""
        self.bytes += len(data)
        hits = self._all.find_matches_as_indexes(data)
        places: list[str] = []
        for index, start, end in hits[:3]:
            places.append(f"{place}: {self._needles[index]!r} in {data[max(0, start - 60) : end + 30]!r}")
        return places + [f"{place}: and {len(hits) - 3} more"] * (len(hits) > 3)

    def under(self, folder: Path) -> list[str]:
        """Return the same of every file below a folder, with opened packs."""
        places: list[str] = []
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                places += self.find(path.name, path.name.encode() + b"\n" + path.read_bytes())
        return places

    def pack(self, data: bytes) -> list[str]:
        """Return the same of an evidence pack's content."""
        return [place for name, content in _unzipped(data) for place in self.find(f"pack/{name}", content)]


def _unzipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        for name in pack.namelist():
            yield name, pack.read(name)


def _secret(token: str) -> str:
    """Return a token without its public part."""
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
    """Return the values, each in a line of a file."""
    return "".join(f"{value}\n" for value in values)
