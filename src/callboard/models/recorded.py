"""The answers of a former run in place of a model: the same agent, asked the same, says the same again.

What is given again is the answer at the same place: of a run of that agent with the same input, by its number. Before it is
given, what the calls so far came to is held against what they came to then. Ids are new in every run, so they are told apart
from words: where a result names another id than then, the answers that follow name that one too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from callboard.contracts.ports.model import (
    Finished,
    ModelEvent,
    ModelFailure,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolResultContent,
)

from .recording import RecordedAnswer, RecordedResult, RecordedText, read
from .turn import spoken, turn_begins

_ID = re.compile(r"\b[a-z]{2,5}_[0-9A-Za-z]{22}\b")
_QUOTE = 60
#: How much of a long result is held against what it was, in characters.
_HEAD = 10_000


class Recorded:
    """Gives the answers of a pack of evidence. Holds nothing between calls."""

    def __init__(self, runs: list[RecordedResult], name: str, provider: str) -> None:
        self.provider = provider
        self.name = name
        self.label = f"recorded · {name}"
        self.window: int | None = None
        self.images = False
        self._runs = runs

    @classmethod
    def from_file(cls, path: Path, provider: str) -> Recorded:
        """The model that gives the answers of this pack. Raises Refusal `bad_recording`."""
        return cls(read(path), path.stem, provider)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Gives one answer. Raises ModelFailure `bad_recording` where the request is not the one that was recorded."""
        run = self._run(request)
        place = request.iteration - 1
        ids = _ids_of(run.answers[:place], request)
        if place >= len(run.answers):
            raise _diverged(request, f"the recorded turn has {len(run.answers)} answers, and one more was asked for")
        answer = run.answers[place]
        for index, said in enumerate(answer.said):
            # Others get their turn, as they would while a server is awaited.
            await asyncio.sleep(0)
            yield _delta(index, said, ids, f"call_{request.iteration}_{index + 1}")
        yield Finished(stop_reason=answer.stop_reason or "unknown", usage=answer.usage)

    def _run(self, request: ModelRequest) -> RecordedResult:
        of_agent = [run for run in self._runs if run.agent == request.agent]
        if not of_agent:
            known = ", ".join(sorted({run.agent for run in self._runs}))
            raise _diverged(request, f"it has no run of the agent {request.agent!r}, only of {known}")
        asked, before = _asked(request)
        fitting = [run for run in of_agent if _masked(run.input) in _masked(asked)]
        if not fitting:
            raise _diverged(request, f"it was asked {_short(of_agent[0].input)} then, and {_short(asked)} now")
        # One that ended before it was answered has nothing to give: what was asked then was asked again.
        fitting = [run for run in fitting if run.answers] or fitting
        return next((run for run in fitting if run.before == before), fitting[0])


def _asked(request: ModelRequest) -> tuple[str, int]:
    """What the run was asked, and how many answers its thread had before."""
    begins = turn_begins(request)
    before = sum(message.role == "assistant" for message in request.messages[: max(begins, 0)])
    words: list[str] = []
    for message in reversed(request.messages[: begins + 1]):
        if message.role != "user":
            break
        words.append(spoken(message))
    return "\n".join(reversed(words)), before


def _ids_of(answers: list[RecordedAnswer], request: ModelRequest) -> dict[str, str]:
    """Which id of now stands for one of then. Raises ModelFailure at the first result that is another than it was."""
    begins = turn_begins(request)
    results = [
        part
        for message in request.messages[begins + 1 :]
        for part in message.content
        if isinstance(part, ToolResultContent)
    ]
    told = [call for answer in answers for call in answer.calls]
    ids: dict[str, str] = {}
    for number, (then, now) in enumerate(zip(told, results, strict=False), 1):
        if then.tool != now.tool:
            raise _diverged(request, f"call {number} was one of {then.tool} then, and of {now.tool} now")
        if then.result is None:
            continue
        # Of a long result a model is told a part, and how to read the rest.
        before, after = (
            (then.result, now.text) if len(then.result) <= _HEAD else (then.result[:_HEAD], now.text[:_HEAD])
        )
        if _masked(before) != _masked(after):
            raise _diverged(request, f"call {number}, of {then.tool}, came to {_apart(before, after)}")
        ids.update(zip(_ID.findall(before), _ID.findall(after), strict=True))
    if len(told) != len(results):
        raise _diverged(request, f"{len(told)} calls had an outcome then, and {len(results)} now")
    return ids


def _delta(
    index: int, said: RecordedText, ids: dict[str, str], call_id: str
) -> TextDelta | ReasoningDelta | ToolCallDelta:
    text = _ID.sub(lambda found: ids.get(found[0], found[0]), said.text)
    match said.kind:
        case "text":
            return TextDelta(index, text)
        case "reasoning":
            return ReasoningDelta(index, text)
        case _:
            return ToolCallDelta(index, call_id, said.tool, text)


def _masked(text: str) -> str:
    return " ".join(_ID.sub("ID", text).split())


def _apart(then: str, now: str) -> str:
    """Where the two begin to differ."""
    one, other = _masked(then), _masked(now)
    place = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, place - 20)
    return f"{_short(one[start:])} then, and {_short(other[start:])} now"


def _short(text: str) -> str:
    return repr(text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…")


def _diverged(request: ModelRequest, what: str) -> ModelFailure:
    where = f"call {request.iteration} of the agent {request.agent!r}"
    return ModelFailure("bad_recording", f"The run leaves its recording at {where}: {what}.", retryable=False)
