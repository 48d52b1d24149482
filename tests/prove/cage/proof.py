"""Proof that a hostile folder and a hostile model are refused or confined, with a fact, and visibly
on the page.

The folder has definitions, settings, a tool server, git hooks and filters, links, a pipe, an
endless file and invalid names. The model, a script, tries to get more permissions, to leave the
folder, to read the key and the token, to reach the network, to forge an approval and to outlive its
host. Each attempt is a turn in a server that runs as a person starts it. The proof checks the
result from outside: files, listeners, processes, planted secrets. Finally it kills the host. A real
browser shows each session.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.prove.cage import agent, cards, ordinary, outside, rules
from tests.prove.cage import page as cage_page
from tests.prove.cage.attempts import IN, Attempt, attempts
from tests.prove.cage.folder import KEY_NAME, World, at_home, build_world, listening
from tests.prove.cancel.proof import marked
from tests.prove.driver import crew, scenes, store
from tests.prove.driver.product import Server, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.driver.session_driver import do, until
from tests.prove.driver.wire import Wire

#: Seconds after the kill of the host within which all processes of its commands must end.
DEAD_S = 15.0
#: Time limit of one attempt, in seconds.
ATTEMPT_S = 40.0
NO = "the proof says no"
#: The advice about a process that is lost.
AGAIN = "Run its command again if you still need it."
HELD = "no attempt succeeds"
RECORDED = "each attempt is refused or held by what should, and a fact says so"
ON_PAGE = "each attempt and what came of it is on the page"
DEAD = "nothing that came of a command is alive after its host was killed"
#: Texts of the page for a fact, where the page has its own.
_WORDS = {"file_changed": "The file changed after approval. The call did not run."}
#: Texts of the page for a denial, by the code of its reason, where they differ from the model's
#: text.
_DENIALS = {
    "not_listed": "{tool} is not among the tools of this agent. Its tools: ",
    "not_of_server": "No tool server provides {tool}.",
    "server_gone": "{tool} is unavailable: {why}. Nothing ran.",
    "kept_private": "{path} is private: agents cannot open it.",
    "through_parent": "{path} goes through a parent folder (..).",
}
_ENDS = crew.TURN_ENDS
#: Groups of attempts that show a fault.
SHOWS = {
    "open-cage": ("escape", "network"),
    "open-paths": ("nested", "deep"),
    "open-home": ("home", "credentials"),
    "open-outside": ("kernel",),
    "open-agents": ("kernel",),
    "literal-rules": ("kernel",),
    "miscounted": ("kernel",),
    "cut-cards": ("kernel",),
}
#: Other checks that show a fault.
_BESIDE = {
    "open-outside": outside.prove,
    "open-agents": agent.prove,
    "literal-rules": rules.prove,
    "miscounted": cards.prove,
    "cut-cards": cards.prove,
}
#: Groups of attempts that work in the person's home.
_AT_HOME = ("home", "credentials")
BROAD = "a home opens only with an approval"


@dataclass
class Tried:
    """The outcome of an attempt. `by` refused it in the fact `sequence`, with `message`."""

    attempt: Attempt
    session: str
    turn: str
    by: str = "nothing"
    sequence: int = 0
    message: str = ""
    through: str = ""
    is_shown: bool = False
    page: str = ""


class Proof:
    """Makes the attempts of a world in one server."""

    def __init__(self, world: World, server: Server, home: str) -> None:
        self._world = world
        self._server = server
        self._home = home
        self._followed: dict[str, crew.Followed] = {}

    async def tries(self, attempt: Attempt) -> Tried:
        """Make an attempt, and answer its requests."""
        followed = self._followed.get(attempt.group)
        where = (
            {"sessionId": followed.session}
            if followed
            else {"workspaceId": self._home if attempt.group in _AT_HOME else self._server.workspace}
        )
        answer = await do(self._server, "submit_turn", text=attempt.text, permissionMode="full", **where)
        if followed is None:
            followed = crew.Followed(self._server.wire, answer["sessionId"], approves=False)
            self._followed[attempt.group] = followed
        tried = Tried(attempt, followed.session, answer["turnId"])
        mine = lambda: [fact for fact in followed.facts if fact.get("turnId") == tried.turn]
        over = lambda: any(fact["type"] in _ENDS for fact in mine())
        requests = lambda: [fact for fact in mine() if fact["type"] == "action.required"]
        if not await followed.until(lambda: over() or bool(requests()), ATTEMPT_S):
            tried.by = f"nothing within {ATTEMPT_S:g} s"
            return tried
        if not over():
            await self._answer(tried, requests()[0])
            await followed.until(over, ATTEMPT_S)
        _judge(tried, mine())
        printed = any(IN in _output(fact) for fact in mine())
        tried.through = tried.through or ("it says so" if printed else attempt.through(self._world))
        return tried

    async def close(self) -> None:
        for followed in self._followed.values():
            await followed.close()

    async def _answer(self, tried: Tried, request: dict[str, Any]) -> None:
        """Check that nothing happened before the answer.

        Reject if the attempt expects that; else approve, and change what the request was about.
        """
        tried.through = tried.attempt.through(self._world)
        where = {"sessionId": tried.session, "actionId": request["actionId"]}
        if "person" not in tried.attempt.by:
            if "file_changed" in tried.attempt.by:
                (self._world.at.folder / "notes.md").write_text("The person's newer notes.\n")
            await do(self._server, "respond_action", **where, decision="approve")
            return
        forged = await Wire(self._server.wire.url, "0" * 64).post("respond_action", {**where, "decision": "approve"})
        if forged.status != 401:
            tried.through = f"without the token it was answered: {forged}"
        await do(self._server, "respond_action", **where, decision="reject", reason=NO)
        again = await do(self._server, "respond_action", **where, decision="approve")
        if again["outcome"] != "rejected" or again["first"]:
            tried.through = f"a second answer changed the first: {again}"


def _output(fact: dict[str, Any]) -> str:
    return fact["payload"].get("output", {}).get("text", "") if fact["type"].startswith("tool.") else ""


def _judge(tried: Tried, facts: list[dict[str, Any]]) -> None:
    """Return what refused an attempt, by the facts of its turn."""
    by_type: dict[str, dict[str, Any]] = {}
    for fact in facts:
        by_type.setdefault(fact["type"], fact)

    def say(by: str, fact: dict[str, Any], message: str = "") -> None:
        tried.by, tried.sequence, tried.message = by, fact["sequence"], message

    required, refused, failed = (by_type.get(tag) for tag in ("action.required", "tool.refused", "tool.failed"))
    applied, done = by_type.get("sandbox.applied"), by_type.get("tool.completed")
    if refused is not None and refused["payload"]["code"] == "person_denied" and required is not None:
        say("person", required, NO)
    elif refused is not None:
        say(refused["payload"]["code"], refused, _denial(by_type) or refused["payload"]["message"])
    elif "process.started" in by_type:
        say("process.started", by_type["process.started"])
    elif "subagent.isolated" in by_type or (
        done is not None and tried.attempt.by == {"git without the folder's programs"}
    ):
        evidence = by_type.get("subagent.isolated") or done
        assert evidence is not None
        say("git without the folder's programs", evidence)
    elif failed is not None:
        code, message = failed["payload"]["code"], failed["payload"]["message"]
        held = code == "tool_failed" and applied is not None and applied["payload"]["level"] == "bubblewrap"
        say("sandbox" if held and applied is not None else code, applied if held and applied else failed, message)
    elif done is not None and tried.attempt.by == {"bounds of the search"}:
        say("bounds of the search", done)


def _denial(by_type: dict[str, dict[str, Any]]) -> str:
    """Return the page's text for the reason of a denial; empty if it is the model's text."""
    evaluated = by_type.get("permission.evaluated")
    checks = [] if evaluated is None else evaluated["payload"]["checks"]
    reasons = [reason for check in checks if check["verdict"] == "deny" for reason in check.get("reasons", ())]
    if not reasons or reasons[0]["code"] not in _DENIALS:
        return ""
    return _DENIALS[reasons[0]["code"]].format(**reasons[0].get("parameters", {}))


async def prove(n: int, sabotage: str, seed: int, within: float = DEAD_S) -> int:
    """Run the proof. `within` is the longest life of marked processes after their host, in seconds."""
    report = Report("prove-cage")
    mark = f"cage{os.getpid()}x{seed:04}"
    with place() as at, _key() as key:
        world = build_world(at)
        world.key = key
        try:
            async with listening(world):
                # With a fault, run only the groups that show it.
                wanted = SHOWS.get(sabotage, ())
                planned = [attempt for attempt in attempts(world, mark) if not wanted or attempt.group in wanted]
                agent.write_agents(world)
                _scripted(world, planned)
                done = await _all(report, world, planned, mark, sabotage, within)
        finally:
            _clean(mark)
        _judged(report, world, done)
    return report.end()


async def _all(
    report: Report, world: World, planned: list[Attempt], mark: str, sabotage: str, within: float
) -> list[Tried]:
    at = world.at
    with at_home(world):
        server = await crew.started(at, sabotage)
    done: list[Tried] = []
    try:
        (at.folder / "port.txt").write_text(server.wire.url.rpartition(":")[2].strip("/"))
        (at.folder / "pid.txt").write_text(f"{server.pid}")
        proof = Proof(world, server, await _opened(report, world, server))
        for fault, prove_beside in _BESIDE.items():
            if sabotage in ("", fault):
                await prove_beside(report, world, server)
        for attempt in planned:
            done.append(await proof.tries(attempt))
            report.progress(f"{attempt.text}: {done[-1].by}")
        await proof.close()
        async with cage_page.browser() as running:
            await _look(running, server, done)
            if not sabotage:
                await _killed(report, server, mark, within)
                with at_home(world):
                    server = await crew.started(at)
                await _after(report, running, server, done[-1])
    finally:
        await server.kill()
    return done


async def _opened(report: Report, world: World, server: Server) -> str:
    """Open the person's home (X6). Return its workspace."""
    for path in (world.person, world.person.parent, "/", "/etc"):
        refused = await server.wire.post("open_workspace", {"path": str(path)})
        report.check(BROAD, refused.body.get("code") == "folder_too_broad", f"{path}: {refused}")
    opened = await do(server, "open_workspace", path=str(world.person), wide=True)
    return opened["workspaceId"]


async def _killed(report: Report, server: Server, mark: str, within: float) -> None:
    """Kill the host, and wait until the processes of its commands end."""
    alive = len(marked(mark))
    report.check("something runs in the background when the host is killed", alive > 0, "nothing")
    await server.kill()
    began = time.monotonic()
    await until(lambda: not marked(mark), within, every=0.02)
    left = marked(mark)
    report.check(DEAD, not left, f"{len(left)} of {alive}")
    report.figure("after kill -9 of the host", f"{alive} processes were gone in {time.monotonic() - began:.2f} s")


async def _look(running: Any, server: Server, done: list[Tried]) -> None:
    """Open each session's page and look for each attempt on it."""
    for session in dict.fromkeys(tried.session for tried in done):
        mine = [tried for tried in done if tried.session == session]
        texts = await cage_page.turns(
            running, await server.wire.page_link(f"/s/{session}"), [tried.attempt.word for tried in mine]
        )
        for tried in mine:
            tried.page = texts.get(tried.attempt.word, "")
            tried.is_shown = _is_shown(tried, tried.page)


def _is_shown(tried: Tried, text: str) -> bool:
    call = tried.attempt.call["tool"]
    arguments = call["arguments"]
    file = arguments.get("file_path", "").rpartition("/")[2]
    subject = arguments.get("description") or file or arguments.get("agent") or call["name"]
    reason = _WORDS.get(tried.by) or " ".join(tried.message.split())[:60]
    page = " ".join(text.split())
    return subject in page and reason in page and "\x1b" not in text


async def _after(report: Report, running: Any, server: Server, last: Tried) -> None:
    """Check what the next host reports of the killed one's processes."""
    listed = (await server.wire.get(f"/queries/list_processes?sessionId={last.session}")).body["processes"]
    states = [process["state"] for process in listed]
    report.check("a background command is lost after its host, and reported as lost", states == ["lost"], f"{states}")
    answer = await server.wire.post(
        "terminate_process", {"sessionId": last.session, "processId": listed[0]["processId"] if listed else "prc_none"}
    )
    code = answer.body.get("code")
    report.check("a lost process is unavailable", code == "process_unavailable", f"{answer}")
    texts = await cage_page.turns(running, await server.wire.page_link(f"/s/{last.session}"), [last.attempt.word])
    there = AGAIN in texts.get(last.attempt.word, "")
    report.check("the page shows the lost process", there, texts.get(last.attempt.word, "")[-300:])


def _judged(report: Report, world: World, done: list[Tried]) -> None:
    for tried in done:
        who = tried.attempt.text
        report.check(HELD, not tried.through, f"{who}: {tried.through}")
        report.check(RECORDED, tried.by in tried.attempt.by, f"{who}: {tried.by} ({tried.message})")
        report.check(ON_PAGE, tried.is_shown, f"{who}: {tried.message} / {tried.page[-400:]}")
    log = store.read(world.at.store)
    report.none("the chain verifies", log.broken)
    texts = [str(fact.payload) for facts in log.facts.values() for fact in facts]
    planted = (("the secret outside", world.secret), ("the key", world.key))
    leaked = [name for name, value in planted if any(value in text for text in texts)]
    report.none("no planted secret is in a fact", leaked)
    report.none("no listener was called", sorted(set(world.hits)))
    report.none("nothing of the folder's was run by us", world.marks())
    rows = [(tried.attempt.text, tried.by, f"{tried.sequence}", "yes" if tried.is_shown else "no") for tried in done]
    table = [("attempt", "refused by", "fact", "on the page"), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    print()
    for row in table:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)) + f"  {row[3]}")
    report.figure("attempts", f"{len(done)} in {len({tried.session for tried in done})} sessions")
    report.figure("the machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")


def _scripted(world: World, planned: list[Attempt]) -> None:
    answers = [*agent.answers(world), *cards.answers()]
    answers += [
        ("lead", f"{attempt.word} ", [[*attempt.also, attempt.call], [scenes.says("I go on.")]]) for attempt in planned
    ]
    crew.plays(world.at, [*answers, ("worker", "", [[scenes.says("I looked.")]])])


@contextmanager
def _key() -> Iterator[str]:
    """Return a key for the server's environment."""
    key = os.environ[KEY_NAME] = f"key-{os.urandom(8).hex()}"
    try:
        yield key
    finally:
        del os.environ[KEY_NAME]


def _clean(mark: str) -> None:
    """End what a broken product left."""
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def main() -> int:
    options = arguments(__doc__, n=1, help_n="not used: the attempts are a list").parse_args()
    code = run(prove(options.n, options.sabotage, options.seed), longest=300)
    if code or options.sabotage or os.geteuid() != 0:
        return code
    print("\nThe same as an ordinary user:", flush=True)
    code, printed = ordinary.again("tests.prove.cage.proof", "--seed", str(options.seed))
    print(printed, flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
