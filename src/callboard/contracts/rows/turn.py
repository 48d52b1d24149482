"""Rows of turns."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..content import Text
from ..facts.turn import InputSource, Mode, PermissionMode
from ..refs import ContextRef, MissingRef
from .base import Row

TurnState = Literal["queued", "running", "waiting", "completed", "failed", "interrupted", "removed"]


class TurnRow(Row, tag="turn", frozen=True, kw_only=True):
    """A turn. `order` is the sequence of its submission, later of its start.

    - `code`, `message`: a failure, or the cause of an interrupt. `source`: origin of the input.
    - Counts are of the whole run so far. Tokens are absent if the provider reports none.
    - `waited_us`: microseconds of past waits for decisions. `waiting_since`: start of the present
      wait, 0 for none.
    - `final_parts`: keys of the parts of the answer. `given`: context of the input. `missing`:
      names in it that could not be resolved.
    """

    panel: ClassVar[str] = "turns"
    turn_id: str
    thread_id: str
    agent_id: str
    run_id: str = ""
    state: TurnState
    input: Text
    mode: Mode
    permission_mode: PermissionMode
    submitted_at: int
    started_at: int = 0
    ended_at: int = 0
    waited_us: int = 0
    waiting_since: int = 0
    iterations: int = 0
    tool_calls: int = 0
    files_changed: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    code: str = ""
    message: str = ""
    hint: str = ""
    final_parts: tuple[str, ...] = ()
    source: InputSource = "person"
    given: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
