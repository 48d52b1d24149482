"""`callboard run` in a terminal, as a person uses it."""

from __future__ import annotations

from tests.app.rigs.product import Product, says, uses

OFFER = "[a]pprove once"


def scenario(answer: str = "Written.") -> dict[str, object]:
    return {"calls": [uses("Write", file_path="report.md", content="# Report\n"), says(answer)]}


def test_an_approved_change_is_made_after_the_person_sees_it(product: Product):
    """UI-09"""
    with product.plays(scenario()).terminal("run", "Write the report") as terminal:
        card = terminal.until(OFFER)
        assert "report.md" in card
        assert "+# Report" in card
        terminal.send("a\n")
        terminal.until("✓")
        terminal.until("Written.")
        assert terminal.wait() == 0
    assert (product.folder / "report.md").read_text() == "# Report\n"


def test_a_rejection_reaches_the_model_with_its_reason(product: Product):
    """CTL-05"""
    with product.plays(scenario("As you like.")).terminal("run", "Write the report") as terminal:
        terminal.until(OFFER)
        terminal.send("r use another name\n")
        terminal.until("use another name")
        terminal.until("As you like.")
        assert terminal.wait() == 0
    assert not (product.folder / "report.md").exists()
    refused = [fact for fact in product.run("facts", "last", "--json").json if fact["type"] == "action.resolved"]
    assert refused[0]["payload"]["reason"] == "use another name"


def test_an_approval_for_the_session_is_not_asked_for_again(product: Product):
    calls = [uses("Bash", command="echo one"), says("Once."), uses("Bash", command="echo one"), says("Twice.")]
    product.plays({"calls": calls})
    with product.terminal("run", "Say one") as terminal:
        terminal.until("[s]ession: ")
        terminal.send("s\n")
        terminal.until("Once.")
        assert terminal.wait() == 0
    again = product.run("run", "Again", "--session", "last")
    assert (again.code, again.out) == (0, "Twice.\n")


def test_an_invalid_answer_decides_nothing(product: Product):
    """CTL-04"""
    with product.plays(scenario()).terminal("run", "Write the report") as terminal:
        terminal.until(OFFER)
        terminal.send("hm\n")
        terminal.until(OFFER)
        terminal.send("n\n")
        terminal.until("Written.")
        assert terminal.wait() == 0
    assert not (product.folder / "report.md").exists()


def test_ctrl_c_while_it_asks_stops_the_turn_and_approves_nothing(product: Product):
    """CTL-04"""
    with product.plays(scenario()).terminal("run", "Write the report") as terminal:
        terminal.until(OFFER)
        terminal.send("\x03")
        terminal.until("Stopping the turn")
        terminal.until("interrupted")
        assert terminal.wait() == 130
    assert not (product.folder / "report.md").exists()


def test_an_answer_from_elsewhere_ends_the_question(product: Product):
    """UI-09"""
    from tests.app.rigs.other_client import approve_from_elsewhere

    product.plays(scenario())
    with product.up(), product.terminal("run", "Write the report") as terminal:
        terminal.until(OFFER)
        approve_from_elsewhere(product)
        terminal.until("Settled in another client")
        terminal.until("Written.")
        assert terminal.wait() == 0
    assert (product.folder / "report.md").exists()


def test_control_sequences_are_printed_as_text(product: Product):
    """SAFE-06"""
    hostile = "\x1b]0;owned\x07\x1b[2Jshown\x1b[8m"
    product.plays({"calls": [uses("Write", file_path="a.md", content=hostile), says(f"x{hostile}y", chunk=2)]})
    with product.terminal("run", f"Go {hostile}") as terminal:
        card = terminal.until(OFFER)
        assert "⟨U+001B⟩" in card
        terminal.send("r\n")
        text = terminal.until("xshowny")
        assert terminal.wait() == 0
    for dangerous in ("\x1b]", "\x1b[2J", "\x1b[8m"):
        assert dangerous not in card + text + terminal.output
