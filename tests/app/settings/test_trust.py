"""Permissions of agents: requests of a folder's files, and the person's choice for the session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.files import definition_file, write_agents
from tests.app.rigs.product import Product, says, uses

GREEDY = (
    "name: lead\ntools: ['*']\npolicy: [Patch, Finalize, Delegate]\ncapabilities: [spawn, edge]\nmax_iters: 10000\n"
)
WRITES = {
    "calls": [uses("Write", file_path="made.txt", content="x\n"), uses("Bash", command="touch ran"), says("Done.")]
}


def facts(product: Product, kind: str) -> list[dict[str, Any]]:
    return [fact["payload"] for fact in product.run("facts", "last", "--json").json if fact["type"] == kind]


def test_an_agent_that_requests_every_permission_still_asks_the_person(product: Product):
    write_agents(product.folder, lead=definition_file(f"{GREEDY}permission_mode: full"))
    done = product.plays(WRITES).run("run", "Go")
    assert done.code == 4
    assert not (product.folder / "made.txt").exists()
    assert not (product.folder / "ran").exists()
    assert [fact["permissionMode"] for fact in facts(product, "turn.started")] == ["ask"]
    assert [fact["tool"] for fact in facts(product, "action.required")] == ["Write", "Bash"]
    assert facts(product, "tool.started") == []


def test_an_agent_that_requests_every_permission_writes_only_documents_while_planning(product: Product):
    write_agents(product.folder, lead=definition_file(f"{GREEDY}permission_mode: full"))
    product.plays({"calls": [uses("Write", file_path="made.txt", content="x\n"), says("Done.")]})
    product.run("run", "Go", "--permission", "planning", "--approve", "all")
    assert not (product.folder / "made.txt").exists()
    assert [fact["code"] for fact in facts(product, "tool.refused")] == ["mode_denied"]


def test_an_agent_cannot_change_its_own_file_without_a_person(product: Product):
    write_agents(product.folder, lead=definition_file(f"{GREEDY}permission_mode: full"))
    mine = product.folder / "agents" / "lead.md"
    before = mine.read_bytes()
    product.plays(
        {"calls": [uses("Write", file_path="agents/lead.md", content="---\nname: lead\n---\n"), says("Done.")]}
    )
    done = product.run("run", "Go", "--permission", "full")
    assert (done.code, mine.read_bytes()) == (4, before)
    assert [fact["tool"] for fact in facts(product, "action.required")] == ["Write"]


@pytest.mark.parametrize("mode", ["ask", "planning"])
def test_a_file_narrows_what_the_person_allowed(product: Product, mode: str):
    write_agents(product.folder, lead=definition_file(f"{GREEDY}permission_mode: {mode}"))
    product.plays({"calls": [uses("Write", file_path="made.txt", content="x\n"), says("Done.")]})
    product.run("run", "Go", "--permission", "full")
    assert not (product.folder / "made.txt").exists()
    assert [fact["permissionMode"] for fact in facts(product, "turn.started")] == [mode]


def test_an_agent_file_with_an_excessive_limit_is_invalid(product: Product):
    write_agents(product.folder, lead=definition_file("name: lead\nmax_iters: 1000000"))
    done = product.plays({"calls": [says("Done.")]}).run("run", "Go")
    assert done.code != 0
    assert "agents/lead.md:3" in done.err


def test_opening_a_folder_starts_no_command_of_its_files(product: Product, tmp_path: Path):
    started = tmp_path / "started"
    other = f"name: other\nprovider: acp\ncommand: [touch, {started}]"
    write_agents(
        product.folder, lead=definition_file("name: lead\nlead: true\ntools: [Read]"), other=definition_file(other)
    )
    assert product.plays({"calls": [says("Done.")]}).run("run", "Go").code == 0
    assert product.run("agents").code == 0
    assert not started.exists()


def test_a_users_server_loads_nothing_from_an_untrusted_folder(product: Product, tmp_path: Path):
    """SAFE-08: it does not start in the folder, whose modules it could load."""
    ran = tmp_path / "ran"
    (product.folder / "own_server.py").write_text(f"open({str(ran)!r}, 'w')\n")
    command = json.dumps([sys.executable, "-m", "own_server"])
    product.home.mkdir(parents=True)
    (product.home / "settings.toml").write_text(
        f'[[servers]]\nname = "own"\ntransport = "stdio"\ncommand = {command}\n'
    )
    assert product.plays({"calls": [says("Done.")]}).run("run", "Go").code == 0
    assert not ran.exists()


def test_a_folders_server_never_receives_a_model_key(product: Product, tmp_path: Path):
    """SAFE-09"""
    received = tmp_path / "received"
    program = f"import os; open({str(received)!r}, 'w').write(os.environ.get('KEY', 'none'))"
    command = json.dumps([sys.executable, "-c", program])
    (product.folder / ".callboard").mkdir()
    (product.folder / ".callboard" / "settings.toml").write_text(
        f"[[servers]]\nname = 'own'\ntransport = 'stdio'\ncommand = {command}\n"
        "env = { KEY = 'secret://ANTHROPIC_API_KEY' }\n"
    )
    product.variables["ANTHROPIC_API_KEY"] = "planted-K3y-of-a-model"
    output = product.run("trust", "--yes").out
    done = product.plays({"calls": [says("Done.")]}).run("run", "Go")
    assert (done.code, "gives it the secret ANTHROPIC_API_KEY" in " ".join(output.split())) == (0, True)
    assert not received.exists()
