"""What an agent that is not of our loop is told: what came since it spoke last, and first of all who it is where it does not
know."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.model import ModelMessage, TextContent, ToolCallContent, ToolResultContent
from callboard.tools.gate import external_starts

#: How much of an earlier conversation an agent is told that does not remember it, in characters from its end.
LONGEST_BEFORE = 20_000

_BEFORE = "What was said before, which you do not remember:"


def first_unanswered(messages: Sequence[ModelMessage]) -> int:
    """Where what it has not answered begins."""
    return max((at for at, one in enumerate(messages, 1) if one.role != "user" and not _joins(one)), default=0)


def build_prompt(agent: Definition, messages: Sequence[ModelMessage], *, knows: bool) -> str:
    """What the agent is told next; `knows` says that it remembers the conversation."""
    spoke = first_unanswered(messages)
    now = [text for one in messages[spoke:] for text in text_parts(one)]
    if knows:
        return "\n\n".join(now)
    before = "\n\n".join(f"{one.role}: {text}" for one in messages[:spoke] for text in text_parts(one))
    earlier = [f"{_BEFORE}\n\n{before[-LONGEST_BEFORE:]}"] if before else []
    return "\n\n".join(part for part in (agent.prompt, *earlier, *now) if part)


def text_parts(message: ModelMessage) -> list[str]:
    """What is text of a message."""
    return [one.text for one in message.content if isinstance(one, TextContent) and one.text]


def _joins(message: ModelMessage) -> bool:
    """True for what tells of starting or contacting the agent, and not of what it said or did."""
    return all(
        isinstance(one, ToolCallContent | ToolResultContent)
        and one.tool in (external_starts.START, external_starts.CONNECT)
        for one in message.content
    )
