"""The demo with a remote agent: a real process and the real protocol, which end with the demo."""

from __future__ import annotations

import json
import time
from pathlib import Path

import httpx2
import pytest

from callboard.app.demos import remote_agent
from callboard.app.demos.demo_catalog import DemoCatalog
from callboard.app.demos.printshop import set_proof
from callboard.contracts.commands.action import RespondAction
from callboard.contracts.errors import Refusal
from callboard.runtime.workspaces.installation import build_install_command
from tests.app.demos.test_demos import agents_of, payloads_of, run_demo, submit_command
from tests.app.rigs.product import Product


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path, {"CALLBOARD_DEMO_PACE": "0"})


def stops_answering(url: str) -> bool:
    """Return True if the address stops answering."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            httpx2.get(f"{url}.well-known/agent-card.json", timeout=30)
        except httpx2.TransportError:
            return True
    return False


def test_a_remote_print_shop_asks_once_and_delivers(product: Product):
    """UI-23, SAFE-10"""
    with product.started("demo", "remote_teammate", "--json") as running:
        started = running.milestone("started")
        facts: list[dict[str, object]] = []
        while (line := running.line()) is not None:
            facts.append(json.loads(line))
            if facts[-1]["type"] == "action.required":
                request = facts[-1]["payload"]
                assert isinstance(request, dict)
                size = request["actionType"] == "clarification"
                submit_command(
                    product,
                    RespondAction(
                        session_id=started["sessionId"],
                        action_id=str(facts[-1]["actionId"]),
                        decision="answer" if size else "approve",
                        answer="A6" if size else None,
                    ),
                )
        assert (running.wait(), running.errors) == (0, [])

    folder = Path(started["folder"])
    leaflet = (folder / "leaflet.md").read_text()
    requests = [payload for _, payload in payloads_of(facts, "action.required")]
    assert [(payload["actionType"], payload["tool"]) for payload in requests] == [
        ("tool_approval", "ConnectAgent"),
        ("clarification", "RemoteInput"),
    ]
    assert [payload["state"] for _, payload in payloads_of(facts, "remote.task")] == [
        *("submitted", "working", "input_required", "working", "completed")
    ]
    ((agent, artifact),) = payloads_of(facts, "remote.artifact")
    assert (agent, artifact["name"]) == ("printshop", "proof-A6.txt")
    assert artifact["parts"] == [{"media": "text/plain", "text": {"text": set_proof(leaflet, 38)}}]
    assert agents_of(facts, "turn.completed") == ["desk", "printshop", "desk"]
    assert (
        payloads_of(facts, "turn.failed")
        == payloads_of(facts, "tool.failed")
        == payloads_of(facts, "tool.refused")
        == []
    )
    sent, back = [payload for _, payload in payloads_of(facts, "channel.message")]
    assert leaflet in sent["message"]["text"]
    assert back["message"]["text"].endswith(set_proof(leaflet, 38))
    assert "prices" not in json.dumps(sent)
    url = requests[0]["preview"]["text"]
    assert f"url: {url}" in (folder / "agents" / "printshop.md").read_text()
    assert stops_answering(url)


def test_a_desk_without_approval_does_not_claim_that_it_sent_its_text(product: Product):
    with product.up():
        started, facts = run_demo(product, "remote_teammate", "reject", 1)
        assert payloads_of(facts, "remote.task") == []
        (request,) = [
            json.dumps(payload) for agent, payload in payloads_of(facts, "tool.requested") if agent == "desk"
        ][-1:]
        assert "if you approve it" in request
        answered = product.run("run", "And the proof?", "--session", started["sessionId"])
        assert answered.code == 0
        assert answered.out.startswith("There is no proof yet.")


def test_without_the_extra_the_demo_names_the_installation_and_creates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(remote_agent, "NEEDED", ("a2a_is_not_here",))
    with pytest.raises(Refusal) as refused:
        DemoCatalog(tmp_path / "demos").create_folder("remote_teammate")
    assert (refused.value.code, refused.value.problem.field) == ("not_installed", "")
    assert build_install_command("a2a") in refused.value.problem.hint
    assert not (tmp_path / "demos").exists()


def test_a_proof_is_set_in_a_column():
    message = "<inbox>\nPlease set this.\n\n# Open day\n\nTea and cake\nare here.\n</message>"
    assert set_proof(message, 12) == "  OPEN DAY\n\nTea and cake\nare here."
