"""One session: decides, commits, publishes, acts. Commands and outcomes pass through here one at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import msgspec

from callboard.contracts.commands import RespondAction
from callboard.contracts.commands.base import Answer
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule
from callboard.contracts.facts.turn import Mode, PermissionMode
from callboard.contracts.ports.store import Append, StoredAnswer
from callboard.contracts.ports.tools import Evaluation, ToolCall, ToolContext
from callboard.contracts.record import Origin, Record
from callboard.contracts.scope import Actor, Scope
from callboard.control.batch import Decision
from callboard.control.decide import SessionCommand, command, outcome
from callboard.control.decide.actions import waiting
from callboard.control.effects import Effect, ExpireAction, ShareRule, effects
from callboard.control.evolve import evolve
from callboard.control.known import Known, Setup
from callboard.control.outcomes import Outcome, TakenOver
from callboard.control.state import STATE_SCHEMA, OpenRun, Session

from .context import Context
from .parts import Parts
from .setup import RunSetup, Setups

log = logging.getLogger(__name__)

_T = TypeVar("_T")

#: A snapshot of the deciders' state is kept every so many facts.
SNAPSHOT_EVERY = 1000


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """The workspace that a session lives in, as far as its decisions need it."""

    workspace: str
    folder: str
    sequence: int = 0
    rules: tuple[Rule, ...] = ()
    given: frozenset[str] = frozenset()


class SessionHost:
    """The one place where a session changes in this process. Not to be used from two event loops."""

    def __init__(
        self,
        session: str,
        parts: Parts,
        home: Callable[[str], Home],
        act: Callable[[SessionHost, Effect], None],
        workspace: str = "",
    ) -> None:
        self.session = session
        self.parts = parts
        self.state = Session(session=session, workspace=workspace)
        self.epoch = 0
        self.evaluations: dict[str, Evaluation] = {}
        self._home_of = home
        self._act = act
        self._lock = asyncio.Lock()
        self._work: set[asyncio.Task[Any]] = set()
        self._contexts: dict[str, Context] = {}
        self._setups: Setups | None = None
        self._pinned: dict[str, RunSetup] = {}
        self._snapshot_at = 0

    async def open(self) -> None:
        """Loads the session's state, takes the stream's lease and closes what a dead epoch left running."""
        store = self.parts.store
        kept = await store.rows.snapshot(self.session, STATE_SCHEMA)
        if kept is not None:
            sequence, link, data = kept
            found = await store.facts.read(self.session, after=sequence - 1, limit=1)
            if found and found[0].link == link:
                self.state = msgspec.json.decode(data, type=Session)
                self._snapshot_at = sequence
        while records := await store.facts.read(self.session, after=self.state.sequence, limit=1000):
            for record in records:
                self.state = evolve(self.state, record)
        self.epoch = await store.facts.lease(self.session)
        if self.state.sequence:
            self.parts.feed.facts(
                self.session, await store.facts.read(self.session, after=self.state.sequence - 1, limit=1)
            )
            await self.report(TakenOver(partials=await store.partials.read(self.session)))
            self._wake_waiting()
            for one in self.state.passed_on:
                if one.rule.rule_id not in self.home.given:
                    self._act(self, ShareRule(one.rule, one.cause))

    async def command(self, request: SessionCommand, actor: Actor, kept: StoredAnswer | None = None) -> Answer:
        """Carries out a command; returns its answer once it is durable. Raises Refusal.

        `kept` is the key and body hash under which the answer is stored; its answer is filled in here.
        """
        return await self._serial(self._command(request, actor, kept))

    async def report(self, report: Outcome) -> None:
        """Takes what an effect came to."""
        await self._serial(self._report(report))

    async def settled(self) -> None:
        """Waits until what was given so far is committed or refused, also where its giver has gone."""
        if self._work:
            await asyncio.wait(self._work)

    async def context(self, thread: str) -> Context:
        """The conversation of a thread, loaded when it is first needed."""
        found = self._contexts.get(thread)
        if found is None:
            limit = self.parts.limits.context_facts
            found = Context(thread, self.parts.store.blobs, limit)
            after = max(0, self.state.sequence - limit)
            if after:
                found.cut()
            # What is committed while this reads is read as well: nobody else adds it to a context that is still being made.
            while after < self.state.sequence:
                for record in await self.parts.store.facts.read(
                    self.session, after=after, until=self.state.sequence, limit=1000
                ):
                    await found.add(record)
                    after = record.sequence
            self._contexts[thread] = found
        return found

    def run_setup(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> RunSetup:
        """What a run of this definition and these modes is told."""
        home = self.home
        if self._setups is None:
            self._setups = Setups(self.parts, home.folder)
        return self._setups.of(definition, mode, permission_mode, home.sequence)

    def setup_of(self, run: OpenRun) -> RunSetup:
        """What the run was told when it began: a definition that changed meanwhile holds from the next turn on."""
        found = self._pinned.get(run.run)
        if found is None:
            self._pinned = {run.run: self.run_setup(run.definition, run.mode, run.permission_mode)}
            found = self._pinned[run.run]
        return found

    def tool_context(self, thread: str) -> ToolContext:
        """On whose behalf the thread's run evaluates and runs tools."""
        run = self.state.threads[thread].run
        if run is None:
            raise LookupError(f"thread {thread} has no open run")
        setup = self.setup_of(run)
        if self._setups is None:
            raise LookupError("no setup was made")
        home = self.home
        on_its_way = (one.rule for one in self.state.passed_on if one.rule.rule_id not in home.given)
        rules = (*home.rules, *self.state.rules, *on_its_way)
        return self._setups.context(setup.definition, run.mode, run.permission_mode, rules)

    @property
    def busy(self) -> bool:
        """True while something is decided or committed."""
        return bool(self._work)

    @property
    def home(self) -> Home:
        """The workspace as it is now."""
        return self._home_of(self.state.workspace)

    async def save(self) -> None:
        """Keeps the deciders' state, so that the next opening folds only what came after. Where that is refused it folds
        more: what was committed is committed all the same."""
        if self.state.sequence <= self._snapshot_at:
            return
        state = self.state
        store = self.parts.store
        try:
            last = await store.facts.read(self.session, after=state.sequence - 1, limit=1)
            if last:
                data = msgspec.json.encode(state)
                await store.rows.save_snapshot(self.session, state.sequence, last[0].link, STATE_SCHEMA, data)
                self._snapshot_at = state.sequence
        except Refusal as refusal:
            log.warning("the state of %s is not kept: %s", self.session, refusal.problem.message)

    async def _serial(self, work: Coroutine[None, None, _T]) -> _T:
        """Runs the work after all work before it. A caller that goes away does not cut a commit in half."""

        async def alone() -> _T:
            async with self._lock:
                return await work

        task = asyncio.create_task(alone())
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return await asyncio.shield(task)

    async def _command(self, request: SessionCommand, actor: Actor, kept: StoredAnswer | None) -> Answer:
        known = await self._known(request)
        decision, answer = command(self.state, request, known)
        stored = None if kept is None else msgspec.structs.replace(kept, answer=msgspec.json.encode(answer))
        origin = Origin(at=max(known.now, self.state.at), command_id=self.parts.ids.new("command"), actor=actor)
        await self._commit(decision, origin, stored)
        return answer

    async def _report(self, report: Outcome) -> None:
        known = self._knowledge()
        decision = outcome(self.state, report, known)
        await self._commit(decision, Origin(at=max(known.now, self.state.at)), None)

    async def _known(self, request: SessionCommand) -> Known:
        if self.state.sequence > self.parts.limits.context_facts and self.state.lead:
            await self.context(self.state.lead)
        known = self._knowledge()
        named = [getattr(request, "turn_id", None), getattr(request, "action_id", None)]
        ids = [one for one in named if isinstance(one, str)]
        if ids:
            closed = await self.parts.store.facts.closed(self.session, ids)
            known = msgspec.structs.replace(known, closed=closed)
        if isinstance(request, RespondAction) and request.decision == "approve":
            known = msgspec.structs.replace(known, evaluation=await self._look_again(request.action_id))
        return known

    async def _look_again(self, action: str) -> Evaluation | None:
        """The gate's present verdict on the call that an approval is for."""
        found = waiting(self.state, action)
        if found is None:
            return None
        thread, _, call = found
        arguments = call.arguments.text
        if call.arguments.ref is not None:
            data = await self.parts.store.blobs.get(call.arguments.ref.hash)
            arguments = arguments if data is None else data.decode()
        toolbox = self.parts.toolbox
        evaluation = await toolbox.evaluate(
            ToolCall(call_id=call.call, tool=call.tool, arguments=arguments), self.tool_context(thread.thread)
        )
        self.evaluations[call.call] = evaluation
        return evaluation

    def _knowledge(self) -> Known:
        after = {thread: context.after for thread, context in self._contexts.items()}
        return Known(
            now=self.parts.clock.now(),
            ids=self.parts.ids,
            setup=self._setup,
            workspace=self.home.workspace,
            folder=self.home.folder,
            epoch=self.epoch,
            context_after=max(after.values(), default=0),
            approval_expiry_us=int(self.parts.limits.approval_expiry * 1_000_000),
        )

    def _setup(self, definition: str, mode: Mode, permission_mode: PermissionMode) -> Setup:
        return self.run_setup(definition, mode, permission_mode).setup

    async def _commit(self, decision: Decision, origin: Origin, answer: StoredAnswer | None) -> None:
        if not decision.facts and answer is None:
            return
        batch = Append(
            stream=self.session,
            expected=self.state.sequence,
            epoch=self.epoch,
            facts=decision.facts,
            origin=origin,
            blobs=decision.blobs,
            answer=answer,
            closed=decision.closed,
            ends=decision.ends,
        )
        records = await self.parts.store.facts.append(batch)
        for record in records:
            self.state = evolve(self.state, record)
            if record.fact.closes == "tool_call":
                self.evaluations.pop(record.scope.tool_call, None)
        self.parts.feed.facts(self.session, records, batch.ends)
        for thread, context in list(self._contexts.items()):
            await self._remember(thread, context, records)
        for effect in effects(records):
            self._act(self, effect)
        if self.state.sequence - self._snapshot_at >= SNAPSHOT_EVERY:
            await self.save()

    async def _remember(self, thread: str, context: Context, records: Sequence[Record]) -> None:
        """Adds committed facts to a context; one that cannot take them is made anew from the log when it is next needed."""
        try:
            for record in records:
                await context.add(record)
        except Refusal as refusal:
            log.warning("the context of %s is made anew: %s", thread, refusal.problem.message)
            self._contexts.pop(thread, None)

    def _wake_waiting(self) -> None:
        for thread in self.state.threads.values():
            for call in thread.run.calls if thread.run is not None else ():
                if call.action and call.expires_at:
                    self._act(self, ExpireAction(Scope(thread=thread.thread, action=call.action), call.expires_at))
