"""Proof that errors of a model's provider are reported correctly, and that no turn hangs.

The product runs in its own process. It asks a model server of other authors in each of the four
formats (chat completions, Responses, Messages, generateContent), through a proxy that adds one
error per turn: the connection ends at bytes of every kind of place, the provider refuses, is
overloaded, fails, is slow or silent, and sends garbage, pages and partial documents. After a
temporary error the turn must be complete, with the whole answer once and the error as a fact. A
lasting error must fail the turn with its code, and the partial answer stays as interrupted.

    make prove-provider               a dozen truncations of each format
    make prove-provider N=400         many more
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.prove.driver.crew import PLANTED, TURN_ENDS, Followed
from tests.prove.driver.product import Place, Server, place
from tests.prove.driver.report import Report, arguments, quantiles, run
from tests.prove.driver.session_driver import do
from tests.prove.provider import faults
from tests.prove.provider.faults import Fault, Play, Proxy
from tests.prove.provider.server import aimock

#: Time limit of a turn, in seconds: four attempts, each at most the permitted silence, and the
#: waits.
BOUND_S = 45.0
#: Longest silence that the product permits, in seconds. On a busy machine a correct answer is slow,
#: too.
SILENCE_S = 8.0
#: Attempts of the product for one answer.
ATTEMPTS = 4
#: Seconds that it waits in total for an overloaded provider. It tries more often than above
#: in the meantime.
PATIENCE_S = 2.5
ALWAYS = 1000
ASKS = '{"error": {"message": "Too many requests. Please try again in 1 second."}}'
#: Turns at one time.
AT_ONCE = 24
ANSWER = "First things first: 你好, dear reader — that’s 42 things to say, and none of them twice. " * 3
NOTE = "The number in the note is 7."
FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "look into", "hasToolResult": True}, "response": {"content": NOTE}},
    {
        "match": {"userMessage": "look into"},
        "response": {"toolCalls": [{"name": "Read", "arguments": {"file_path": "notes.md"}}]},
    },
    {
        "match": {"userMessage": "recite"},
        "response": {"content": ANSWER, "usage": {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160}},
    },
]
WHOLE = "a truncated answer never counts as complete"
BOUNDED = "no turn hangs"
ONCE = "a temporary fault leaves the whole answer, once"
CODED = "a fault is recorded with its code"
REASONED = "a failed turn has a reason and no answer"
CUTS = {"model_cut_stream", "model_unavailable", "model_garbled"}


@dataclass(frozen=True)
class Wire:
    """A format: the configuration of its model, and the mark of a complete answer."""

    name: str
    kind: str
    model: str
    path: str
    end: bytes


WIRES = (
    Wire("chat", "openai-compatible", "m", "/v1", b'"finish_reason":"stop"'),
    Wire("responses", "openai", "gpt-5.4", "/v1", b'"type":"response.completed"'),
    Wire("messages", "anthropic", "claude-sonnet-5-5", "", b'"stop_reason":"end_turn"'),
    Wire("generate", "google", "gemini-3.8-flash", "", b'"finishReason":"STOP"'),
)


@dataclass
class Case:
    """One turn under one fault.

    `codes` are the accepted codes. `passes`: the turn completes. `unless_whole`: the fault may be
    absent, because the whole answer had arrived.
    """

    name: str
    play: Play
    codes: set[str]
    passes: bool = True
    times: int = 1
    unless_whole: bool = False
    attempts: int | None = 0


def lasting() -> list[Case]:
    """Return the faults that are no truncations.

    A temporary one applies once, a lasting one to every attempt.
    """
    slow = faults.refusal("429 Too Many Requests", '{"error": {"message": "slow"}}', "retry-after: 1")
    half = faults.document("200 OK", "application/json", '{"id": "x", "cho')
    garbage = faults.stream(b"event: content_block_delta\ndata: {not json\n\n")
    passing: list[tuple[str, Play, set[str]]] = [
        ("limited", slow, {"model_rate_limited"}),
        ("fallen", faults.refusal("500 Internal Server Error"), {"model_unavailable"}),
        ("asks_to_wait", faults.document("429 Too Many Requests", "application/json", ASKS), {"model_rate_limited"}),
        ("overloaded", faults.refusal("529 Overloaded"), {"model_unavailable"}),
        ("gateway", faults.document("502 Bad Gateway", "text/html", "<h1>Bad gateway</h1>"), {"model_unavailable"}),
        ("silent", faults.silence, {"model_timeout"}),
        ("falls_silent", faults.falls_silent, {"model_timeout"}),
        ("dribbled", faults.dribble(SILENCE_S + 1), set()),
        ("other_type", faults.under(b"text/plain; charset=utf-8"), set()),
        ("no_json", garbage, {"model_garbled"}),
        ("bytes", faults.stream(bytes(range(256)) * 8), CUTS),
        ("empty", faults.stream(b""), CUTS),
    ]
    staying: list[tuple[str, Play, str, int | None]] = [
        ("half_json", half, "model_garbled", 1),
        ("page", faults.document("200 OK", "text/html", "<h1>Sign in</h1>"), "model_garbled", 1),
        ("no_key", faults.refusal("401 Unauthorized"), "model_auth", 1),
        ("refused", faults.refusal("400 Bad Request"), "model_refused_request", 1),
        ("always_cut", faults.cut_at(0.6), "model_cut_stream", ATTEMPTS),
        ("always_fallen", faults.refusal("503 Service Unavailable"), "model_unavailable", None),
    ]
    return [
        *(Case(name, play, codes) for name, play, codes in passing),
        *(
            Case(name, play, {code}, passes=False, times=ALWAYS, attempts=attempts)
            for name, play, code, attempts in staying
        ),
    ]


def cuts(wire: Wire, answer: bytes, n: int, chance: random.Random) -> list[Case]:
    """Return truncations of this answer, at places of each kind and at random ones.

    Every other answer has no framing, so that a truncation between two events looks like an end.
    """
    cases: list[Case] = []
    for framed in (True, False):
        sent = answer if framed else faults.unframed(answer)
        head = sent.index(b"\r\n\r\n") + 4
        whole = sent.index(wire.end) + len(wire.end)
        event = sent.index(b"\n\n", len(sent) // 2) + 2
        kinds = [
            event,
            sent.index("你".encode()) + 1,
            whole - 1,
            head,
            sent.index(b"data:") + 8,
            whole - len(wire.end),
            1,
            head // 2,
            head + 1,
            sent.index(b"\n\n", head) + 1,
            sent.index(b"\n\n", whole) + 2,
            len(sent) - 1,
        ]
        half = n - n // 2 if framed else n // 2
        drawn = [chance.randrange(1, len(sent)) for _ in range(half - len(kinds))]
        for at in (*kinds[:half], *drawn):
            play = faults.cut(at, rude=framed and chance.random() < 0.5, framed=framed)
            cases.append(Case(f"cut{len(cases)}_{at}", play, CUTS, unless_whole=at >= whole))
    return cases


@dataclass(frozen=True)
class Serving:
    """The product as a process, and the proxies before its models."""

    at: Place
    server: Server
    proxies: dict[str, Proxy]


class Proof:
    """The turns of all formats against one server."""

    def __init__(self, report: Report, at: Place, server: Server, bound: float = BOUND_S) -> None:
        self.report = report
        self.bound = bound
        self.at = at
        self.server = server
        self.room = asyncio.Semaphore(AT_ONCE)
        self.took: list[float] = []
        self.codes: Counter[str] = Counter()

    async def turn(self, wire: Wire, words: str) -> list[dict[str, Any]] | None:
        """Return the facts of a turn in its own session; None if it did not end in time."""
        opened = await do(self.server, "open_workspace", path=str(folder_of(self.at, wire)))
        began = time.monotonic()
        submitted = await do(self.server, "submit_turn", text=words, workspaceId=opened["workspaceId"])
        followed = Followed(self.server.wire, submitted["sessionId"])
        try:
            ended = await followed.until(lambda: followed.count(*TURN_ENDS) > 0, self.bound)
            self.took.append(time.monotonic() - began)
            return list(followed.facts) if ended else None
        finally:
            await followed.close()

    async def case(self, wire: Wire, proxy: Proxy, case: Case) -> None:
        """Run one fault, and check its facts."""
        proxy.faults[case.name] = Fault(case.play, case.times)
        async with self.room:
            facts = await self.turn(wire, f"recite fault:{case.name}")
        label = f"{wire.name} {case.name}"
        if not self.report.check(BOUNDED, facts is not None, label) or facts is None:
            return
        failed = [fact["payload"] for fact in facts if fact["type"] == "model.failed"]
        codes = {failure["code"] for failure in failed}
        self.codes.update(failure["code"] for failure in failed)
        texts = [_text(fact) for fact in facts if fact["type"] == "message.text"]
        last = next(fact for fact in facts if fact["type"] in TURN_ENDS)
        result = f"{label}: {last['type']} {last['payload'].get('code', '')} {sorted(codes)} {texts!r}"
        if case.passes:
            self.report.check(ONCE, last["type"] == "turn.completed" and texts == [ANSWER], result)
            if case.codes and not case.unless_whole:
                self.report.check(WHOLE if "cut" in case.name else CODED, bool(codes), result)
            self.report.check(CODED, codes <= case.codes, result)
        else:
            is_reported = last["type"] == "turn.failed" and last["payload"]["code"] in case.codes and not texts
            self.report.check(REASONED, is_reported and codes <= case.codes, result)
            left = "".join(_text(fact) for fact in facts if fact["type"] == "message.interrupted")
            self.report.check(
                "a truncated answer is kept as interrupted", ANSWER.startswith(left), f"{label}: {left!r}"
            )
            self.report.check(
                "a lasting failure is not retried",
                proxy.requests[case.name] == case.attempts
                if case.attempts is not None
                else proxy.requests[case.name] > 1,
                f"{label}: {proxy.requests[case.name]} requests",
            )
        if case.name in ("limited", "asks_to_wait"):
            quota = [fact["payload"] for fact in facts if fact["type"] == "model.quota"]
            waits = [failure.get("retryInMs") for failure in failed]
            # Up to a tenth more, so that waiting agents do not return together.
            near = [wait is not None and 1000 <= wait <= 1100 for wait in waits] == [True]
            holds = [limit.get("retryAfterMs") for limit in quota] == [1000] and near
            self.report.check("a limit is recorded with the provider's wait, which is kept", holds, f"{result} {quota}")

    async def plain(self, wire: Wire) -> None:
        """Run a turn with a call and its result, without a fault."""
        facts = await self.turn(wire, "look into the note")
        types = [fact["type"] for fact in facts or ()]
        texts = [_text(fact) for fact in facts or () if fact["type"] == "message.text"]
        holds = texts[-1:] == [NOTE] and "tool.completed" in types and "turn.completed" in types
        self.report.check("a call and its result go there and back", holds, f"{wire.name}: {types} {texts}")


def _text(fact: dict[str, Any]) -> str:
    return str(fact["payload"]["content"].get("text", ""))


def folder_of(at: Place, wire: Wire) -> Any:
    return at.root / f"work-{wire.name}"


def configure(at: Place, proxies: dict[str, Proxy], fallback: bool, silence: float) -> None:
    """Write the settings, and a folder for each format with a lead that uses it."""
    lines = [f"fallback = {json.dumps([wire.name for wire in WIRES])}", ""] if fallback else []
    lines += ["[retry]", f"patience = {PATIENCE_S}", f"attempts = {ATTEMPTS}", ""]
    for wire in WIRES:
        lines += ["[[models]]", f'name = "{wire.name}"', f'kind = "{wire.kind}"', f'model = "{wire.model}"']
        lines += [f'base_url = "{proxies[wire.name].url}{wire.path}"', 'api_key = "none"']
        lines += [f"idle_timeout = {silence}", ""]
        folder = folder_of(at, wire)
        (folder / "agents").mkdir(parents=True)
        (folder / "notes.md").write_text("7\n")
        front = f'name: lead\nlead: true\nmodel: {wire.name}/{wire.model}\ntools: ["*"]\npolicy: [Patch]\n'
        (folder / "agents" / "lead.md").write_text(f"---\n{front}---\nYou are the lead.\n")
    at.home.mkdir(mode=0o700)
    (at.home / "settings.toml").write_text("\n".join(lines))


@asynccontextmanager
async def serving(
    target: str, sabotage: str = "", *, fallback: bool = False, silence: float = SILENCE_S
) -> AsyncGenerator[Serving]:
    """Start the product with all four models, each behind its own proxy."""
    with place() as at:
        proxies = {wire.name: Proxy(target) for wire in WIRES}
        for proxy in proxies.values():
            await proxy.start()
        configure(at, proxies, fallback, silence)
        server = await Server.start(at, before=(sys.executable, str(PLANTED), sabotage) if sabotage else ())
        try:
            yield Serving(at, server, proxies)
        finally:
            # A delayed turn would delay its end as well.
            await server.kill()
            for proxy in proxies.values():
                proxy.stop()


async def prove(
    n: int,
    sabotage: str = "",
    seed: int = 1,
    names: tuple[str, ...] | None = None,
    bound: float = BOUND_S,
    wires: tuple[Wire, ...] = WIRES,
    silence: float = SILENCE_S,
) -> int:
    """Run the proof.

    `sabotage` is a fault of `planted`. `names` limits the lasting faults, `wires` the formats. A
    turn may take `bound` seconds, and a model may be silent for `silence` seconds.
    """
    report = Report("prove-provider")
    chance = random.Random(seed)
    with aimock(FIXTURES) as target:
        async with serving(target, sabotage, silence=silence) as there:
            proof = Proof(report, there.at, there.server, bound)
            await asyncio.gather(*(proof.plain(wire) for wire in wires))
            work = [(wire, case) for wire in wires for case in lasting() if names is None or case.name in names]
            for wire in wires if n else ():
                answer = await _answer(proof, wire, there.proxies[wire.name])
                work += [(wire, case) for case in cuts(wire, answer, n, chance)]
            done = 0

            async def play_case(wire: Wire, case: Case) -> None:
                nonlocal done
                await proof.case(wire, there.proxies[wire.name], case)
                done += 1
                report.progress(f"{done} of {len(work)} turns")

            await asyncio.gather(*(play_case(wire, case) for wire, case in work))
        if names is None:
            await fall_back(report, target)
    report.figure("turns", len(proof.took))
    report.figure("a turn", quantiles(proof.took))
    report.figure("reported failures", ", ".join(f"{count} {code}" for code, count in sorted(proof.codes.items())))
    return report.end()


async def fall_back(report: Report, target: str) -> None:
    """Check that a refused key leads to the fallback of another format."""
    async with serving(target, fallback=True) as there:
        proof = Proof(report, there.at, there.server)
        for wire in WIRES:
            there.proxies[wire.name].faults[wire.name] = Fault(faults.refusal("401 Unauthorized"), 99)
            facts = await proof.turn(wire, f"recite fault:{wire.name}") or []
            routes = [fact["payload"]["chosen"]["provider"] for fact in facts if fact["type"] == "routing.resolved"]
            texts = [_text(fact) for fact in facts if fact["type"] == "message.text"]
            other = next(other_wire.name for other_wire in WIRES if other_wire != wire)
            result = f"{wire.name}: {routes} {texts} {[fact['type'] for fact in facts]}"
            report.check("a model that fails for good gives way to the next", routes == [wire.name, other], result)
            report.check("and the next one's answer is the turn's", texts == [ANSWER], result)


async def _answer(proof: Proof, wire: Wire, proxy: Proxy) -> bytes:
    """Return the bytes of a complete answer of that format from the server."""
    answers: list[bytes] = []

    async def take(channel: faults.Channel, answer: bytes) -> None:
        answers.append(answer)
        await channel.send(answer)

    await proof.case(wire, proxy, Case("taken", take, set()))
    return answers[0]


def main() -> int:
    options = arguments(__doc__, n=12, help_n="cuts of each format").parse_args()
    return run(prove(options.n, options.sabotage, options.seed), longest=120 + options.n * 4)


if __name__ == "__main__":
    sys.exit(main())
