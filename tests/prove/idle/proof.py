"""Proof over random histories of teams: no agent with unread input or open work reads `done` or
`running` without a run.

Each history has up to sixty random steps of a team (turns, messages, handoffs, interrupts,
failures, tasks, a job, restarts, calls that wait, a sleeping agent, an external agent) through the
product's deciders and projection. After every step a witness that shares no code with either counts
unread input from the facts and reads the rows. Every agent that only a person can start is resumed
on trial: one `resume_thread` must give it a run or a place in its team's queue.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import msgspec

from tests.control.rigs.team_histories import STEPS, History, Rows
from tests.prove.driver.report import Report, arguments, run
from tests.prove.idle.witness import HELD, IDLE, SLEEPS, TEAM, WORK, Witness

RESUMES = "one resume_thread gives every agent with unread input a run"
A_HISTORY = 60
DEFAULT = 200
#: Names of steps. The ones that keep a team moving are listed twice.
NAMES = (*STEPS, "finishes", "finishes", "finishes", "spawns", "messages", "hands_over", "ends_call", "passes_time")


def plain(value: Any) -> Any:
    """Return a fact, scope or row as plain data."""
    return {name: msgspec.to_builtins(getattr(value, name)) for name in value.__struct_fields__}


def history(report: Report, seed: int) -> int:
    """Run one history. Return the number of its steps."""
    drawn = random.Random(seed)
    simulated = History(mode="auto" if drawn.random() < 0.25 else "chat")
    witness, rows, steps = Witness(), Rows(), 0
    for number in range(A_HISTORY):
        simulated.apply(drawn.choice(NAMES), drawn.randrange(10), drawn.randrange(10), drawn.randrange(10))
        for record in simulated.session.records[steps:]:
            witness.take(record.header.type, plain(record.scope), plain(record.fact))
            rows.apply(record)
        if steps == len(simulated.session.records):
            continue
        steps = len(simulated.session.records)
        wanted = {"status", "agents", "tasks", "team", "sessions"}
        broken = dict(witness.problems({key: plain(row) for key, row in rows.rows.items() if key[0] in wanted}))
        for claim in (IDLE, HELD, SLEEPS, WORK, TEAM):
            report.check(claim, claim not in broken, f"seed {seed}: {broken.get(claim)} after {simulated.steps}")
        for thread in witness.stranded():
            refused = simulated.resume_failure(thread)
            report.check(RESUMES, not refused, f"seed {seed}: {thread} {refused} after {simulated.steps}")
        if broken:
            return number + 1
    return A_HISTORY


async def prove(n: int, fault: str, seed: int) -> int:
    """Run `n` histories. Return the exit code."""
    report = Report("idle")
    report.figure("histories", n)
    report.figure("seed", seed)
    if fault:
        from tests.prove.driver.sabotages import plant

        plant(fault)
    steps = 0
    for number in range(n):
        steps += history(report, seed + number)
        report.progress(f"{number + 1} of {n} histories, {steps} steps")
    report.figure("steps", steps)
    report.figure("looks at rows", report.checked.get(IDLE, 0))
    return report.end()


def main() -> int:
    options = arguments(__doc__, n=DEFAULT, help_n="histories").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + 5 * options.n)


if __name__ == "__main__":
    sys.exit(main())
