"""`callboard artifacts SESSION [ARTIFACT]`."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast, get_args

import msgspec
import typer

from callboard.client import Client
from callboard.contracts.commands.artifact import (
    ArtifactDiff,
    ArtifactList,
    ArtifactRead,
    ExportArtifact,
    ExportStarted,
    GetArtifact,
    GetArtifactDiff,
    ListArtifacts,
)
from callboard.contracts.content import BlobRef
from callboard.contracts.entities.artifact import ExportForm
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.artifact import ArtifactRow, ExportEntry, VersionEntry

from ..reading import build_no_session_refusal, resolve_session
from ..reading.remote_reader import RemoteReader
from ..state_folder import StateFolder
from .terminal.exit_codes import FAILED
from .terminal.loop import run_async
from .terminal.options import ForceOption, JsonObject, SessionArgument, format_command_help
from .terminal.output import Style, print_err, print_json, print_out, strip_controls, to_line

_FORMATS = ", ".join(get_args(ExportForm))
_DETAILS = """With ARTIFACT, lists or compares its versions. With --out, exports. SESSION is an id from `callboard
sessions`, or `last`. ARTIFACT is an id, or the path of its file. Each file that an agent writes is an artifact; each
version names the step that wrote it. Uses the running Callboard, or starts one for this command.

\b
Examples:
  callboard artifacts last                            list artifacts and their status
  callboard artifacts last notes.md                   list its versions
  callboard artifacts last notes.md --diff 1..3       compare two versions
  callboard artifacts last notes.md -o old.md --version 1
  callboard artifacts last --export zip -o all.zip    export the newest version of each
  callboard artifacts last plan.md --export html -o plan.html
"""
#: Seconds between two reads of an export.
_POLL_SECONDS = 0.1
#: Number of artifacts per request.
_PAGE = 1000


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A written file, as `--json` prints it."""

    file: str
    session_id: str
    artifact_id: str
    content: BlobRef


class ArtifactRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of the command line."""

    session: str
    artifact: str
    versions: tuple[int, int] | None
    form: ExportForm | None
    version: int | None
    file: Path | None


Answer = ArtifactList | ArtifactRead | ArtifactDiff | WrittenFile


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "artifacts", help=format_command_help("list_artifacts", _DETAILS), short_help="List or export artifacts."
    )(_artifacts)


def _artifacts(
    session: SessionArgument,
    artifact: Annotated[str, typer.Argument(metavar="[ARTIFACT]", help="Artifact id, or path of its file.")] = "",
    diff: Annotated[str, typer.Option(metavar="A..B", help="Two versions to compare.")] = "",
    export: Annotated[str, typer.Option(help=f"Export format: {_FORMATS}.")] = "",
    version: Annotated[
        int | None, typer.Option(min=1, help="Version to write or export. [default: the newest]")
    ] = None,
    file: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.")] = None,
    force: ForceOption = False,
    json: JsonObject = False,
) -> None:
    state_folder = StateFolder.from_environment(os.environ)
    if not state_folder.has_store():
        raise build_no_session_refusal()
    form: ExportForm | None = cast("ExportForm", export) if export in get_args(ExportForm) else None
    if export and form is None:
        raise Refusal("invalid_input", f"{export} is not an export format.", field="--export", hint=f"Use {_FORMATS}.")
    if file is None and (form is not None or version is not None):
        raise Refusal("invalid_input", "No output file is named.", field="--out", hint="Add -o FILE.")
    if file is not None:
        if file.exists() and not force:
            raise Refusal("invalid_input", f"{file} exists.", field="--out", hint="Add --force to replace it.")
        form = form or ("file" if artifact else "zip")
    request = ArtifactRequest(
        session=session, artifact=artifact, versions=_parse_versions(diff), form=form, version=version, file=file
    )
    answer = run_async(_run(state_folder, request))
    if json:
        print_json(answer)
    else:
        _print(answer)


def _parse_versions(diff: str) -> tuple[int, int] | None:
    first, dots, second = diff.partition("..")
    if not diff:
        return None
    if not dots or not first.isdecimal() or not second.isdecimal():
        message = f"{diff} does not name two versions."
        raise Refusal("invalid_input", message, field="--diff", hint="Example: --diff 1..3")
    return int(first), int(second)


async def _run(state_folder: StateFolder, request: ArtifactRequest) -> Answer:
    from ..hosting.connection import connect

    async with connect(state_folder, os.environ, lambda _: None) as client:
        session = await resolve_session(RemoteReader(client), request.session)
        artifact = await _resolve_artifact(client, session, request.artifact) if request.artifact else ""
        if request.form is not None and request.file is not None:
            return await _export(client, session, artifact, request.form, request.version, request.file)
        if not artifact:
            return cast("ArtifactList", await client.submit(ListArtifacts(session_id=session, limit=_PAGE)))
        if request.versions is None:
            return cast("ArtifactRead", await client.submit(GetArtifact(session_id=session, artifact_id=artifact)))
        before, after = request.versions
        query = GetArtifactDiff(session_id=session, artifact_id=artifact, from_version=before, to_version=after)
        return cast("ArtifactDiff", await client.submit(query))


async def _resolve_artifact(client: Client, session: str, name: str) -> str:
    """Return the id of the artifact with this id, path or title; the last changed if there are several."""
    if name.startswith("art_"):
        return name
    before: int | None = None
    while True:
        page: ArtifactList = await client.submit(ListArtifacts(session_id=session, before=before, limit=_PAGE))
        for row in reversed(page.artifacts):
            if name in (row.path, row.title):
                return row.artifact_id
        if len(page.artifacts) < _PAGE:
            break
        before = page.artifacts[0].order
    raise Refusal(
        "unknown_artifact",
        f"The session has no artifact {name}.",
        field="ARTIFACT",
        hint=f"`callboard artifacts {session}` lists them.",
    )


async def _export(
    client: Client, session: str, artifact: str, form: ExportForm, version: int | None, file: Path
) -> WrittenFile:
    ids = (artifact,) if artifact else ()
    command = ExportArtifact(session_id=session, artifact_ids=ids, form=form, version=version)
    begun: ExportStarted = await client.submit(command)
    entry = await _wait_for_export(client, session, begun)
    if entry.content is None:
        raise Refusal("tool_failed", f"The export failed: {entry.message}", hint="Try again, or choose another format.")
    async with aclosing(client.read_blob(entry.content)) as pieces:
        data = b"".join([piece async for piece in pieces])
    try:
        await asyncio.to_thread(file.write_bytes, data)
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}."
        raise Refusal("invalid_input", message, field="--out", hint="Name a writable file.") from error
    return WrittenFile(file=str(file), session_id=session, artifact_id=begun.artifact_id, content=entry.content)


async def _wait_for_export(client: Client, session: str, begun: ExportStarted) -> ExportEntry:
    """Return the export once it is complete or has failed."""
    query = GetArtifact(session_id=session, artifact_id=begun.artifact_id, limit=1, wait_for=begun.sequence)
    while True:
        read: ArtifactRead = await client.submit(query)
        for entry in read.artifact.exports:
            if entry.export == begun.export_id and (entry.content is not None or entry.code):
                return entry
        await asyncio.sleep(_POLL_SECONDS)


def _print(answer: Answer) -> None:
    style = Style(sys.stdout)
    match answer:
        case ArtifactList():
            for row in answer.artifacts:
                print_out(_format_line(row, style))
            if not answer.artifacts:
                print_err("This session has no artifacts yet.")
        case ArtifactRead():
            print_out(_format_line(answer.artifact, style))
            for version in answer.versions:
                print_out(f"  {_format_version(version, style)}")
        case ArtifactDiff(binary=True):
            print_err("A version is binary: its lines cannot be compared.")
            raise typer.Exit(FAILED)
        case ArtifactDiff():
            print_out(strip_controls(answer.diff.rstrip("\n")))
            if answer.cut:
                print_err("The diff is truncated. --export diff -o FILE writes all of it.")
        case WrittenFile():
            print_out(answer.file)


def _format_line(row: ArtifactRow, style: Style) -> str:
    status = "" if row.status == "saved" else f"  {style.bad(row.status)}"
    message = f": {to_line(row.message)}" if row.message else ""
    return f"{row.artifact_id}  {style.dim(f'v{row.version}')}  {to_line(row.path or row.title)}{status}{message}"


def _format_version(version: VersionEntry, style: Style) -> str:
    at = datetime.fromtimestamp(version.at / 1_000_000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    author = version.agent_id or version.version_origin
    change = f"as version {version.restores}" if version.restores else f"+{version.added} −{version.removed}"
    return f"{style.dim(at)}  v{version.version}  {author}  {change}"
