from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import aclosing
from pathlib import Path

import pytest

from callboard.app.hosting.announcement import find_endpoint
from callboard.app.state_folder import StateFolder
from callboard.client import Client, Endpoint
from callboard.contracts.commands.session import ListSessions, OpenWorkspace, SessionList, UpdateSession
from callboard.contracts.commands.turn import SubmitTurn, TurnAccepted
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.turn import TurnRow
from callboard.projection.rows import Table
from tests.app.rigs.product import PATIENCE, Product, says


async def find_running(product: Product) -> Endpoint:
    endpoint = await find_endpoint(StateFolder(product.home))
    assert endpoint is not None
    return endpoint


async def submit(client: Client, product: Product, text: str, key: str = "") -> TurnAccepted:
    opened = await client.submit(OpenWorkspace(path=str(product.folder)))
    return await client.submit(SubmitTurn(text=text, workspace_id=opened.workspace_id), key=key)


async def test_a_command_repeated_with_its_key_takes_effect_once(product: Product):
    """CTL-01"""
    product.plays({"calls": [says("Hello.")]})
    with product.up():
        async with Client(await find_running(product)) as client:
            first = await submit(client, product, "Hi", key="one")
            assert await submit(client, product, "Hi", key="one") == first
            with pytest.raises(Refusal) as caught:
                await submit(client, product, "Other", key="one")
            assert caught.value.code == "idempotency_conflict"
            listed: SessionList = await client.submit(ListSessions())
            assert [card.session_id for card in listed.sessions] == [first.session_id]


async def test_facts_continue_after_the_server_is_killed_and_restarted(product: Product):
    """COM-14"""
    product.plays({"calls": [says("One."), says("Two.")]})
    state_folder = StateFolder(product.home)
    sequences: list[int] = []
    turns: asyncio.Queue[int] = asyncio.Queue()

    async def follow(client: Client, session: str) -> None:
        async for fact in client.follow_facts(session):
            sequences.append(fact.sequence)
            if fact.type == "turn.completed":
                turns.put_nowait(fact.sequence)

    with product.up() as (server, first):
        # It retries until the second server has started.
        patient = Client(await find_running(product), locate=lambda: find_endpoint(state_folder), waits=(0.1,) * 600)
        async with patient as client, asyncio.timeout(PATIENCE):
            accepted = await submit(client, product, "First")
            following = asyncio.create_task(follow(client, accepted.session_id))
            await turns.get()
            server.signal(signal.SIGKILL)
            server.wait()
            with product.up() as (_, second):
                assert second["url"] != first["url"]
                await client.submit(SubmitTurn(text="Second", session_id=accepted.session_id))
                last = await turns.get()
            following.cancel()
    assert sequences == list(range(1, last + 1))


async def test_operations_build_the_same_view_from_the_start_and_from_a_cursor(product: Product):
    """COM-14, CTL-10: only a line feed ends a line of a stream; U+2028 is part of the text."""
    answer = "Some\u2028words. " * 50
    product.plays({"calls": [says(answer, chunk=7, delay_ms=2)]})
    with product.up():
        async with Client(await find_running(product)) as client:
            accepted = await submit(client, product, "Go")
            complete, resumed = Table(), Table()
            async with aclosing(client.follow_ops(accepted.session_id)) as batches:
                async for batch in batches:
                    complete.apply(batch.ops)
                    resumed.apply(batch.ops)
                    if complete.list_rows(TextPart):
                        break
            cursor = batch.cursor
            async with aclosing(client.follow_ops(accepted.session_id, after=cursor)) as batches:
                async for batch in batches:
                    if batch.kind == "snapshot":
                        resumed = Table()
                    resumed.apply(batch.ops)
                    if any(turn.ended_at for turn in resumed.list_rows(TurnRow)):
                        break
            (text,) = resumed.list_rows(TextPart)
            assert text.content.text == answer


async def test_a_missing_folder_is_refused_before_any_work_in_it(product: Product):
    """SAFE-05"""
    product.plays({"calls": [says("Hello.")]})
    with product.up():
        async with Client(await find_running(product)) as client:
            opened = await client.submit(OpenWorkspace(path=str(product.folder)))
            accepted = await submit(client, product, "Hi")
            away = product.folder.rename(product.place / "away")
            for command in (
                SubmitTurn(text="Again", session_id=accepted.session_id),
                SubmitTurn(text="Another", workspace_id=opened.workspace_id),
                OpenWorkspace(path=str(product.folder)),
            ):
                with pytest.raises(Refusal) as caught:
                    await client.submit(command)
                assert caught.value.code == "no_folder"
                assert str(product.folder) in caught.value.problem.message
            away.rename(product.folder)
            again = await client.submit(SubmitTurn(text="Again", session_id=accepted.session_id))
            assert again.session_id == accepted.session_id


async def test_the_client_raises_the_refusal_of_the_server(product: Product):
    """SAFE-05"""
    with product.up():
        async with Client(await find_running(product)) as client:
            with pytest.raises(Refusal) as caught:
                await client.submit(UpdateSession(session_id="ses_none", title="x"))
            assert (caught.value.code, caught.value.problem.field) == ("unknown_session", "sessionId")


async def test_a_server_that_no_longer_answers_is_unreachable(tmp_path: Path):
    endpoint = Endpoint(url="http://127.0.0.1:9", token="t" * 32, pid=1, epoch=1, store_id="s", version="0")
    async with Client(endpoint, waits=(0.001,)) as client:
        with pytest.raises(Refusal) as caught:
            await client.submit(ListSessions())
        assert caught.value.code == "unreachable"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("run", "what \udcff is"), "PROMPT"),
        (("run", "-C", "{}", "hi"), "--folder"),
        (("rules", "-C", "{}"), "--folder"),
    ],
    ids=["a prompt", "a folder", "a folder with rules"],
)
def test_text_and_paths_in_another_encoding_are_refused_by_their_field(
    product: Product, arguments: tuple[str, ...], field: str
):
    """R6: another encoding of a terminal or a disk is not an internal error."""
    folder = product.folder / os.fsdecode(b"w\xff")
    folder.mkdir()
    product.plays({"calls": [says("Hello.")]})

    done = product.run(*(argument.format(folder) for argument in arguments), "--json")

    problem = json.loads(done.err.splitlines()[-1])
    assert (done.code, problem["code"], problem["field"]) == (2, "invalid_input", field)
    assert "is not valid UTF-8" in problem["message"]
