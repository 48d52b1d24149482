"""What a person reads of a session's team: who works for whom, and what comes of those who work."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from callboard.contracts.commands.agents import AgentList, DefinedAgent, ListAgents
from callboard.contracts.commands.team import (
    AgentInGraph,
    ChildResult,
    ListSubagents,
    SubagentGraph,
    Waited,
    WaitSubagents,
)
from callboard.contracts.errors import Refusal
from callboard.control.decide.subagent.children import build_result
from callboard.control.decide.subagent.waits import is_open
from callboard.control.state.agent_definitions import session_roster
from callboard.control.state.session import Session, Thread

from ..dependencies import Dependencies
from ..session_registry import SessionRegistry

#: How long a wait lasts that names no time, and the longest that one request may last, in seconds.
LONGEST_WAIT = 300


class TeamReads:
    """Reads of a team. They look at the state that decisions are made on, and hold nothing while they wait."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions

    async def list_subagents(self, query: ListSubagents) -> SubagentGraph:
        """The agents that are not closed. Raises Refusal `unknown_session`, `unknown_thread`."""
        state = (await self._sessions.get(query.session_id)).host.state
        parent = query.thread_id
        if parent is not None:
            _must_be_there(state, parent)
        return SubagentGraph(
            session_id=query.session_id,
            agents=tuple(
                _in_graph(thread)
                for thread in state.threads.values()
                if parent is None or (thread.child is not None and thread.child.parent == parent)
            ),
            sequence=state.sequence,
        )

    async def list_agents(self, query: ListAgents) -> AgentList:
        """The agents of the session's folder, as its files are now, and those that the session made. Raises
        `unknown_session`."""
        found = await self._sessions.get(query.session_id)
        state = found.host.state
        folder = await asyncio.to_thread(self._dependencies.definitions.roster, state.folder)
        roster = session_roster(folder, state)
        added = {thread.definition for thread in state.threads.values()}
        return AgentList(
            session_id=query.session_id,
            agents=tuple(
                DefinedAgent(
                    name=one.name,
                    kind=one.kind,
                    description=one.description,
                    file=one.file,
                    added=one.name in added,
                )
                for one in roster.definitions
            ),
            problems=len({problem.file for problem in roster.problems}),
            sequence=state.sequence,
        )

    async def wait(self, query: WaitSubagents) -> Waited:
        """Waits until enough children have ended, one failed, or the time is up. A child that was closed meanwhile has ended.

        Raises Refusal `unknown_session`, `unknown_thread`, `unknown_agent`, `not_your_child`, `nothing_running` where there is
        no child to wait for.
        """
        found = await self._sessions.get(query.session_id)
        state = found.host.state
        awaited = _awaited(state, query)
        already = {agent for agent in awaited if not _is_open(state, agent)}
        clock = self._dependencies.clock
        until = clock.elapsed() + min(query.timeout_s or LONGEST_WAIT, LONGEST_WAIT)
        while not _enough(state, awaited, already, any_of=query.mode == "any"):
            left = until - clock.elapsed()
            reached = await self._moved(query.session_id, state.sequence, left) if left > 0 else 0
            if not reached:
                break
            found = await self._sessions.get(query.session_id)
            # The log tells of a fact before the state has taken it; what is shown comes after both.
            await found.views.wait_for(reached)
            state = found.host.state
        return _answer(state, awaited, timed_out=not _enough(state, awaited, already, any_of=query.mode == "any"))

    async def _moved(self, session: str, after: int, seconds: float) -> int:
        """Waits for facts behind a sequence; the newest one's sequence, or 0 where none came in time."""
        async with aclosing(self._dependencies.store.facts.subscribe(session, after=after)) as facts:
            try:
                async with asyncio.timeout(seconds):
                    return (await anext(facts))[-1].sequence
            except (TimeoutError, StopAsyncIteration):
                return 0


def _awaited(state: Session, query: WaitSubagents) -> tuple[str, ...]:
    parent = query.thread_id or (None if query.agents else state.lead)
    if parent is not None:
        _must_be_there(state, parent)
    children = {
        thread.agent: thread
        for thread in state.threads.values()
        if thread.child is not None and (parent is None or thread.child.parent == parent)
    }
    for name in query.agents:
        if name not in children:
            raise _no_child(state, name)
    working = [agent for agent, thread in children.items() if is_open(thread)]
    awaited = query.agents or tuple(working or children)
    if not awaited:
        raise Refusal(
            "nothing_running", "There is no child that could be waited for.", hint="spawn_subagent makes one."
        )
    return tuple(dict.fromkeys(awaited))


def _no_child(state: Session, name: str) -> Refusal:
    if any(thread.agent == name for thread in state.threads.values()):
        return Refusal("not_your_child", f"{name} is no child that is waited for here.", field="agents")
    return Refusal("unknown_agent", f"There is no agent {name}.", field="agents", hint="list_subagents names them.")


def _must_be_there(state: Session, thread: str) -> None:
    if thread not in state.threads:
        raise Refusal(
            "unknown_thread",
            f"The session has no thread {thread}.",
            field="threadId",
            hint="get_session names the threads.",
        )


def _of(state: Session, agent: str) -> Thread | None:
    return next((one for one in state.threads.values() if one.agent == agent and one.child is not None), None)


def _is_open(state: Session, agent: str) -> bool:
    thread = _of(state, agent)
    return thread is not None and is_open(thread)


def _enough(state: Session, awaited: tuple[str, ...], already: set[str], *, any_of: bool) -> bool:
    """What had ended before is no news of a failure; what fails while it is waited for ends the wait."""
    ended = [agent for agent in awaited if not _is_open(state, agent)]
    threads = [_of(state, agent) for agent in ended if agent not in already]
    failed = any(one is not None and one.child is not None and one.child.status == "failed" for one in threads)
    return failed or len(ended) == len(awaited) or (any_of and bool(ended))


def _answer(state: Session, awaited: tuple[str, ...], *, timed_out: bool) -> Waited:
    ended: list[ChildResult] = []
    pending: list[ChildResult] = []
    for agent in awaited:
        thread = _of(state, agent)
        if thread is None:
            ended.append(ChildResult(agent_id=agent, thread_id="", task_id="", status="closed"))
        else:
            (pending if is_open(thread) else ended).append(build_result(thread))
    return Waited(
        session_id=state.session,
        ended=tuple(ended),
        pending=tuple(pending),
        timed_out=timed_out,
        sequence=state.sequence,
    )


def _in_graph(thread: Thread) -> AgentInGraph:
    child = thread.child
    return AgentInGraph(
        agent_id=thread.agent,
        thread_id=thread.thread,
        agent_kind=thread.kind,
        parent_thread_id=child.parent if child is not None else "",
        parent_run_id=child.parent_run if child is not None else "",
        run_id=thread.run.run if thread.run is not None else "",
        queued=len(thread.queue),
        paused=thread.paused or "",
        queue_reason=(child.queue_reason or "") if child is not None else "",
        child=build_result(thread) if child is not None else None,
    )
