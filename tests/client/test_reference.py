"""The examples of the client's reference, run as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import callboard.client
from tests.app.rigs.product import PATIENCE, Product

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "client.md"
STATE = 'Path.home() / ".local/state/callboard"'
#: Runs the function of the second example on a session that exists and on one that does not.
READS = """
async def read() -> None:
    async with Client(ENDPOINT) as client:
        (card,) = (await client.submit(ListSessions())).sessions
        print([await read_title(client, session) for session in (card.session_id, "ses_none")])

asyncio.run(read())
"""
IMPORTS = """
import asyncio
import msgspec
from pathlib import Path
from callboard.client import Endpoint
from callboard.contracts.commands.session import ListSessions
ENDPOINT = msgspec.json.decode(Path({path!r}).read_bytes(), type=Endpoint)
"""


def _run(code: str) -> str:
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ended.stderr == ""
    return ended.stdout


def test_the_examples_of_the_reference_run(product: Product):
    """X11: code that a reader copies works."""
    follows, reads = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert STATE in follows

    with product.up():
        facts = _run(follows.replace(STATE, f"Path({str(product.home)!r})"))
        titles = _run(reads + IMPORTS.format(path=str(product.home / "endpoint.json")) + READS)

    types = [line.split()[1] for line in facts.splitlines()]
    assert (types[0], types[-1]) == ("session.created", "turn.completed")
    assert titles == "['List the files.', '']\n"


def test_the_reference_names_each_export_of_the_package():
    """X11: a name without an entry is found by no reader."""
    table = PAGE.read_text().partition("## Names")[2].partition("\n\nCommands")[0]
    documented = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))
    assert sorted(documented) == sorted(callboard.client.__all__)
