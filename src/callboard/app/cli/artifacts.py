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

from callboard.client.client import Client
from callboard.contracts.commands.artifacts import (
    ArtifactDiff,
    ArtifactList,
    ArtifactRead,
    ExportArtifact,
    ExportBegun,
    GetArtifact,
    GetArtifactDiff,
    ListArtifacts,
)
from callboard.contracts.content import BlobRef
from callboard.contracts.entities.artifact import ExportForm
from callboard.contracts.errors import Refusal
from callboard.contracts.rows import ArtifactRow, ExportEntry, VersionEntry

from ..reading import no_session, resolve_session
from ..reading.remote_reader import RemoteReader
from ..state_folder import StateFolder
from .terminal.exit_codes import FAILED
from .terminal.loop import run_async
from .terminal.output import Style, print_err, print_out, strip_controls, to_line

_HELP = """List the artifacts of a session, show the versions of one, and take them away.

SESSION is an id as `callboard sessions` lists them, or `last`. ARTIFACT is an id, or the path of its file. What agents write is
an artifact with the step that made each version. Uses the Callboard that runs, or runs one for as long as it takes.

\b
Examples:
  callboard artifacts last                            what there is, and how each stands
  callboard artifacts last notes.md                   its versions
  callboard artifacts last notes.md --diff 1..3       what differs between two of them
  callboard artifacts last notes.md -o old.md --version 1
  callboard artifacts last --export zip -o all.zip    the newest versions of all
  callboard artifacts last plan.md --export html -o plan.html
"""
#: How often an export is asked for, in seconds.
_ASK_EVERY = 0.1
#: How many artifacts are listed at a time.
_PAGE = 1000


class WrittenFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What `--json` tells of a file that was written."""

    file: str
    session_id: str
    artifact_id: str
    content: BlobRef


class ArtifactRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says."""

    session: str
    artifact: str
    versions: tuple[int, int] | None
    form: ExportForm | None
    version: int | None
    file: Path | None


Answer = ArtifactList | ArtifactRead | ArtifactDiff | WrittenFile


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("artifacts", help=_HELP, short_help="List what agents wrote in a session, with its versions.")(
        _artifacts
    )


def _artifacts(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or `last`.")],
    artifact: Annotated[str, typer.Argument(metavar="[ARTIFACT]", help="An artifact's id, or its path.")] = "",
    diff: Annotated[str, typer.Option(metavar="A..B", help="What differs between two versions.")] = "",
    export: Annotated[str, typer.Option(help=f"Make something of it: {', '.join(get_args(ExportForm))}.")] = "",
    version: Annotated[int | None, typer.Option(min=1, help="The version to write or export. [the newest]")] = None,
    file: Annotated[Path | None, typer.Option("--out", "-o", help="The file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    home = StateFolder.from_environment(os.environ)
    if not home.has_store():
        raise no_session()
    form: ExportForm | None = cast("ExportForm", export) if export in get_args(ExportForm) else None
    if export and form is None:
        raise Refusal("invalid_input", f"There is no form {export}: {', '.join(get_args(ExportForm))}.", field="export")
    if file is None and (form is not None or version is not None):
        raise Refusal("invalid_input", "Say where it is to go.", field="out", hint="-o FILE")
    if file is not None:
        if file.exists() and not force:
            raise Refusal("invalid_input", f"{file} is there already.", field="out", hint="--force writes over it.")
        form = form or ("file" if artifact else "zip")
    asked = ArtifactRequest(
        session=session, artifact=artifact, versions=_two(diff), form=form, version=version, file=file
    )
    answer = run_async(_ask(home, asked))
    if json:
        print_out(msgspec.json.encode(answer).decode())
    else:
        _print(answer)


def _two(diff: str) -> tuple[int, int] | None:
    first, dots, second = diff.partition("..")
    if not diff:
        return None
    if not dots or not first.isdecimal() or not second.isdecimal():
        raise Refusal("invalid_input", f"{diff} names no two versions.", field="diff", hint="--diff 1..3")
    return int(first), int(second)


async def _ask(home: StateFolder, asked: ArtifactRequest) -> Answer:
    from ..hosting.connection import connect

    async with connect(home, os.environ, lambda _: None) as client:
        session = await resolve_session(RemoteReader(client), asked.session)
        artifact = await _named(client, session, asked.artifact) if asked.artifact else ""
        if asked.form is not None and asked.file is not None:
            return await _exported(client, session, artifact, asked.form, asked.version, asked.file)
        if not artifact:
            return cast("ArtifactList", await client.submit(ListArtifacts(session_id=session, limit=_PAGE)))
        if asked.versions is None:
            return cast("ArtifactRead", await client.submit(GetArtifact(session_id=session, artifact_id=artifact)))
        before, after = asked.versions
        query = GetArtifactDiff(session_id=session, artifact_id=artifact, from_version=before, to_version=after)
        return cast("ArtifactDiff", await client.submit(query))


async def _named(client: Client, session: str, named: str) -> str:
    """The id of what was named by its id, its path or its title: the one that changed last."""
    if named.startswith("art_"):
        return named
    before: int | None = None
    while True:
        listed: ArtifactList = await client.submit(ListArtifacts(session_id=session, before=before, limit=_PAGE))
        for row in reversed(listed.artifacts):
            if named in (row.path, row.title):
                return row.artifact_id
        if len(listed.artifacts) < _PAGE:
            break
        before = listed.artifacts[0].order
    raise Refusal(
        "unknown_artifact",
        f"The session has no artifact {named}.",
        field="artifact",
        hint=f"callboard artifacts {session} lists them.",
    )


async def _exported(
    client: Client, session: str, artifact: str, form: ExportForm, version: int | None, file: Path
) -> WrittenFile:
    ids = (artifact,) if artifact else ()
    asked = ExportArtifact(session_id=session, artifact_ids=ids, form=form, version=version)
    begun: ExportBegun = await client.submit(asked)
    entry = await _over(client, session, begun)
    if entry.content is None:
        raise Refusal("tool_failed", f"It could not be exported: {entry.message}")
    async with aclosing(client.read_blob(entry.content)) as coming:
        data = b"".join([piece async for piece in coming])
    try:
        await asyncio.to_thread(file.write_bytes, data)
    except OSError as error:
        raise Refusal("invalid_input", f"{file} cannot be written: {error.strerror}.", field="out") from error
    return WrittenFile(file=str(file), session_id=session, artifact_id=begun.artifact_id, content=entry.content)


async def _over(client: Client, session: str, begun: ExportBegun) -> ExportEntry:
    """The export once it is complete or has failed."""
    while True:
        read: ArtifactRead = await client.submit(
            GetArtifact(session_id=session, artifact_id=begun.artifact_id, limit=1, wait_for=begun.sequence)
        )
        for one in read.artifact.exports:
            if one.export == begun.export_id and (one.content is not None or one.code):
                return one
        await asyncio.sleep(_ASK_EVERY)


def _print(answer: Answer) -> None:
    style = Style(sys.stdout)
    match answer:
        case ArtifactList():
            for row in answer.artifacts:
                print_out(_line(row, style))
            if not answer.artifacts:
                print_err("No agent of this session has written anything yet.")
        case ArtifactRead():
            print_out(_line(answer.artifact, style))
            for one in answer.versions:
                print_out(f"  {_version(one, style)}")
        case ArtifactDiff(binary=True):
            print_err("One of the versions is no text: there are no lines to compare.")
            raise typer.Exit(FAILED)
        case ArtifactDiff():
            print_out(strip_controls(answer.diff.rstrip("\n")))
            if answer.cut:
                print_err("The rest is left out: --export diff -o FILE writes all of it.")
        case WrittenFile():
            print_out(answer.file)


def _line(row: ArtifactRow, style: Style) -> str:
    state = "" if row.status == "saved" else f"  {style.bad(row.status)}"
    name = to_line(row.path or row.title)
    told = f"{row.artifact_id}  {style.dim(f'v{row.version}')}  {name}"
    return f"{told}{state}{f': {to_line(row.message)}' if row.message else ''}"


def _version(one: VersionEntry, style: Style) -> str:
    at = datetime.fromtimestamp(one.at / 1_000_000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    who = one.agent_id or one.version_origin
    what = f"as version {one.restores}" if one.restores else f"+{one.added} −{one.removed}"
    return f"{style.dim(at)}  v{one.version}  {who}  {what}"
