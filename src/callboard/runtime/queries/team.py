"""Queries about a session's team."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from callboard.contracts.commands.agent import AgentList, DefinedAgent, ListAgents
from callboard.contracts.commands.subagent import (
    ChildResult,
    ChildResults,
    GraphAgent,
    ListSubagents,
    SubagentGraph,
    WaitSubagents,
)
from callboard.contracts.errors import Refusal
from callboard.control.decide.subagent.children import build_result
from callboard.control.decide.subagent.waits import is_open
from callboard.control.state.agent_definitions import build_session_roster
from callboard.control.state.session import Session, Thread

from ..service import Service, answers
from ..session_registry import build_unknown_thread

#: Longest wait of one request, and its default, in seconds.
MAX_WAIT_SECONDS = 300


class TeamReads(Service):
    """Answers team queries from the decision state. A waiting query holds no lock."""

    @answers(ListSubagents)
    async def list_subagents(self, query: ListSubagents) -> SubagentGraph:
        """Return the agents that are not closed."""
        state = (await self._sessions.get(query.session_id)).host.state
        parent = query.thread_id
        if parent is not None:
            _require_thread(state, parent)
        return SubagentGraph(
            session_id=query.session_id,
            agents=tuple(
                _build_graph_entry(thread)
                for thread in state.threads.values()
                if parent is None or (thread.child is not None and thread.child.parent == parent)
            ),
            sequence=state.sequence,
        )

    @answers(ListAgents)
    async def list_agents(self, query: ListAgents) -> AgentList:
        """Return the agents of the session's folder as its files are now, and the agents that the session defined."""
        opened = await self._sessions.get(query.session_id)
        state = opened.host.state
        folder = await asyncio.to_thread(self._dependencies.definitions.read_roster, state.folder)
        roster = build_session_roster(folder, state)
        added = {thread.definition for thread in state.threads.values()}
        return AgentList(
            session_id=query.session_id,
            agents=tuple(
                DefinedAgent(
                    name=definition.name,
                    kind=definition.kind,
                    description=definition.description,
                    file=definition.file,
                    added=definition.name in added,
                )
                for definition in roster.definitions
            ),
            problems=len({problem.file for problem in roster.problems}),
            sequence=state.sequence,
        )

    @answers(WaitSubagents)
    async def wait(self, query: WaitSubagents) -> ChildResults:
        """Wait until enough children have ended, one failed, or the time is up. A closed child has ended."""
        opened = await self._sessions.get(query.session_id)
        state = opened.host.state
        awaited = _find_awaited(state, query)
        ended_before = {agent for agent in awaited if not _is_open(state, agent)}
        clock = self._dependencies.clock
        until = clock.elapsed() + min(query.timeout_s or MAX_WAIT_SECONDS, MAX_WAIT_SECONDS)
        while not _is_satisfied(state, awaited, ended_before, any_of=query.mode == "any"):
            left = until - clock.elapsed()
            reached = await self._wait_for_facts(query.session_id, state.sequence, left) if left > 0 else 0
            if not reached:
                break
            opened = await self._sessions.get(query.session_id)
            # A fact is durable before the state has applied it. Rows show it after both.
            await opened.views.wait_for(reached)
            state = opened.host.state
        return _build_answer(
            state, awaited, timed_out=not _is_satisfied(state, awaited, ended_before, any_of=query.mode == "any")
        )

    async def _wait_for_facts(self, session: str, after: int, seconds: float) -> int:
        """Wait for facts after a sequence. Return the newest sequence; 0 after a timeout."""
        async with aclosing(self._dependencies.store.facts.subscribe(session, after=after)) as facts:
            try:
                async with asyncio.timeout(seconds):
                    return (await anext(facts))[-1].sequence
            except (TimeoutError, StopAsyncIteration):
                return 0


def _find_awaited(state: Session, query: WaitSubagents) -> tuple[str, ...]:
    parent = query.thread_id or (None if query.agents else state.lead)
    if parent is not None:
        _require_thread(state, parent)
    children = {
        thread.agent: thread
        for thread in state.threads.values()
        if thread.child is not None and (parent is None or thread.child.parent == parent)
    }
    for name in query.agents:
        if name not in children:
            raise _build_child_refusal(state, name)
    working = [agent for agent, thread in children.items() if is_open(thread)]
    awaited = query.agents or tuple(working or children)
    if not awaited:
        raise Refusal("nothing_running", "There is no child to wait for.", hint="Create one with spawn_subagent.")
    return tuple(dict.fromkeys(awaited))


def _build_child_refusal(state: Session, name: str) -> Refusal:
    if any(thread.agent == name for thread in state.threads.values()):
        return Refusal(
            "not_your_child",
            f"{name} is not a child of this agent.",
            field="agents",
            hint="Find its subagents with list_subagents.",
        )
    return Refusal(
        "unknown_agent", f"There is no agent {name}.", field="agents", hint="Find agents with list_subagents."
    )


def _require_thread(state: Session, thread: str) -> None:
    if thread not in state.threads:
        raise build_unknown_thread(thread)


def _find_child(state: Session, agent: str) -> Thread | None:
    return next(
        (thread for thread in state.threads.values() if thread.agent == agent and thread.child is not None), None
    )


def _is_open(state: Session, agent: str) -> bool:
    thread = _find_child(state, agent)
    return thread is not None and is_open(thread)


def _is_satisfied(state: Session, awaited: tuple[str, ...], ended_before: set[str], *, any_of: bool) -> bool:
    """Return True if the wait is over. Children that ended before it started do not count as failures."""
    ended = [agent for agent in awaited if not _is_open(state, agent)]
    threads = [_find_child(state, agent) for agent in ended if agent not in ended_before]
    failed = any(
        thread is not None and thread.child is not None and thread.child.status == "failed" for thread in threads
    )
    return failed or len(ended) == len(awaited) or (any_of and bool(ended))


def _build_answer(state: Session, awaited: tuple[str, ...], *, timed_out: bool) -> ChildResults:
    ended: list[ChildResult] = []
    pending: list[ChildResult] = []
    for agent in awaited:
        thread = _find_child(state, agent)
        if thread is None:
            ended.append(ChildResult(agent_id=agent, thread_id="", task_id="", status="closed"))
        else:
            (pending if is_open(thread) else ended).append(build_result(thread))
    return ChildResults(
        session_id=state.session,
        ended=tuple(ended),
        pending=tuple(pending),
        timed_out=timed_out,
        sequence=state.sequence,
    )


def _build_graph_entry(thread: Thread) -> GraphAgent:
    child = thread.child
    return GraphAgent(
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
