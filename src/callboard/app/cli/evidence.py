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

from callboard.client.client import Client
from callboard.contracts.commands.evidence import EvidencePacked, ExportEvidence, ExportList, ListExports
from callboard.contracts.content import BlobRef
from callboard.contracts.errors import Refusal

from ..reading import no_session, resolve_session
from ..reading.remote_reader import RemoteReader
from ..state_folder import StateFolder
from .terminal.loop import run_async
from .terminal.output import Style, print_err, print_out

_HELP = """Write a pack of a session's facts that others can verify without this product.

SESSION is an id as `callboard sessions` lists them, or `last`. The pack is a zip of plain files with a README: all facts with
the hash chain that ties them, the longer texts they refer to, and what was erased. That it was exported is a fact as well.
Uses the Callboard that runs, or runs one for as long as it takes.

\b
Examples:
  callboard evidence last
  callboard evidence ses_… --task tsk_… --out review.zip     says which facts are of that task, its parts and agents
  callboard verify review.zip                                check one, with nothing but the file

\b
The pack shows what was said and done, whole. What was redacted in the facts stays redacted; what was erased is not in it.
Whoever gets it should be told its last link another way: `callboard verify FILE --link LINK` compares it.
"""
#: After how long an export tells how far it is, and how often, in seconds.
_TELL_EVERY = 2.0


class WrittenPack(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What `--json` tells: the file, and what the pack in it shows."""

    file: str
    session_id: str
    evidence_id: str
    task_id: str
    pack: BlobRef
    through: int
    facts: int
    link: str


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("evidence", help=_HELP, short_help="Write a pack of facts that others can verify.")(_evidence)


def _evidence(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or `last`.")],
    task: Annotated[str, typer.Option(help="Say which facts are of this task, its parts and their agents.")] = "",
    reason: Annotated[str, typer.Option(help="Why, to stand in the log beside it.")] = "",
    file: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write. [evidence-SESSION-THROUGH.zip, here]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    home = StateFolder.from_environment(os.environ)
    if not home.has_store():
        raise no_session()
    if file is not None:
        _must_be_free(file, force=force)
    request = ExportEvidence(session_id=session, task_id=task or None, reason=reason)
    written = run_async(_export(home, request, file, force=force, quiet=json))
    if json:
        print_out(msgspec.json.encode(written).decode())
    else:
        _tell(written)


async def _export(
    home: StateFolder, asked: ExportEvidence, file: Path | None, *, force: bool, quiet: bool
) -> WrittenPack:
    from ..hosting.connection import connect

    async with connect(home, os.environ, lambda _: None) as client:
        session = await resolve_session(RemoteReader(client), asked.session_id)
        packed = await _asked(client, msgspec.structs.replace(asked, session_id=session), quiet=quiet)
        place = file or Path(f"evidence-{session}-{packed.through}.zip")
        _must_be_free(place, force=force)
        await _save(client, packed.pack, place)
    return WrittenPack(
        file=str(place),
        session_id=session,
        evidence_id=packed.evidence_id,
        task_id=asked.task_id or "",
        pack=packed.pack,
        through=packed.through,
        facts=packed.facts,
        link=packed.link,
    )


async def _asked(client: Client, request: ExportEvidence, *, quiet: bool) -> EvidencePacked:
    """The export's answer; an export that takes long tells how far it is."""
    asking = asyncio.create_task(client.submit(request))
    try:
        while not (await asyncio.wait((asking,), timeout=_TELL_EVERY))[0]:
            if not quiet:
                # How far it is matters less than the export itself.
                with contextlib.suppress(Refusal):
                    under_way: ExportList = await client.submit(ListExports(session_id=request.session_id))
                    for one in under_way.exports:
                        print_err(f"… {one.done} of {one.through} facts")
        return asking.result()
    finally:
        asking.cancel()


async def _save(client: Client, pack: BlobRef, place: Path) -> None:
    """Writes the pack beside its place first, so that there is never half of one under its name."""
    half = place.with_name(f".{place.name}.{os.getpid()}.part")
    found = hashlib.sha256()
    try:
        # What it shows is for whoever the person gives it to.
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            async with aclosing(client.read_blob(pack)) as pieces:
                async for piece in pieces:
                    found.update(piece)
                    await asyncio.to_thread(file.write, piece)
        if found.hexdigest() != pack.hash:
            raise Refusal("chain_broken", "The pack came as other bytes than were made.", hint="Export it again.")
        half.replace(place)
    except OSError as error:
        raise _cannot_write(place, error.strerror or str(error)) from error
    finally:
        half.unlink(missing_ok=True)


def _must_be_free(place: Path, *, force: bool) -> None:
    if place.is_dir() or not place.parent.is_dir():
        raise _cannot_write(place, "Is a directory" if place.is_dir() else "No such directory")
    if place.exists() and not force:
        raise Refusal(
            "invalid_input", f"There is a file {place}.", field="--out", hint="Name another one, or add --force."
        )


def _cannot_write(place: Path, why: str) -> Refusal:
    return Refusal("invalid_input", f"The pack cannot be written to {place}: {why}.", field="--out")


def _tell(written: WrittenPack) -> None:
    style = Style(sys.stderr)
    print_out(written.file)
    what = f"Facts 1 to {written.through}"
    if written.task_id:
        what += f", {written.facts} of them of {written.task_id}"
    print_err(f"{what}; {written.pack.size:,} bytes.")
    print_err(style.dim(f"link {written.link}"))
    print_err(style.dim(f"Check it: callboard verify {written.file}"))
