"""`callboard evidence SESSION`."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from callboard.client import Client
from callboard.contracts.commands.evidence import EvidencePacked, ExportEvidence, ExportList, ListExports
from callboard.contracts.content import BlobRef
from callboard.contracts.errors import Refusal
from callboard.contracts.text.sentences import format_count

from ..reading import build_no_session_refusal, resolve_session
from ..reading.remote_reader import RemoteReader
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.options import ForceOption, JsonObject, ReasonOption, SessionArgument, format_command_help
from .terminal.output import Style, print_err, print_json, print_out

_DETAILS = """SESSION is an id from `callboard sessions`, or `last`. The pack is a zip of plain files with a README:
all facts with their hash chain, the content they refer to, and a list of what was erased. The export itself is
recorded as a fact. Uses the running Callboard, or starts one for this command.

\b
Examples:
  callboard evidence last
  callboard evidence ses_… --task tsk_… --out review.zip     mark the facts of a task, its subtasks and agents
  callboard verify review.zip                                verify a pack, using only the file

\b
The pack shows the whole session. Redacted values stay redacted; erased content is not included.
Send the pack's last link to its recipient through another channel: `callboard verify FILE --link LINK` compares it.
"""
#: Seconds between two progress lines.
_PROGRESS_SECONDS = 2.0


class WrittenPack(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A written pack and its content, as `--json` prints it."""

    file: str
    session_id: str
    evidence_id: str
    task_id: str
    pack: BlobRef
    through: int
    facts: int
    link: str


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "evidence", help=format_command_help("export_evidence", _DETAILS), short_help="Export an evidence pack."
    )(_evidence)


def _evidence(
    session: SessionArgument,
    task: Annotated[str, typer.Option(help="Task whose facts are marked, with its subtasks and agents.")] = "",
    reason: ReasonOption = "",
    file: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write. [default: evidence-SESSION-THROUGH.zip]")
    ] = None,
    force: ForceOption = False,
    json: JsonObject = False,
) -> None:
    state_folder = StateFolder.from_environment(os.environ)
    if not state_folder.has_store():
        raise build_no_session_refusal()
    if file is not None:
        _require_writable(file, force=force)
    request = ExportEvidence(session_id=session, task_id=task or None, reason=reason)
    written = run_async(_export(state_folder, request, file, force=force, quiet=json))
    if json:
        print_json(written)
    else:
        _print(written)


async def _export(
    state_folder: StateFolder, request: ExportEvidence, file: Path | None, *, force: bool, quiet: bool
) -> WrittenPack:
    from ..hosting.connection import connect

    async with connect(state_folder, os.environ, lambda _: None) as client:
        session = await resolve_session(RemoteReader(client), request.session_id)
        packed = await _submit(client, msgspec.structs.replace(request, session_id=session), quiet=quiet)
        path = file or Path(f"evidence-{session}-{packed.through}.zip")
        _require_writable(path, force=force)
        await _save(client, packed.pack, path)
    return WrittenPack(
        file=str(path),
        session_id=session,
        evidence_id=packed.evidence_id,
        task_id=request.task_id or "",
        pack=packed.pack,
        through=packed.through,
        facts=packed.facts,
        link=packed.link,
    )


async def _submit(client: Client, request: ExportEvidence, *, quiet: bool) -> EvidencePacked:
    """Export the evidence; print the progress of a long export."""
    export = asyncio.create_task(client.submit(request))
    try:
        while not (await asyncio.wait((export,), timeout=_PROGRESS_SECONDS))[0]:
            if not quiet:
                # A failed progress query must not end the export.
                with contextlib.suppress(Refusal):
                    running: ExportList = await client.submit(ListExports(session_id=request.session_id))
                    for progress in running.exports:
                        print_err(f"… {progress.done} of {format_count(progress.through, 'fact')}")
        return export.result()
    finally:
        export.cancel()


async def _save(client: Client, pack: BlobRef, path: Path) -> None:
    """Write the pack to a temporary file first, so that its name never shows half a pack."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    digest = hashlib.sha256()
    try:
        # The mode is private: the person decides who reads the pack.
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            async with aclosing(client.read_blob(pack)) as pieces:
                async for piece in pieces:
                    digest.update(piece)
                    await asyncio.to_thread(file.write, piece)
        if digest.hexdigest() != pack.hash:
            raise Refusal("chain_broken", "The received pack differs from its hash.", hint="Export it again.")
        part.replace(path)
    except OSError as error:
        raise _build_refusal(path, error.strerror or str(error)) from error
    finally:
        part.unlink(missing_ok=True)


def _require_writable(path: Path, *, force: bool) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise _build_refusal(path, "Is a directory" if path.is_dir() else "No such directory")
    if path.exists() and not force:
        hint = "Name another file, or add --force."
        raise Refusal("invalid_input", f"{path} exists.", field="--out", hint=hint)


def _build_refusal(path: Path, why: str) -> Refusal:
    message = f"The pack cannot be written to {path}: {why}."
    return Refusal("invalid_input", message, field="--out", hint="Name a writable file.")


def _print(written: WrittenPack) -> None:
    style = Style(sys.stderr)
    print_out(written.file)
    task = f", {written.facts} of them of {written.task_id}" if written.task_id else ""
    print_err(f"Facts 1 to {written.through}{task}; {format_count(written.pack.size, 'byte')}.")
    print_err(style.dim(f"link {written.link}"))
    print_err(style.dim(f"Verify it: callboard verify {written.file}"))
