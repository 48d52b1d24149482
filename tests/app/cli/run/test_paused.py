"""Turns of a paused agent in the terminal."""

from __future__ import annotations

import signal

from tests.app.rigs.product import Product, says, uses

LEAD = """---
name: lead
description: Plans.
kind: main
lead: true
tools: ["*"]
policy: [Patch]
---
You plan.
"""
PLAN = {"calls": [uses("propose_plan", summary="Rework it", steps=["Read it"]), says("Good.")]}


def test_a_plan_that_cannot_start_ends_the_command_with_what_to_do(product: Product) -> None:
    """CTL-04: the command waited for ever on a paused thread, and so did the next prompt."""
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    product.plays(PLAN)
    with product.up():
        with product.terminal("run", "--permission", "planning", "Plan it") as terminal:
            terminal.until("[a]pprove")
            (agents / "lead.md").unlink()
            terminal.send("a\n")
            output = terminal.until("continues the agent")
            assert terminal.wait() == 4
        assert "The turn did not start: its agent is paused (unknown_agent)" in output

        done = product.run("run", "And now?", "--session", "last", "--json", "--approve", "none")
        assert (done.code, "thread_busy" in done.err) == (4, True)
    (paused,) = [fact for fact in product.run("facts", "last", "--json").json if fact["type"] == "thread.paused"]
    assert paused["payload"]["cause"] == "failed"


def test_a_paused_agent_is_resumed_in_the_terminal_and_its_turn_is_followed(product: Product) -> None:
    """R4: one command starts the turn that waited behind a killed one, once."""
    product.plays(
        {
            "match": [
                {"text": "First", "calls": [[{"text": "Working."}, {"wait_for": "never"}]]},
                {"text": "Second", "calls": [says("Went on.")]},
            ]
        }
    )
    with product.up() as (running, _), product.started("run", "First", "--json") as first:
        first.milestone("model.requested")
        with product.started("run", "Second", "--session", "last", "--json") as second:
            second.milestone("queue.added")
            running.signal(signal.SIGKILL)
            running.wait()

    done = product.run("resume", "last", "--approve", "none")
    assert (done.code, done.out.strip()) == (0, "Went on.")
    (resumed,) = [fact for fact in product.run("facts", "last", "--json").json if fact["type"] == "thread.resumed"]
    assert resumed["payload"].get("reason", "") == ""

    again = product.run("resume", "last", "--approve", "none")
    assert (again.code, "thread_not_paused" in again.err) == (4, True)
    assert "[--thread]" in product.run("resume", "last", "--thread", "thr_none").err
