"""Verdicts on starting and contacting external agents."""

from __future__ import annotations

from typing import Any

from callboard.contracts.facts.permission import Rule, Verdict
from callboard.contracts.ports.external import REMOTE_AUTH, REMOTE_INPUT, NeedReported
from callboard.contracts.ports.tools import ToolContext
from callboard.tools.gate import external_starts

URL = "https://peer.test/agent"


def context(**changes: Any) -> ToolContext:
    defaults: dict[str, Any] = {
        "folder": "/srv/site",
        "agent": "peer",
        "definition_hash": "d1",
        "tools": (),
        "policy": (),
        "mode": "chat",
        "permission_mode": "full",
    }
    return ToolContext(**{**defaults, **changes})


def rule(matcher: str, verdict: Verdict) -> Rule:
    return Rule(rule_id="rul_1", matcher=matcher, verdict=verdict, scope="session")


def test_an_address_is_contacted_after_approval_or_by_a_rule():
    exact = f"ConnectAgent({URL})"
    asks = external_starts.evaluate_connection(URL, context())
    allowed = external_starts.evaluate_connection(URL, context(rules=(rule(exact, "allow"),)))
    other = external_starts.evaluate_connection(f"{URL}/more", context(rules=(rule(exact, "allow"),)))
    program = external_starts.evaluate_connection(URL, context(rules=(rule("StartAgent", "allow"),)))
    denied = external_starts.evaluate_connection(URL, context(rules=(rule("ConnectAgent", "deny"),)))

    assert [evaluation.verdict for evaluation in (asks, allowed, other, program, denied)] == [
        "ask",
        "allow",
        "ask",
        "ask",
        "deny",
    ]
    assert (asks.preview, asks.arguments, asks.risk) == (URL, f'{{"url":"{URL}"}}', "high")
    assert asks.matchers == {"session": exact, "workspace": exact}
    assert asks.binding is not None
    assert (asks.binding.tool, asks.binding.folder, asks.binding.definition_hash) == ("ConnectAgent", "/srv/site", "d1")
    assert denied.code == "rule_denied"


def test_an_approval_applies_to_the_exact_address():
    """SAFE-07"""
    first, other = (
        external_starts.evaluate_connection(URL, context()),
        external_starts.evaluate_connection(f"{URL}2", context()),
    )
    assert first.binding != other.binding


def test_a_remote_request_asks_in_spite_of_rules():
    need = NeedReported(tool=REMOTE_INPUT, task="t1", message="Which colour?")
    rules = (rule("RemoteInput", "allow"), rule("ConnectAgent", "allow"))
    asks = external_starts.evaluate_request(need, URL, context(rules=rules))

    assert (asks.verdict, asks.scopes, asks.matchers) == ("ask", ("once",), {})
    assert asks.prompt == f"The agent peer at {URL} asks:\n\nWhich colour?"


def test_a_remote_text_is_truncated_and_never_asks_for_a_secret():
    need = NeedReported(tool=REMOTE_AUTH, task="t1", message="x" * 3000)
    asks = external_starts.evaluate_request(need, URL, context())

    assert f"needs to be authorised:\n\n{'x' * 2000}… (1,000 more characters)\n\n" in asks.prompt
    assert asks.prompt.endswith("Authorise it there, then approve. Do not enter a secret here.")
    assert (
        "It sent no instructions"
        in external_starts.evaluate_request(
            NeedReported(tool=REMOTE_AUTH, task="t", message=" "), URL, context()
        ).prompt
    )


def test_x7_the_question_of_a_start_states_the_omitted_length():
    """X7: the card has the whole command, and the prompt its end."""
    words = ("agent", "--flag=" + "a" * 500, "--exec=harm")
    evaluation = external_starts.evaluate_start(words, context())

    text = " ".join(words)
    assert f"({len(text) - 120:,} characters)" in evaluation.prompt
    assert "--exec=harm?" in evaluation.prompt
    assert evaluation.preview == text


def test_x7_the_question_of_a_contact_states_the_omitted_length():
    url = f"https://peer.test/{'a' * 500}?to=harm"
    evaluation = external_starts.evaluate_connection(url, context())

    assert f"({len(url) - 120:,} characters)" in evaluation.prompt
    assert "?to=harm?" in evaluation.prompt
