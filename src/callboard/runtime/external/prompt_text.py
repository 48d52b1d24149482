"""The prompt of an external agent: the new messages, and its instructions if it does not know them."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.contracts.ports.agents import Definition
from callboard.contracts.ports.model import ModelMessage, TextContent, ToolCallContent, ToolResultContent
from callboard.tools.gate import external_starts

#: Characters of the earlier conversation that a new agent receives, from its end.
MAX_HISTORY_CHARS = 20_000

_HISTORY = "The conversation so far, which you do not remember:"


def find_first_unanswered(messages: Sequence[ModelMessage]) -> int:
    """Return the index of the first message after the agent's last one."""
    return max(
        (at for at, message in enumerate(messages, 1) if message.role != "user" and not _is_connection(message)),
        default=0,
    )


def build_prompt(agent: Definition, messages: Sequence[ModelMessage], *, knows: bool) -> str:
    """Return the next prompt. `knows` is True if the agent remembers the conversation."""
    start = find_first_unanswered(messages)
    new_texts = [text for message in messages[start:] for text in list_texts(message)]
    if knows:
        return "\n\n".join(new_texts)
    history = "\n\n".join(f"{message.role}: {text}" for message in messages[:start] for text in list_texts(message))
    earlier = [f"{_HISTORY}\n\n{history[-MAX_HISTORY_CHARS:]}"] if history else []
    return "\n\n".join(part for part in (agent.prompt, *earlier, *new_texts) if part)


def list_texts(message: ModelMessage) -> list[str]:
    """Return the texts of a message."""
    return [content.text for content in message.content if isinstance(content, TextContent) and content.text]


def _is_connection(message: ModelMessage) -> bool:
    """Return True if the message only records that the agent was started or contacted."""
    return all(
        isinstance(content, ToolCallContent | ToolResultContent)
        and content.tool in (external_starts.START, external_starts.CONNECT)
        for content in message.content
    )
