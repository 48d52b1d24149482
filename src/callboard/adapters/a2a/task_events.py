"""Conversion of a remote agent's task updates to events, without duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from a2a.types.a2a_pb2 import Artifact, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatus

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.ports.external import ExternalFailure, RemoteEvent, TaskReported, TextReported
from callboard.contracts.text.redactor import mask_secrets

from .translation import (
    build_artifact_report,
    build_parts_report,
    convert_state,
    format_message,
    list_other_parts,
    read_message_text,
)

#: States in which the agent waits for a person's input.
NEED_STATES: tuple[RemoteTaskState, ...] = ("input_required", "auth_required")
#: Final states, each with the message of a failure.
END_MESSAGES: dict[RemoteTaskState, str] = {
    "completed": "",
    "failed": "The remote agent reports that its task failed.",
    "rejected": "The remote agent rejected the task.",
    "canceled": "The remote agent cancelled the task.",
}
#: The largest artifact that arrives in pieces, in bytes.
_MAX_PIECES_BYTES = 16 * 1024 * 1024
_MAX_ID_CHARS = 200
#: A reported status: state, message, message id and time in nanoseconds.
_Status = tuple[RemoteTaskState, str, str, int]


class TaskEventHandler:
    """Convert the updates of one prompt.

    Args:
        conversation: The agent's id of the conversation; empty for a new one.
        on_conversation: Called with the agent's id of the conversation when it changes.
    Attributes:
        task: The agent's id of the task; empty until the agent names one.
        state: The newest state of the task.
        message: The newest status message of the task.
        has_replied: The agent answered with a message and without a task.
    """

    def __init__(self, conversation: str, on_conversation: Callable[[str], None]) -> None:
        self.conversation = conversation
        self.task = ""
        self.state: RemoteTaskState | None = None
        self.message = ""
        self.has_replied = False
        self._on_conversation = on_conversation
        self._reported: tuple[RemoteTaskState, str] | None = None
        self._status: _Status | None = None
        self._answered: _Status | None = None
        self._pieces: dict[str, Artifact] = {}
        self._delivered: dict[str, bytes] = {}

    @property
    def is_over(self) -> bool:
        """Return True once the agent replied or the task is in a final state."""
        return self.has_replied or self.state in END_MESSAGES

    @property
    def needs_input(self) -> bool:
        """Return True while the agent waits for a person's input."""
        return self.state in NEED_STATES

    def start_new_task(self) -> None:
        """Forget the task, so that the next message starts a new one."""
        self.task, self.state, self.message, self.has_replied = "", None, "", False

    def begin_answer(self) -> tuple[RemoteTaskState | None, str]:
        """Ignore one repetition of the current need while the answer is sent. Return it for `restore_need`."""
        need = (self.state, self.message)
        self._answered, self.state, self.message = self._status, None, ""
        return need

    def restore_need(self, need: tuple[RemoteTaskState | None, str]) -> None:
        """Restore the need after the answer could not be sent."""
        if self.state is None:
            self._answered, (self.state, self.message) = None, need

    def settle_need(self) -> None:
        """Treat later needs as new ones, unless their message id or time proves a repetition."""
        if self._answered is not None and not (self._answered[2] or self._answered[3]):
            self._answered = None

    def apply(self, response: StreamResponse) -> Iterator[RemoteEvent]:
        """Yield the events of one response of a stream. Updates of other tasks yield none."""
        match response.WhichOneof("payload"):
            case "message":
                self._set_conversation(response.message.context_id)
                self.has_replied = True
                yield from self._convert_message(response.message)
            case "task":
                yield from self.apply_task(response.task)
            case "status_update" if self._adopt_task(response.status_update.task_id):
                self._set_conversation(response.status_update.context_id)
                yield from self._convert_status(response.status_update.status)
            case "artifact_update" if self._adopt_task(response.artifact_update.task_id):
                yield from self._convert_artifact(response.artifact_update)
            case _:
                pass

    def apply_task(self, task: Task) -> Iterator[RemoteEvent]:
        """Yield the events of a task's complete state."""
        if not self._adopt_task(task.id):
            return
        self._set_conversation(task.context_id)
        for artifact in task.artifacts:
            self._pieces.pop(artifact.artifact_id, None)
            yield from self._deliver(artifact)
        yield from self._convert_status(task.status)

    def _convert_status(self, status: TaskStatus) -> Iterator[RemoteEvent]:
        state = convert_state(status.state)
        text = read_message_text(status.message) if state == "completed" else format_message(status.message)
        reported = (state, text, status.message.message_id, status.timestamp.ToNanoseconds())
        if reported == self._answered:
            return
        self._status, self._answered = reported, None
        if (state, text) == self._reported and self.state is not None:
            return
        self._reported = (state, text)
        if state in END_MESSAGES or state in NEED_STATES:
            yield from self._deliver_pieces()
        self.state, self.message = state, mask_secrets(text) if state == "auth_required" else text
        is_answer = state == "completed" and bool(text.strip() or list_other_parts(status.message))
        yield TaskReported(self.task, state, "" if is_answer else self.message)
        if is_answer:
            yield from self._convert_message(status.message)

    def _convert_message(self, message: Message) -> Iterator[RemoteEvent]:
        text, parts = read_message_text(message), list_other_parts(message)
        if text:
            yield TextReported(text, message.message_id)
        if parts:
            yield build_parts_report(self.task, message.message_id, parts)

    def _convert_artifact(self, update: TaskArtifactUpdateEvent) -> Iterator[RemoteEvent]:
        piece = update.artifact
        artifact = self._pieces.get(piece.artifact_id)
        if update.append and artifact is not None:
            if artifact.ByteSize() + piece.ByteSize() > _MAX_PIECES_BYTES:
                message = f"The remote agent sent an artifact of more than {_MAX_PIECES_BYTES} bytes."
                raise ExternalFailure("remote_refused", message)
            _append(artifact, piece)
        else:
            artifact = self._pieces[piece.artifact_id] = Artifact()
            artifact.CopyFrom(piece)
        if update.last_chunk:
            yield from self._deliver(self._pieces.pop(piece.artifact_id))

    def _deliver_pieces(self) -> Iterator[RemoteEvent]:
        """Deliver unfinished artifacts: they are complete once the task waits or ends."""
        for artifact in list(self._pieces.values()):
            yield from self._deliver(artifact)
        self._pieces.clear()

    def _deliver(self, artifact: Artifact) -> Iterator[RemoteEvent]:
        content = artifact.SerializeToString(deterministic=True)
        if self._delivered.get(artifact.artifact_id) != content:
            self._delivered[artifact.artifact_id] = content
            yield build_artifact_report(self.task, artifact)

    def _adopt_task(self, task: str) -> bool:
        if not self.task and task:
            if len(task) > _MAX_ID_CHARS:
                message = f"The remote agent sent a task id of more than {_MAX_ID_CHARS} characters."
                raise ExternalFailure("remote_refused", message)
            self.task = task
        return bool(task) and task == self.task

    def _set_conversation(self, conversation: str) -> None:
        if 0 < len(conversation) <= _MAX_ID_CHARS and conversation != self.conversation:
            self.conversation = conversation
            self._on_conversation(conversation)


def _append(artifact: Artifact, piece: Artifact) -> None:
    """Append a piece, and join adjacent texts to one part."""
    for part in piece.parts:
        last = artifact.parts[-1] if artifact.parts else None
        if last is not None and part.WhichOneof("content") == last.WhichOneof("content") == "text":
            last.text += part.text
        else:
            artifact.parts.append(part)
