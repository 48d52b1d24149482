"""Facts as lines for a person who watches a team in a terminal."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.agent import AgentSlept, AgentWoke, RemoteArtifact, RemoteTaskChanged, WakeReason
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.handoff import ChannelMessage, HandoffAccepted, HandoffRequested
from callboard.contracts.facts.message import MessageText, PlanUpdated, ReasoningCompleted
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.subagent import SubagentCompleted, SubagentFailed, SubagentSpawned
from callboard.contracts.facts.task import ReviewVerdict, TaskCompleted, TaskCreated, TaskUpdated
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused, ToolRequested
from callboard.contracts.facts.turn import TurnFailed, TurnInterrupted
from callboard.contracts.times import timestamp

from .output import Style, strip_controls, to_line
from .wording import finalization_note

#: Team tools that record their result as separate facts.
_WITH_OWN_FACTS = frozenset(
    {"spawn_subagent", "send_handoff", "submit_verdict", "create_task", "update_task", "request_review", "send_message"}
)

#: Number of last lines shown of a command's output.
_LINES = 4
_WOKEN: dict[WakeReason, str] = {
    "schedule": "scheduled",
    "fact": "an event triggered it",
    "inbox": "it received a message",
    "person": "you sent it a message",
}


def format_output_tail(fact: Fact, room: int) -> list[str]:
    """Return the last lines of a command's output, each at most `room` characters; empty for other facts.

    An output that the fact only holds in part is replaced by its exit code.
    """
    if not isinstance(fact, ToolCompleted | ToolFailed) or fact.exit_code is None:
        return []
    if fact.output.ref is not None:
        return [f"exit {fact.exit_code}; its output is too long to show here"]
    lines = [to_line(line, room) for line in strip_controls(fact.output.text).splitlines() if line.strip()]
    return lines[-_LINES:]


def format_fact(fact: Fact, style: Style, room: int) -> str:
    """Format a fact with at most `room` characters of text; empty for a fact that needs no line."""
    formatters = (_format_agent, _format_team, _format_schedule)
    lines = (formatter(fact, style) for formatter in formatters)
    mark, text = next((line for line in lines if line[0]), ("", ""))
    return f"{mark} {to_line(text, room)}" if mark else ""


def _format_agent(fact: Fact, style: Style) -> tuple[str, str]:
    """Return mark and text for messages, actions and questions of an agent."""
    match fact:
        case MessageText(content=text):
            return style.bold("›"), text.text
        case ReasoningCompleted(content=Text() as text):
            return style.dim("·"), text.text
        case PlanUpdated():
            done = sum(step.status == "completed" for step in fact.steps)
            now = next((step.content for step in fact.steps if step.status == "in_progress"), "")
            return style.dim("≡"), f"plan: {done} of {len(fact.steps)} done{f', now {now}' if now else ''}"
        case ToolRequested() if fact.tool not in _WITH_OWN_FACTS:
            return style.dim("→"), fact.summary or fact.tool
        case ToolRefused() | ToolFailed():
            return style.bad("✗"), f"{fact.code}: {fact.message}"
        case ActionRequired():
            return style.warn("?"), f"asks you: {fact.prompt}"
        case ActionResolved():
            return style.warn("!"), f"your answer: {fact.answer.text or fact.decision}"
        case TurnFailed():
            return style.bad("✗"), f"{fact.code}: {fact.message}"
        case TurnInterrupted():
            return style.bad("✗"), f"interrupted ({fact.cause})"
        case ThreadPaused():
            return style.warn("!"), f"paused: {fact.reason or fact.cause}"
        case _:
            return "", ""


def _format_team(fact: Fact, style: Style) -> tuple[str, str]:
    """Return mark and text for delegation, messages and the board."""
    match fact:
        case SubagentSpawned():
            return style.good("+"), f"receives: {fact.objective.text}"
        case SubagentCompleted():
            return style.good("✓"), f"is done{finalization_note(fact.plain_text)}"
        case SubagentFailed():
            return style.bad("✗"), f"failed, {fact.code}: {fact.message}"
        case ChannelMessage():
            others = ", ".join(agent for agent in fact.participants if agent != fact.source)
            return style.good("⇒"), f"writes to {others}: {fact.message.text}"
        case RemoteTaskChanged():
            return style.dim("~"), f"remote task: {fact.state.replace('_', ' ')}. {fact.message.text}"
        case RemoteArtifact():
            return style.good("+"), f"delivers {fact.name or fact.remote_artifact_id}"
        case HandoffRequested():
            return style.good("⇒"), f"hands over to {fact.target}: {fact.payload.message}"
        case HandoffAccepted():
            return style.good("⇐"), f"accepted the handoff of {fact.source}"
        case ReviewVerdict():
            mark = style.good("✓") if fact.verdict == "passed" else style.warn("!")
            return mark, f"review of {fact.target}: {fact.verdict.replace('_', ' ')}. {fact.summary}"
        case TaskCreated():
            return "□", f"on the board: {fact.title}{f' ({fact.assignee})' if fact.assignee else ''}"
        case TaskUpdated(status=str(status)):
            return "□", f"on the board: {status}{f', {fact.blocker}' if fact.blocker else ''}"
        case TaskCompleted():
            return "■", f"on the board: done{finalization_note(fact.plain_text)}. {fact.summary}"
        case _:
            return "", ""


def _format_schedule(fact: Fact, style: Style) -> tuple[str, str]:
    """Return mark and text for agents that wake on a schedule or an event."""
    match fact:
        case AgentWoke():
            return style.good("+"), f"wakes: {_WOKEN[fact.reason]}"
        case AgentSlept():
            return style.dim("~"), f"sleeps {_format_end(fact)}"
        case _:
            return "", ""


def _format_end(fact: AgentSlept) -> str:
    if fact.reason == "ended":
        return "for good: its task has ended"
    ends = [f"until {timestamp(fact.wake_at)[:19]}Z"] if fact.wake_at else []
    ends += [f"until there is a {event}" for event in fact.wake_on]
    return ", or ".join(ends) or "until it receives a message"
