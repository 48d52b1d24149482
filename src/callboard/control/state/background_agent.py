"""State of background agents."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.turn import PermissionMode


class WakeTrigger(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a sleeping agent must wake: the first of `count` facts, by event id, type and agent.
    `hops`: agents in the chain since a person's input."""

    cause: str
    type: str
    agent: str = ""
    hops: int = 0
    count: int = 1


class Background(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The background part of a thread: an agent that sleeps and wakes. Times are in microseconds, 0
    for none.

    - `task`: the task that its runs are attempts of. `attempt`: number of the newest one.
      `is_held`: the task is paused or being cancelled. `is_ended`: the task ended.
    - `asleep`: since the fact at `slept_sequence`, until `wake_at` or a fact of `wake_on`.
    - `turn`: the turn that it woke for last, empty while it sleeps, at `woke_at`. `hops`: agents in
      the chain that led to it. `trigger`: the fact that it must wake for.
    - `last_ended_at`: end of its newest run. `failures`: consecutive failed runs.
      `permission_mode`: the widest mode of an automatic run.
    """

    task: str
    permission_mode: PermissionMode
    asleep: bool = False
    is_held: bool = False
    is_ended: bool = False
    slept_sequence: int = 0
    schedule: str = ""
    wake_at: int = 0
    wake_on: tuple[str, ...] = ()
    turn: str = ""
    woke_at: int = 0
    hops: int = 0
    attempt: int = 0
    last_ended_at: int = 0
    failures: int = 0
    trigger: WakeTrigger | None = None
