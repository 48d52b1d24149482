"""Effective settings of a folder, from the files of the user and the folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.agents.folder import FolderDefinitions
from callboard.app.settings.settings_files import SettingsFiles
from callboard.app.state_folder import StateFolder
from callboard.contracts.errors import Refusal
from callboard.contracts.settings import Settings, Shell
from tests.agents.files import write_agents

GREEDY = """
permission_mode = "full"
[shell]
network = true
memory = 8192
processes = 64
[[rules]]
matcher = "Bash(make *)"
verdict = "allow"
[[rules]]
matcher = "Edit(.env)"
verdict = "deny"
[[servers]]
name = "files"
transport = "stdio"
command = ["npx", "some-server"]
[servers.env]
TOKEN = "abc"
"""


class Desk:
    """A state folder and a project folder with their settings."""

    def __init__(self, place: Path) -> None:
        self.home = StateFolder(place / "home")
        self.home.make()
        self.folder = place / "work"
        self.folder.mkdir()
        self.told: list[Settings] = []
        self.book = SettingsFiles(self.home, {}, FolderDefinitions(), self.told.append)

    def says(self, text: str) -> None:
        """Write the folder's file."""
        (self.folder / ".callboard").mkdir(exist_ok=True)
        (self.folder / ".callboard" / "settings.toml").write_text(text)

    def asked(self) -> list[tuple[str, str]]:
        return [
            (widening.what, widening.detail)
            for widening in self.book.read_requested_permissions(str(self.folder)).widenings
        ]

    @property
    def digest(self) -> str:
        return self.book.read_requested_permissions(str(self.folder)).digest

    def holding(self, trusted: str = "") -> Any:
        return self.book.read_effective(str(self.folder), trusted)

    def refused(self, changes: dict[str, Any], *, place: Any = "user") -> Any:
        with pytest.raises(Refusal) as caught:
            self.change(changes, place=place)
        return caught.value.problem

    def change(self, changes: dict[str, Any], *, place: Any = "user") -> Any:
        folder = str(self.folder) if place == "folder" else ""
        return self.book.write(place, folder, changes, self.book.read(place, folder, "").digest)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_each_request_of_a_folder_is_listed_with_its_file(desk: Desk):
    """SAFE-08"""
    desk.says(GREEDY)
    write_agents(desk.folder, lead="permission_mode: full", helper="permission_mode: ask")
    assert desk.asked() == [
        ("rule", "Bash(make *) runs without asking"),
        ("server", "the tools of files: starts npx some-server, with TOKEN=abc"),
        ("permission_mode", "new turns run in the permission mode full by default"),
        ("shell", "commands may take memory = 8192"),
        ("shell", "commands reach the network"),
        ("agent", "lead works in the permission mode full where you choose it"),
    ]
    files = {widening.file for widening in desk.book.read_requested_permissions(str(desk.folder)).widenings}
    assert files == {".callboard/settings.toml", "agents/lead.md"}


def test_each_request_of_a_folder_has_a_code_and_parameters(desk: Desk):
    """SAFE-08: the page translates the code; no client parses the English."""
    desk.says(GREEDY)
    write_agents(desk.folder, lead="permission_mode: full")
    assert [
        (widening.code, widening.parameters)
        for widening in desk.book.read_requested_permissions(str(desk.folder)).widenings
    ] == [
        ("rule", {"matcher": "Bash(make *)"}),
        ("server_starts", {"name": "files", "command": "npx some-server", "environment": "TOKEN=abc"}),
        ("permission_mode", {"mode": "full"}),
        ("limit", {"key": "memory", "value": "8192"}),
        ("network", {}),
        ("agent_mode", {"name": "lead", "mode": "full"}),
    ]


def test_an_untrusted_folder_can_narrow_but_grants_nothing(desk: Desk):
    """SAFE-08"""
    desk.says(GREEDY)
    effective = desk.holding()
    assert (effective.trusted, effective.permission_mode, effective.usual_mode) == (False, None, "ask")
    assert [(rule.matcher, rule.verdict) for rule in effective.rules] == [("Edit(.env)", "deny")]
    assert effective.servers == ()
    assert effective.shell == Shell(processes=64)


def test_a_trusted_folder_has_the_permissions_that_it_requests(desk: Desk):
    desk.says(GREEDY)
    effective = desk.holding(desk.digest)
    assert (effective.trusted, effective.permission_mode, effective.usual_mode) == (True, "full", "full")
    assert [rule.verdict for rule in effective.rules] == ["allow", "deny"]
    assert [server.name for server in effective.servers] == ["files"]
    assert effective.shell == Shell(network=True, memory=8192, processes=64)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("make *", "rm *"),
        ("some-server", "other-server"),
        ('"abc"', '"abd"'),
        ("memory = 8192", "memory = 8193"),
        ('"full"', '"edits"'),
    ],
)
def test_trust_applies_to_exactly_the_requests_that_were_shown(desk: Desk, before: str, after: str):
    """SAFE-08: a changed file asks again."""
    desk.says(GREEDY)
    digest = desk.digest
    desk.says(GREEDY.replace(before, after))
    assert desk.digest != digest
    assert desk.holding(digest) == desk.holding()


def test_narrowing_and_rewording_change_no_trust(desk: Desk):
    desk.says(GREEDY)
    digest = desk.digest
    desk.says(f"# a comment\n{GREEDY}\n[[rules]]\nmatcher = 'Bash(curl *)'\nverdict = 'deny'\n")
    assert desk.digest == digest
    assert [rule.matcher for rule in desk.holding(digest).rules][-1] == "Bash(curl *)"


def test_the_program_of_a_server_is_trusted_with_its_content(desk: Desk):
    """SAFE-08: an agent that can write to the folder must not choose what runs outside the sandbox."""
    desk.says('[[servers]]\nname = "own"\ntransport = "stdio"\ncommand = ["python3", "./tools/own.py"]\n')
    assert desk.asked()[0] == ("server", "the tools of own: starts python3 ./tools/own.py")
    (desk.folder / "tools").mkdir()
    program = desk.folder / "tools" / "own.py"
    program.write_text("print(1)\n")
    digest = desk.digest
    kind, detail = desk.asked()[-1]
    assert (kind, detail.partition(" (sha256 ")[0]) == ("server", "tools/own.py runs as it is now, outside the sandbox")
    assert [server.name for server in desk.holding(digest).servers] == ["own"]
    program.write_text("print(2)\n")
    assert not desk.holding(digest).trusted
    program.unlink()
    program.symlink_to("/dev/zero")
    assert not desk.holding(digest).trusted


def test_a_request_for_trust_is_complete_and_names_the_secrets_it_receives(desk: Desk):
    """SAFE-03, SAFE-08"""
    long = "x" * 450
    desk.says(
        f"""
[[rules]]
matcher = "Edit({{{long},**}})"
verdict = "allow"
[[servers]]
name = "own"
transport = "stdio"
command = ["own", "{long}", "--last"]
env = {{ A = "secret://deploy", B = "x secret://other#hex" }}
[[servers]]
name = "web"
transport = "http"
url = "http://127.0.0.1:1/{long}"
headers = {{ Authorization = "Bearer secret://github" }}
"""
    )
    assert [detail for _, detail in desk.asked()] == [
        f"Edit({{{long},**}}) runs without asking",
        (
            f"the tools of own: starts own {long} --last, with A=secret://deploy, B=x secret://other#hex"
            ", and gives it the secrets deploy, other"
        ),
        f"the tools of web: reaches http://127.0.0.1:1/{long}, and gives it the secret github",
    ]


def test_an_agent_with_a_wider_mode_is_part_of_the_request(desk: Desk):
    """SAFE-08: an edit of agents/*.md grants nothing."""
    write_agents(desk.folder, lead="permission_mode: edits")
    digest = desk.digest
    assert desk.holding(digest).trusted
    write_agents(desk.folder, lead="permission_mode: full")
    assert not desk.holding(digest).trusted


def test_a_folder_without_settings_requests_nothing(desk: Desk):
    assert (desk.digest, desk.holding().permission_mode, desk.holding("0" * 64).trusted) == ("", None, False)


def test_a_narrower_mode_applies_without_trust(desk: Desk):
    desk.says('permission_mode = "planning"\n')
    assert desk.digest == ""
    assert (desk.holding().permission_mode, desk.holding().usual_mode) == ("planning", "planning")


def test_a_server_of_the_folder_cannot_replace_a_server_of_the_user(desk: Desk):
    desk.home.settings.write_text('[[servers]]\nname = "files"\ntransport = "http"\nurl = "http://localhost:1/mcp"\n')
    desk.says(GREEDY)
    assert [getattr(server, "url", "") for server in desk.holding(desk.digest).servers] == ["http://localhost:1/mcp"]


@pytest.mark.parametrize("text", ["rules = 3\n", "not toml", "[[rules]]\nmatcher='bash(x'\nverdict='deny'\n"])
def test_an_invalid_file_of_a_folder_keeps_the_last_valid_one_and_is_reported(desk: Desk, text: str):
    """D6, SAFE-05: an invalid edit removes no rule and grants nothing."""
    desk.says(GREEDY)
    digest = desk.digest
    before = desk.holding(digest)
    assert before.trusted
    for broken in (text, "still = = invalid"):
        desk.says(broken)
        assert desk.holding(digest) == before
        (problem,) = desk.book.list_problems(str(desk.folder))
        assert (problem.file, problem.keeps_last) == (".callboard/settings.toml", True)
    desk.says("")
    assert desk.holding(digest).rules == ()
    assert desk.book.list_problems(str(desk.folder)) == ()


@pytest.mark.parametrize("text", ["rules = 3\n", "not toml", "[[rules]]\nmatcher='bash(x'\nverdict='deny'\n"])
def test_an_invalid_file_without_a_valid_predecessor_makes_every_call_ask(desk: Desk, text: str):
    """SAFE-05, SAFE-08"""
    desk.says(text)
    effective = desk.holding("anything")
    assert (effective.trusted, effective.permission_mode, effective.rules) == (False, "ask", ())
    (problem,) = desk.book.list_problems(str(desk.folder))
    assert (problem.file, problem.keeps_last) == (".callboard/settings.toml", False)


def test_a_folders_file_is_read_through_no_link(desk: Desk, tmp_path: Path):
    """SAFE-01"""
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(GREEDY)
    (desk.folder / ".callboard").mkdir()
    (desk.folder / ".callboard" / "settings.toml").symlink_to(elsewhere)
    assert desk.asked() == []
    (problem,) = desk.book.list_problems(str(desk.folder))
    assert "symbolic link" in problem.message
    assert problem.code == "file_denied"


def test_the_last_valid_user_settings_apply_while_the_file_is_unreadable(desk: Desk):
    """SAFE-08: an invalid edit removes no rule."""
    desk.home.settings.write_text('[[rules]]\nmatcher = "Bash(curl *)"\nverdict = "deny"\n')
    assert len(desk.holding().rules) == 1
    desk.home.settings.write_text('[[rules]\nmatcher = "Bash(curl *)"\n')
    assert len(desk.holding().rules) == 1
    (problem,) = desk.book.list_problems("")
    assert (problem.file, problem.code, list(problem.params)) == (str(desk.home.settings), "not_toml", ["reason"])
    with pytest.raises(Refusal):
        desk.book.read_user()


def test_a_change_keeps_comments_and_other_keys(desk: Desk):
    desk.home.settings.write_text("# mine\nport = 4000  # here\n\n[shell]\n# little\nmemory = 1000\n")
    written = desk.change({"browser": False, "shell": {"timeout": 5.0}, "port": None})
    assert written.keys == ("browser", "shell", "port")
    text = desk.home.settings.read_text()
    assert text == "# mine\nbrowser = false\n\n[shell]\n# little\nmemory = 1000\ntimeout = 5.0\n"
    assert desk.home.settings.stat().st_mode & 0o777 == 0o600
    assert desk.told[-1].shell == Shell(memory=1000, timeout=5.0)


def test_a_change_of_the_folders_file_creates_it_and_needs_trust(desk: Desk):
    desk.change({"rules": [{"matcher": "Bash(ls *)", "verdict": "allow"}]}, place="folder")
    assert desk.asked() == [("rule", "Bash(ls *) runs without asking")]
    assert desk.told == []


def test_a_change_of_a_file_that_changed_since_it_was_read_is_a_conflict(desk: Desk):
    desk.home.settings.write_text("port = 4000\n")
    with pytest.raises(Refusal) as caught:
        desk.book.write("user", "", {"port": 1}, "")
    assert (caught.value.problem.code, caught.value.problem.field) == ("conflict", "digest")
    assert desk.home.settings.read_text() == "port = 4000\n"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"port": "x"}, "changes.port"),
        ({"prot": 1}, "changes.prot"),
        ({"models": [{"name": "a"}]}, "changes.models.0.kind"),
        ({"rules": [{"matcher": "bash(", "verdict": "deny"}]}, "changes.rules.0.matcher"),
        ({"shell": {"memory": 1}}, "changes.shell.memory"),
        ({"fallback": [None]}, "changes.fallback.0"),
    ],
)
def test_an_invalid_change_is_refused_with_its_place_and_writes_nothing(
    desk: Desk, changes: dict[str, Any], field: str
):
    """SAFE-05"""
    problem = desk.refused(changes)
    assert (problem.code, problem.field) == ("bad_settings", field)
    assert not desk.home.settings.exists()


def test_secrets_are_masked_and_a_mask_keeps_the_stored_secret(desk: Desk):
    """SAFE-03"""
    desk.home.settings.write_text(
        '[[models]]\nname = "a"\nkind = "openai"\nmodel = "m"\napi_key = "sk-planted"\n'
        '[[servers]]\nname = "s"\ntransport = "http"\nurl = "http://x"\nheaders = {A = "planted", B = "secret://b"}\n'
    )
    read = desk.book.read("user", "", "")
    assert "planted" not in str(read)
    assert read.values["servers"][0]["headers"] == {"A": "********", "B": "secret://b"}
    models = [{**read.values["models"][0], "model": "n"}]
    desk.change({"models": models})
    assert 'api_key = "sk-planted"' in desk.home.settings.read_text()
    problem = desk.refused({"models": [{**models[0], "name": "b"}]})
    assert (problem.code, problem.field) == ("bad_settings", "changes.models")


def test_a_change_that_makes_all_models_unusable_is_refused(desk: Desk):
    def refuse(_: Settings) -> None:
        raise Refusal("bad_settings", "MY_KEY is not set.", field="models.api_key_env")

    desk.book = SettingsFiles(desk.home, {}, FolderDefinitions(), refuse)
    assert desk.refused({"port": 1}).field == "models.api_key_env"
    assert not desk.home.settings.exists()


def test_a_folders_settings_are_written_through_no_link(desk: Desk, tmp_path: Path):
    """SAFE-01"""
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.folder / ".callboard").symlink_to(outside)
    assert desk.refused({"rules": []}, place="folder").code in ("path_denied", "bad_settings")
    assert list(outside.iterdir()) == []


def test_a_written_file_can_be_restored(desk: Desk):
    desk.home.settings.write_text("port = 4000\n")
    desk.book.restore(desk.change({"port": 1}))
    assert desk.home.settings.read_text() == "port = 4000\n"
    desk.home.settings.unlink()
    desk.book.restore(desk.change({"port": 1}))
    assert not desk.home.settings.exists()


def test_user_settings_edited_by_hand_apply_at_the_next_read(tmp_path: Path) -> None:
    """D6: without a restart. An invalid file keeps the last valid settings, and the error names its line."""
    home = StateFolder(tmp_path / "state")
    home.settings.parent.mkdir(parents=True)
    applied: list[Settings] = []
    book = SettingsFiles(home, {}, FolderDefinitions(), applied.append)
    assert applied == []

    home.settings.write_text('permission_mode = "edits"\n')
    assert book.read_user().permission_mode == "edits"
    assert [settings.permission_mode for settings in applied] == ["edits"]

    home.settings.write_text("permission_mode = \n")
    with pytest.raises(Refusal) as refused:
        book.read_user()
    assert refused.value.code == "bad_settings"
    assert "line 1" in refused.value.problem.message
    assert book.read_effective(str(tmp_path), "").usual_mode == "edits"
    assert len(applied) == 1


def test_a_problem_of_a_folders_file_has_a_code_and_parameters(desk: Desk):
    desk.says("[[hooks]]\nname = 'h'\ncommand = ['a']\nenv = { LD_PRELOAD = 'x.so' }\n")
    (problem,) = desk.book.list_problems(str(desk.folder))
    assert (problem.code, problem.params) == ("loader_variable", {"variable": "LD_PRELOAD", "program": "h"})
    desk.says("[shell]\nmemory = 1\n")
    (problem,) = desk.book.list_problems(str(desk.folder))
    assert problem.code == "too_small"
    assert problem.params == {"limit": "64", "line": "2", "docs": "docs/settings.md"}


@pytest.mark.parametrize(
    ("changes", "code", "params"),
    [
        ({"shell": {"memory": 1}}, "too_small", {"limit": "64", "docs": "docs/settings.md"}),
        ({"fallback": ["a b"]}, "invalid_name", {"docs": "docs/models.md"}),
        (
            {"models": [{"kind": "openai", "name": "a", "model": "m", "api_key": "********"}]},
            "secret_not_stored",
            {"name": "api_key"},
        ),
    ],
)
def test_a_refused_change_has_a_code_and_parameters(
    desk: Desk, changes: dict[str, object], code: str, params: dict[str, str]
):
    with pytest.raises(Refusal) as caught:
        desk.book.write("user", "", changes, "")
    problem = caught.value.problem
    assert (problem.code, problem.reason, problem.params) == ("bad_settings", code, params)
    assert not desk.home.settings.exists()
