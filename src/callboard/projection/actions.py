"""Requests that wait for an answer. `parts.action` shows their outcome."""

from __future__ import annotations

import msgspec

from callboard.contracts.facts.action import ActionEndFact, ActionRequired
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.turn import TurnEndFact
from callboard.contracts.ports.external import REMOTE_AUTH, REMOTE_INPUT
from callboard.contracts.record import Record
from callboard.contracts.rows.action import ActionRow, RequestedChange
from callboard.contracts.rows.base import Op

from .reducer import Panel, on, remove, upsert

#: The file hash of a binding to a file that does not exist.
ABSENT = "absent"
#: Tool names of a remote agent's requests. They are not tools.
_NO_TOOL = frozenset({REMOTE_INPUT, REMOTE_AUTH})
#: The number of header lines of a unified diff.
_HEADER_LINES = 2


def get_requested_tool(fact: ActionRequired) -> str:
    """Return the tool of the request; empty for requests without a tool."""
    return "" if fact.tool in _NO_TOOL else fact.tool


class RequestingAgent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An agent whose calls may need an answer. `parent` is its parent agent."""

    id: str
    name: str
    parent: str = ""


class ActionsPanel(Panel):
    """Pending actions. `pending` maps each unanswered action to its turn, `agents` each thread to
    its agent."""

    pending: dict[str, str] = msgspec.field(default={})
    agents: dict[str, RequestingAgent] = msgspec.field(default={})

    @on
    def open_thread(self, record: Record, fact: ThreadOpened) -> list[Op]:
        scope, parent = record.scope, self.agents.get(record.scope.parent_thread)
        self.agents[scope.thread] = RequestingAgent(
            id=scope.agent, name=fact.agent_name, parent=parent.id if parent is not None else ""
        )
        return []

    @on
    def add_action(self, record: Record, fact: ActionRequired) -> list[Op]:
        scope = record.scope
        self.pending[scope.action] = scope.turn
        return upsert(_build_row(record, fact, self.agents.get(scope.thread, RequestingAgent(id=scope.agent, name=""))))

    @on
    def end_action(self, record: Record, fact: ActionEndFact) -> list[Op]:
        action = record.scope.action
        return [] if self.pending.pop(action, None) is None else remove(ActionRow, action)

    @on
    def end_turn(self, record: Record, fact: TurnEndFact) -> list[Op]:
        ended = [action for action, turn in self.pending.items() if turn == record.scope.turn]
        for action in ended:
            del self.pending[action]
        return [op for action in ended for op in remove(ActionRow, action)]


def _build_row(record: Record, fact: ActionRequired, asker: RequestingAgent) -> ActionRow:
    scope = record.scope
    return ActionRow(
        key=scope.action,
        order=record.sequence,
        sequence=record.sequence,
        action_id=scope.action,
        action_type=fact.action_type,
        turn_id=scope.turn,
        thread_id=scope.thread,
        agent_id=asker.id,
        agent_name=asker.name,
        parent_agent_id=asker.parent,
        tool_call_id=scope.tool_call,
        tool=get_requested_tool(fact),
        prompt=fact.prompt,
        arguments=fact.arguments,
        preview=fact.preview,
        change=_build_change(fact),
        risk=fact.risk,
        decisions=fact.decisions,
        scopes=fact.scopes,
        matchers=fact.matchers,
        policy=fact.policy,
        sandbox=fact.sandbox,
        network=fact.network,
        required_at=record.header.at,
        expires_at=fact.expires_at,
        artifact_id=fact.artifact_id,
        artifact_version=fact.artifact_version,
        hooked=fact.hooked,
        hook_reasons=fact.hook_reasons,
        asked=fact.asked,
        commands=fact.commands,
        modes=fact.modes,
        reasons=fact.reasons,
    )


def _build_change(fact: ActionRequired) -> RequestedChange | None:
    """Return the change to a file, from the request's binding and diff."""
    if fact.binding is None or not fact.binding.file:
        return None
    change = RequestedChange(path=fact.binding.file, creates=fact.binding.file_hash == ABSENT)
    if fact.preview is None or fact.preview.ref is not None or fact.preview.erased:
        return change
    body = fact.preview.text.split("\n")[_HEADER_LINES:]
    if not any(body):
        return msgspec.structs.replace(change, differs=change.creates, added=0, removed=0)
    if not body[0].startswith("@@"):
        return msgspec.structs.replace(change, differs=True)
    added, removed = (sum(line.startswith(mark) for line in body) for mark in "+-")
    return msgspec.structs.replace(change, differs=True, added=added, removed=removed)
