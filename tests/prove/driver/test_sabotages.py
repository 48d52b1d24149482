"""Faults that the proofs plant in the product."""

import re
import subprocess
import sys
from pathlib import Path

from tests.prove.driver import sabotages

#: Faults of the table with what follows their colon.
ARGUMENTS = {"unsaid:TYPE": "unsaid:turn.started"}
#: Plants each fault in a separate process, because a fault changes the loaded product.
PLANT = """
import os, sys
from tests.prove.driver import sabotages
import callboard.app.cli.main
for fault in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            sabotages.plant(fault)
        except BaseException as error:
            print(fault, repr(error), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_every_fault_replaces_existing_code():
    """X6: a fault whose function was renamed would leave its proof green."""
    table: list[str] = re.findall(
        r"^((?:[a-z-]+(?::TYPE)?, )*[a-z-]+(?::TYPE)?)  +\S", sabotages.__doc__ or "", re.MULTILINE
    )
    faults: list[str] = [ARGUMENTS.get(fault, fault) for row in table for fault in row.split(", ")]

    planted = subprocess.run(
        [sys.executable, "-c", PLANT, *faults],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=True,
    )

    assert planted.stdout == ""
    assert len(faults) > 20
