"""Evidence packs of a real log, and forged packs."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from callboard.contracts.chain import StoredBytes, begin_chain, digest, link
from callboard.contracts.content import Blob, Text, fit_text
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.session import SessionCreated, ThreadOpened
from callboard.contracts.facts.task import TaskCreated
from callboard.contracts.ports.store import Append, Store
from callboard.contracts.record import NewFact, Origin
from callboard.contracts.scope import PERSON, Scope
from callboard.evidence import layout
from callboard.evidence.lineage import Lineage
from callboard.evidence.pack import PackResult, PackWriter
from callboard.log.memory import MemoryStore

SESSION = "ses_one"
MADE_BY = "Callboard test"
AT = 1_763_700_000_000_000
LEAD = Scope(agent="lead", thread="thr_lead")
CHILD = Scope(agent="worker-1", thread="thr_child", task="tsk_child", parent_thread="thr_lead", parent_run="run_lead")
LONG = "a long text. " * 1000

Files = dict[str, bytes]


async def create_session(*more: NewFact, blobs: Sequence[Blob] = ()) -> Store:
    """Return a store with a session of six facts, one with a blob, and of further facts."""
    store = MemoryStore()
    long, long_blobs = fit_text(LONG)
    facts = (
        NewFact(SessionCreated(workspace_id="wks_one", folder="/work", title="One"), Scope()),
        NewFact(ThreadOpened(agent_name="lead", kind="main", definition="lead", definition_hash="d"), LEAD),
        NewFact(MessageText(content=Text(text="a secret by mistake")), step_scope(LEAD, 1)),
        NewFact(MessageText(content=long), step_scope(LEAD, 2)),
        NewFact(MessageText(content=Text(text="café ☕")), step_scope(LEAD, 3)),
        NewFact(TaskCreated(title="A part", assignee="worker-1"), CHILD),
    )
    await append_facts(store, *facts, *more, blobs=(*long_blobs, *blobs))
    return store


def step_scope(scope: Scope, step: int) -> Scope:
    """Return the scope of a step of the agent's run."""
    return Scope(agent=scope.agent, thread=scope.thread, turn=f"trn_{scope.agent}", run=f"run_{scope.agent}", step=step)


async def append_facts(store: Store, *facts: NewFact, blobs: Sequence[Blob] = ()) -> None:
    """Append facts to the session."""
    head = await store.facts.read_head(SESSION)
    origin = Origin(at=AT + head.sequence, actor=PERSON, command_id="cmd_a")
    await store.facts.append(
        Append(stream=SESSION, expected=head.sequence, epoch=1, facts=facts, origin=origin, blobs=tuple(blobs))
    )


async def build_pack(store: Store, task: str = "", page: int = 2) -> tuple[bytes, PackResult]:
    """Build the pack of the session, or of a task."""
    stored = await store.facts.read_bytes(SESSION)
    selection = None
    if task:
        lineage = Lineage()
        lineage.add_facts(stored)
        selection = lineage.select(task)
    file = io.BytesIO()
    with closing(PackWriter(file, SESSION, MADE_BY, selection)) as writer:
        for at in range(0, len(stored), page):
            writer.add_facts(stored[at : at + page])
        for blob in writer.finish_facts():
            if writer.accept_blob(blob):
                writer.add_blob(blob, await store.blobs.get(blob.hash))
        result = writer.finish()
    return file.getvalue(), result


def unzip_files(pack: bytes) -> Files:
    """Return the files of a pack, in order."""
    with zipfile.ZipFile(io.BytesIO(pack)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def read_fact_lines(files: Files) -> list[dict[str, Any]]:
    """Return the facts of a pack."""
    return [json.loads(line) for line in files[layout.FACTS].splitlines()]


def read_manifest(files: Files) -> dict[str, Any]:
    """Return the manifest of a pack."""
    return json.loads(files[layout.MANIFEST])


def zip_files(files: Files) -> bytes:
    """Zip the files with correct checksums and a correct comment."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name, data in files.items():
            opened.writestr(layout.build_zip_member(name), data)
        opened.comment = bytes(layout.COMMENT_BYTES)
    before = file.getvalue()[: -layout.COMMENT_BYTES]
    return before + layout.COMMENT + hashlib.sha256(before).hexdigest().encode()


def forge_pack(
    pack: bytes, *, lines: Callable[[list[Any]], None] | None = None, manifest: dict[str, Any] | None = None
):
    """Change the lines and the manifest of a pack, and adapt the hashes of its files."""
    files = unzip_files(pack)
    if lines is not None:
        changed = read_fact_lines(files)
        lines(changed)
        files[layout.FACTS] = b"".join(_compact(line) for line in changed)
    claims = read_manifest(files)
    claims["files"][layout.FACTS] = hashlib.sha256(files[layout.FACTS]).hexdigest()
    claims |= manifest or {}
    files[layout.MANIFEST] = json.dumps(claims, indent=2, ensure_ascii=False).encode() + b"\n"
    return zip_files(files)


def rebuild_chain(facts: Sequence[StoredBytes]) -> list[StoredBytes]:
    """Recompute the links of the facts, as an attacker with the whole log could."""
    rebuilt: list[StoredBytes] = []
    before = begin_chain(SESSION)
    for at, fact in enumerate(facts, start=1):
        before = link(before, fact.header, fact.seal if fact.payload is None else digest(fact.seal, fact.payload))
        rebuilt.append(fact._replace(sequence=at, link=before))
    return rebuilt


def _compact(line: dict[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
