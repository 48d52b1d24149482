"""Results of a run's rounds, to find a run that repeats itself.

A round is a model call with the results of its tool calls, or with its text if it has no calls."""

from __future__ import annotations

import hashlib

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolLost, ToolRefused

from .turn import OpenCall, OpenRun, Repetition

ToolEnd = ToolCompleted | ToolFailed | ToolRefused | ToolCancelled | ToolLost

_CALL = "call"
_TEXT = "text"
#: A response without a call and without a text.
_NOTHING = "nothing"


def record_text(run: OpenRun, content: Text) -> OpenRun:
    """Add a text to the results of the round. A blank text is ignored."""
    return _add_result(run, _TEXT, content) if _has_content(content) else run


def record_call(run: OpenRun, call: OpenCall, end: ToolEnd) -> OpenRun:
    """Add an ended call to the results of the round."""
    match end:
        case ToolCompleted():
            outcome = (end.output, end.exit_code, end.changes)
        case ToolFailed():
            outcome = (end.code, end.message, end.output, end.exit_code, end.changes)
        case ToolRefused():
            outcome = (end.code, end.message)
        case ToolCancelled() | ToolLost():
            outcome = (end.output,)
    return _add_result(run, _CALL, (call.tool, call.arguments, end.type, outcome))


def has_call(run: OpenRun) -> bool:
    """Return True if a tool call of the newest model call ended."""
    return any(result.startswith(_CALL) for result in run.round_results)


def list_final_texts(run: OpenRun) -> tuple[tuple[int, Text], ...]:
    """Return the texts of the newest response that are not blank, with their steps; else the last text before it."""
    texts = [(step, text) for step, text in zip(run.answer_parts, run.answer, strict=False) if _has_content(text)]
    newest = tuple((step, text) for step, text in texts if step > run.newest_model_step)
    return newest or tuple(texts[-1:])


def find_streak(run: OpenRun) -> Repetition:
    """Return the newest consecutive rounds with equal results. Text beside calls is ignored."""
    results = [result for result in run.round_results if result.startswith(_CALL)] or list(run.round_results)
    key = " ".join(sorted(results)) or _NOTHING
    earlier = run.streak.steps if key == run.streak.key else ()
    return Repetition(key=key, steps=(*earlier, run.newest_model_step))


def _has_content(text: Text) -> bool:
    """True unless the text is blank. A text in a blob is not blank."""
    return text.ref is not None or bool(text.text.strip())


def _add_result(run: OpenRun, kind: str, value: object) -> OpenRun:
    digest = hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:32]
    return msgspec.structs.replace(run, round_results=(*run.round_results, f"{kind}:{digest}"))
