"""What each round of a run came to: a model call with the results of the calls that it asked for, or with its text alone."""

from __future__ import annotations

import hashlib

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolLost, ToolRefused

from .turn import OpenCall, OpenRun, Repetition

ToolEnd = ToolCompleted | ToolFailed | ToolRefused | ToolCancelled | ToolLost

_CALL = "call"
_TEXT = "text"
#: An answer without a call and without a text.
_NOTHING = "nothing"


def said(run: OpenRun, content: Text) -> OpenRun:
    """The model said something in this round. A blank text is nothing."""
    is_blank = content.ref is None and not content.text.strip()
    return run if is_blank else _came(run, _TEXT, content)


def called(run: OpenRun) -> bool:
    """True where the newest model call led to a tool call that ended."""
    return any(one.startswith(_CALL) for one in run.round_results)


def last_words(run: OpenRun) -> tuple[tuple[int, Text], ...]:
    """The texts of the newest answer in plain text that is not blank, with their steps; none where no call was followed by
    any. A text that is held elsewhere is not blank."""
    said = [
        (step, text) for step, text in zip(run.answer_parts, run.answer, strict=False) if text.ref or text.text.strip()
    ]
    newest = tuple(one for one in said if one[0] > run.newest_model_step)
    return newest or tuple(said[-1:])


def did(run: OpenRun, call: OpenCall, end: ToolEnd) -> OpenRun:
    """A call of this round came to its end."""
    match end:
        case ToolCompleted():
            outcome = (end.output, end.exit_code, end.changes)
        case ToolFailed():
            outcome = (end.code, end.message, end.output, end.exit_code, end.changes)
        case ToolRefused():
            outcome = (end.code, end.message)
        case ToolCancelled() | ToolLost():
            outcome = (end.output,)
    return _came(run, _CALL, (call.tool, call.arguments, end.type, outcome))


def streak(run: OpenRun) -> Repetition:
    """The rounds that came to the same without another one between them, the newest one included. Text beside calls does not
    tell them apart."""
    done = [one for one in run.round_results if one.startswith(_CALL)] or list(run.round_results)
    key = " ".join(sorted(done)) or _NOTHING
    before = run.streak.steps if key == run.streak.key else ()
    return Repetition(key=key, steps=(*before, run.newest_model_step))


def _came(run: OpenRun, kind: str, what: object) -> OpenRun:
    digest = hashlib.sha256(msgspec.json.encode(what)).hexdigest()[:32]
    return msgspec.structs.replace(run, round_results=(*run.round_results, f"{kind}:{digest}"))
