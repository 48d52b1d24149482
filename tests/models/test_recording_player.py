"""Replays of recorded answers, and the position at which a run differs from its recording."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import ModelRequest, ReasoningContent, TextContent, Usage
from callboard.models.recording import RecordedCall, RecordedResponse, RecordedRun, RecordedText
from callboard.models.recording_player import RecordingPlayer
from tests.models.requests import make_call, make_message, make_request, make_result, read_answer, read_failure

OLD, NEW = "tsk_" + "A" * 22, "tsk_" + "B" * 22
RUNS = [
    RecordedRun(
        "lead",
        "Make a task.",
        0,
        [
            RecordedResponse(
                parts=[
                    RecordedText("reasoning", "Hm."),
                    RecordedText("text", "I do."),
                    RecordedText("call", '{"title":"x"}', "create_task"),
                ],
                calls=[RecordedCall("create_task", f'{{"taskId":"{OLD}"}}')],
                stop_reason="tool_calls",
                usage=Usage(input_tokens=5),
            ),
            RecordedResponse(
                parts=[RecordedText("call", f'{{"taskId":"{OLD}"}}', "update_task")],
                calls=[RecordedCall("update_task", "ok")],
            ),
            RecordedResponse(parts=[RecordedText("text", f"{OLD} is done.")], stop_reason="stop"),
        ],
    ),
    RecordedRun("lead", "Again.", 3, [RecordedResponse(parts=[RecordedText("text", "No.")], stop_reason="stop")]),
]


@pytest.fixture
def model() -> RecordingPlayer:
    return RecordingPlayer(RUNS, "former", "replay")


def replay_request(*later: Any, iteration: int, agent: str = "lead", text: str = "Make a task.") -> ModelRequest:
    return make_request(text, *later, agent=agent, iteration=iteration)


FIRST = make_message("assistant", TextContent("I do."), make_call("c1", "create_task", "{}"))
TASK_CREATED = make_result("c1", "create_task", f'{{"taskId":"{NEW}"}}')
SECOND = make_message("assistant", make_call("c2", "update_task", "{}"))


async def test_a_recorded_answer_is_replayed_at_the_same_point(model: RecordingPlayer):
    parts, end = await read_answer(model, replay_request(iteration=1))
    assert parts == [
        ReasoningContent("Hm."),
        TextContent("I do."),
        make_call("call_1_3", "create_task", '{"title":"x"}'),
    ]
    assert (end.stop_reason, end.usage) == ("tool_calls", Usage(input_tokens=5))


async def test_a_recorded_id_is_replaced_by_the_new_one(model: RecordingPlayer):
    parts, _ = await read_answer(model, replay_request(FIRST, TASK_CREATED, iteration=2))
    assert parts == [make_call("call_2_1", "update_task", f'{{"taskId":"{NEW}"}}')]
    last, _ = await read_answer(
        model, replay_request(FIRST, TASK_CREATED, SECOND, make_result("c2", "update_task", "ok"), iteration=3)
    )
    assert last == [TextContent(f"{NEW} is done.")]


async def test_a_later_turn_is_recognised_by_its_input_and_position(model: RecordingPlayer):
    request = make_request("Make a task.", make_message("assistant", "Done."), "Again.", agent="lead", iteration=1)
    assert (await read_answer(model, request))[0] == [TextContent("No.")]


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        (
            replay_request(FIRST, make_result("c1", "create_task", "refused"), iteration=2),
            (
                "call 2 of the agent 'lead': the result of call 1 of create_task differs: "
                "recorded '{\"taskId\":\"ID\"}', now 'refused'."
            ),
        ),
        (
            replay_request(FIRST, make_result("c1", "Read", "x"), iteration=2),
            "call 2 of the agent 'lead': call 1 is one of Read, the recorded one of create_task.",
        ),
        (
            replay_request(FIRST, iteration=2),
            "call 2 of the agent 'lead': 1 calls had a result in the recording, 0 have one now.",
        ),
        (
            replay_request(
                FIRST,
                TASK_CREATED,
                SECOND,
                make_result("c2", "update_task", "ok"),
                make_message("assistant", "x"),
                iteration=4,
            ),
            "call 4 of the agent 'lead': the recorded turn has only 3 responses.",
        ),
        (
            replay_request(iteration=1, agent="other"),
            "call 1 of the agent 'other': it has no run of the agent 'other', only of lead.",
        ),
        (
            replay_request(iteration=1, text="Something else."),
            "call 1 of the agent 'lead': the recorded input is 'Make a task.', the new one 'Something else.'.",
        ),
    ],
)
async def test_a_diverging_request_is_reported_with_its_position(
    model: RecordingPlayer, request_: ModelRequest, where: str
):
    parts, failed = await read_failure(model, request_)
    assert (parts, failed.code, failed.retryable) == ([], "bad_recording", False)
    assert failed.message == f"The run differs from its recording at {where}"


@pytest.mark.parametrize("content", [None, b"no zip", {}, {"facts.jsonl": b"{}\n"}, {"facts.jsonl": b""}])
def test_a_file_that_is_not_an_evidence_pack_is_refused(tmp_path: Path, content: Any):
    path = tmp_path / "pack.zip"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        with zipfile.ZipFile(path, "w") as pack:
            for name, data in content.items():
                pack.writestr(name, data)
    with pytest.raises(Refusal) as raised:
        RecordingPlayer.from_file(path, "replay")
    assert raised.value.code == "bad_recording"
