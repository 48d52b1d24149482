"""Background processes: input, termination and end."""

from __future__ import annotations

from callboard.contracts.commands.process import ProcessChanged, TerminateProcess, WriteProcessStdin
from callboard.contracts.content import MAX_INLINE_BYTES
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.process import ProcessEnded, ProcessInputGiven, ProcessStarted, ProcessStopRequested
from callboard.contracts.facts.session import WarningRaised

from ...batch import Batch
from ...outcomes import ProcessEndReported, ProcessStartReported
from ...state.process import OpenProcess

ProcessCommand = WriteProcessStdin | TerminateProcess


def change_process(batch: Batch, request: ProcessCommand) -> ProcessChanged:
    """Record input for a process, or the request to terminate it.

    Raises:
        Refusal: `unknown_process`; `process_unavailable` for an ended one; `too_large`.
    """
    process = _require_process(batch, request.process_id)
    if isinstance(request, TerminateProcess):
        if not process.stopping:
            batch.add(ProcessStopRequested(reason=request.reason), process.scope)
    else:
        if len(request.text.encode("utf-8", "surrogatepass")) > MAX_INLINE_BYTES:
            raise Refusal(
                "too_large",
                f"One write to a process can have at most {MAX_INLINE_BYTES:,} bytes.",
                field="text",
                hint="Split the text.",
            )
        if not request.text and not request.end:
            raise Refusal("invalid_input", "The write is empty.", field="text", hint="Set text or end.")
        batch.add(ProcessInputGiven(text=batch.store_text(request.text), end=request.end), process.scope)
    return ProcessChanged(session_id=batch.state.session, process_id=request.process_id, sequence=batch.state.sequence)


def record_process(batch: Batch, outcome: ProcessStartReported | ProcessEndReported) -> None:
    """Record that a command continues in the background, or that its process ended."""
    if isinstance(outcome, ProcessStartReported):
        batch.add(ProcessStarted(command=batch.store_text(outcome.command), summary=outcome.summary), outcome.scope)
        return
    process = batch.state.processes.get(outcome.process)
    if process is None:
        return
    terminated = outcome.status == "exited" and process.stopping
    batch.add(
        ProcessEnded(
            status="terminated" if terminated else outcome.status,
            exit_code=outcome.exit_code,
            output=batch.store_text(outcome.output),
            duration_ms=outcome.duration_ms,
            code=outcome.code,
            message=outcome.message,
        ),
        process.scope,
    )


def lose_processes(batch: Batch, reason: str) -> None:
    """Record that processes of older epochs are lost: they ended with their host."""
    for process in batch.state.processes.values():
        if process.epoch >= batch.inputs.epoch:
            continue
        message = f"The process {process.process} cannot be reached: {reason}."
        batch.add(ProcessEnded(status="lost", code="process_unavailable", message=message), process.scope)
        batch.add(
            WarningRaised(
                code="process_unavailable", message=message, hint="Run its command again if you still need it."
            ),
            process.scope,
        )


def _require_process(batch: Batch, process_id: str) -> OpenProcess:
    process = batch.state.processes.get(process_id)
    if process is not None:
        return process
    if process_id in batch.inputs.closed_ids:
        raise Refusal(
            "process_unavailable",
            f"The process {process_id} has ended.",
            field="processId",
            hint="list_processes shows how it ended. Run its command again if you still need it.",
        )
    raise Refusal(
        "unknown_process",
        f"The session has no process {process_id}.",
        field="processId",
        hint="list_processes lists them.",
    )
