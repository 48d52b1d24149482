"""Random sessions with valid histories: facts in log order, with live frames between them.

`generate` asks a chooser for every decision, so hypothesis can shrink a history, and a seeded
random source can make a long one. The model knows the rules of turns, tool calls, approvals,
retries, interrupts, queues and crashes, and shares no code with the deciders.
"""

from __future__ import annotations

import random

import msgspec
from hypothesis import strategies as st

from callboard.contracts.content import Text
from callboard.contracts.facts.queue import QueueAdded, QueueEdited, QueuePromoted, QueueRemoved, SteerRequested
from callboard.contracts.facts.session import (
    SessionCreated,
    SessionTakenOver,
    ThreadOpened,
    ThreadPaused,
    ThreadResumed,
)
from callboard.contracts.facts.turn import TurnInterruptRequested, TurnSubmitted
from callboard.contracts.live import Frame
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from tests.projection.runs import Choose, Log, Run, Thread, with_ids


class History(msgspec.Struct, frozen=True):
    """`live` has facts and frames in order of arrival, `records` the facts alone."""

    live: tuple[Record | Frame, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        return tuple(item for item in self.live if isinstance(item, Record))


class Session:
    def __init__(self, choose: Choose, threads: int) -> None:
        self.choose = choose
        self.log = Log()
        self.count = 0
        self.log.add(SessionCreated(workspace_id="wks_history", folder="/work", title="A history"))
        self.threads = [Thread(scope=Scope(agent=f"agent{n}", thread=f"thr_{n}")) for n in range(threads)]
        for thread in self.threads:
            opened = ThreadOpened(agent_name=thread.scope.agent, kind="main", definition="solo", definition_hash="d")
            self.log.add(opened, thread.scope)

    def advance(self) -> None:
        """Do one random move in one thread."""
        thread = self.threads[self.choose(len(self.threads))]
        if self.choose(60) == 59 and any(thread.running for thread in self.threads):
            self._crash()
        elif thread.running is None:
            self._begin_turn(thread)
        elif self.choose(8) == 7:
            self._act_as_person(thread)
        else:
            self._advance_run(thread)

    def finish(self) -> None:
        """Advance every run to its end."""
        for thread in self.threads:
            while thread.running is not None:
                self._advance_run(thread)

    def _advance_run(self, thread: Thread) -> None:
        assert thread.running is not None
        if next(thread.running, self) is self:
            thread.running = thread.run = None
            thread.stop = ""
            if thread.queue and not thread.paused:
                self._start_run(thread, thread.queue[0])

    def _crash(self) -> None:
        self.log.epoch += 1
        self.log.add(SessionTakenOver(previous_epoch=self.log.epoch - 1, epoch=self.log.epoch))
        dead = [thread for thread in self.threads if thread.running is not None]
        for thread in dead:
            thread.stop, thread.paused = "crash", bool(thread.queue)
            while thread.running is not None:
                self._advance_run(thread)
        for thread in dead:
            if thread.queue:
                self.log.add(ThreadPaused(cause="recovered", reason="the process ended"), thread.scope)

    def _begin_turn(self, thread: Thread) -> None:
        if thread.paused:
            self.log.add(ThreadResumed(), thread.scope)
            thread.paused = False
            if thread.queue:
                self._start_run(thread, thread.queue[0])
            return
        self._start_run(thread, self._submit(thread))

    def _submit(self, thread: Thread) -> str:
        turn = self.new_id("trn")
        submitted = TurnSubmitted(input=Text(text=f"Do {turn}."), mode="chat", permission_mode="ask")
        self.log.add(submitted, with_ids(thread.scope, turn=turn))
        return turn

    def _start_run(self, thread: Thread, turn: str) -> None:
        if turn in thread.queue:
            thread.queue.remove(turn)
        run = thread.run = with_ids(thread.scope, turn=turn, run=self.new_id("run"))
        thread.steers = {}
        thread.running = Run(self.log, self.choose, self.new_id, thread, run).execute()

    def _act_as_person(self, thread: Thread) -> None:
        """Do something that a person may do during a run."""
        assert thread.run is not None
        queued = thread.queue[self.choose(len(thread.queue))] if thread.queue else ""
        scope = with_ids(thread.scope, turn=queued) if queued else thread.scope
        match self.choose(7):
            case 0 | 1:
                turn = self._submit(thread)
                thread.queue.append(turn)
                self.log.add(QueueAdded(position=len(thread.queue)), with_ids(thread.scope, turn=turn))
            case 2 if not thread.stop:
                steer = self.new_id("str")
                thread.steers[steer] = Text(text=f"Mind {steer}.")
                self.log.add(SteerRequested(steer_id=steer, input=thread.steers[steer]), thread.run)
            case 3 if queued:
                thread.queue.remove(queued)
                thread.queue.insert(0, queued)
                self.log.add(QueuePromoted(), scope)
            case 4 if queued:
                self.log.add(QueueEdited(input=Text(text=f"Rather {queued}.")), scope)
            case 5 if queued:
                thread.queue.remove(queued)
                self.log.add(QueueRemoved(reason="not needed"), scope)
            case 6 if not thread.stop:
                thread.stop = "person"
                self.log.add(TurnInterruptRequested(reason="enough"), thread.run)
            case _:
                pass

    def new_id(self, prefix: str) -> str:
        """Return a new id."""
        self.count += 1
        return f"{prefix}_{self.count:04}"


def generate(choose: Choose, *, moves: int, threads: int = 1, finish: bool = True) -> History:
    """Return a history with this number of moves; with `finish` every run ends."""
    session = Session(choose, threads)
    for _ in range(moves):
        session.advance()
    if finish:
        session.finish()
    return History(live=tuple(session.log.items))


def random_history(seed: int, *, moves: int, threads: int = 1, finish: bool = True) -> History:
    """Return the history that a seed determines."""
    return generate(random.Random(seed).randrange, moves=moves, threads=threads, finish=finish)


@st.composite
def histories(draw: st.DrawFn, *, largest: int = 60, finish: bool = True) -> History:
    """Generate histories that hypothesis can shrink."""
    moves, threads = draw(st.integers(0, largest)), draw(st.integers(1, 2))
    return generate(lambda bound: draw(st.integers(0, bound - 1)), moves=moves, threads=threads, finish=finish)
