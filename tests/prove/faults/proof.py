"""An I/O error, a full disk, a loss of power at the writes of a mixed run, and steps of the clock.

The product runs as a person starts it, with a library preloaded that counts its writes and syncs. A run of turns, tools,
approvals, an upload and a job is recorded once: after any of its writes the files are put together as a loss of power leaves
them, and read by other code. The same run is then disturbed: one of its writes fails, is done in half, or finds the disk full,
and what the product says, keeps and does afterwards is compared with what it acknowledged. Beside that its clock steps by ten
days each way before a start, while it runs and around a restart.
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

#: How many losses of power there are for each fault of a disk.
POWERS = 20


async def prove(n: int, sabotage: str, seed: int) -> int:
    """`n` faults of a disk, and twenty times as many losses of power."""
    report = Report("prove-faults")
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="callboard-faults-") as folder:
        library = compile_library(Path(folder))
        # The steps of the clock wait for sweeps of the product most of their time.
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
