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


class SettingsFolder:
    """A state folder and a project folder with their settings."""

    def __init__(self, place: Path) -> None:
        self.state_folder = StateFolder(place / "home")
        self.state_folder.create()
        self.folder = place / "work"
        self.folder.mkdir()
        self.applied: list[Settings] = []
        self.book = SettingsFiles(self.state_folder, {}, FolderDefinitions(), self.applied.append)

    def write(self, text: str) -> None:
        """Write the folder's file."""
        (self.folder / ".callboard").mkdir(exist_ok=True)
        (self.folder / ".callboard" / "settings.toml").write_text(text)

    def list_requests(self) -> list[tuple[str, str]]:
        return [
            (permission.what, permission.detail)
            for permission in self.book.read_requested_permissions(str(self.folder)).widenings
        ]

    @property
    def digest(self) -> str:
        return self.book.read_requested_permissions(str(self.folder)).digest

    def read_effective(self, trusted: str = "") -> Any:
        return self.book.read_effective(str(self.folder), trusted)

    def refused(self, changes: dict[str, Any], *, place: Any = "user") -> Any:
        with pytest.raises(Refusal) as caught:
            self.change(changes, place=place)
        return caught.value.problem

    def change(self, changes: dict[str, Any], *, place: Any = "user") -> Any:
        folder = str(self.folder) if place == "folder" else ""
        return self.book.write(place, folder, changes, self.book.read(place, folder, "").digest)


@pytest.fixture
def settings_folder(tmp_path: Path) -> SettingsFolder:
    return SettingsFolder(tmp_path)


def test_each_request_of_a_folder_is_listed_with_its_file(settings_folder: SettingsFolder):
    """SAFE-08"""
    settings_folder.write(GREEDY)
    write_agents(settings_folder.folder, lead="permission_mode: full", helper="permission_mode: ask")
    assert settings_folder.list_requests() == [
        ("rule", "Bash(make *) runs without asking"),
        ("server", "the tools of files: starts npx some-server, with TOKEN=abc"),
        ("permission_mode", "new turns run in the permission mode full by default"),
        ("shell", "commands may take memory = 8192"),
        ("shell", "commands reach the network"),
        ("agent", "lead works in the permission mode full where you choose it"),
    ]
    files = {
        permission.file
        for permission in settings_folder.book.read_requested_permissions(str(settings_folder.folder)).widenings
    }
    assert files == {".callboard/settings.toml", "agents/lead.md"}


def test_each_request_of_a_folder_has_a_code_and_parameters(settings_folder: SettingsFolder):
    """SAFE-08: the page translates the code; no client parses the English."""
    settings_folder.write(GREEDY)
    write_agents(settings_folder.folder, lead="permission_mode: full")
    assert [
        (permission.code, permission.parameters)
        for permission in settings_folder.book.read_requested_permissions(str(settings_folder.folder)).widenings
    ] == [
        ("rule", {"matcher": "Bash(make *)"}),
        ("server_starts", {"name": "files", "command": "npx some-server", "environment": "TOKEN=abc"}),
        ("permission_mode", {"mode": "full"}),
        ("limit", {"key": "memory", "value": "8192"}),
        ("network", {}),
        ("agent_mode", {"name": "lead", "mode": "full"}),
    ]


def test_an_untrusted_folder_can_narrow_but_grants_nothing(settings_folder: SettingsFolder):
    """SAFE-08"""
    settings_folder.write(GREEDY)
    effective = settings_folder.read_effective()
    assert (effective.trusted, effective.permission_mode, effective.usual_mode) == (False, None, "ask")
    assert [(rule.matcher, rule.verdict) for rule in effective.rules] == [("Edit(.env)", "deny")]
    assert effective.servers == ()
    assert effective.shell == Shell(processes=64)


def test_a_trusted_folder_has_the_permissions_that_it_requests(settings_folder: SettingsFolder):
    settings_folder.write(GREEDY)
    effective = settings_folder.read_effective(settings_folder.digest)
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
def test_trust_applies_to_exactly_the_requests_that_were_shown(
    settings_folder: SettingsFolder, before: str, after: str
):
    """SAFE-08: a changed file asks again."""
    settings_folder.write(GREEDY)
    digest = settings_folder.digest
    settings_folder.write(GREEDY.replace(before, after))
    assert settings_folder.digest != digest
    assert settings_folder.read_effective(digest) == settings_folder.read_effective()


def test_narrowing_and_rewording_change_no_trust(settings_folder: SettingsFolder):
    settings_folder.write(GREEDY)
    digest = settings_folder.digest
    settings_folder.write(f"# a comment\n{GREEDY}\n[[rules]]\nmatcher = 'Bash(curl *)'\nverdict = 'deny'\n")
    assert settings_folder.digest == digest
    assert [rule.matcher for rule in settings_folder.read_effective(digest).rules][-1] == "Bash(curl *)"


def test_the_program_of_a_server_is_trusted_with_its_content(settings_folder: SettingsFolder):
    """SAFE-08: an agent that can write to the folder must not choose what runs outside the sandbox."""
    settings_folder.write('[[servers]]\nname = "own"\ntransport = "stdio"\ncommand = ["python3", "./tools/own.py"]\n')
    assert settings_folder.list_requests()[0] == ("server", "the tools of own: starts python3 ./tools/own.py")
    (settings_folder.folder / "tools").mkdir()
    program = settings_folder.folder / "tools" / "own.py"
    program.write_text("print(1)\n")
    digest = settings_folder.digest
    kind, detail = settings_folder.list_requests()[-1]
    assert (kind, detail.partition(" (sha256 ")[0]) == ("server", "tools/own.py runs as it is now, outside the sandbox")
    assert [server.name for server in settings_folder.read_effective(digest).servers] == ["own"]
    program.write_text("print(2)\n")
    assert not settings_folder.read_effective(digest).trusted
    program.unlink()
    program.symlink_to("/dev/zero")
    assert not settings_folder.read_effective(digest).trusted


def test_a_request_for_trust_is_complete_and_names_the_secrets_it_receives(settings_folder: SettingsFolder):
    """SAFE-03, SAFE-08"""
    long = "x" * 450
    settings_folder.write(
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
    assert [detail for _, detail in settings_folder.list_requests()] == [
        f"Edit({{{long},**}}) runs without asking",
        (
            f"the tools of own: starts own {long} --last, with A=secret://deploy, B=x secret://other#hex"
            ", and gives it the secrets deploy, other"
        ),
        f"the tools of web: reaches http://127.0.0.1:1/{long}, and gives it the secret github",
    ]


def test_an_agent_with_a_wider_mode_is_part_of_the_request(settings_folder: SettingsFolder):
    """SAFE-08: an edit of agents/*.md grants nothing."""
    write_agents(settings_folder.folder, lead="permission_mode: edits")
    digest = settings_folder.digest
    assert settings_folder.read_effective(digest).trusted
    write_agents(settings_folder.folder, lead="permission_mode: full")
    assert not settings_folder.read_effective(digest).trusted


def test_a_folder_without_settings_requests_nothing(settings_folder: SettingsFolder):
    assert (
        settings_folder.digest,
        settings_folder.read_effective().permission_mode,
        settings_folder.read_effective("0" * 64).trusted,
    ) == ("", None, False)


def test_a_narrower_mode_applies_without_trust(settings_folder: SettingsFolder):
    settings_folder.write('permission_mode = "planning"\n')
    assert settings_folder.digest == ""
    assert (settings_folder.read_effective().permission_mode, settings_folder.read_effective().usual_mode) == (
        "planning",
        "planning",
    )


def test_a_server_of_the_folder_cannot_replace_a_server_of_the_user(settings_folder: SettingsFolder):
    settings_folder.state_folder.settings.write_text(
        '[[servers]]\nname = "files"\ntransport = "http"\nurl = "http://localhost:1/mcp"\n'
    )
    settings_folder.write(GREEDY)
    assert [
        getattr(server, "url", "") for server in settings_folder.read_effective(settings_folder.digest).servers
    ] == ["http://localhost:1/mcp"]


@pytest.mark.parametrize("text", ["rules = 3\n", "not toml", "[[rules]]\nmatcher='bash(x'\nverdict='deny'\n"])
def test_an_invalid_file_of_a_folder_keeps_the_last_valid_one_and_is_reported(
    settings_folder: SettingsFolder, text: str
):
    """D6, SAFE-05: an invalid edit removes no rule and grants nothing."""
    settings_folder.write(GREEDY)
    digest = settings_folder.digest
    before = settings_folder.read_effective(digest)
    assert before.trusted
    for broken in (text, "still = = invalid"):
        settings_folder.write(broken)
        assert settings_folder.read_effective(digest) == before
        (problem,) = settings_folder.book.list_problems(str(settings_folder.folder))
        assert (problem.file, problem.keeps_last) == (".callboard/settings.toml", True)
    settings_folder.write("")
    assert settings_folder.read_effective(digest).rules == ()
    assert settings_folder.book.list_problems(str(settings_folder.folder)) == ()


@pytest.mark.parametrize("text", ["rules = 3\n", "not toml", "[[rules]]\nmatcher='bash(x'\nverdict='deny'\n"])
def test_an_invalid_file_without_a_valid_predecessor_makes_every_call_ask(settings_folder: SettingsFolder, text: str):
    """SAFE-05, SAFE-08"""
    settings_folder.write(text)
    effective = settings_folder.read_effective("anything")
    assert (effective.trusted, effective.permission_mode, effective.rules) == (False, "ask", ())
    (problem,) = settings_folder.book.list_problems(str(settings_folder.folder))
    assert (problem.file, problem.keeps_last) == (".callboard/settings.toml", False)


def test_a_folders_file_is_read_through_no_link(settings_folder: SettingsFolder, tmp_path: Path):
    """SAFE-01"""
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(GREEDY)
    (settings_folder.folder / ".callboard").mkdir()
    (settings_folder.folder / ".callboard" / "settings.toml").symlink_to(elsewhere)
    assert settings_folder.list_requests() == []
    (problem,) = settings_folder.book.list_problems(str(settings_folder.folder))
    assert "symbolic link" in problem.message
    assert problem.code == "file_denied"


def test_the_last_valid_user_settings_apply_while_the_file_is_unreadable(settings_folder: SettingsFolder):
    """SAFE-08: an invalid edit removes no rule."""
    settings_folder.state_folder.settings.write_text('[[rules]]\nmatcher = "Bash(curl *)"\nverdict = "deny"\n')
    assert len(settings_folder.read_effective().rules) == 1
    settings_folder.state_folder.settings.write_text('[[rules]\nmatcher = "Bash(curl *)"\n')
    assert len(settings_folder.read_effective().rules) == 1
    (problem,) = settings_folder.book.list_problems("")
    assert (problem.file, problem.code, list(problem.params)) == (
        str(settings_folder.state_folder.settings),
        "not_toml",
        ["reason"],
    )
    with pytest.raises(Refusal):
        settings_folder.book.read_user()


def test_a_change_keeps_comments_and_other_keys(settings_folder: SettingsFolder):
    settings_folder.state_folder.settings.write_text(
        "# mine\nport = 4000  # here\n\n[shell]\n# little\nmemory = 1000\n"
    )
    written = settings_folder.change({"browser": False, "shell": {"timeout": 5.0}, "port": None})
    assert written.keys == ("browser", "shell", "port")
    text = settings_folder.state_folder.settings.read_text()
    assert text == "# mine\nbrowser = false\n\n[shell]\n# little\nmemory = 1000\ntimeout = 5.0\n"
    assert settings_folder.state_folder.settings.stat().st_mode & 0o777 == 0o600
    assert settings_folder.applied[-1].shell == Shell(memory=1000, timeout=5.0)


def test_a_change_of_the_folders_file_creates_it_and_needs_trust(settings_folder: SettingsFolder):
    settings_folder.change({"rules": [{"matcher": "Bash(ls *)", "verdict": "allow"}]}, place="folder")
    assert settings_folder.list_requests() == [("rule", "Bash(ls *) runs without asking")]
    assert settings_folder.applied == []


def test_a_change_of_a_file_that_changed_since_it_was_read_is_a_conflict(settings_folder: SettingsFolder):
    settings_folder.state_folder.settings.write_text("port = 4000\n")
    with pytest.raises(Refusal) as caught:
        settings_folder.book.write("user", "", {"port": 1}, "")
    assert (caught.value.problem.code, caught.value.problem.field) == ("conflict", "digest")
    assert settings_folder.state_folder.settings.read_text() == "port = 4000\n"


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
    settings_folder: SettingsFolder, changes: dict[str, Any], field: str
):
    """SAFE-05"""
    problem = settings_folder.refused(changes)
    assert (problem.code, problem.field) == ("bad_settings", field)
    assert not settings_folder.state_folder.settings.exists()


def test_secrets_are_masked_and_a_mask_keeps_the_stored_secret(settings_folder: SettingsFolder):
    """SAFE-03"""
    settings_folder.state_folder.settings.write_text(
        '[[models]]\nname = "a"\nkind = "openai"\nmodel = "m"\napi_key = "sk-planted"\n'
        '[[servers]]\nname = "s"\ntransport = "http"\nurl = "http://x"\nheaders = {A = "planted", B = "secret://b"}\n'
    )
    read = settings_folder.book.read("user", "", "")
    assert "planted" not in str(read)
    assert read.values["servers"][0]["headers"] == {"A": "********", "B": "secret://b"}
    models = [{**read.values["models"][0], "model": "n"}]
    settings_folder.change({"models": models})
    assert 'api_key = "sk-planted"' in settings_folder.state_folder.settings.read_text()
    problem = settings_folder.refused({"models": [{**models[0], "name": "b"}]})
    assert (problem.code, problem.field) == ("bad_settings", "changes.models")


def test_a_change_that_makes_all_models_unusable_is_refused(settings_folder: SettingsFolder):
    def refuse(_: Settings) -> None:
        raise Refusal("bad_settings", "MY_KEY is not set.", field="models.api_key_env")

    settings_folder.book = SettingsFiles(settings_folder.state_folder, {}, FolderDefinitions(), refuse)
    assert settings_folder.refused({"port": 1}).field == "models.api_key_env"
    assert not settings_folder.state_folder.settings.exists()


def test_a_folders_settings_are_written_through_no_link(settings_folder: SettingsFolder, tmp_path: Path):
    """SAFE-01"""
    outside = tmp_path / "outside"
    outside.mkdir()
    (settings_folder.folder / ".callboard").symlink_to(outside)
    assert settings_folder.refused({"rules": []}, place="folder").code in ("path_denied", "bad_settings")
    assert list(outside.iterdir()) == []


def test_a_written_file_can_be_restored(settings_folder: SettingsFolder):
    settings_folder.state_folder.settings.write_text("port = 4000\n")
    settings_folder.book.restore(settings_folder.change({"port": 1}))
    assert settings_folder.state_folder.settings.read_text() == "port = 4000\n"
    settings_folder.state_folder.settings.unlink()
    settings_folder.book.restore(settings_folder.change({"port": 1}))
    assert not settings_folder.state_folder.settings.exists()


def test_user_settings_edited_by_hand_apply_at_the_next_read(tmp_path: Path) -> None:
    """D6: without a restart. An invalid file keeps the last valid settings, and the error names its line."""
    state_folder = StateFolder(tmp_path / "state")
    state_folder.settings.parent.mkdir(parents=True)
    applied: list[Settings] = []
    book = SettingsFiles(state_folder, {}, FolderDefinitions(), applied.append)
    assert applied == []

    state_folder.settings.write_text('permission_mode = "edits"\n')
    assert book.read_user().permission_mode == "edits"
    assert [settings.permission_mode for settings in applied] == ["edits"]

    state_folder.settings.write_text("permission_mode = \n")
    with pytest.raises(Refusal) as refused:
        book.read_user()
    assert refused.value.code == "bad_settings"
    assert "line 1" in refused.value.problem.message
    assert book.read_effective(str(tmp_path), "").usual_mode == "edits"
    assert len(applied) == 1


def test_a_problem_of_a_folders_file_has_a_code_and_parameters(settings_folder: SettingsFolder):
    settings_folder.write("[[hooks]]\nname = 'h'\ncommand = ['a']\nenv = { LD_PRELOAD = 'x.so' }\n")
    (problem,) = settings_folder.book.list_problems(str(settings_folder.folder))
    assert (problem.code, problem.params) == ("loader_variable", {"variable": "LD_PRELOAD", "program": "h"})
    settings_folder.write("[shell]\nmemory = 1\n")
    (problem,) = settings_folder.book.list_problems(str(settings_folder.folder))
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
    settings_folder: SettingsFolder, changes: dict[str, object], code: str, params: dict[str, str]
):
    with pytest.raises(Refusal) as caught:
        settings_folder.book.write("user", "", changes, "")
    problem = caught.value.problem
    assert (problem.code, problem.reason, problem.params) == ("bad_settings", code, params)
    assert not settings_folder.state_folder.settings.exists()
