"""What each round of a run came to: a model call with the results of the calls that it asked for, or with its text alone."""

from __future__ import annotations

import hashlib

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts import ToolCancelled, ToolCompleted, ToolFailed, ToolLost, ToolRefused

from ..state import OpenCall, OpenRun, Streak

ToolEnd = ToolCompleted | ToolFailed | ToolRefused | ToolCancelled | ToolLost

_CALL = "call"
_TEXT = "text"


def said(run: OpenRun, content: Text) -> OpenRun:
    """The model said something in this round."""
    return _came(run, _TEXT, content)


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


def streak(run: OpenRun) -> Streak:
    """The rounds that came to the same without another one between them, the newest one included. Text beside calls does not
    tell them apart."""
    done = [one for one in run.came if one.startswith(_CALL)] or list(run.came)
    key = " ".join(sorted(done))
    before = run.streak.steps if key and key == run.streak.key else ()
    return Streak(key=key, steps=(*before, run.asked) if key else ())


def _came(run: OpenRun, kind: str, what: object) -> OpenRun:
    digest = hashlib.sha256(msgspec.json.encode(what)).hexdigest()[:32]
    return msgspec.structs.replace(run, came=(*run.came, f"{kind}:{digest}"))
