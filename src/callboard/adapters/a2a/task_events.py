"""What an agent elsewhere tells in one prompt, each thing once: states that change, texts, artifacts that are whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from a2a.types.a2a_pb2 import Artifact, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatus

from callboard.contracts.entities.team import RemoteTaskState
from callboard.contracts.ports.external import ExternalFailure, RemoteEvent, TaskReported, TextReported
from callboard.contracts.text.redactor import without_secrets

from .translation import artifact_report, full_text, message_text, other_parts, parts_report, state_of

#: In these an agent elsewhere goes on only with something of a person's.
NEED_STATES: tuple[RemoteTaskState, ...] = ("input_required", "auth_required")
#: After these it does nothing more for the task; what is said of an end that is no answer.
END_MESSAGES: dict[RemoteTaskState, str] = {
    "completed": "",
    "failed": "The agent elsewhere says that its task failed.",
    "rejected": "The agent elsewhere rejected the task.",
    "canceled": "The agent elsewhere cancelled the task.",
}
#: The largest artifact that comes in pieces, in bytes.
_LARGEST_PIECES = 16 * 1024 * 1024
_LONGEST_ID = 200
#: One state as it was told: with its message, the name of that and its time.
_Mark = tuple[RemoteTaskState, str, str, int]


class TaskEventHandler:
    """Takes what comes. `conversation` and `task` are the agent's own names; `named` is told the first when it changes. `state`
    and `said` are the newest that were told of the task, `spoke` says that it answered with a message alone."""

    def __init__(self, conversation: str, named: Callable[[str], None]) -> None:
        self.conversation = conversation
        self.task = ""
        self.state: RemoteTaskState | None = None
        self.message = ""
        self.has_replied = False
        self._named = named
        self._as_told: tuple[RemoteTaskState, str] | None = None
        self._mark: _Mark | None = None
        self._settled: _Mark | None = None
        self._pieces: dict[str, Artifact] = {}
        self._delivered: dict[str, bytes] = {}

    @property
    def is_over(self) -> bool:
        """True once nothing more is to come."""
        return self.has_replied or self.state in END_MESSAGES

    @property
    def needs_input(self) -> bool:
        """True while the agent waits for something of a person's."""
        return self.state in NEED_STATES

    def start_new_task(self) -> None:
        """The next message begins a task."""
        self.task, self.state, self.message, self.has_replied = "", None, "", False

    def begin_answer(self) -> tuple[RemoteTaskState | None, str]:
        """What the agent needs is on its way: that need may be told once more before it is over. Returns what `unanswered`
        takes."""
        needed = (self.state, self.message)
        self._settled, self.state, self.message = self._mark, None, ""
        return needed

    def restore_need(self, needed: tuple[RemoteTaskState | None, str]) -> None:
        """It was not taken."""
        if self.state is None:
            self._settled, (self.state, self.message) = None, needed

    def settle_need(self) -> None:
        """A need that is told from now on is another one, unless its name or its time says that it is the same."""
        if self._settled is not None and not (self._settled[2] or self._settled[3]):
            self._settled = None

    def apply(self, response: StreamResponse) -> Iterator[RemoteEvent]:
        """Part of a stream."""
        match response.WhichOneof("payload"):
            case "message":
                self._known_as(response.message.context_id)
                self.has_replied = True
                yield from self._speech(response.message)
            case "task":
                yield from self.apply_task(response.task)
            case "status_update" if self._is_mine(response.status_update.task_id):
                self._known_as(response.status_update.context_id)
                yield from self._status(response.status_update.status)
            case "artifact_update" if self._is_mine(response.artifact_update.task_id):
                yield from self._piece(response.artifact_update)
            case _:
                # What is of another task, or says nothing, is not for this prompt.
                pass

    def apply_task(self, task: Task) -> Iterator[RemoteEvent]:
        """The task as a whole."""
        if not self._is_mine(task.id):
            return
        self._known_as(task.context_id)
        for made in task.artifacts:
            self._pieces.pop(made.artifact_id, None)
            yield from self._whole(made)
        yield from self._status(task.status)

    def _status(self, status: TaskStatus) -> Iterator[RemoteEvent]:
        state = state_of(status.state)
        said = message_text(status.message) if state == "completed" else full_text(status.message)
        mark = (state, said, status.message.message_id, status.timestamp.ToNanoseconds())
        if mark == self._settled:
            return
        self._mark, self._settled = mark, None
        if (state, said) == self._as_told and self.state is not None:
            return
        self._as_told = (state, said)
        if state in END_MESSAGES or state in NEED_STATES:
            yield from self._rest()
        self.state, self.message = state, without_secrets(said) if state == "auth_required" else said
        answers = state == "completed" and bool(said.strip() or other_parts(status.message))
        yield TaskReported(self.task, state, "" if answers else self.message)
        if answers:
            yield from self._speech(status.message)

    def _speech(self, message: Message) -> Iterator[RemoteEvent]:
        said, more = message_text(message), other_parts(message)
        if said:
            yield TextReported(said, message.message_id)
        if more:
            yield parts_report(self.task, message.message_id, more)

    def _piece(self, update: TaskArtifactUpdateEvent) -> Iterator[RemoteEvent]:
        piece = update.artifact
        known = self._pieces.get(piece.artifact_id)
        if update.append and known is not None:
            if known.ByteSize() + piece.ByteSize() > _LARGEST_PIECES:
                raise ExternalFailure("remote_refused", "The agent elsewhere delivers an artifact that is too large.")
            _append(known, piece)
        else:
            known = self._pieces[piece.artifact_id] = Artifact()
            known.CopyFrom(piece)
        if update.last_chunk:
            yield from self._whole(self._pieces.pop(piece.artifact_id))

    def _rest(self) -> Iterator[RemoteEvent]:
        """Artifacts of which nobody said that they are whole are so once the task waits or is over."""
        for made in list(self._pieces.values()):
            yield from self._whole(made)
        self._pieces.clear()

    def _whole(self, made: Artifact) -> Iterator[RemoteEvent]:
        written = made.SerializeToString(deterministic=True)
        if self._delivered.get(made.artifact_id) != written:
            self._delivered[made.artifact_id] = written
            yield artifact_report(self.task, made)

    def _is_mine(self, task: str) -> bool:
        if not self.task and task:
            if len(task) > _LONGEST_ID:
                raise ExternalFailure("remote_refused", "The agent elsewhere gives its task a name that is too long.")
            self.task = task
        return bool(task) and task == self.task

    def _known_as(self, conversation: str) -> None:
        if 0 < len(conversation) <= _LONGEST_ID and conversation != self.conversation:
            self.conversation = conversation
            self._named(conversation)


def _append(known: Artifact, told: Artifact) -> None:
    """Pieces of one text are one part."""
    for part in told.parts:
        last = known.parts[-1] if known.parts else None
        if last is not None and part.WhichOneof("content") == last.WhichOneof("content") == "text":
            last.text += part.text
        else:
            known.parts.append(part)
