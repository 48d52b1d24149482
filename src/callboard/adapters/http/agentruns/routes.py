"""Routes of the Multi-agent runtime specification (API contract), and the interrupt of the Communication specification."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callboard.contracts.commands.session import GetSession, SessionRead
from callboard.contracts.commands.subagent import CancelSubagent
from callboard.contracts.commands.turn import InterruptTurn, SubmitTurn, ThreadChanged, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.status import StatusRow
from callboard.contracts.scope import PERSON

from ..commands import build_json_response
from ..dependencies import HttpDependencies
from ..feeds import LAST_EVENT_ID, end_with_problem
from ..requests import decode, parse_query, read_actor, read_idempotency_key, read_json_body
from ..streams import SseResponse, SseResponses
from .contexts import read_raw_context, summarise_run
from .queries import (
    Accepted,
    CancelBody,
    ChatBody,
    ChildrenQuery,
    ContextQuery,
    EventsQuery,
    InterruptBody,
    Json,
    RunsQuery,
    SettingsBody,
    SettingsQuery,
    TreeQuery,
)
from .refusals import translate_refusals
from .settings import refuse_changes
from .tree import read_tree

_cancel = msgspec.json.Decoder(CancelBody)
_chat = msgspec.json.Decoder(ChatBody)
_interrupt = msgspec.json.Decoder(InterruptBody)
_settings = msgspec.json.Decoder(SettingsBody)


def build_agent_run_routes(dependencies: HttpDependencies, streams: SseResponses) -> list[Route]:
    """Build the routes."""
    routes = _Routes(dependencies, streams)
    return [
        Route("/api/agent-runs", routes.list_runs, methods=["GET"]),
        Route("/api/agent-children", routes.list_children, methods=["GET"]),
        Route("/api/agent-context", routes.show_context, methods=["GET"]),
        Route("/api/agent-cancel", routes.cancel, methods=["POST"]),
        Route("/api/chat", routes.chat, methods=["POST"]),
        Route("/api/events", routes.follow_events, methods=["GET"]),
        Route("/api/settings", routes.show_settings, methods=["GET"]),
        Route("/api/settings", routes.change_settings, methods=["POST"]),
        Route("/api/workspace/tree", routes.show_tree, methods=["GET"]),
        Route("/api/runs/{session}/nodes/{agent}/interrupt", routes.interrupt, methods=["POST"]),
    ]


class _Routes:
    def __init__(self, dependencies: HttpDependencies, streams: SseResponses) -> None:
        self._dependencies = dependencies
        self._streams = streams

    async def list_runs(self, request: Request) -> Response:
        query = parse_query(request, RunsQuery)
        return build_json_response(
            {"runs": await self._dependencies.runs.list_runs(query.project_root, query.session_id)}
        )

    async def list_children(self, request: Request) -> Response:
        query = parse_query(request, ChildrenQuery)
        children = await self._dependencies.runs.list_children(query.run_id)
        return build_json_response({"run_id": query.run_id, "children": children})

    async def show_context(self, request: Request) -> Response:
        query = parse_query(request, ContextQuery)
        reads = self._dependencies.runs
        run = await reads.find_run(query.run_id)
        if query.view == "summary":
            return build_json_response(await summarise_run(reads, run))
        store_id = self._dependencies.store.id
        return build_json_response(await read_raw_context(reads, run, query.after, query.limit, store_id))

    async def cancel(self, request: Request) -> Response:
        """Cancel a run and all runs that work for it.

        The answer has the state of the run after the request. The events report its end, once its open calls stopped.
        """
        key, actor = read_idempotency_key(request), read_actor(request)
        body = decode(_cancel, await read_json_body(request))
        run = await self._dependencies.runs.find_run(body.run_id)
        record = run.record
        if record.ended_at is not None:
            raise Refusal(
                "nothing_running",
                f"The run {record.run_id} has already ended: it {_describe_end(record.status)}.",
                field="run_id",
                hint="Only a running run can be cancelled.",
            )
        command: Any
        if record.agent_kind == "subagent":
            command = CancelSubagent(session_id=record.session_id, agent=record.agent_id, reason=body.reason)
        else:
            command = InterruptTurn(
                session_id=record.session_id,
                thread_id=run.thread_id,
                turn_id=run.turn_id,
                cascade=True,
                reason=body.reason,
            )
        with translate_refusals():
            answer = await self._dependencies.commands.submit(command, key=key, actor=actor)
        return build_json_response(
            {
                "run": (await self._dependencies.runs.find_run(body.run_id)).record,
                "cancelling": True,
                "sequence": answer.sequence,
            }
        )

    async def chat(self, request: Request) -> Response:
        key, actor = read_idempotency_key(request), read_actor(request)
        body = decode(_chat, await read_json_body(request))
        thread = None
        if body.session_id is not None and body.agent_id is not None:
            thread = (await self._find_thread(body.session_id, body.agent_id, "agent_id")).thread_id
        elif body.agent_id is not None:
            raise Refusal(
                "invalid_input",
                "agent_id needs a session_id.",
                field="agent_id",
                hint="Send session_id as well, or omit agent_id.",
            )
        workspace = None
        if body.session_id is None:
            workspace = self._dependencies.runs.find_folder(body.project_root).workspace_id
        with translate_refusals():
            accepted: TurnAccepted = await self._dependencies.commands.submit(
                SubmitTurn(
                    text=body.message,
                    workspace_id=workspace,
                    session_id=body.session_id,
                    thread_id=thread,
                    mode=body.mode,
                    permission_mode=body.permission_mode,
                    when_busy="queue",
                ),
                key=key,
                actor=actor,
            )
        return build_json_response(
            Accepted(
                session_id=accepted.session_id,
                agent_id=await self._find_agent(accepted),
                thread_id=accepted.thread_id,
                turn_id=accepted.turn_id,
                status=accepted.status,
            )
        )

    async def follow_events(self, request: Request) -> SseResponse:
        query = parse_query(request, EventsQuery)
        folder = self._dependencies.runs.find_folder(query.project_root)
        chunks = self._dependencies.feeds.follow_events(
            folder.workspace_id, after=_choose_position(request, query.after)
        )
        return self._streams.respond(end_with_problem(chunks, f"the events of {folder.workspace_id}"))

    async def show_settings(self, request: Request) -> Response:
        query = parse_query(request, SettingsQuery)
        return build_json_response(self._dependencies.runs.read_settings(query.project_root))

    async def change_settings(self, request: Request) -> Response:
        body = await read_json_body(request)
        sent = decode(_settings, body)
        self._dependencies.runs.find_folder(sent.project_root)
        refuse_changes(body)
        return build_json_response(self._dependencies.runs.read_settings(sent.project_root))

    async def show_tree(self, request: Request) -> Response:
        query = parse_query(request, TreeQuery)
        folder = self._dependencies.runs.find_folder(query.project_root)
        return build_json_response(await asyncio.to_thread(read_tree, folder.path, query.path, query.depth))

    async def interrupt(self, request: Request) -> Response:
        """Interrupt an agent. In the Communication specification a run is a session and a node an agent (COM-10, COM-11)."""
        key, actor = read_idempotency_key(request), read_actor(request)
        has_body = int(request.headers.get("content-length", "0") or 0) > 0
        body = decode(_interrupt, await read_json_body(request) if has_body else b"{}")
        session: str = request.path_params["session"]
        agent: str = request.path_params["agent"]
        status = await self._find_thread(session, agent, "nodeId")
        command = InterruptTurn(
            session_id=session,
            thread_id=status.thread_id,
            queued=body.queued,
            cascade=body.cascade,
            reason=body.reason,
        )
        changed: ThreadChanged = await self._dependencies.commands.submit(command, key=key, actor=actor)
        answer: Json = {
            "runId": session,
            "nodeId": agent,
            "threadId": changed.thread_id,
            "turnId": changed.turn_id,
            "sequence": changed.sequence,
        }
        return build_json_response(answer)

    async def _find_thread(self, session: str, agent: str, field: str) -> StatusRow:
        """Return the thread of an agent. Raises Refusal `unknown_session` or `unknown_agent`."""
        with translate_refusals():
            for thread in await self._read_threads(session):
                if agent in (thread.agent_id, thread.thread_id):
                    return thread
        raise Refusal(
            "unknown_agent",
            f"The session has no agent {agent[:100]}.",
            field=field,
            hint="Find the agent of each run with GET /api/agent-runs.",
        )

    async def _find_agent(self, accepted: TurnAccepted) -> str:
        threads = await self._read_threads(accepted.session_id, accepted.sequence)
        return next((thread.agent_id for thread in threads if thread.thread_id == accepted.thread_id), "")

    async def _read_threads(self, session: str, wait_for: int = 0) -> tuple[StatusRow, ...]:
        query = GetSession(session_id=session, turns=1, wait_for=wait_for)
        session_read: SessionRead = await self._dependencies.commands.submit(query, actor=PERSON)
        return session_read.threads


def _choose_position(request: Request, after: int | None) -> int | None:
    """Return the number to continue from.

    Last-Event-ID takes precedence over the query: a browser that reconnects repeats its first address.
    """
    last = request.headers.get(LAST_EVENT_ID)
    if last is None:
        return after
    if not (last.isascii() and last.isdigit() and len(last) <= 16):
        raise Refusal("invalid_input", "Expected a seq.", field=LAST_EVENT_ID, hint="Send the newest seq, unchanged.")
    return int(last)


def _describe_end(status: str) -> str:
    return "was cancelled" if status == "cancelled" else status
