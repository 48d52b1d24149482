"""The example of the client's reference runs as it is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.app.rigs.product import PATIENCE, Product

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "client.md"


def test_the_example_of_the_reference_follows_a_turn_to_its_end(product: Product):
    """X11: what a reader copies works."""
    block = re.search(r"```python\n(?P<code>.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    state = 'Path.home() / ".local/state/callboard"'
    assert state in block["code"]

    with product.up():
        code = block["code"].replace(state, f"Path({str(product.home)!r})")
        command = [sys.executable, "-c", code]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)

    assert ended.stderr == ""
    types = [line.split()[1] for line in ended.stdout.splitlines()]
    assert (types[0], types[-1]) == ("session.created", "turn.completed")
