"""Proof for an I/O error, a full disk, a power loss at the writes of a mixed run, and steps of the
clock.

The product runs as a person starts it, with a preloaded library that counts its writes and syncs. A
run of turns, tools, approvals, an upload and a job is recorded once. After any of its writes the
files are rebuilt as a power loss leaves them, and other code reads them. Then the same run is
disturbed: one write fails, is half done, or finds the disk full. The proof compares what the
product reports, keeps and does with what it acknowledged. In addition the clock steps by ten days
each way before a start, during a run and around a restart.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

from tests.prove.driver.report import Report, arguments
from tests.prove.driver.report import run as run_proof
from tests.prove.faults import clocks, disk, power
from tests.prove.faults.library import compile_library

#: Power losses per fault of a disk.
POWERS = 20


async def prove(n: int, sabotage: str, seed: int) -> int:
    """Test `n` faults of a disk, and twenty times as many power losses."""
    report = Report("prove-faults")
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="callboard-faults-") as folder:
        library = compile_library(Path(folder))
        # The steps of the clock mostly wait for the product's sweeps.
        async with asyncio.TaskGroup() as parts:
            if sabotage != clocks.FOLLOWS:
                parts.create_task(_disks(report, library, n, sabotage, draw))
            if sabotage in ("", clocks.FOLLOWS):
                parts.create_task(clocks.prove(report, library, sabotage))
    return report.end()


async def _disks(report: Report, library: Path, n: int, sabotage: str, draw: random.Random) -> None:
    total = await power.prove(report, library, POWERS * n, draw, sabotage)
    if not sabotage:
        await disk.prove(report, library, n, total, draw)


def main() -> int:
    options = arguments(__doc__, n=3, help_n="faults of a disk").parse_args()
    return run_proof(prove(options.n, options.sabotage, options.seed), longest=420 + 40 * options.n)


if __name__ == "__main__":
    sys.exit(main())
