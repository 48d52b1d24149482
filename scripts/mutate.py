"""Changes one operator, number or branch at a time and reports the changes that no test notices: `mutate.py AREA … --n N`.

Areas are `control`, `log` and `emit`. It tries a random sample of `--n` mutations of an area (0 tries all) in a copy of the
committed tree, so the checkout never changes. `--seed` repeats a sample. The exit code is 1 if a mutation survives.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Areas: the mutated code, and the tests that must notice.
AREAS: dict[str, tuple[str, str]] = {
    "control": ("src/callboard/control", "tests/control"),
    "log": ("src/callboard/log", "tests/log"),
    "emit": ("src/callboard/projection/emit", "tests/projection/emit"),
}
#: Mutations of these kinds seldom change behaviour.
LEFT_OUT = ("core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr_", "core/ExceptionReplacer")
TIMEOUT_S = 180.0


@dataclass(frozen=True)
class Survivor:
    """A mutation that no test noticed."""

    file: str
    line: int
    operator: str
    diff: str


@contextmanager
def copied_tree() -> Iterator[Path]:
    """Provide a copy of the newest commit."""
    with tempfile.TemporaryDirectory(prefix="callboard-mutate-") as folder:
        copy = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(copy)], cwd=ROOT, check=True)
        try:
            yield copy
        finally:
            shutil.rmtree(copy, ignore_errors=True)
            subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)


def mutate(area: str, count: int, seed: int, tree: Path) -> tuple[int, list[Survivor]]:
    """Try a sample of an area's mutations; return their number and the survivors."""
    source, tests = AREAS[area]
    session = tree.parent / f"{area}.sqlite"
    config = tree.parent / f"{area}.toml"
    command = f"{sys.executable} -m pytest -n0 -x -q -p no:cacheprovider {tests}"
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "{source}"\ntimeout = {TIMEOUT_S}\nexcluded-modules = []\n'
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}

    def cosmic_ray(*arguments: str) -> str:
        done = subprocess.run(
            [str(Path(sys.executable).with_name("cosmic-ray")), *arguments],
            cwd=tree,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    subprocess.run(command.split(), cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
    cosmic_ray("init", str(config), str(session))
    tried = _draw_sample(session, count, seed)
    cosmic_ray("exec", str(config), str(session))
    return tried, list(_survivors(cosmic_ray("dump", str(session))))


def _draw_sample(session: Path, count: int, seed: int) -> int:
    with sqlite3.connect(session) as connection:
        kinds = connection.execute("SELECT job_id, operator_name FROM mutation_specs ORDER BY job_id").fetchall()
        rows = connection.execute(
            "SELECT job_id FROM mutation_specs ORDER BY module_path, operator_name, occurrence"
        ).fetchall()
        operators = dict(kinds)
        jobs = [job for (job,) in rows if not operators[job].startswith(LEFT_OUT)]
        sample = set(random.Random(seed).sample(jobs, min(count or len(jobs), len(jobs))))  # noqa: S311
        others = [(job,) for (job,) in rows if job not in sample]
        connection.executemany("DELETE FROM mutation_specs WHERE job_id = ?", others)
        connection.executemany("DELETE FROM work_items WHERE job_id = ?", others)
    return len(sample)


def _survivors(dump: str) -> Iterator[Survivor]:
    for line in dump.splitlines():
        work, result = json.loads(line)
        if result is not None and result["test_outcome"] == "survived":
            (mutation,) = work["mutations"]
            yield Survivor(
                mutation["module_path"], mutation["start_pos"][0], mutation["operator_name"], result.get("diff") or ""
            )


def main(arguments: list[str]) -> int:
    """Run the named areas, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("areas", nargs="*", help="areas to mutate [default: all]")
    parser.add_argument("--n", type=int, default=20, help="mutations of each area, 0 for all [default: 20]")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample [default: 0]")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.areas) - set(AREAS):
        parser.error(f"unknown area: {', '.join(sorted(unknown))}. Areas: {', '.join(AREAS)}.")
    survived = 0
    with copied_tree() as tree:
        for area in chosen.areas or AREAS:
            tried, survivors = mutate(area, chosen.n, chosen.seed, tree)
            print(f"{area}: {tried} tried, {tried - len(survivors)} noticed, {len(survivors)} survived", flush=True)
            for survivor in survivors:
                print(f"  {survivor.file}:{survivor.line} {survivor.operator}\n{survivor.diff}", flush=True)
            survived += len(survivors)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
