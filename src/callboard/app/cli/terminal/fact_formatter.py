"""Facts as lines for a person who watches a team in a terminal."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionRequired, ActionResolved
from callboard.contracts.facts.agent import AgentSlept, AgentWoke, RemoteArtifact, RemoteTaskChanged, WakeReason
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.exchange.channel import ChannelMessage
from callboard.contracts.facts.exchange.handoff import HandoffAccepted, HandoffRequested
from callboard.contracts.facts.exchange.review import ReviewVerdict
from callboard.contracts.facts.message import MessageText, ReasoningCompleted
from callboard.contracts.facts.plan import PlanUpdated
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.subagent import SubagentCompleted, SubagentFailed, SubagentSpawned
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskUpdated
from callboard.contracts.facts.tool import ToolCompleted, ToolFailed, ToolRefused, ToolRequested
from callboard.contracts.facts.turn import TurnFailed, TurnInterrupted
from callboard.contracts.times import format_timestamp

from .output import Style, strip_controls, to_line
from .wording import format_finalization

#: Team tools that record their result as separate facts.
_WITH_OWN_FACTS = frozenset(
    {"spawn_subagent", "send_handoff", "submit_verdict", "create_task", "update_task", "request_review", "send_message"}
)

#: Number of last lines printed of a command's output.
_MAX_LINES = 4
#: Colours of marks; other marks have none.
_COLOURS = (
    dict.fromkeys("›", Style.bold)
    | dict.fromkeys("·≡→~", Style.dim)
    | dict.fromkeys("+✓⇒⇐", Style.good)
    | dict.fromkeys("✗", Style.bad)
    | dict.fromkeys("?!", Style.warn)
)
_WAKE_REASONS: dict[WakeReason, str] = {
    "schedule": "scheduled",
    "fact": "an event triggered it",
    "inbox": "it received a message",
    "person": "you sent it a message",
}


def format_output_tail(fact: Fact, width: int) -> list[str]:
    """Return the last lines of a command's output, each at most `width` characters; empty for other facts.

    An output that the fact only holds in part is replaced by its exit code.
    """
    if not isinstance(fact, ToolCompleted | ToolFailed) or fact.exit_code is None:
        return []
    if fact.output.ref is not None:
        return [f"exit {fact.exit_code}; its output is too long to show here"]
    lines = [to_line(line, width) for line in strip_controls(fact.output.text).splitlines() if line.strip()]
    return lines[-_MAX_LINES:]


def format_fact(fact: Fact, style: Style, width: int) -> str:
    """Format a fact with at most `width` characters of text; empty for a fact that needs no line."""
    descriptions = (describe(fact) for describe in (_describe_action, _describe_delegation, _describe_board))
    mark, text = next((description for description in descriptions if description[0]), ("", ""))
    return f"{_COLOURS.get(mark, Style.plain)(style, mark)} {to_line(text, width)}" if mark else ""


def _describe_action(fact: Fact) -> tuple[str, str]:
    """Return mark and text for messages, actions and questions of an agent."""
    match fact:
        case MessageText(content=text):
            return "›", text.text
        case ReasoningCompleted(content=Text() as text):
            return "·", text.text
        case PlanUpdated():
            done = sum(step.status == "completed" for step in fact.steps)
            now = next((step.content for step in fact.steps if step.status == "in_progress"), "")
            return "≡", f"plan: {done} of {len(fact.steps)} done{f', now {now}' if now else ''}"
        case ToolRequested() if fact.tool not in _WITH_OWN_FACTS:
            return "→", fact.summary or fact.tool
        case ToolRefused() | ToolFailed() | TurnFailed():
            return "✗", f"{fact.code}: {fact.message}"
        case ActionRequired():
            return "?", f"asks you: {fact.prompt}"
        case ActionResolved():
            return "!", f"your answer: {fact.answer.text or fact.decision}"
        case TurnInterrupted():
            return "✗", f"interrupted ({fact.cause})"
        case ThreadPaused():
            return "!", f"paused: {fact.reason or fact.cause}"
        case _:
            return "", ""


def _describe_delegation(fact: Fact) -> tuple[str, str]:
    """Return mark and text for children, channels, handoffs and remote agents."""
    match fact:
        case SubagentSpawned():
            return "+", f"receives: {fact.objective.text}"
        case SubagentCompleted():
            return "✓", f"is done{format_finalization(fact.plain_text)}"
        case SubagentFailed():
            return "✗", f"failed, {fact.code}: {fact.message}"
        case ChannelMessage():
            receivers = ", ".join(agent for agent in fact.participants if agent != fact.source)
            return "⇒", f"writes to {receivers}: {fact.message.text}"
        case RemoteTaskChanged():
            return "~", f"remote task: {fact.state.replace('_', ' ')}. {fact.message.text}"
        case RemoteArtifact():
            return "+", f"delivers {fact.name or fact.remote_artifact_id}"
        case HandoffRequested():
            return "⇒", f"hands off to {fact.target}: {fact.payload.message}"
        case HandoffAccepted():
            return "⇐", f"accepted the handoff of {fact.source}"
        case _:
            return "", ""


def _describe_board(fact: Fact) -> tuple[str, str]:
    """Return mark and text for reviews, the board, and agents that wake or sleep."""
    match fact:
        case ReviewVerdict():
            mark = "✓" if fact.verdict == "passed" else "!"
            return mark, f"review of {fact.target}: {fact.verdict.replace('_', ' ')}. {fact.summary}"
        case TaskCreated():
            return "□", f"on the board: {fact.title}{f' ({fact.assignee})' if fact.assignee else ''}"
        case TaskUpdated(status=str(status)):
            return "□", f"on the board: {status}{f', {fact.blocker}' if fact.blocker else ''}"
        case TaskCompleted():
            return "■", f"on the board: done{format_finalization(fact.plain_text)}. {fact.summary}"
        case AgentWoke():
            return "+", f"wakes: {_WAKE_REASONS[fact.reason]}"
        case AgentSlept():
            return "~", f"sleeps {_format_end(fact)}"
        case _:
            return "", ""


def _format_end(fact: AgentSlept) -> str:
    if fact.reason == "ended":
        return "for good: its task has ended"
    ends = [f"until {format_timestamp(fact.wake_at)[:19]}Z"] if fact.wake_at else []
    ends += [f"until there is a {event}" for event in fact.wake_on]
    return ", or ".join(ends) or "until it receives a message"
