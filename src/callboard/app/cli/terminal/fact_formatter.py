"""A fact on a line, for whoever watches a team in a terminal."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts import (
    ActionRequired,
    ActionResolved,
    AgentSlept,
    AgentWoke,
    ChannelMessage,
    Fact,
    HandoffAccepted,
    HandoffRequested,
    MessageText,
    PlanUpdated,
    ReasoningCompleted,
    RemoteArtifact,
    RemoteTaskChanged,
    ReviewVerdict,
    SubagentCompleted,
    SubagentFailed,
    SubagentSpawned,
    TaskCompleted,
    TaskCreated,
    TaskUpdated,
    ThreadPaused,
    ToolCompleted,
    ToolFailed,
    ToolRefused,
    ToolRequested,
    TurnFailed,
    TurnInterrupted,
)
from callboard.contracts.facts.agent import WakeReason
from callboard.contracts.times import timestamp

from .output import Style, strip_controls, to_line
from .wording import finalization_note

#: Team tools say what they came to in facts of their own.
_TOLD_BY_FACTS = frozenset(
    {"spawn_subagent", "send_handoff", "submit_verdict", "create_task", "update_task", "request_review", "send_message"}
)

#: So many lines of a command's output are shown: where a result stands.
_LINES = 4
_WOKEN: dict[WakeReason, str] = {
    "schedule": "it is time",
    "fact": "something happened that it wakes on",
    "inbox": "somebody wrote to it",
    "person": "you wrote to it",
}


def format_output_tail(fact: Fact, room: int) -> list[str]:
    """The last lines that a command printed, each in at most so many characters; none of any other fact, and none of an output
    of which the fact has the beginning only."""
    if not isinstance(fact, ToolCompleted | ToolFailed) or fact.exit_code is None:
        return []
    if fact.output.ref is not None:
        return [f"exit {fact.exit_code}; it printed more than fits here"]
    lines = [to_line(line, room) for line in strip_controls(fact.output.text).splitlines() if line.strip()]
    return lines[-_LINES:]


def format_fact(fact: Fact, style: Style, room: int) -> str:
    """What happened, its text in at most so many characters; empty where nothing needs to be said of it."""
    told = (tell(fact, style) for tell in (_of_one, _of_the_team, _of_sleep))
    mark, text = next((one for one in told if one[0]), ("", ""))
    return f"{mark} {to_line(text, room)}" if mark else ""


def _of_one(fact: Fact, style: Style) -> tuple[str, str]:
    """What an agent says and does, and what it asks of the person."""
    match fact:
        case MessageText(content=text):
            return style.bold("›"), text.text
        case ReasoningCompleted(content=Text() as text):
            return style.dim("·"), text.text
        case PlanUpdated():
            done = sum(step.status == "completed" for step in fact.steps)
            now = next((step.content for step in fact.steps if step.status == "in_progress"), "")
            return style.dim("≡"), f"plan: {done} of {len(fact.steps)} done{f', now {now}' if now else ''}"
        case ToolRequested() if fact.tool not in _TOLD_BY_FACTS:
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
            return style.warn("!"), f"waits for a person: {fact.reason or fact.cause}"
        case _:
            return "", ""


def _of_the_team(fact: Fact, style: Style) -> tuple[str, str]:
    """What agents give each other, and their board."""
    match fact:
        case SubagentSpawned():
            return style.good("+"), f"is given: {fact.objective.text}"
        case SubagentCompleted():
            return style.good("✓"), f"is done{finalization_note(fact.plain_text)}"
        case SubagentFailed():
            return style.bad("✗"), f"failed, {fact.code}: {fact.message}"
        case ChannelMessage():
            others = ", ".join(one for one in fact.participants if one != fact.source)
            return style.good("⇒"), f"writes to {others}: {fact.message.text}"
        case RemoteTaskChanged():
            return style.dim("~"), f"its task there: {fact.state.replace('_', ' ')}. {fact.message.text}"
        case RemoteArtifact():
            return style.good("+"), f"delivers {fact.name or fact.remote_artifact_id}"
        case HandoffRequested():
            return style.good("⇒"), f"hands over to {fact.target}: {fact.payload.message}"
        case HandoffAccepted():
            return style.good("⇐"), f"took the handoff of {fact.source}"
        case ReviewVerdict():
            mark = style.good("✓") if fact.verdict == "passed" else style.warn("!")
            return mark, f"on the work of {fact.target}: {fact.verdict.replace('_', ' ')}. {fact.summary}"
        case TaskCreated():
            return "□", f"on the board: {fact.title}{f' ({fact.assignee})' if fact.assignee else ''}"
        case TaskUpdated(status=str(status)):
            return "□", f"on the board: {status}{f', {fact.blocker}' if fact.blocker else ''}"
        case TaskCompleted():
            return "■", f"on the board: done{finalization_note(fact.plain_text)}. {fact.summary}"
        case _:
            return "", ""


def _of_sleep(fact: Fact, style: Style) -> tuple[str, str]:
    """Agents that wake by themselves."""
    match fact:
        case AgentWoke():
            return style.good("+"), f"wakes: {_WOKEN[fact.reason]}"
        case AgentSlept():
            return style.dim("~"), f"sleeps {_until(fact)}"
        case _:
            return "", ""


def _until(fact: AgentSlept) -> str:
    if fact.reason == "ended":
        return "for good: its task is over"
    ends = [f"until {timestamp(fact.wake_at)[:19]}Z"] if fact.wake_at else []
    ends += [f"until there is a {one}" for one in fact.wake_on]
    return ", or ".join(ends) or "until somebody turns to it"
