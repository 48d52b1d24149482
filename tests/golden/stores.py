"""Golden stores as files: pack, unpack, and compute the expected content."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.prove.driver import store

GOLDEN = Path(__file__).parent
#: Folder of the sessions of a golden store.
ROOT = Path("/tmp/callboard-golden")
ARCHIVE, EXPECTED = "home.tar.xz", "expected.json"


def versions() -> list[str]:
    """Return the versions of the golden stores, oldest first."""
    return sorted(path.parent.name for path in GOLDEN.glob(f"*/{EXPECTED}"))


def expected(version: str) -> dict[str, Any]:
    """Return the expected content of that version's store."""
    return json.loads((GOLDEN / version / EXPECTED).read_text())


def pack(home: Path, version: str) -> None:
    """Pack a state folder without a running process, and write the content of its log."""
    target = GOLDEN / version
    target.mkdir(exist_ok=True)

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        # No credential, no page that opens with one, and no path of the machine that made it.
        skipped = member.name.endswith(("endpoint.json", "token", "-shm", ".lock", ".log", "opening"))
        return None if skipped or not (member.isdir() or member.isfile()) else member

    with tarfile.open(target / ARCHIVE, "w:xz") as archive:
        archive.add(home, "home", filter=plain)
    (target / EXPECTED).write_text(json.dumps(contents(home / "store"), indent=1) + "\n")


def unpack(version: str, root: Path) -> Path:
    """Unpack the golden store below a folder, and return the state folder."""
    # `extractall` asks for a filter from Python 3.12 on, and has none before 3.11.4.
    with tarfile.open(GOLDEN / version / ARCHIVE) as archive:
        for member in archive:
            path, content = root / member.name, archive.extractfile(member)
            if content is None:
                path.mkdir(parents=True)
            else:
                path.write_bytes(content.read())
            path.chmod(member.mode)
    return root / "home"


def contents(folder: Path) -> dict[str, Any]:
    """Return the content of a store, read without the product.

    It has the length, head and digest of each stream, the blobs and the partials.
    """
    log = store.read(folder)
    assert not log.broken, log.broken
    with closing(sqlite3.connect(folder / store.DATABASE)) as connection:
        links = dict(connection.execute("SELECT name, lower(hex(link)) FROM streams WHERE name IS NOT NULL"))
    return {
        "streams": {
            name: {
                "facts": len(facts),
                "link": links[name],
                "types": sorted({fact.type for fact in facts}),
                "digest": digest(facts),
            }
            for name, facts in sorted(log.facts.items())
        },
        "blobs": hashlib.sha256("".join(sorted(log.blobs)).encode()).hexdigest(),
        "partials": sorted(part.text for part in log.partials),
    }


def digest(facts: list[store.Fact]) -> str:
    """Return the SHA-256 of a stream's facts in order: sequence, type, time, ids and content."""
    entries = [[fact.sequence, fact.type, fact.at, sorted(fact.scope.items()), fact.payload] for fact in facts]
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
