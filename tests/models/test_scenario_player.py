"""Models that play a scenario."""

from __future__ import annotations

import asyncio
from pathlib import Path
from textwrap import dedent

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import (
    Finished,
    ModelMessage,
    ReasoningContent,
    ReasoningDelta,
    TextContent,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from callboard.models.scenario import parse
from callboard.models.scenario_player import ScenarioPlayer
from tests.models.requests import collect, make_call, make_message, make_request, make_result, read_answer, read_failure

AT_MOST_S = 5.0


def make_model(text: str, folder: Path = Path("/nowhere")) -> ScenarioPlayer:
    return ScenarioPlayer(parse(dedent(text), "s.yaml"), folder)


async def test_a_call_streams_its_parts_in_order_and_its_stop_reason():
    """UI-06: reasoning and calls are separate parts."""
    model = make_model(
        """
        name: demo
        calls:
          - - reasoning: I should look.
            - text: Let me read.
              chunk: 5
            - tool: {name: Read, arguments: {path: notes.md, limit: 2}}
              chunk: 20
            - usage: {input: 12, output: 8, cached: 10, reasoning: 3}
        """
    )

    assert (model.provider, model.name, model.label) == ("scripted", "demo", "scripted · demo")
    assert await collect(model, make_request("go")) == [
        ReasoningDelta(0, "I should look."),
        TextDelta(1, "Let m"),
        TextDelta(1, "e rea"),
        TextDelta(1, "d."),
        ToolCallDelta(2, call_id="call_1_3", tool="Read"),
        ToolCallDelta(2, arguments='{"path":"notes.md","'),
        ToolCallDelta(2, arguments='limit":2}'),
        Finished(
            stop_reason="tool_calls",
            usage=Usage(input_tokens=12, output_tokens=8, cached_tokens=10, reasoning_tokens=3),
        ),
    ]


CONVERSATION = """
calls:
  - - text: first
    - tool: {name: Read}
  - - text: second
  - - text: third
agents:
  reviewer:
    - - text: I review.
match:
  - text: the REPORT
    agent: lead
    calls:
      - - tool: {name: Write, arguments: {path: report.md}}
      - - text: Written.
"""


async def test_the_call_played_follows_from_the_conversation_alone():
    model = make_model(CONVERSATION)
    history = [
        make_message("user", "go"),
        make_message("assistant", "first", make_call("call_1_2", "Read", "{}")),
        make_result("call_1_2", "Read", "x"),
    ]
    after_restart = make_model(CONVERSATION)

    for instance in (model, after_restart):
        assert (await read_answer(instance, make_request(*history, iteration=2)))[0] == [TextContent("second")]
    longer = [*history, make_message("assistant", "second"), make_message("user", "and?")]
    assert (await read_answer(model, make_request(*longer)))[0] == [TextContent("third")]


async def test_an_agent_plays_the_calls_under_its_name():
    parts, _ = await read_answer(make_model(CONVERSATION), make_request("go", agent="reviewer"))
    assert parts == [TextContent("I review.")]


async def test_a_turn_whose_input_matches_plays_its_own_list_from_the_start():
    model = make_model(CONVERSATION)
    history = [
        make_message("user", "go"),
        make_message("assistant", "first"),
        make_message("user", "Write the report, please"),
    ]

    first, end = await read_answer(model, make_request(*history, agent="lead"))
    assert (first, end.stop_reason) == ([make_call("call_2_1", "Write", '{"path":"report.md"}')], "tool_calls")
    steered = [
        *history,
        make_message("assistant", make_call("call_2_1", "Write", "{}")),
        make_result("call_2_1", "Write", "done"),
        make_message("user", "and be quick"),
    ]
    second, _ = await read_answer(model, make_request(*steered, agent="lead", iteration=2))
    assert second == [TextContent("Written.")]


async def test_a_turn_continues_at_its_call_after_a_compaction():
    """UI-25: `begins` is the turn's first message, because a summary replaces earlier answers."""
    history = [
        make_message("user", "<summary>"),
        make_message("user", "Write the report, please"),
        make_message("user", "and be quick"),
    ]
    second, _ = await read_answer(make_model(CONVERSATION), make_request(*history, agent="lead", iteration=2, begins=1))
    assert second == [TextContent("Written.")]


async def test_a_match_for_one_agent_is_not_played_to_another():
    parts, _ = await read_answer(make_model(CONVERSATION), make_request("Write the report", agent="helper"))
    assert parts[0] == TextContent("first")


async def test_an_id_that_contains_the_text_is_not_a_match():
    model = make_model("calls:\n  - - text: as ever\nmatch:\n  - {text: go, calls: [[{text: gone}]]}\n")
    for text, expected in (
        ("of tsk_0351ZDePdPrLh7goxXMfRa", "as ever"),
        ("GO on with tsk_0351ZDePdPrLh7goxXMfRa", "gone"),
    ):
        assert (await read_answer(model, make_request(text)))[0] == [TextContent(expected)]


async def test_a_scenario_fails_after_its_last_call_with_the_position():
    history = [make_message("user", "go"), make_message("assistant", "I review."), make_message("user", "more")]
    parts, failed = await read_failure(
        make_model("name: short\n" + CONVERSATION), make_request(*history, agent="reviewer")
    )

    assert (parts, failed.code, failed.retryable) == ([], "model_refused_request", False)
    assert failed.message == "The scenario 'short' has no call 2 of the agent 'reviewer'; it has 1."


async def test_a_failure_occurs_at_its_position_and_as_often_as_written():
    model = make_model(
        """
        calls:
          - - text: Well,
            - fail: {code: model_rate_limited, message: later, retryable: true, retry_after: 0.5, attempts: 2}
            - text: here.
        """
    )

    for attempt in (1, 2):
        parts, failed = await read_failure(model, make_request("go", attempt=attempt))
        assert parts == [TextContent("Well,")]
        assert (failed.code, failed.message, failed.retryable, failed.retry_after) == (
            "model_rate_limited",
            "later",
            True,
            0.5,
        )
    parts, _ = await read_answer(model, make_request("go", attempt=3))
    assert parts == [TextContent("Well,"), TextContent("here.")]


async def test_a_cut_stream_has_no_end():
    events = await collect(make_model("calls: [[{text: Half}, {cut: true}]]"), make_request("go"))
    assert events == [TextDelta(0, "Half")]


async def test_a_written_stop_reason_is_reported():
    _, end = await read_answer(make_model("calls: [[{text: Ha}, {stop: length}]]"), make_request("go"))
    assert end == Finished(stop_reason="length")


async def test_arguments_written_as_text_are_sent_as_they_are():
    parts, _ = await read_answer(
        make_model("calls: [[{tool: {name: Read, arguments: '{broken'}}]]"), make_request("go")
    )
    assert parts == [make_call("call_1_1", "Read", "{broken")]


async def test_a_large_answer_has_the_written_number_of_pieces():
    *pieces, end = await collect(make_model("calls: [[{repeat: {text: 'abcd', times: 50000}}]]"), make_request("go"))

    assert len(pieces) == 50_000
    assert set(pieces) == {TextDelta(0, "abcd")}
    assert end == Finished(stop_reason="stop")


async def test_a_call_waits_for_a_file_while_others_continue(tmp_path: Path):
    model = make_model("calls: [[{text: Before}, {wait_for: go}, {text: After}]]", tmp_path)
    events = model.stream(make_request("go"))
    assert await anext(events) == TextDelta(0, "Before")

    waiting = asyncio.ensure_future(anext(events))
    done, _ = await asyncio.wait({waiting}, timeout=0.05)
    assert not done
    (tmp_path / "go").touch()

    assert await asyncio.wait_for(waiting, AT_MOST_S) == TextDelta(1, "After")
    assert await anext(events) == Finished(stop_reason="stop")


async def test_a_call_that_waits_can_be_cancelled(tmp_path: Path):
    asking = asyncio.create_task(collect(make_model("calls: [[{wait_for: never}]]", tmp_path), make_request("go")))
    await asyncio.wait({asking}, timeout=0.02)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_delays_are_between_the_pieces():
    loop = asyncio.get_running_loop()
    started = loop.time()
    await collect(make_model("calls: [[{text: abcd, chunk: 1, delay_ms: 10}]]"), make_request("go"))
    assert loop.time() - started >= 0.04


async def test_parts_without_a_pace_use_the_pace_of_the_scenario():
    model = make_model(
        """
        chunk: 2
        calls:
          - - text: abcd
            - text: abcd
              chunk: 0
        """
    )
    deltas = await collect(model, make_request("go"))
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["ab", "cd", "abcd"]


async def test_waits_are_as_long_as_written_times_the_pace():
    loop = asyncio.get_running_loop()
    scenario = parse("delay_ms: 20\ncalls: [[{pause: 20}, {text: hello}]]", "s.yaml")
    started = loop.time()
    await collect(ScenarioPlayer(scenario, Path("/nowhere"), pace=2), make_request("go"))
    assert loop.time() - started >= 0.08
    endless = parse("delay_ms: 1.0e+9\ncalls: [[{pause: 1.0e+9}, {text: hello}]]", "s.yaml")
    async with asyncio.timeout(AT_MOST_S):
        await collect(ScenarioPlayer(endless, Path("/nowhere"), pace=0), make_request("go"))


QUOTES = """
calls:
  - - tool: {name: make, arguments: {title: a}}
  - - tool: {name: change, arguments: {task: "{make[0].taskId}", among: ["{make[0].taskId}"], note: "said: {input}"}}
"""


async def test_arguments_quote_results_and_the_input():
    earlier = make_message("assistant", make_call("call_1_1", "make", "{}"))
    request = make_request("Go on", earlier, make_result("call_1_1", "make", '{"taskId": "tsk_1"}'), iteration=2)
    parts, _ = await read_answer(make_model(QUOTES), request)
    assert parts == [make_call("call_2_1", "change", '{"task":"tsk_1","among":["tsk_1"],"note":"said: Go on"}')]


@pytest.mark.parametrize("text", ["refused", '{"other": 1}'])
async def test_a_quote_without_a_source_fails(text: str):
    earlier = make_message("assistant", make_call("call_1_1", "make", "{}"))
    _, failed = await read_failure(
        make_model(QUOTES), make_request("Go on", earlier, make_result("call_1_1", "make", text), iteration=2)
    )
    assert (failed.code, failed.retryable) == ("model_refused_request", False)
    assert "{make[0].taskId}" in failed.message


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([], "It was not run."),
        ([make_result("1", "Bash", "ok")], "It was run."),
        ([make_result("1", "Bash", "rejected", failed=True)], "It was not run."),
        ([make_result("1", "Bash", "rejected", failed=True), make_result("2", "Bash", "ok")], "It was run."),
        ([make_result("1", "Bash", "ok"), make_result("2", "Read", "no", failed=True)], "It was run."),
    ],
)
async def test_a_conditional_part_is_played_only_if_its_condition_is_true(results: list[ModelMessage], text: str):
    model = make_model(
        """
        calls:
          - - {text: It was run., if_done: Bash}
            - {text: It was not run., if_not_done: Bash}
        """
    )
    assert (await read_answer(model, make_request("go", *results)))[0] == [TextContent(text)]


async def test_reasoning_has_no_signature():
    parts, _ = await read_answer(make_model("calls: [[{reasoning: hm}]]"), make_request("go"))
    assert parts == [ReasoningContent("hm")]


def test_a_scenario_is_named_after_its_file(tmp_path: Path):
    (tmp_path / "two-calls.yaml").write_text("calls: [[{text: 你好}]]", "utf-8")
    assert ScenarioPlayer.from_file(tmp_path / "two-calls.yaml").name == "two-calls"


@pytest.mark.parametrize(
    ("text", "line", "field", "fragment"),
    [
        ("calls:\n- - text: 1\n", 2, "calls[0][0].text", "Expected `str | null`, got `int`"),
        ("calls:\n- - text: a\n- - txt: b\n", 3, "calls[1][0]", "Object contains unknown field `txt`"),
        ("calls:\n- - text: a\n    cut: true\n", 2, "calls[0][0]", "this one has text and cut"),
        ("calls:\n- - chunk: 3\n", 2, "calls[0][0]", "this one has none"),
        ("calls:\n- - pause: -1\n", 2, "calls[0][0]", "must not be negative"),
        ("calls:\n- - stop: stop\n    chunk: 3\n", 2, "calls[0][0]", "`stop` cannot have `delay_ms` or `chunk`"),
        ("calls:\n- - text: a\n    delay_ms: -1\n", 2, "calls[0][0]", "must not be negative"),
        ("calls:\n- text: a\n", 2, "calls[0]", "Expected `array`, got `object`"),
        ("calls:\n- - fail:\n      code: gap\n", 3, "calls[0][0].fail", "invalid code 'gap'"),
        ("calls:\n- - fail:\n      code: nonsense\n", 3, "calls[0][0].fail.code", "Invalid enum value 'nonsense'"),
        (
            "agents:\n  lead:\n  - - text: a\n  - - tool:\n        nme: Read\n",
            5,
            "agents.lead[1][0].tool",
            "unknown field `nme`",
        ),
        ("agents: [lead]\n", 1, "agents", "Expected `object`, got `array`"),
        ("match:\n- calls: []\n", 2, "match[0]", "missing required field `text`"),
        ("cals: []\n", 1, "", "unknown field `cals`"),
        ("- text: a\n", 1, "", "Expected `object`, got `array`"),
        ("calls: [[{text: a}\n", 2, "", "expected"),
        ("calls:\n  - [}\n", 2, "", "expected"),
    ],
)
def test_an_invalid_scenario_is_reported_by_file_line_and_field(text: str, line: int, field: str, fragment: str):
    """SAFE-05"""
    with pytest.raises(Refusal) as raised:
        parse(text, "s.yaml")

    problem = raised.value.problem
    assert (problem.code, problem.field) == ("bad_scenario", field)
    assert problem.message.startswith(f"s.yaml:{line}: ")
    assert fragment in problem.message


def test_a_missing_scenario_is_refused(tmp_path: Path):
    with pytest.raises(Refusal) as raised:
        ScenarioPlayer.from_file(tmp_path / "none.yaml")
    assert raised.value.code == "bad_scenario"


def test_an_empty_scenario_has_no_calls():
    assert parse("", "s.yaml").calls == ()
