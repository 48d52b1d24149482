"""A clock that steps by ten days before a start, during a run, and around a restart."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.prove.driver import crew, scenes, store
from tests.prove.driver.product import Place, Server, place
from tests.prove.driver.report import Report
from tests.prove.driver.session_driver import do

from .disk import command
from .library import Faults, faults

RUNS = "an agent that runs every 2 s continues through each step of the clock"
PENDING = "a pending approval remains after each step, and accepts its answer"
RULE = "a rule for an hour still applies when the clock steps by ten days"
FACT = "a step is a fact: while a process lives, and where the clock is behind after a restart"
DATED = "facts have the time of the process; a new session after the clock is right has the right time"
ORDER = "sequences and times of a stream never go back, and its chain verifies"
SOUND = "`check`, `doctor` and `sessions` work on either side of a step"
#: Sabotage of this part: the product follows the wall clock.
FOLLOWS = "follow-clock"
DAYS = 10
_STEP_S = DAYS * 86_400.0
#: Seconds that an agent's run may take beyond its interval of 2 s on a busy machine.
_LATE_S = 25.0
#: The sweep looks at the clock every 15 s.
_LOOK_S = 40.0
_NEAR_S = 3600.0


async def prove(report: Report, library: Path, sabotage: str) -> None:
    """Step ahead and back, at the same time."""
    longest = await asyncio.gather(*(_Steps(report, library, sign, sabotage).run() for sign in (1, -1)))
    report.figure("clock steps", f"6 of {DAYS} days each way; longest wait for two runs {max(longest):.1f} s")


@dataclass
class _Life:
    """One process of the product and the sessions followed through it."""

    server: Server
    followed: dict[str, crew.Followed] = field(default_factory=dict[str, crew.Followed])

    def follow(self, session: str) -> crew.Followed:
        if session not in self.followed:
            self.followed[session] = crew.Followed(self.server.wire, session, approves=False)
        return self.followed[session]


class _Steps:
    """The steps in one direction: `sign` is 1 for ahead."""

    def __init__(self, report: Report, library: Path, sign: int, sabotage: str) -> None:
        self._report = report
        self._library = library
        self._sign = sign
        self._sabotage = sabotage
        self._longest = 0.0

    async def run(self) -> float:
        """Take all steps. Return the longest wait for two runs of the agent, in seconds."""
        with place() as at, faults(self._library, at.root, at.home) as planted:
            _prepare(at)
            at.home.mkdir()
            first = await self._before_start(at, planted)
            if self._report.failures:
                # After a failure, the rest takes long and shows nothing new.
                return self._longest
            second = await self._while_running(at, planted, first)
            if self._report.failures:
                return self._longest
            await self._around_restart(at, planted, (first, second))
            await self._read(at, planted, second)
        return self._longest

    async def _before_start(self, at: Place, planted: Faults) -> str:
        """Start with a wrong clock that becomes right while the process lives."""
        planted.move_clock(self._sign * _STEP_S)
        async with self._life(at, planted) as life:
            session = await self._watched(life)
            await do(life.server, "submit_turn", sessionId=session, text="asks")
            arrived = await life.follow(session).until(lambda: life.follow(session).count("action.required") == 1)
            self._report.check(PENDING, arrived, f"{self._where('before a start')}: nothing was asked")
            await self._runs(life, session, "after a start with it")
            await _asleep(life, session)
            planted.move_clock(0)
            await self._runs(life, session, "back in the same process")
            await self._recorded(life, session, -self._sign, 1, "back in the same process")
        return session

    async def _while_running(self, at: Place, planted: Faults, first: str) -> str:
        """Start with the right clock, step, and step back."""
        async with self._life(at, planted) as life:
            await self._runs(life, first, "right again after a restart")
            if self._sign > 0:
                await self._recorded(life, first, -1, 2, "right again after a restart")
            second = await self._watched(life)
            ends = round((time.time() + 3600) * 1_000_000)
            rule = {"sessionId": second, "matcher": "Bash(echo ruled)", "verdict": "allow", "expiresAt": ends}
            await do(life.server, "add_rule", **rule)
            await _asleep(life, first)
            planted.move_clock(self._sign * _STEP_S)
            await do(life.server, "submit_turn", sessionId=second, text="ruled")
            mine = life.follow(second)
            ran = await mine.until(lambda: mine.count("tool.completed", "action.required") > 0)
            self._report.check(RULE, ran and not mine.count("action.required"), self._where("while running"))
            for session in (first, second):
                await self._runs(life, session, "while running")
            await self._recorded(life, second, self._sign, 1, "while running")
            await _asleep(life, second)
            planted.move_clock(0)
            await self._runs(life, second, "and back while running")
        return second

    async def _around_restart(self, at: Place, planted: Faults, sessions: tuple[str, str]) -> None:
        """Step while no process runs, and step back before the next start."""
        planted.move_clock(self._sign * _STEP_S)
        async with self._life(at, planted) as life:
            for session in sessions:
                await self._runs(life, session, "around a restart")
            if self._sign < 0:
                await self._recorded(life, sessions[1], -1, 2, "around a restart")
            # If the previous process lived until its next look at the clock, it recorded the step
            # back.
            before = _warned(life.follow(sessions[1]), "clock_went_back")
        planted.move_clock(0)
        async with self._life(at, planted) as life:
            for session in sessions:
                await self._runs(life, session, "right again after that restart")
            await self._answer(life, sessions[0])
            if self._sign > 0:
                await self._recorded(life, sessions[1], -1, before + 1, "right again after that restart")
            begun = await do(life.server, "submit_turn", workspaceId=life.server.workspace, text="new")
            new = life.follow(begun["sessionId"])
            await new.until(lambda: new.count(*crew.TURN_ENDS) == 1)
            self._report.none(
                DATED, [f"{self._where('a new session')}: {fact}" for fact in new.facts if not _is_now(fact)]
            )
            await self._commands(at, planted, "while it serves")

    async def _read(self, at: Place, planted: Faults, second: str) -> None:
        """Check the log with other code, and read it with the product under a wrong clock."""
        log = store.read(at.store)
        self._report.none(ORDER, [f"{self._where('the log')}: {problem}" for problem in log.broken])
        # The process that began this session had the right clock at its start, so no time shows a
        # step.
        began = min(fact.epoch for fact in log.facts[second])
        times = [fact.at / 1_000_000 for fact in log.facts[second] if fact.epoch == began]
        near = all(abs(at - time.time()) < _NEAR_S for at in times)
        self._report.check(DATED, near, f"{self._where('while running')}: {times[0]} to {times[-1]}")
        planted.move_clock(self._sign * _STEP_S)
        await self._commands(at, planted, "with a wrong clock")

    @asynccontextmanager
    async def _life(self, at: Place, planted: Faults) -> AsyncGenerator[_Life]:
        """Start a process of the product, and kill it at the end."""
        fault = (sys.executable, str(crew.PLANTED), self._sabotage) if self._sabotage else ()
        life = _Life(await Server.start(at, before=(*planted.command, *fault)))
        try:
            yield life
        finally:
            await life.server.kill()
            for followed in life.followed.values():
                await followed.close()

    async def _watched(self, life: _Life) -> str:
        """Begin a session in which an agent runs every 2 s."""
        begun = await do(life.server, "submit_turn", workspaceId=life.server.workspace, text="begin")
        session = begun["sessionId"]
        followed = life.follow(session)
        await followed.until(lambda: followed.count(*crew.TURN_ENDS) == 1)
        await do(life.server, "add_agent", sessionId=session, agent="watcher")
        return session

    async def _runs(self, life: _Life, session: str, when: str) -> None:
        """Wait for two more runs of the agent."""
        followed, began = life.follow(session), time.monotonic()
        await followed.until(lambda: bool(followed.facts))
        # A stream begins with earlier facts. One more fact separates the two.
        await asyncio.sleep(0.2)
        before = followed.count("agent.woke")
        ran = await followed.until(lambda: followed.count("agent.woke") >= before + 2, 2 * 2 + _LATE_S)
        self._longest = max(self._longest, time.monotonic() - began)
        woke = followed.count("agent.woke") - before
        self._report.check(RUNS, ran, f"{self._where(when)}: {woke} runs in {time.monotonic() - began:.0f} s")

    async def _recorded(self, life: _Life, session: str, sign: int, count: int, when: str) -> None:
        """Wait until the session has this many facts of a step in that direction."""
        followed, code = life.follow(session), "clock_stepped" if sign > 0 else "clock_went_back"
        is_warned = await followed.until(lambda: _warned(followed, code) >= count, _LOOK_S)
        warned = _warned(followed, code)
        self._report.check(FACT, is_warned and warned == count, f"{self._where(when)}: {warned} of {count} {code}")

    async def _answer(self, life: _Life, session: str) -> None:
        """Approve what has waited since before the first step."""
        followed = life.follow(session)
        await followed.until(lambda: followed.count("action.required") == 1)
        action = next(fact["actionId"] for fact in followed.facts if fact["type"] == "action.required")
        answer = await life.server.wire.post(
            "respond_action", {"sessionId": session, "actionId": action, "decision": "approve"}
        )
        done = await followed.until(lambda: followed.count("tool.completed") == 1)
        over = followed.count("action.expired", "action.withdrawn")
        self._report.check(
            PENDING, answer.status == 200 and done and not over, f"{self._where('answered')}: {answer} {over} over"
        )

    async def _commands(self, at: Place, planted: Faults, when: str) -> None:
        for arguments in (("check",), ("sessions",)):
            code, printed = await command(at, *arguments, before=planted.command)
            self._report.check(SOUND, code == 0, f"{self._where(when)}: {arguments}: {code} {printed[-300:]}")
        code, printed = await command(at, "doctor", "--json", before=planted.command)
        findings = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        states_by_name = {finding["name"]: finding["state"] for finding in findings}
        states = (states_by_name.get("store"), states_by_name.get("process"))
        place = f"{self._where(when)}: doctor: {code} {states} {printed[-300:]}"
        self._report.check(SOUND, states == ("ok", "ok"), place)

    def _where(self, when: str) -> str:
        return f"{DAYS} days {'ahead' if self._sign > 0 else 'back'}, {when}"


def _warned(followed: crew.Followed, code: str) -> int:
    return sum(fact["type"] == "warning.raised" and fact["payload"]["code"] == code for fact in followed.facts)


async def _asleep(life: _Life, session: str) -> None:
    """Wait until the agent sleeps, so that a step falls before its wake time."""
    followed = life.follow(session)
    await followed.until(lambda: followed.count("agent.slept") > followed.count("agent.woke"), _LATE_S)


def _is_now(fact: dict[str, Any]) -> bool:
    at = datetime.fromisoformat(fact["timestamp"]).timestamp()
    return abs(at - time.time()) < _NEAR_S


def _prepare(at: Place) -> None:
    """Write the agents and their model's answers."""
    crew.lead(at)
    crew.agent(at, "watcher", kind="background", tools=["Read"], schedule={"every": "2s"})
    asks = [[scenes.calls("Bash", command="echo asked")], [scenes.says("Done.")]]
    ruled = [[scenes.calls("Bash", command="echo ruled")], [scenes.says("Done.")]]
    crew.plays(
        at,
        [
            ("watcher", "", [[scenes.says("Nothing new.")]]),
            ("lead", "asks", asks),
            ("lead", "ruled", ruled),
            ("lead", "", [[scenes.says("Hello.")]]),
        ],
    )
