"""A folder with a lead and a worker, and a session for jobs in the terminal."""

from __future__ import annotations

from typing import Any

from tests.app.rigs.product import Product, says, uses

LEAD = """---
name: lead
description: Talks to the person.
kind: main
role: planner
lead: true
tools: ["*"]
policy: {allow: [Patch, Delegate], delegate_targets: [worker]}
---
You coordinate.
"""
WORKER = """---
name: worker
description: Does one item.
kind: subagent
role: executor
tools: [Read, Write]
policy: [Patch]
---
You do one item.
"""
REFUSED = [{"fail": {"code": "model_auth", "message": "the key is not known"}}]
#: Inputs of a resumed worker and of a retried one.
RESUMED, RETRIED = "You were paused", "This is attempt 2"


def worker_turn(text: str, *calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a scenario entry for a worker's turn whose input contains a text."""
    return {"text": text, "agent": "worker", "calls": [*calls]}


def create_session(product: Product, *turns: dict[str, Any]) -> str:
    """Create a session whose workers play the scenario; return its id."""
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    (agents / "worker.md").write_text(WORKER)
    play_for_workers(product, *turns)
    return product.run("run", "Hi", "--json").json[0]["sessionId"]


def play_for_workers(product: Product, *turns: dict[str, Any]) -> None:
    """Play the scenario for workers; the lead answers or writes a report."""
    report = {"text": "the report", "agent": "lead", "calls": [report_call("report.md"), says("Written.")]}
    product.plays({"agents": {"lead": [says("Hello.")]}, "match": [*turns, report]})


def report_call(path: str) -> list[dict[str, Any]]:
    return uses("Write", file_path=path, content="# Report\n")


def statuses(product: Product, *job: str) -> tuple[str, list[str]]:
    """Return the states of a job of the newest session and of its items."""
    (read,) = product.run("job", "show", "last", *job, "--json").json
    return read["status"], [item["status"] for item in read["items"]]


ALPHA = worker_turn("alpha", says("Alpha is fine.\nQuite."))
#: Starts a job in the newest session.
START = ("job", "start", "Look at this.", "alpha", "beta", "--session", "last", "--parallel", "1")
