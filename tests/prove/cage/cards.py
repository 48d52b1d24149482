"""Approval cards of calls that hide something, read in a browser while the request is open."""

from __future__ import annotations

import json
from typing import NamedTuple

from tests.prove.cage import page
from tests.prove.cage.folder import CHANGED, OLD, SERVER, World
from tests.prove.driver import crew, scenes
from tests.prove.driver.product import Server
from tests.prove.driver.report import Report
from tests.prove.driver.session_driver import do

COMPLETE = "a card shows all that would run, or counts what it hides"
#: Longest wait for a request and for its card, in seconds.
_WAIT_S = 60.0
_DOES = "touch card-made"


class Card(NamedTuple):
    """A call that needs approval.

    `wanted` must be on its card. `first` is part of what would run, and is above `question` if
    there is one.
    """

    name: str
    tool: str
    arguments: dict[str, str]
    wanted: tuple[str, ...]
    first: str = ""
    question: str = ""


def _command(name: str, command: str, *wanted: str) -> Card:
    arguments = {"command": command, "description": "Does nothing"}
    return Card(name, "Bash", arguments, wanted, "true" if "true" in command else "echo", "Runs this command")


_LINES = chr(10) * 600
_HIDDEN = f"first{_LINES}{_DOES}\u202e{chr(10)}"
CARDS: tuple[Card, ...] = (
    _command("X7 empty lines", f"true{_LINES}{_DOES}", "599 empty lines", _DOES, "2 commands"),
    _command(
        "X7 invisible",
        f"true\u00ad\u202e; {_DOES}",
        *("⟨U+00AD⟩⟨U+202E⟩", _DOES, "2 commands", "2 invisible characters"),
    ),
    _command(
        "X7 ignorable", f"true \u034f\u115f\ufe0f; {_DOES}", "⟨U+034F⟩", "⟨U+FE0F⟩", _DOES, "3 invisible characters"
    ),
    _command("X7 masked", f"echo token=abcdef1234$({_DOES})", f"$({_DOES})", "2 commands"),
    _command("X7 long", f"true {'a' * 6000}; {_DOES}", "more characters", _DOES, "2 commands"),
    _command("X7 unreadable", f"echo 'a; {_DOES}", "Unknown number of commands"),
    Card(
        "X7 new file",
        "Write",
        {"file_path": "card-new.txt", "content": _HIDDEN},
        ("first", _DOES, "⟨U+202E⟩", "599 empty lines"),
        *("first", "Creates "),
    ),
    Card(
        "X7 overwrite",
        "Write",
        {"file_path": CHANGED, "content": _HIDDEN},
        ("first", _DOES, "⟨U+202E⟩", "599 empty lines", "The old text."),
        *("first", "Changes "),
    ),
    Card(
        "X7 edit",
        "Edit",
        {"file_path": CHANGED, "old_string": "old text", "new_string": _HIDDEN},
        ("first", _DOES, "⟨U+202E⟩", "599 empty lines"),
        *("first", "Changes "),
    ),
    Card(
        "X7 tool server",
        f"mcp__{SERVER}__count",
        {"text": _HIDDEN, "long": f"{'a' * 6000} {_DOES}"},
        ("first", _DOES, "⟨U+202E⟩"),
    ),
)


def answers() -> list[tuple[str, str, list[scenes.Call]]]:
    """Return the lead's answers in these turns."""
    return [
        ("lead", card.name, [[scenes.calls(card.tool, **card.arguments)], [scenes.says("I go on.")]]) for card in CARDS
    ]


async def prove(report: Report, world: World, server: Server) -> None:
    """X7: nothing runs before the answer, and the card shows what a person must see."""
    async with page.browser() as running:
        for name, _, _, wanted, first, question in CARDS:
            where = {"workspaceId": server.workspace}
            session = (await do(server, "submit_turn", text=name, permissionMode="ask", **where))["sessionId"]
            followed = crew.Followed(server.wire, session, approves=False)
            requests = lambda source=followed: [fact for fact in source.facts if fact["type"] == "action.required"]
            try:
                if not await followed.until(lambda requests=requests: bool(requests()), _WAIT_S):
                    report.check(COMPLETE, False, f"{name}: no request arrived")
                    continue
                text = await page.card(running, await server.wire.page_link(f"/s/{session}"))
                missing = [text_wanted for text_wanted in wanted if text_wanted not in text]
                report.check(COMPLETE, not missing, f"{name}: {missing} not in {json.dumps(text)[:600]}")
                if question:
                    report.check(
                        "a card shows what would run above the question",
                        0 <= text.find(first) < text.find(question),
                        f"{name}: {text[-500:]}",
                    )
                folder = world.at.folder
                untouched = (folder / CHANGED).read_text() == OLD and not (folder / "card-new.txt").exists()
                early = (folder / "card-made").exists() or not untouched
                report.check("nothing runs before it is approved", not early, name)
                await do(
                    server, "respond_action", sessionId=session, actionId=requests()[0]["actionId"], decision="reject"
                )
                await followed.until(lambda source=followed: source.open_runs == 0, _WAIT_S)
            finally:
                await followed.close()
