"""Claims about a store and its server's answers after a kill -9 that a client saw."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.prove.crash.workload import RAN
from tests.prove.driver import acknowledged as acknowledged_text
from tests.prove.driver.fold import Fold
from tests.prove.driver.report import Report
from tests.prove.driver.store import Fact, Log

#: Facts that end what a turn opened, by the fact that opened it.
_ENDS_OF_CALL = {"tool.completed", "tool.failed", "tool.refused", "tool.cancelled", "tool.lost"}
_ENDS_OF_MODEL = {"model.completed", "model.failed", "model.interrupted"}
#: Facts that a takeover may add without a command: ends, and pauses of the queue.
_TAKING_OVER = {
    "session.taken_over", "message.interrupted", "reasoning.interrupted", "model.interrupted", "tool.lost", "tool.cancelled",
    "action.withdrawn", "action.expired", "turn.interrupted", "thread.paused",
}  # fmt: skip


_ACKNOWLEDGED = "what was acknowledged is in the log"
_DURABLE = "every fact that was shown is in the log as it was shown"
#: Claims that fail if something is missing that the client received.
MISSING = {_ACKNOWLEDGED, _DURABLE}
_OUTCOMES = {"approve": "approved", "reject": "rejected"}


@dataclass
class Journal:
    """The client's notes of all rounds of one home."""

    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    answers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    received: dict[str, dict[int, tuple[str, Any]]] = field(default_factory=dict[str, dict[int, tuple[str, Any]]])
    ends: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def read(self, file: Path) -> dict[str, Any]:
        """Read a round's lines. Return its last one."""
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            match entry["kind"]:
                case "sent":
                    self.sent.append(entry)
                case "answer":
                    self.answers.append(entry)
                case _:
                    self.ends.append(entry)
        end = self.ends[-1]
        for session, sequence, type, payload, _ in end["received"]:
            self.received.setdefault(session, {})[sequence] = (type, payload)
        return end

    def unanswered(self) -> list[dict[str, Any]]:
        """Return the commands without an answer."""
        answered = {answer["key"] for answer in self.answers}
        again = {sent["key"]: sent for sent in self.sent if sent["key"] not in answered}
        return list(again.values())

    def approved(self) -> set[str]:
        """Return the actions that the client approved, with or without an answer."""
        bodies = (sent["body"] for sent in self.sent if sent["command"] == "respond_action")
        return {body["actionId"] for body in bodies if body["decision"] == "approve"}


def whole(report: Report, log: Log) -> None:
    """Check that the log is a prefix of what was appended."""
    report.none("every chain verifies, sequences have no gap, time does not go back", log.broken)


def acknowledged(report: Report, log: Log, journal: Journal) -> None:
    """Check that nothing acknowledged or shown is missing, and that a repeated command had one
    effect.
    """
    answers: dict[str, Any] = {}
    for answer in journal.answers:
        first = answers.setdefault(answer["key"], (answer["status"], answer["answer"]))
        report.check(
            "a repeated command gets the first answer",
            first == (answer["status"], answer["answer"]),
            f"{answer}, {first}",
        )
        if answer["status"] == 200:
            _answered(report, log, answer)
    for session, facts in journal.received.items():
        stored = {fact.sequence: (fact.type, fact.payload) for fact in log.facts.get(session, ())}
        missing = [
            f"{session}/{at} {shown_fact[0]}"
            for at, shown_fact in facts.items()
            if stored.get(at) != (shown_fact[0], shown_fact[1] or {})
        ]
        report.none(_DURABLE, missing)
    submitted = Counter(
        fact.payload["input"]["text"] for facts in log.facts.values() for fact in facts if fact.type == "turn.submitted"
    )
    twice = [f"{text} {count} times" for text, count in submitted.items() if count > 1]
    report.none("no command took effect twice", twice)


def _answered(report: Report, log: Log, reply: dict[str, Any]) -> None:
    answer = reply["answer"]
    facts = log.facts.get(answer["sessionId"], [])
    held = len(facts) >= answer["sequence"]
    match reply["command"]:
        case "submit_turn":
            held = held and any(fact.type == "turn.submitted" and fact.id("u") == answer["turnId"] for fact in facts)
        case "respond_action":
            resolved = [fact for fact in facts if fact.type == "action.resolved" and fact.id("a") == answer["actionId"]]
            # The answer may report an earlier withdrawal in place of a decision.
            outcomes = [_OUTCOMES[fact.payload["decision"]] for fact in resolved] or ["withdrawn"]
            held = held and outcomes == [answer["outcome"]]
        case "promote_queued_turn":
            held = held and Fold(facts[: answer["sequence"]]).queue[answer["threadId"]] == answer["queued"]
        case _:
            type = {"interrupt_turn": "turn.interrupt.requested", "resume_thread": "thread.resumed"}[reply["command"]]
            held = held and any(fact.type == type for fact in facts)
    report.check(_ACKNOWLEDGED, held, f"{reply['command']} {answer}: {len(facts)} facts")


def ran(report: Report, log: Log, journal: Journal, folder: Path) -> None:
    """Check that no tool ran twice, and none ran without the client's approval that needed it."""
    approved = journal.approved()
    try:
        tokens = Counter((folder / RAN).read_text().split())
    except FileNotFoundError:
        tokens = Counter[str]()
    report.none("no command ran twice", [f"{token} {count} times" for token, count in tokens.items() if count > 1])
    started_tokens: set[str] = set()
    for facts in log.facts.values():
        requests: dict[str, str] = {}
        resolved: dict[str, str] = {}
        starts: Counter[str] = Counter()
        arguments: dict[str, str] = {}
        for fact in facts:
            call, action = fact.id("k"), fact.id("a")
            match fact.type:
                case "tool.requested":
                    arguments[call] = fact.payload["arguments"]["text"]
                case "action.required":
                    requests[call] = action
                case "action.resolved":
                    decision = fact.payload["decision"]
                    resolved[action] = decision
                    fine = decision != "approve" or action in approved
                    report.check("no approval exists that the client did not give", fine, action)
                case "tool.started":
                    starts[call] += 1
                    report.check("a tool starts once", starts[call] == 1, f"{call} {starts[call]} times")
                    yes = call not in requests or resolved.get(requests[call]) == "approve"
                    report.check("a tool that needs approval starts after it", yes, f"{call} {requests.get(call)}")
                    started_tokens |= {token for token in tokens if token in arguments[call]}
                case "tool.completed" if RAN in arguments[call] and fact.payload.get("exitCode", 0) == 0:
                    there = any(token in arguments[call] for token in tokens)
                    report.check("a completed command has run", there, arguments[call])
                case _:
                    pass
    stray = sorted(set(tokens) - started_tokens)
    report.none("what ran had been started in the log", stray)


def taken_over(report: Report, before: Log, after: Log, epoch: int, end: dict[str, Any], writing: float) -> None:
    """Check the takeover: running work is stopped, partials are kept, waiting requests wait,
    nothing begins again.

    `writing` is the longest time that a write of a partial takes here, in seconds.
    """
    for session, facts in before.facts.items():
        if not session.startswith("ses_"):
            continue
        now = after.facts.get(session, [])
        report.check("facts of before the kill are there as they were", now[: len(facts)] == facts, session)
        own = {fact.type for fact in now[len(facts) :] if fact.epoch == epoch}
        report.check("nothing begins again automatically", own <= _TAKING_OVER, f"{session}: {own - _TAKING_OVER}")
        _closed(report, Fold(facts), facts, now, Fold(now))
    texts = {
        (fact.id("r"), fact.scope.get("s", 0), fact.type): fact for facts in after.facts.values() for fact in facts
    }
    for part in before.partials:
        types = {"text": "message.interrupted", "reasoning": "reasoning.interrupted", "output": "tool.lost"}
        fact = texts.get((part.run, part.step, types.get(part.kind, "")))
        if part.kind == "arguments" or (part.kind == "output" and fact is None):
            continue
        field = "output" if part.kind == "output" else "content"
        there = after.text(fact.payload.get(field, {})) if fact else None
        difference = (
            f"{part.kind} {part.run}.{part.step} had {len(part.text)} and has {None if there is None else len(there)}"
        )
        report.check("a stored partial is in the interrupted part", there == part.text, difference)
    report.check("nothing in the making is left", not after.partials, f"{len(after.partials)}")
    _shown_facts(report, after, end, writing)


def _closed(report: Report, had: Fold, facts: list[Fact], now: list[Fact], has: Fold) -> None:
    """Check that every open entity of a working turn has its end, and that a turn which only waits
    still waits.
    """
    closed = {(fact.type, fact.id("k") or fact.id("u")) for fact in now}
    for call in _open(facts, "tool.started", _ENDS_OF_CALL, "k"):
        report.check("a running tool is recorded as lost", ("tool.lost", call) in closed, call)
    asking = _open(facts, "model.requested", _ENDS_OF_MODEL, "r")
    interrupted = {fact.id("r") for fact in now if fact.type == "model.interrupted"}
    report.none("an open model call is recorded as interrupted", sorted(asking - interrupted))
    working = set(had.working)
    for turn in working:
        report.check("a running turn is recorded as interrupted", ("turn.interrupted", turn) in closed, turn)
    report.check("nothing reads as running", not has.working, f"{has.working}")
    waits = {action for action, row in had.actions.items() if row["turnId"] not in working}
    report.none("what only waited for an answer still waits", sorted(waits - set(has.actions)))
    queues = ({thread: queue for thread, queue in fold.queue.items() if queue} for fold in (had, has))
    first, other = queues
    report.check("queues are there in their order", first == other, f"{first} became {other}")


def _open(facts: list[Fact], begins: str, ends: set[str], name: str) -> set[str]:
    opened: set[str] = set()
    for fact in facts:
        if fact.type == begins:
            opened.add(fact.id(name))
        elif fact.type in ends:
            opened.discard(fact.id(name))
    return opened


def _shown_facts(report: Report, after: Log, end: dict[str, Any], writing: float) -> None:
    texts = {
        f"{fact.id('r')}.{fact.scope['s']}": len(after.text(fact.payload["content"]))
        for facts in after.facts.values()
        for fact in facts
        if fact.type.startswith("message")
    }
    for key, grown in end["grown"].items():
        least = acknowledged_text.at_least(grown, end["killed"], writing)
        if least > 0:
            difference = f"{key} has {texts.get(key, 0)}, and at least {least} had to be kept"
            report.check("text that was shown early enough is not lost", texts.get(key, 0) >= least, difference)
