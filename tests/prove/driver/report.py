"""Output of a proof: progress while it runs, figures, and one verdict."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Coroutine, Sequence
from typing import Any

#: Number of failures that are shown in full.
MAX_PRINTED = 12


class Report:
    """Figures and failures. Only `check` decides the verdict."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failures: list[str] = []
        self.checked: dict[str, int] = {}
        self.failed: dict[str, int] = {}
        self._figures: list[tuple[str, str]] = []
        self._began = time.monotonic()
        self._progress_at = 0.0

    def check(self, claim: str, holds: bool, value: str = "") -> bool:
        """Count one check of a claim. `seen` is the value if it failed."""
        self.checked[claim] = self.checked.get(claim, 0) + 1
        if not holds:
            self.failed[claim] = self.failed.get(claim, 0) + 1
            self.failures.append(f"{claim}: {value}" if value else claim)
        return holds

    def none(self, claim: str, problems: Sequence[str]) -> None:
        """Check that there is no problem."""
        self.check(claim, not problems, "; ".join(problems[:3]))

    def figure(self, name: str, value: object) -> None:
        """Add one line to the report."""
        self._figures.append((name, str(value)))

    def progress(self, text: str, *, every: float = 2.0) -> None:
        """Print progress, at most once in this many seconds."""
        now = time.monotonic()
        if now - self._progress_at >= every:
            self._progress_at = now
            print(f"  {now - self._began:6.1f} s  {text}", flush=True)

    def end(self) -> int:
        """Print the report. Return the exit code."""
        width = max((len(name) for name, _ in self._figures), default=0)
        print(f"\n{self.name}, {time.monotonic() - self._began:.1f} s")
        for name, value in self._figures:
            print(f"  {name:<{width}}  {value}")
        print("  claims")
        for claim, count in self.checked.items():
            bad = self.failed.get(claim, 0)
            print(f"    {'FAIL' if bad else 'ok  '} {claim} ({f'{bad} of {count}' if bad else count})")
        for failure in self.failures[:MAX_PRINTED]:
            print(f"  ! {failure[:600]}")
        if len(self.failures) > MAX_PRINTED:
            print(f"  ! and {len(self.failures) - MAX_PRINTED} more")
        # A proof without a check has shown nothing.
        passed = not self.failures and bool(self.checked)
        print(f"{'PASS' if passed else 'FAIL'} {self.name}", flush=True)
        return 0 if passed else 1


def arguments(doc: str | None, *, n: int, help_n: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every proof has."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=n, help=f"{help_n} [{n}]")
    parser.add_argument("--sabotage", default="", help="faults to plant in the product; the proof must then fail")
    parser.add_argument("--seed", type=int, default=1, help="of random choices [1]")
    return parser


def run(proof: Coroutine[Any, Any, int], longest: float) -> int:
    """Run the proof, at most this many seconds."""

    async def bounded() -> int:
        limit = asyncio.timeout(longest)
        try:
            async with limit:
                return await proof
        except TimeoutError:
            if not limit.expired():
                raise
        print(f"FAIL: not finished within {longest:.0f} s", file=sys.stderr, flush=True)
        return 1

    return asyncio.run(bounded())


def quantiles(values: Sequence[float], unit: str = "s", digits: int = 2) -> str:
    """Return `p50 … p99 … max …` of the values."""
    if not values:
        return "none"
    ranked = sorted(values)
    at = lambda share: ranked[min(len(ranked) - 1, int(share * len(ranked)))]
    return " ".join(
        f"{name} {value:.{digits}f} {unit}"
        for name, value in (("p50", at(0.5)), ("p99", at(0.99)), ("max", ranked[-1]))
    )
