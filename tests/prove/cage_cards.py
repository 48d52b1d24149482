"""What an approval card shows of commands that hide something: looked at in a browser while the person is asked."""

from __future__ import annotations

import json

from . import cage_page, crew, scenes
from .cage_folder import World
from .driving import do
from .product import Server
from .report import Report

SHOWN = "a card shows all that would run, or counts what it hides"
#: Longest wait for a question and for its card, in seconds.
_WAIT_S = 60.0
_DOES = "touch card-made"
#: The text of the turn, the command, and what its card has to show.
CARDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("X7 empty lines", f"true{chr(10) * 600}{_DOES}", ("599 empty lines", _DOES, "2 commands")),
    ("X7 invisible", f"true\u00ad\u202e; {_DOES}", ("⟨U+00AD⟩⟨U+202E⟩", _DOES, "2 commands", "2 invisible characters")),
    (
        "X7 ignorable",
        f"true \u034f\u115f\ufe0f; {_DOES}",
        ("⟨U+034F⟩", "⟨U+FE0F⟩", _DOES, "3 invisible characters"),
    ),
    ("X7 masked", f"echo token=abcdef1234$({_DOES})", (f"$({_DOES})", "2 commands")),
    ("X7 long", f"true {'a' * 6000}; {_DOES}", ("more characters", _DOES, "2 commands")),
    ("X7 unreadable", f"echo 'a; {_DOES}", ("number unknown",)),
)


def told() -> list[tuple[str, str, list[scenes.Call]]]:
    """What the lead says in these turns."""
    return [
        ("lead", name, [[scenes.calls("Bash", command=command, description="Does nothing")], [scenes.says("I go on.")]])
        for name, command, _ in CARDS
    ]


async def prove(report: Report, world: World, server: Server) -> None:
    """X7: nothing runs before the answer, and the card is read as a person reads it."""
    async with cage_page.browser() as running:
        for name, command, wanted in CARDS:
            where = {"workspaceId": server.workspace}
            session = (await do(server, "submit_turn", text=name, permissionMode="ask", **where))["sessionId"]
            followed = crew.Followed(server.wire, session, approves=False)
            asked = lambda told=followed: [one for one in told.facts if one["type"] == "action.required"]
            try:
                if not await followed.until(lambda found=asked: bool(found()), _WAIT_S):
                    report.check(SHOWN, False, f"{name}: nobody was asked")
                    continue
                text = await cage_page.card(running, await server.wire.page_link(f"/s/{session}"))
                missing = [one for one in wanted if one not in text]
                report.check(SHOWN, not missing, f"{name}: {missing} not in {json.dumps(text)[:600]}")
                first = text.find("true" if "true" in command else "echo")
                report.check(
                    "a card shows the command above the question",
                    0 <= first < text.find("Run "),
                    f"{name}: {text[:300]}",
                )
                made = (world.at.folder / "card-made").exists()
                report.check("nothing runs before it is approved", not made, name)
                await do(
                    server, "respond_action", sessionId=session, actionId=asked()[0]["actionId"], decision="reject"
                )
                await followed.until(lambda told=followed: told.open_runs == 0, _WAIT_S)
            finally:
                await followed.close()
