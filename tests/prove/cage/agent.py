"""An external agent's program (ACP) that a sandboxed command rewrites after a person approved it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.prove.cage.folder import World
from tests.prove.driver import crew, scenes
from tests.prove.driver.product import Server
from tests.prove.driver.report import Report
from tests.prove.driver.session_driver import do

STARTS = "an agent's program that was approved and not changed starts without another question"
AGAIN = "an agent's program that a sandboxed command rewrote is not started without another approval"
REFUSED = "an agent whose command sets a variable that loads code is not started"
#: Longest wait for a fact, in seconds.
_WAIT_S = 60.0
_AGENT = Path(__file__).parents[2] / "adapters" / "acp" / "agent.py"
_PROGRAM = "acp.sh"
_FIRST, _SAME, _REWRITES, _AGAIN, _LOADS = ("X2 first", "X2 same", "X2 rewrites", "X2 again", "X3 loads")


def write_agents(world: World) -> None:
    """Write the agents and the program that a person approves."""
    at = world.at
    (world.outside / "acp.json").write_text(json.dumps({"prompts": [[{"say": "hi"}]] * 4}))
    (at.folder / _PROGRAM).write_text(f"exec {sys.executable} {_AGENT} {world.outside / 'acp.json'}\n")
    front: dict[str, Any] = {"kind": "subagent", "provider": "acp", "tools": ["*"], "policy": ["Patch"]}
    crew.agent(at, "coder", command=["sh", _PROGRAM], description="Codes.", **front)
    loading = ["env", f"BASH_ENV={world.ran}/loaded", "sh", _PROGRAM]
    crew.agent(at, "loader", command=loading, description="Codes.", **front)


def answers(world: World) -> list[tuple[str, str, list[scenes.Call]]]:
    """Return the lead's answers in these turns."""

    def spawns(agent: str) -> list[scenes.Call]:
        spawn = scenes.calls("spawn_subagent", agent=agent, objective="look")
        return [[spawn], [scenes.calls("wait_subagents")], [scenes.says("I go on.")]]

    harm = f"printf 'touch {world.ran}/agent\\n' > {_PROGRAM}"
    rewrite = scenes.calls("Bash", command=harm, description="rewrites the agent's program")
    works = [(name, spawns("coder")) for name in (_FIRST, _SAME, _AGAIN)]
    return [("lead", name, calls) for name, calls in (*works, (_LOADS, spawns("loader")), (_REWRITES, [[rewrite]]))]


async def prove(report: Report, world: World, server: Server) -> None:
    """X2, X3: spawn the agent in each turn.

    The person approves its program once, for the workspace.
    """
    answer = await do(server, "submit_turn", text=_FIRST, permissionMode="full", workspaceId=server.workspace)
    session = answer["sessionId"]
    followed = crew.Followed(server.wire, session, approves=False)
    requests = lambda: [fact for fact in followed.facts if fact["type"] == "action.required"]

    async def turn(text: str) -> None:
        before = followed.count(*crew.TURN_ENDS)
        await do(server, "submit_turn", text=text, permissionMode="full", sessionId=session)
        questions = len(requests())
        await followed.until(lambda: followed.count(*crew.TURN_ENDS) > before or len(requests()) > questions, _WAIT_S)

    try:
        first = await followed.until(lambda: bool(requests()), _WAIT_S)
        report.check(STARTS, first, f"no question: {[fact['type'] for fact in followed.facts]}")
        if not first:
            return
        where = {"sessionId": session, "actionId": requests()[0]["actionId"]}
        await do(server, "respond_action", **where, decision="approve", scope="workspace")
        await followed.until(lambda: followed.open_runs == 0 and followed.open_children == 0, _WAIT_S)
        done = followed.count("subagent.completed")
        report.check(STARTS, done == 1, f"{[fact['type'] for fact in followed.facts][-8:]}")
        await turn(_SAME)
        await followed.until(lambda: followed.open_runs == 0, _WAIT_S)
        done = followed.count("subagent.completed")
        report.check(STARTS, (done, len(requests())) == (2, 1), f"{done} ended, {len(requests())} questions")
        await turn(_REWRITES)
        # The person approves a harmless-looking command. The sandbox confines it, and the file is
        # in the folder.
        for fact in requests()[1:]:
            await do(server, "respond_action", sessionId=session, actionId=fact["actionId"], decision="approve")
        await followed.until(lambda: followed.open_runs == 0, _WAIT_S)
        before = len(requests())
        written = "touch" in (world.at.folder / _PROGRAM).read_text()
        report.check("a sandboxed command may rewrite a file of the folder", written, "it was not rewritten")
        await turn(_AGAIN)
        prompt = requests()[-1]["payload"]["prompt"] if len(requests()) > before else ""
        ran = (world.ran / "agent").exists()
        report.check(
            AGAIN, "changed since you approved it" in prompt.casefold() and not ran, f"ran: {ran}, asked: {prompt!r}"
        )
        if len(requests()) > before:
            where = {"sessionId": session, "actionId": requests()[-1]["actionId"]}
            await do(server, "respond_action", **where, decision="reject", reason="changed")
        await followed.until(lambda: followed.open_runs == 0, _WAIT_S)
        await turn(_LOADS)
        denied = any("BASH_ENV" in str(fact["payload"]) for fact in followed.facts if "tool." in fact["type"])
        report.check(REFUSED, denied and not (world.ran / "loaded").exists(), f"{followed.facts[-1]}")
    finally:
        await followed.close()
