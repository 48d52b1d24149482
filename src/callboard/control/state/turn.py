"""State of turns: open runs with their calls and steers, and queued turns."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.entities.plan import PlanStep
from callboard.contracts.facts.action import ApprovalScope, Binding, Decision
from callboard.contracts.facts.model import Candidate
from callboard.contracts.facts.permission import HookOutcome
from callboard.contracts.facts.turn import Mode, PermissionMode, PromptRef
from callboard.contracts.refs import ContextRef, MissingRef, Omission

from .context import OpenCompaction, Round, SpokenTurn

#: The tool that ends a turn in `auto`.
FINALIZE = "Finalize"
#: Maximum number of a thread's newest turns with a known position.
MAX_MARKS = 200

CallPhase = Literal["requested", "waiting", "running"]


class OpenCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool call without a terminal fact.

    `action` is the approval that it waits for, at `action_step`; the fields after it repeat what
    that action offers. `hooked` is the result of its hooks. `awaits` are the children that a
    waiting call is for, `any_of` if one of them is enough, until `until` (0 for no limit);
    `already_ended` are the ones that had ended before. `started_sequence` is the sequence of the fact
    that started it, 0 before.
    """

    call: str
    step: int
    tool: str
    arguments: Text
    phase: CallPhase = "requested"
    action: str = ""
    action_step: int = 0
    expires_at: int = 0
    decisions: tuple[Decision, ...] = ()
    scopes: tuple[ApprovalScope, ...] = ()
    matchers: dict[ApprovalScope, str] = {}
    binding: Binding | None = None
    awaits: tuple[str, ...] = ()
    any_of: bool = False
    until: int = 0
    already_ended: tuple[str, ...] = ()
    started_sequence: int = 0
    hooked: HookOutcome | None = None

    @property
    def effective_arguments(self) -> Text:
        """Return the arguments that the call runs with: the model's, or those of a hook."""
        rewritten = self.hooked.arguments if self.hooked is not None else None
        return self.arguments if rewritten is None else rewritten


class OpenSteer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Input that no model call has included yet. `spoken` locates its text in the log."""

    steer: str
    input: Text
    spoken: SpokenTurn | None = None
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()


class Repetition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Consecutive rounds of a run with the same result: its key, and the steps of their model
    calls."""

    key: str = ""
    steps: tuple[int, ...] = ()


class OpenPlan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The newest plan of a run, at the step where this revision first appeared."""

    step: int
    steps: tuple[PlanStep, ...]
    revision: int = 1


class RemoteDelivery(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The text of an artifact from a remote agent."""

    artifact: str
    name: str
    text: Text


class OpenRun(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A run in progress, in the host of `epoch`.

    - `newest_model_step`: step of the newest model call. `model_step`: step of the open one, 0 for
      none. `round_results`: results of the present round. `streak`: the equal rounds before it.
    - `reminded`: the newest model call reminds the agent to finalize. `finalised`: a Finalize call
      succeeded, with `summary`. `stopping`: an interrupt was requested.
    - `answer_parts`: text steps since the last tool call, with the texts in `answer`. They are the
      final answer if no call follows.
    - `reserved`: inbox items that the run received and has not consumed. `senders`: agents of
      consumed items. `deliveries`: artifacts of a remote agent. `woken`: the inbox alone began the
      run. `hops`: agents in the chain since a person's input.
    - `started`: time in microseconds since the epoch. `plan_accepted`: the turn ends once no call
      is open, and the next one carries out the plan.
    - `input_tokens`: tokens of the input. `rounds`: tokens of each round, the first with the input.
      `compacting`: the open compaction; `compaction_failed`: one failed; `only_compacts`: the turn
      has no other purpose.
    - `refs`, `missing`, `omitted`: the recorded context. `fallbacks`: candidates that replace a
      failed model, in order; `has_fallen_back`: one did. `low_limits`: provider limits that were
      reported as low.
    """

    run: str
    turn: str
    mode: Mode
    permission_mode: PermissionMode
    max_iters: int
    definition: str
    definition_hash: str
    epoch: int
    prompts: tuple[PromptRef, ...] = ()
    tools: tuple[str, ...] = ()
    newest_model_step: int = 0
    round_results: tuple[str, ...] = ()
    streak: Repetition = Repetition()
    reminded: bool = False
    provider: str = ""
    model: str = ""
    candidates: tuple[Candidate, ...] = ()
    fallbacks: tuple[Candidate, ...] = ()
    has_fallen_back: bool = False
    low_limits: tuple[str, ...] = ()
    iteration: int = 0
    next_step: int = 1
    model_step: int = 0
    calls: tuple[OpenCall, ...] = ()
    answer_parts: tuple[int, ...] = ()
    steers: tuple[OpenSteer, ...] = ()
    finalised: bool = False
    stopping: bool = False
    reserved: tuple[str, ...] = ()
    senders: tuple[str, ...] = ()
    deliveries: tuple[RemoteDelivery, ...] = ()
    woken: bool = False
    hops: int = 0
    started: int = 0
    answer: tuple[Text, ...] = ()
    summary: str = ""
    plan: OpenPlan | None = None
    plan_accepted: bool = False
    input_tokens: int = 0
    rounds: tuple[Round, ...] = ()
    compacting: OpenCompaction | None = None
    compaction_failed: bool = False
    only_compacts: bool = False
    omitted: tuple[Omission, ...] = ()
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()

    def find_call(self, call: str) -> OpenCall | None:
        """Return the open call with that id."""
        return next((open_call for open_call in self.calls if open_call.call == call), None)

    def find_call_for_action(self, action: str) -> OpenCall | None:
        """Return the call that waits for that action."""
        return next((call for call in self.calls if call.action == action), None)


class QueuedTurn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A turn that waits for its thread.

    `woken`: its input is the inbox alone. `hops`: agents in the chain since a person's input.
    `task`: the task that it was begun for. `refs` and `missing`: the context of its submission,
    with `tokens` in total. `compacts`: it only compacts the thread. `spoken` locates a person's
    text in the log.
    """

    turn: str
    mode: Mode
    permission_mode: PermissionMode
    woken: bool = False
    hops: int = 0
    sequence: int = 0
    task: str = ""
    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
    tokens: int = 0
    compacts: bool = False
    spoken: SpokenTurn | None = None


class TurnMark(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Position of a turn in the log: its first fact for the model, and its number of steps. It
    started, or was compacted up to, `started`, and has `tokens`."""

    sequence: int
    steps: int = 0
    started: int = 0
    tokens: int = 0


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The end of an agent's newest turn. `text` is its answer. `code` is the code of a failure or
    the cause of an interrupt. `hops` and `plain_text` are those of its run and fact."""

    how: Literal["completed", "failed", "interrupted"]
    text: Text = Text()
    code: str = ""
    message: str = ""
    hops: int = 0
    plain_text: bool = False

    @property
    def was_interrupted_by_host(self) -> bool:
        """Return True if the host ended, lost its epoch or failed to write: no person or agent
        requested the interrupt."""
        return self.how == "interrupted" and self.code in ("crash", "lost", "shutdown", "storage")
