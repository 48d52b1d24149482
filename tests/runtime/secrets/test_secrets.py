"""Secrets in a session: recorded as handles, replaced by values where a tool runs."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from callboard.contracts.commands.action import RespondAction
from callboard.contracts.commands.permission import AddRule
from callboard.contracts.commands.secret import ListSecrets, RemoveSecret, SetSecret
from callboard.contracts.commands.session import UpdateSession
from callboard.contracts.commands.turn import SubmitTurn
from callboard.contracts.content import make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.action import ActionRequired, Binding
from callboard.contracts.facts.permission import PermissionEvaluated
from callboard.contracts.facts.tool import ToolCompleted, ToolRefused
from callboard.contracts.facts.turn import PermissionMode, PromptRef, TurnStarted
from callboard.contracts.facts.workspace import WorkspaceOpened
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.ports.tools import Evaluation, ToolCall
from callboard.contracts.record import NewFact
from callboard.contracts.scope import Scope
from callboard.runtime.secrets.append_redactor import (
    AppendRedactor,
    compute_body_hash,
    redact_evaluation,
    redact_stream,
)
from callboard.runtime.secrets.secret_values import reveal_call
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction
from callboard.tools.arguments import compute_digest
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime, says, use_tool

VALUE = "d3pl0y-Zx9wVu8tSr7qPo6n"
HARD = 'q"uo\\te/S3cret+é&='
TOKEN = "ghp_" + "a1B2c3D4e5" * 4


def secrets(*keys: str) -> Redaction:
    return Redaction([NamedSecret("deploy", VALUE, "environment"), NamedSecret("hard", HARD, "environment")], keys)


async def _read_log(rig: RuntimeRig, session: str) -> str:
    """Return everything that the log has of a session, including blobs."""
    facts = await rig.facts(session)
    blobs: list[bytes] = []
    for record in facts:
        if isinstance(record.fact, ToolCompleted):
            for change in record.fact.changes:
                blobs += [
                    await rig.runtime.dependencies.store.blobs.get(ref.hash) or b"missing"
                    for ref in (change.before, change.after)
                    if ref is not None
                ]
    return "\n".join(
        [*(msgspec.json.encode(record.fact).decode() for record in facts), *(blob.decode() for blob in blobs)]
    )


def _has_no_value(recorded: str) -> bool:
    return not any(value in recorded for value in (VALUE, HARD, TOKEN[4:], "uo\\\\te", "missing"))


async def test_a_recorded_handle_runs_with_its_value(tmp_path: Path) -> None:
    """SAFE-03: the file has the values; no fact and no blob does."""
    content = f"a={VALUE}\nb={HARD}\nc={TOKEN}\n"
    scenario = calls(
        [{"text": f"I use {VALUE} ", "chunk": 3}, *use_tool("Write", file_path="x.ini", content=content)],
        use_tool("Edit", file_path="x.ini", old_string="secret://deploy", new_string="secret://hard"),
        use_tool("Read", file_path="x.ini"),
        says("Done."),
    )
    async with open_runtime(tmp_path, scenario, secrets=secrets()) as rig:
        turn = await rig.submit(f"write {VALUE} and {HARD}", permission_mode="edits")
        for count in (1, 2):
            await _approve(rig, turn.session_id, count)
        await rig.until(turn.session_id, "turn.completed")

        recorded = await _read_log(rig, turn.session_id)
        assert (rig.folder / "x.ini").read_text() == f"a={HARD}\nb={HARD}\nc={TOKEN}\n"
        assert _has_no_value(recorded)
        assert "I use secret://deploy" in recorded
        assert "+a=secret://deploy" in recorded.replace("\\n", "\n")
        assert rig.runtime.dependencies.append_redactor.redacted_count == 0


async def _approve(rig: RuntimeRig, session: str, count: int = 1) -> ActionRequired:
    """Approve the nth question."""
    action = await rig.until(session, "action.required", count=count)
    assert isinstance(action.fact, ActionRequired)
    await rig.do(RespondAction(session_id=session, action_id=action.scope.action, decision="approve"))
    return action.fact


@pytest.mark.parametrize(
    ("mode", "matcher"),
    [
        ("ask", "Bash"),
        ("edits", "Bash(*)"),
        ("full", "Bash(printf *)"),
        ("full", "Bash(printf %s secret://deploy *)"),
    ],
)
@pytest.mark.parametrize(
    "handle", ["secret://deploy", "secret://deploy#hex", "secret:\\/\\/deploy", "\\u0073ecret://deploy"]
)
async def test_a_stored_secret_needs_approval_in_every_mode_and_under_broad_rules(
    tmp_path: Path, mode: PermissionMode, matcher: str, handle: str
) -> None:
    """SAFE-03, SAFE-07: in every spelling of the handle. The card names the secret."""
    spelled = json.dumps({"command": "printf %s HERE | wc -c > n.txt"}).replace("HERE", handle)
    scenario = calls([{"tool": {"name": "Bash", "arguments": spelled}}], says("Done."))
    async with open_runtime(tmp_path, scenario, secrets=secrets()) as rig:
        await rig.do(AddRule(workspace_id=rig.workspace, matcher=matcher, verdict="allow"))
        turn = await rig.submit("go", permission_mode=mode)
        action = await _approve(rig, turn.session_id)
        await rig.until(turn.session_id, "turn.completed")

        assert "It receives the secret: deploy" in action.prompt
        assert (action.risk, tuple(action.matchers)) == ("high", ("session", "workspace"))
        assert all("secret://deploy" in matcher and not matcher.endswith("*)") for matcher in action.matchers.values())
        written = int((rig.folder / "n.txt").read_text())
        assert written == len(VALUE) * (2 if handle.endswith("hex") else 1)


async def test_a_rule_that_names_the_exact_command_and_handle_allows_it(tmp_path: Path) -> None:
    """SAFE-03: the first card offers the rule. Another command with the handle needs approval."""
    command = "printf %s secret://deploy | wc -c > n.txt"
    scenario = calls(
        use_tool("Bash", command=command), use_tool("Bash", command=command), use_tool("Bash", command=f"{command}; id")
    )
    async with open_runtime(tmp_path, scenario, secrets=secrets()) as rig:
        turn = await rig.submit("go", permission_mode="full")
        required_action = (await rig.until(turn.session_id, "action.required")).fact
        assert isinstance(required_action, ActionRequired)
        assert required_action.matchers["session"] == f"Bash({command})"
        action = (await rig.read(turn.session_id)).actions[0]
        await rig.do(
            RespondAction(session_id=turn.session_id, action_id=action.action_id, decision="approve", scope="session")
        )
        third = (await rig.until(turn.session_id, "action.required", count=2)).fact

        assert isinstance(third, ActionRequired)
        assert third.arguments.text.endswith('; id"}')
        assert (await rig.types(turn.session_id)).count("tool.completed") == 2


async def test_a_detected_secret_needs_no_extra_approval(tmp_path: Path) -> None:
    """SAFE-03"""
    scenario = calls(use_tool("Write", file_path="x.ini", content=f"c={TOKEN}\n"), says("Done."))
    async with open_runtime(tmp_path, scenario, secrets=secrets()) as rig:
        turn = await rig.submit("go", permission_mode="full")
        await rig.until(turn.session_id, "turn.completed")

        assert (rig.folder / "x.ini").read_text() == f"c={TOKEN}\n"
        assert "action.required" not in await rig.types(turn.session_id)


async def test_an_approval_of_handles_allows_their_values(tmp_path: Path) -> None:
    """SAFE-07, SAFE-03: the card shows handles, and the answer is bound to them."""
    scenario = calls(use_tool("Write", file_path="x.ini", content=f"a={VALUE} {TOKEN}\n"), says("Done."))
    async with open_runtime(tmp_path, scenario, secrets=secrets()) as rig:
        turn = await rig.submit("go")
        required_action = (await rig.until(turn.session_id, "action.required")).fact
        assert isinstance(required_action, ActionRequired)
        assert "secret://deploy ghp_secret://seen-" in required_action.arguments.text
        assert required_action.preview is not None
        assert "+a=secret://deploy ghp_secret://seen-" in required_action.preview.text
        (judged,) = [
            record.fact for record in await rig.facts(turn.session_id) if isinstance(record.fact, PermissionEvaluated)
        ]
        assert judged.secrets == ("deploy",)
        action = (await rig.read(turn.session_id)).actions[0]
        await rig.do(RespondAction(session_id=turn.session_id, action_id=action.action_id, decision="approve"))
        await rig.until(turn.session_id, "turn.completed")

        assert (rig.folder / "x.ini").read_text() == f"a={VALUE} {TOKEN}\n"
        assert _has_no_value(await _read_log(rig, turn.session_id))


@pytest.mark.parametrize(
    ("handle", "message"),
    [
        ("secret://ghost", "There is no secret ghost"),
        ("secret://seen-0123456789ab", "a process that has ended"),
        ("secret://deploy", "sends it to that provider only"),
    ],
)
async def test_a_call_with_an_unknown_handle_is_refused_without_a_question(
    tmp_path: Path, handle: str, message: str
) -> None:
    """SAFE-09: also if it is a provider's key."""
    scenario = calls(use_tool("Write", file_path="x.ini", content=f"a={handle}\n"), says("Done."))
    async with open_runtime(tmp_path, scenario, secrets=secrets("deploy")) as rig:
        turn = await rig.submit("go", permission_mode="full")
        refused = (await rig.until(turn.session_id, "tool.refused")).fact
        await rig.until(turn.session_id, "turn.completed")

        assert isinstance(refused, ToolRefused)
        assert refused.code == "secret_missing"
        assert message in refused.message
        assert "action.required" not in await rig.types(turn.session_id)
        assert list(rig.folder.iterdir()) == []


async def test_messages_to_the_team_keep_their_handles(tmp_path: Path) -> None:
    """SAFE-09: a message runs nothing, so no value is needed."""
    scenario = calls(use_tool("create_task", title="Use secret://deploy, never secret://ghost"), says("Done."))
    async with open_runtime(tmp_path, scenario, secrets=secrets()) as rig:
        turn = await rig.submit("go")
        await rig.until(turn.session_id, "turn.completed")

        created = next(record for record in await rig.facts(turn.session_id) if record.header.type == "task.created")
        assert "Use secret://deploy, never secret://ghost" in msgspec.json.encode(created.fact).decode()


async def test_a_repeated_request_matches_after_a_restart(tmp_path: Path) -> None:
    """CTL-01: although a detected token has another handle in each process."""
    request = SubmitTurn(text=f"use {TOKEN}", workspace_id="")
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        request = msgspec.structs.replace(request, workspace_id=rig.workspace)
        first = await rig.do(request, "key")
        await rig.until(first.session_id, "turn.completed")
    async with open_runtime(tmp_path, calls(says("Done."))) as rig:
        assert await rig.do(request, "key") == first
        with pytest.raises(Refusal) as refused:
            await rig.do(msgspec.structs.replace(request, text="another"), "key")
        assert refused.value.code == "idempotency_conflict"


def test_a_commands_hash_reveals_no_secret() -> None:
    """SAFE-03: two tokens have the same hash, and so do a secret and its handle."""
    redaction = secrets()
    hashed = lambda text: compute_body_hash("submit_turn", SubmitTurn(text=text), redaction)

    assert hashed(f"use {TOKEN}") == hashed("use ghp_" + "z9Y8x7W6v5" * 4) != hashed("use it")
    assert hashed(VALUE) == hashed("secret://deploy")


async def test_titles_and_reasons_have_handles_in_facts_answers_and_views(tmp_path: Path) -> None:
    """SAFE-03"""
    async with open_runtime(tmp_path, calls(says("Done.")), secrets=secrets()) as rig:
        turn = await rig.submit(f"{VALUE} is the key")
        await rig.until(turn.session_id, "turn.completed")
        await rig.do(UpdateSession(session_id=turn.session_id, title=f"With {VALUE}"))

        await rig.runtime.sessions.wait_shown()
        listed = rig.runtime.workspaces.get(rig.workspace).cards()
        assert [card.title for card in listed] == ["With secret://deploy"]
        assert (await rig.parts(turn.session_id, turn.turn_id))[0] is not None
        assert _has_no_value(await _read_log(rig, turn.session_id))


async def test_a_secret_is_stored_listed_and_removed_without_a_trace_in_the_log(tmp_path: Path) -> None:
    """SAFE-09: no fact, and no answer under its key."""
    keyring_entries: dict[str, str] = {}
    async with open_runtime(tmp_path, calls(says("Done.")), secrets=Redaction(store=_Drawer(keyring_entries))) as rig:
        head = await rig.runtime.dependencies.store.facts.read_head(rig.workspace)
        answer = await rig.do(SetSecret(name="later", value=VALUE), "key")
        again = await rig.do(SetSecret(name="later", value=VALUE + "x"), "key")

        assert (answer.handle, again.handle, keyring_entries) == (
            "secret://later",
            "secret://later",
            {"later": VALUE + "x"},
        )
        assert [secret.name for secret in (await rig.do(ListSecrets())).secrets] == ["later"]
        assert await rig.runtime.dependencies.store.facts.find_answer("key") is None
        await rig.do(RemoveSecret(name="later"))
        assert (await rig.do(ListSecrets())).secrets == ()
        assert await rig.runtime.dependencies.store.facts.read_head(rig.workspace) == head
        with pytest.raises(Refusal) as refused:
            await rig.do(SetSecret(name="later", value="short"))
        assert refused.value.code == "invalid_input"
        assert "short" not in str(refused.value)
    assert "Zx9wVu8t" not in repr(SetSecret(name="later", value=VALUE))
    assert all(VALUE.encode() not in path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())


def test_the_append_redactor_redacts_and_reports_late_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """SAFE-03: in facts, their contents and answers."""
    redactor, blob = AppendRedactor(secrets()), make_blob(f"role: {VALUE}".encode())
    started = TurnStarted(
        mode="chat",
        permission_mode="ask",
        max_iters=1,
        definition="lead",
        definition_hash="",
        workspace_sequence=0,
        prompts=(PromptRef(layer="role", hash=blob.ref.hash, size=blob.ref.size),),
        tools=(),
    )
    opened = WorkspaceOpened(path="/x", name=f"with {VALUE}")
    run = Scope(agent="agt_1", thread="thr_1", turn="trn_1", run="run_1")

    with caplog.at_level(logging.WARNING):
        facts, blobs = redactor.redact((NewFact(opened), NewFact(started, run)), (blob,))
        same = redactor.redact((NewFact(WorkspaceOpened(path="/x", name="x")),), (make_blob(b"x"),))
        answer = redactor.redact_answer(StoredAnswer(key="k", body_hash="", answer=f'"{VALUE}"'.encode()))

    safe = make_blob(b"role: secret://deploy")
    assert blobs == (safe,)
    assert [new.fact for new in facts] == [
        WorkspaceOpened(path="/x", name="with secret://deploy"),
        msgspec.structs.replace(started, prompts=(PromptRef(layer="role", hash=safe.ref.hash, size=safe.ref.size),)),
    ]
    assert same == ((NewFact(WorkspaceOpened(path="/x", name="x")),), (make_blob(b"x"),))
    assert answer == StoredAnswer(key="k", body_hash="", answer=b'"secret://deploy"')
    assert redactor.redacted_count == 1
    assert "workspace.opened, turn.started" in caplog.text
    assert VALUE not in caplog.text


def test_only_the_recorded_call_runs() -> None:
    """SAFE-07"""
    real = msgspec.json.encode({"command": f"curl -H {VALUE}"}).decode()
    bound = Binding(tool="Bash", arguments_hash=compute_digest(real), folder="/x", definition_hash="")
    evaluation = Evaluation(
        verdict="ask",
        risk="low",
        read_only=False,
        arguments=real,
        arguments_hash=compute_digest(real),
        summary=f"Bash curl -H {VALUE}",
        checks=(),
        binding=bound,
    )
    recorded = redact_evaluation(evaluation, secrets())
    call = ToolCall(call_id="", tool="Bash", arguments=recorded.arguments)

    assert recorded.arguments == '{"command":"curl -H secret://deploy"}'
    assert (
        recorded.arguments_hash == compute_digest(recorded.arguments) == getattr(recorded.binding, "arguments_hash", "")
    )
    run, verdict = reveal_call(call, recorded, secrets())
    assert (run.arguments, verdict.arguments_hash) == (real, compute_digest(real))
    other = msgspec.structs.replace(call, arguments='{"command":"rm secret://deploy"}')
    with pytest.raises(Refusal) as refused:
        reveal_call(other, recorded, secrets())
    assert refused.value.code == "file_changed"


async def test_an_upload_is_redacted_while_it_arrives() -> None:
    """SAFE-03: for all piece sizes, also in binary data."""
    data = b"\xff\xfe" + f"é {VALUE} {TOKEN} é".encode() + b"\x80"

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(data), 3):
            yield data[at : at + 3]

    redacted = b"".join([piece async for piece in redact_stream(pieces(), secrets().redact_stream())])

    assert redacted.startswith(b"\xff\xfe" + "é secret://deploy ghp_secret://seen-".encode())
    assert redacted.endswith(" é".encode() + b"\x80")


class _Drawer:
    """A key store in memory."""

    def __init__(self, entries: dict[str, str]) -> None:
        self._entries = entries

    def check(self) -> None:
        pass

    def list_stored(self):
        return ()

    def get(self, name: str) -> str | None:
        return self._entries.get(name)

    def put(self, name: str, value: str) -> None:
        self._entries[name] = value

    def remove(self, name: str) -> bool:
        return self._entries.pop(name, None) is not None
