"""The log of a server: its newest lines, without parts of secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_types import ElicitRequestFormParams, ElicitResult

from callboard.contracts.ports.tools import Reply
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from callboard.tools.mcp.questions import MAX_QUESTION_CHARS, ask
from callboard.tools.mcp.server_log import MAX_CHARS, PlainText, ServerLog
from tests.tools.mcp.servers import open_agent, python_server
from tests.tools.rigs.calls import RecordingReporter

SECRET = "d3pl0y-Zx9wVu8tSr7qPo6n"
SECRETS = Redaction([NamedSecret("deploy", SECRET, "keyring")])


def contains_part(text: str) -> bool:
    """Return whether the text contains four successive letters of the secret."""
    return any(SECRET[at : at + 4] in text for at in range(len(SECRET) - 3))


@pytest.mark.parametrize("pieces", [1, 7, 5000])
@pytest.mark.parametrize("within", range(len(SECRET) + 1))
def test_a_secret_across_the_boundary_leaves_no_part(within: int, pieces: int):
    """SAFE-03"""
    text = "." * 30_000 + SECRET + "." * (MAX_CHARS - within)
    log, plain_log = ServerLog(SECRETS.redact_stream), ServerLog(PlainText)
    for at in range(0, len(text), len(text) // pieces):
        log.add(text[at : at + len(text) // pieces])
        plain_log.add(text[at : at + len(text) // pieces])
    assert contains_part(plain_log.read_text()) is (within >= 4)
    assert not contains_part(log.read_text())
    assert log.read_text().endswith("." * (MAX_CHARS - len(SECRET)))
    assert len(log.read_text()) <= MAX_CHARS + len("secret://deploy")


def test_the_log_keeps_the_end_in_order():
    log = ServerLog(SECRETS.redact_stream)
    for number in range(10_000):
        log.add(f"line {number} with {SECRET}\n")
    assert log.read_text().endswith("line 9998 with secret://deploy\nline 9999 with secret://deploy\n")
    assert log.find_last_line() == "line 9999 with secret://deploy"
    assert len(log.read_text()) <= MAX_CHARS


async def test_a_truncated_server_message_contains_no_secret(folder: Path):
    """SAFE-03"""
    cut = f"import sys; sys.stderr.write({SECRET!r} + '.' * {MAX_CHARS - 9} + chr(10)); sys.exit(3)"
    long = f"print('x' * 490 + {SECRET!r} + 'x' * 490)"
    servers = (python_server("cut", cut), python_server("long", long))
    async with open_agent(folder, *servers, redaction=SECRETS.redact_stream) as agent:
        states = {state.name: state for state in agent.toolbox.list_servers(agent.context)}
    assert not any(contains_part(f"{state.said} {state.message}") for state in states.values())
    assert states["cut"].said.endswith("....\n")
    assert states["long"].said == "[a line of 1,003 bytes]\n"


@pytest.mark.parametrize("within", [0, 3, len(SECRET) - 3, len(SECRET)])
async def test_a_truncated_question_contains_no_secret(within: int):
    """SAFE-03"""
    text = "." * (MAX_QUESTION_CHARS - within) + SECRET + "." * MAX_QUESTION_CHARS
    reporter = RecordingReporter([], Reply(outcome="reject"))
    form = ElicitRequestFormParams(message=text, requested_schema={"type": "object", "properties": {}})
    assert await ask("asking", form, reporter, ServerLog(SECRETS.redact_stream).redact) == ElicitResult(
        action="decline"
    )
    (question,) = reporter.questions
    assert not contains_part(question.message)
    assert len(question.message) <= MAX_QUESTION_CHARS
