"""Random histories of idle agents, checked by the witness of `make prove-idle` (D1, D2)."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from callboard.contracts.facts.turn import Mode
from tests.control.rigs.team_histories import STEPS, History, Rows
from tests.prove.idle.proof import plain
from tests.prove.idle.witness import Witness

NUMBERS = st.integers(0, 9)


class IdleMachine(RuleBasedStateMachine):
    """A team, a board and a job under random steps."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History()
        self.witness, self.rows, self.seen = Witness(), Rows(), 0

    @initialize(mode=st.sampled_from(["chat", "auto"]))
    def begins(self, mode: Mode) -> None:
        self.history = History(mode)

    @rule(name=st.sampled_from(sorted(STEPS)), a=NUMBERS, b=NUMBERS, c=NUMBERS)
    def takes(self, name: str, a: int, b: int, c: int) -> None:
        self.history.apply(name, a, b, c)

    @invariant()
    def agents_read_the_truth(self) -> None:
        records = self.history.session.records
        for record in records[self.seen :]:
            self.witness.take(record.header.type, plain(record.scope), plain(record.fact))
            self.rows.apply(record)
        self.seen = len(records)
        assert list(self.witness.problems({key: plain(row) for key, row in self.rows.rows.items()})) == []

    @invariant()
    def one_command_gives_each_agent_with_unread_input_a_run(self) -> None:
        refused = {thread: self.history.resume_failure(thread) for thread in self.witness.stranded()}
        assert set(refused.values()) <= {""}, refused


IdleMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestIdle = IdleMachine.TestCase
