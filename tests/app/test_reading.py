from __future__ import annotations

import re
import signal
import sqlite3
from contextlib import closing

import pytest

from tests.app.rigs.product import Product, says, uses

LONG = "All that was said. " * 400


def read_all(product: Product) -> list[str]:
    """Return the output of each reading verb, without ages."""
    commands = (["sessions", "--json"], ["facts", "last"], ["facts", "last", "--json"], ["view", "last", "--thinking"])
    return [product.run(*command).out for command in commands]


def test_the_server_and_the_store_read_the_same(product: Product):
    """UI-34, UI-29"""
    calls = [[{"reasoning": "Hm."}, *uses("Write", "Now.", file_path="report.md", content="# R\n")], says(LONG)]
    product.plays({"calls": calls})
    with product.up() as (running, _):
        assert product.run("run", "Write", "--approve", "all").code == 0
        live = read_all(product)
        running.signal(signal.SIGINT)
        assert running.wait() == 0
    assert read_all(product) == live


def test_a_conversation_is_printed_in_order_with_complete_texts(product: Product):
    """UI-03"""
    product.plays({"calls": [uses("Write", "Now.", file_path="report.md", content="# R\n"), says(LONG)]})
    product.run("run", "Write", "--approve", "all")
    output = product.run("view", "last").out
    places = [output.index(text) for text in ("› Write", "Now.", "✓", "report.md +1 -0", LONG.strip(), "completed")]
    assert places == sorted(places)


def test_a_terminal_renders_markdown_without_control_sequences(product: Product):
    """SAFE-06"""
    product.plays({"calls": [says("## Result\n\n**fine** \x1b]0;owned\x07[here](http://example.org/x)\n")]})
    product.run("run", "Go")
    with product.terminal("view", "last") as terminal:
        output = terminal.until("completed")
        assert terminal.wait() == 0
    assert "**" not in output
    assert "\x1b]" not in output
    assert "http://example.org/x" in output


def test_the_partial_text_of_a_killed_process_is_readable_before_a_takeover(product: Product):
    """COM-10, MAR-16"""
    product.plays({"calls": [[{"text": LONG, "chunk": 200}, {"wait_for": "never"}]]})
    with product.up() as (running, _), product.started("run", "Go", "--json") as turn:
        turn.milestone("model.requested")
        product.until_kept(LONG[:2000])
        running.signal(signal.SIGKILL)
        running.wait()
        assert product.run("sessions", "--json").json[0]["state"] == "lost"
        assert "process ended" in product.run("sessions").out
        output = product.run("view", "last").out
        assert LONG[:2000] in output
        assert output.splitlines()[-1].startswith("process ended")
        assert product.run("facts", "last", "--json").json[-1]["type"] == "model.requested"


def test_a_conversation_of_several_agents_names_the_agent_of_each_turn(product: Product):
    product.variables["CALLBOARD_DEMO_PACE"] = "0"
    assert product.run("demo", "review_team", "--no-open").code == 0
    output = product.run("view", "last").out
    prompts = [line.partition(" › ")[0] for line in output.splitlines() if " › " in line]
    assert prompts[:3] == ["maintainer", "author-1", "reviewer-1"]


@pytest.mark.parametrize("verb", ["view", "facts", "evidence"])
def test_an_empty_id_is_refused_by_its_field(product: Product, verb: str):
    product.plays({"calls": [says("Hello.")]})
    product.run("run", "Hi")
    done = product.run(verb, "")
    assert (done.code, done.out) == (2, "")
    assert "No session is named. [SESSION]" in done.err


def test_facts_are_followed_until_the_reader_leaves(product: Product):
    """COM-14"""
    product.plays({"calls": [says("One."), says("Two.")]})
    with product.up():
        first = product.run("run", "First", "--json").json
        with product.started("facts", "last", "--follow", "--json", "--after", "3") as following:
            following.milestone("turn.completed")
            second = product.run("run", "Second", "--session", "last", "--json").json
            assert following.milestone("turn.completed")["sequence"] == second[-1]["sequence"] > len(first)
            following.signal(signal.SIGINT)
            assert following.wait() == 130


def test_facts_after_a_sequence_begin_there(product: Product):
    product.plays({"calls": [says("One.")]}).run("run", "First")
    every = product.run("facts", "last", "--json").json
    assert product.run("facts", "last", "--json", "--after", "4").json == every[4:]


def test_the_list_shows_folder_title_and_state_or_that_there_are_no_sessions(product: Product):
    assert product.run("sessions").err.startswith("No sessions yet.")
    product.plays({"calls": [says("One.")]}).run("run", "What is \x1b[31mthis?")
    (line,) = product.run("sessions").out.splitlines()
    assert line.startswith("ses_")
    assert "idle" in line
    assert "What is this?" in line
    (sized,) = product.run("sessions", "--sizes").out.splitlines()
    assert re.search(r"\d+\.\d kB  What is this\?", sized)
    (card,) = product.run("sessions", "--sizes", "--json").json
    assert card["factBytes"] > 500
    assert card["contentBytes"] > 0
    assert product.run("sessions", "--folder", str(product.place)).out == ""
    assert len(product.run("sessions", "--folder", ".").out.splitlines()) == 1


def test_r2_the_list_counts_unopened_sessions_and_names_the_log(product: Product):
    """R2: with and without a running process. Such a session has no facts for a line."""
    product.plays({"calls": [says("One."), says("Two.")]})
    first = product.run("run", "One", "--json").json[0]["sessionId"]
    assert product.run("run", "Two").code == 0
    with closing(sqlite3.connect(product.home / "store" / "callboard.db")) as store:
        store.execute("DELETE FROM facts WHERE stream = (SELECT number FROM streams WHERE name = ?)", (first,))
        store.execute("DELETE FROM streams WHERE name = ?", (first,))
        store.commit()
    for path in (product.home / "store").glob("views.db*"):
        path.unlink()
    alone = product.run("sessions")
    with product.up():
        beside = product.run("sessions")
    for done in (alone, beside):
        assert (done.code, len(done.out.splitlines())) == (0, 1)
        assert f"1 session could not be opened and is not listed. See {product.home / 'callboard.log'}." in done.err
