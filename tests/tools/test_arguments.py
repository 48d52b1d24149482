"""Arguments of tools: checks, canonical form and one-line text."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.contracts.facts.permission import list_checks
from callboard.contracts.ports.tools import ToolCall
from callboard.tools.arguments import CALL_AGAIN
from tests.tools.rigs.calls import Agent


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("Read", "{}", "file_path: is required."),
        ("Read", "", "file_path: is required."),
        ("Read", '{"file_path":1}', "file_path: Expected `str`, got `int`."),
        ("Read", '{"file_path":""}', "file_path: Expected `str` of length >= 1."),
        ("Read", '{"path":"a","file_path":"a"}', "path: is not an argument of this tool."),
        ("Read", '{"file_path":"a","limit":0}', "limit: Expected `int` >= 1."),
        ("Read", "[1]", "Expected `object`, got `array`."),
        ("Read", "not json", "The arguments are not a JSON object: JSON is malformed: invalid character (byte 4)."),
        ("Write", '{"file_path":"a"}', "content: is required."),
        ("Bash", '{"command":"a\\u0000b"}', "command: contains a NUL byte."),
        ("Bash", '{"command":"a","timeout":86400001}', "timeout: Expected `int` <= 86400000."),
        ("Grep", '{"pattern":"a","output_mode":"all"}', "output_mode: Invalid enum value 'all'."),
    ],
)
async def test_invalid_arguments_are_denied_with_the_field_and_a_hint(
    agent: Agent, tool: str, arguments: str, message: str
):
    """SAFE-05"""
    evaluation = await agent.toolbox.evaluate(ToolCall(call_id="c", tool=tool, arguments=arguments), agent.context)

    hint = "Remove it." if "NUL" in message else CALL_AGAIN
    assert (evaluation.verdict, evaluation.code) == ("deny", "tool_arguments")
    assert evaluation.message == f"{message} {hint}"
    assert [check.name for check in list_checks(evaluation.checks)] == ["hooks", "tools"]


async def test_equal_arguments_have_one_canonical_form(agent: Agent):
    written = [
        '{"file_path":"README.md","limit":2}',
        '{ "limit": 2, "file_path": "README.md" }',
        '{"limit":"2","offset":1,"file_path":"\\u0052EADME.md"}',
    ]

    evaluated = [
        await agent.toolbox.evaluate(ToolCall(call_id="c", tool="Read", arguments=text), agent.context)
        for text in written
    ]

    assert {evaluation.arguments for evaluation in evaluated} == {'{"file_path":"README.md","limit":2}'}


@pytest.mark.parametrize(
    ("tool", "arguments", "summary"),
    [
        ("Bash", {"command": "pytest -q\necho done"}, "Bash pytest -q echo done"),
        ("Bash", {"command": "x", "description": "Run the tests"}, "Bash Run the tests"),
        (
            "Bash",
            {"command": "curl -H 'Authorization: Bearer abc.def' x"},
            "Bash curl -H 'Authorization: Bearer ***' x",
        ),
        ("Bash", {"command": "API_KEY=abc x --password hunter2"}, "Bash API_KEY=*** x --password ***"),
        ("Bash", {"command": "echo sk-abcdefghijkl"}, "Bash echo sk-***"),
        ("Bash", {"command": "echo \x1b[31mred"}, "Bash echo ⟨U+001B⟩[31mred"),
        ("Read", {"file_path": "./README.md", "offset": 5}, "Read README.md, from line 5"),
        ("Grep", {"pattern": "a b", "path": "src"}, "Grep a b in src"),
        ("Glob", {"pattern": "**/*.py"}, "Glob **/*.py"),
        ("Write", {"file_path": "a.txt", "content": "secret"}, "Write a.txt"),
    ],
)
async def test_the_row_is_one_line_without_secrets(agent: Agent, tool: str, arguments: dict[str, Any], summary: str):
    """SAFE-06"""
    assert (await agent.evaluate(tool, **arguments)).summary == summary
