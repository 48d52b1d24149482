"""Attachments and mentions of an input: read when it is submitted, under the folder's rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.contracts.commands.context import FindMentions, GetContext, SetContext
from callboard.contracts.commands.permission import AddRule
from callboard.contracts.commands.queue import EditQueuedTurn
from callboard.contracts.commands.turn import Attachment, SteerTurn
from callboard.contracts.content import make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.context import ContextResolved
from callboard.contracts.facts.queue import QueueEdited
from callboard.contracts.facts.turn import TurnSubmitted
from callboard.contracts.ports.model import ImageContent, TextContent
from callboard.contracts.refs import ContextRef, MissingRef
from tests.runtime.rigs.artifacts import NOTES, artifact_session
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000020000000308020000003688"
    "49d60000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)


async def stream_data(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 1000):
        yield data[start : start + 1000]


async def upload(rig: RuntimeRig, name: str, data: bytes) -> Attachment:
    uploads = rig.runtime.dependencies.uploads
    assert uploads is not None
    return Attachment(upload=(await uploads.receive(name, stream_data(data))).upload)


async def read_submission(rig: RuntimeRig, session: str) -> TurnSubmitted:
    """Return the newest submission."""
    facts = [record.fact for record in await rig.facts(session) if isinstance(record.fact, TurnSubmitted)]
    return facts[-1]


async def read_contents(rig: RuntimeRig, session: str, thread: str) -> list[object]:
    host = (await rig.runtime.sessions.get(session)).host
    await host.wait_settled()
    context = await host.conversations.get(thread)
    return [content for message in context.build_messages() for content in message.content]


async def test_an_attachment_becomes_a_blob_and_is_sent(tmp_path: Path) -> None:
    """CTX-01: text and images are sent as content; another file is named."""
    async with open_runtime(tmp_path, calls(says("Seen.")) | {"images": True}) as rig:
        attachments = [
            await upload(rig, "no\u202etes\n.md", b"Buy milk."),
            await upload(rig, "dot.png", PNG),
            await upload(rig, "x.bin", b"\x7fELF\0\0\0"),
        ]
        first = await rig.submit("look", attachments=tuple(attachments))
        await rig.until(first.session_id, "turn.completed")
        fact = await read_submission(rig, first.session_id)
        assert [(entry.kind, entry.source, entry.title) for entry in fact.given] == [
            ("text", "attached", "no⟨U+202E⟩tes .md (9 bytes)"),
            ("image", "attached", f"dot.png (a PNG image, 2 × 3 pixels, {len(PNG)} bytes)"),
            ("binary", "attached", "x.bin (an ELF program or library, 7 bytes)"),
        ]
        blob_ref = make_blob(b"Buy milk.").ref
        assert fact.given[0].content == blob_ref
        assert await rig.runtime.dependencies.store.blobs.get(blob_ref.hash) == b"Buy milk."
        sent = await read_contents(rig, first.session_id, first.thread_id)
        images = [entry for entry in sent if isinstance(entry, ImageContent)]
        assert images == [ImageContent(data=PNG, media="image/png")]
        text = "\n".join(entry.text for entry in sent if isinstance(entry, TextContent))
        assert "Buy milk." in text
        assert "x.bin (an ELF program or library, 7 bytes): binary" in text
        row = (await rig.read(first.session_id)).last_turn
        assert row is not None
        assert row.given == fact.given


async def test_a_missing_upload_is_refused_without_a_fact(tmp_path: Path) -> None:
    """CTX-02"""
    async with open_runtime(tmp_path, calls(says("Seen."))) as rig:
        with pytest.raises(Refusal) as refused:
            await rig.submit("look", attachments=(Attachment(upload="upl_gone"),))
        assert (refused.value.code, refused.value.problem.field) == ("context_missing", "attachments[0]")
        with pytest.raises(Refusal) as both:
            await rig.submit("look", attachments=(Attachment(),))
        assert both.value.code == "invalid_input"
        assert await rig.runtime.dependencies.store.facts.list_streams("ses_") == ()


async def test_a_mention_is_read_at_submission_or_marked_as_missing(tmp_path: Path) -> None:
    """CTX-02: the turn runs, and the model is informed of missing files. Later changes of a file
    have no effect."""
    async with open_runtime(tmp_path, calls(says("Seen."), says("Again."))) as rig:
        (rig.folder / "a file.txt").write_text("first\n")
        (rig.folder / "src").mkdir()
        (rig.folder / "src" / "b.py").write_text("b = 1\n")
        (rig.folder / "away").symlink_to("/etc")
        text = 'see @"a file.txt", @src, @gone.txt, @away/passwd, @../up and @solo; me@example.org'
        first = await rig.submit(text)
        await rig.until(first.session_id, "turn.completed")
        fact = await read_submission(rig, first.session_id)
        assert fact.given == (
            ContextRef(ref="a file.txt", kind="text", source="mentioned", content=make_blob(b"first\n").ref, tokens=1),
            ContextRef(
                ref="src",
                kind="folder",
                source="mentioned",
                title="src (1 entries)",
                content=make_blob(b"b.py").ref,
                tokens=1,
            ),
        )
        assert [(missing_ref.ref, missing_ref.reason) for missing_ref in fact.missing] == [
            ("gone.txt", "not_found"),
            ("away/passwd", "outside_folder"),
            ("../up", "outside_folder"),
        ]
        (rig.folder / "a file.txt").write_text("second\n")
        sent = [
            content.text
            for content in await read_contents(rig, first.session_id, first.thread_id)
            if isinstance(content, TextContent)
        ]
        assert any("first\n" in entry for entry in sent)
        assert not any("second" in entry for entry in sent)
        assert any(
            '<missing ref="gone.txt">it does not exist. Do not guess its content.</missing>' in entry for entry in sent
        )
        resolved = [
            record.fact for record in await rig.facts(first.session_id) if isinstance(record.fact, ContextResolved)
        ]
        assert [(entry.refs, entry.missing) for entry in resolved] == [(fact.given, fact.missing)]
        read = await rig.do(GetContext(session_id=first.session_id, ref="a file.txt"))
        assert read.text is not None
        assert (read.text.text, read.context.missing) == ("first\n", fact.missing)


async def test_a_rule_keeps_a_mention_from_being_read(tmp_path: Path) -> None:
    """SAFE: a mention cannot bypass a rule."""
    async with open_runtime(tmp_path, calls(says("Seen."))) as rig:
        (rig.folder / "keys.env").write_text("A=1\n")
        await rig.do(AddRule(workspace_id=rig.workspace, matcher="Read(*.env)", verdict="deny"))
        first = await rig.submit("see @keys.env")
        await rig.until(first.session_id, "turn.completed")
        fact = await read_submission(rig, first.session_id)
        assert fact.given == ()
        assert [(missing_ref.ref, missing_ref.reason) for missing_ref in fact.missing] == [("keys.env", "denied")]
        result = await rig.do(FindMentions(workspace_id=rig.workspace, session_id=first.session_id, text="keys"))
        assert [mention.ref for mention in result.mentions if mention.kind == "file"] == []


async def test_a_mentioned_session_includes_its_answers(tmp_path: Path) -> None:
    """CTX-01: also answers that no client has read."""
    async with open_runtime(tmp_path, calls(says("The answer is 42."), says("Fine.")), fold_behind=3600.0) as rig:
        first = await rig.submit("what is it?")
        await rig.until(first.session_id, "turn.completed")
        second = await rig.submit(f"go on from @{first.session_id} and @ses_unknown")
        fact = await read_submission(rig, second.session_id)
        (ref,) = fact.given
        assert (ref.kind, ref.title) == ("session", "what is it?")
        assert ref.content is not None
        content = await rig.runtime.dependencies.store.blobs.get(ref.content.hash)
        assert content == b"# what is it?\n\n## what is it?\n\nThe answer is 42."
        assert [(missing_ref.ref, missing_ref.reason) for missing_ref in fact.missing] == [("ses_unknown", "not_found")]


async def test_a_mentioned_artifact_includes_its_newest_version(tmp_path: Path) -> None:
    """CTX-01: also a version that no client has read."""
    async with artifact_session(tmp_path, fold_behind=3600.0) as (rig, session):
        artifact = (await rig.until(session, "artifact.version.created")).scope.artifact
        await rig.submit(f"shorten @{artifact} and @art_unknown", session)
        fact = (await rig.until(session, "turn.submitted", 2)).fact
        assert isinstance(fact, TurnSubmitted)
        (ref,) = fact.given
        assert (ref.ref, ref.kind, ref.title, ref.content) == (
            artifact,
            "artifact",
            NOTES,
            make_blob(b"one\n").ref,
        )
        assert [(missing_ref.ref, missing_ref.reason) for missing_ref in fact.missing] == [("art_unknown", "not_found")]


async def test_a_pinned_file_applies_to_every_turn_and_is_sent_when_it_changes(tmp_path: Path) -> None:
    """CTX-01: pins are read when a turn starts. A missing one is shown as missing and stays pinned."""
    async with open_runtime(tmp_path, calls(says("One."), says("Two."), says("Three."))) as rig:
        (rig.folder / "rules.md").write_text("Be brief.")
        first = await rig.submit("one")
        await rig.until(first.session_id, "turn.completed", 1)
        changed = await rig.do(SetContext(session_id=first.session_id, pinned=("rules.md", "gone.md")))
        assert changed.missing == (MissingRef(ref="gone.md", source="pinned", reason="not_found"),)
        for count, text in ((2, "two"), (3, "three")):
            await rig.submit(text, first.session_id)
            await rig.until(first.session_id, "turn.completed", count)
        sent = [
            content.text
            for content in await read_contents(rig, first.session_id, first.thread_id)
            if isinstance(content, TextContent)
        ]
        assert sum("Be brief." in entry for entry in sent) == 1
        read = await rig.do(GetContext(session_id=first.session_id))
        assert read.context.pinned == ("rules.md", "gone.md")
        assert [(ref.ref, ref.source) for ref in read.context.refs] == [("rules.md", "pinned")]


async def test_an_edited_turn_has_its_new_mentions_and_its_attachments(tmp_path: Path) -> None:
    """CTX-01. The same applies to steering messages."""
    waits = [{"wait_for": "go"}, {"text": "Done."}]
    async with open_runtime(tmp_path, calls(waits, says("Seen."), says("Seen."))) as rig:
        (rig.folder / "a.txt").write_text("a")
        (rig.folder / "b.txt").write_text("b")
        first = await rig.submit("one")
        queued = await rig.submit("see @a.txt", first.session_id, attachments=(await upload(rig, "n.md", b"n"),))
        await rig.do(EditQueuedTurn(session_id=first.session_id, turn_id=queued.turn_id, text="see @b.txt"))
        await rig.do(SteerTurn(session_id=first.session_id, text="also @a.txt"))
        edited = [record.fact for record in await rig.facts(first.session_id) if isinstance(record.fact, QueueEdited)]
        assert [(entry.kind, entry.title or entry.ref) for entry in edited[0].given] == [
            ("text", "n.md (1 byte)"),
            ("text", "b.txt"),
        ]
        (rig.folder / "go").touch()
        (rig.folder.parent / "go").touch()
        await rig.until(first.session_id, "turn.completed", 2)
        sent = [
            content.text
            for content in await read_contents(rig, first.session_id, first.thread_id)
            if isinstance(content, TextContent)
        ]
        assert [entry for entry in sent if 'ref="a.txt"' in entry] == [
            '<context name="a.txt" ref="a.txt" source="mentioned" kind="text">\na\n</context>'
        ]


async def test_mention_candidates_are_ranked_and_quoted(tmp_path: Path) -> None:
    """CTX-01: names that end in the text come first, then the shortest. Ignored files are not
    included."""
    async with open_runtime(tmp_path, calls(says("Fine."))) as rig:
        for path in ("src/notes.py", "notes", "a notes file.md", "deep/er/notes.md", "build/notes.o"):
            (rig.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (rig.folder / path).write_text("x")
        (rig.folder / ".gitignore").write_text("build/\n")
        first = await rig.submit("the notes of yesterday")
        await rig.until(first.session_id, "turn.completed")
        result = await rig.do(FindMentions(workspace_id=rig.workspace, text="Notes"))
        assert [(mention.kind, mention.insert) for mention in result.mentions] == [
            ("file", "@notes"),
            ("file", "@src/notes.py"),
            ("file", '@"a notes file.md"'),
            ("file", "@deep/er/notes.md"),
            ("session", f"@{first.session_id}"),
        ]
        folders = await rig.do(FindMentions(workspace_id=rig.workspace, text="deep"))
        assert [(mention.kind, mention.insert) for mention in folders.mentions if mention.kind == "folder"] == [
            ("folder", "@deep/"),
            ("folder", "@deep/er/"),
        ]
        agents = await rig.do(FindMentions(workspace_id=rig.workspace, text="sol", limit=1))
        assert [(mention.kind, mention.ref) for mention in agents.mentions] == [("agent", "solo")]
        with pytest.raises(Refusal) as refused:
            await rig.do(FindMentions(workspace_id="wks_none", text="x"))
        assert refused.value.code == "unknown_workspace"


async def test_generated_files_are_not_mention_candidates(tmp_path: Path) -> None:
    """CTX-01: bytecode, packages, interpreters, and files excluded by the repository itself."""
    async with open_runtime(tmp_path, calls(says("Fine."))) as rig:
        generated = (
            "__pycache__/two.pyc",
            "two.pyc",
            "node_modules/a/two.js",
            ".venv/two.py",
            "env/pyvenv.cfg",
            "env/two.py",
        )
        for path in ("two.py", "src/two.py", "mine/two.py", *generated, ".git/info/exclude"):
            (rig.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (rig.folder / path).write_text("/mine/\n")
        result = await rig.do(FindMentions(workspace_id=rig.workspace, text="two"))
        assert [(mention.kind, mention.insert) for mention in result.mentions] == [
            ("file", "@two.py"),
            ("file", "@src/two.py"),
        ]
