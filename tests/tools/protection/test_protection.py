"""Protected paths at every depth: in commands, Write and Edit, and for git outside the sandbox."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.ports.tools import ToolOutcome
from callboard.runtime.worktrees import git
from callboard.tools.files.paths import find_protected
from callboard.tools.protection.repositories import list_program_files, list_targets
from callboard.tools.protection.tree import Tree
from callboard.tools.protection.watch import Watch, find_guarded
from callboard.tools.shell import command
from tests.tools.rigs.calls import Agent

#: One path per protected name, below the top.
NESTED = (
    *("sub/.git/config", "sub/.git/hooks/pre-commit", "sub/.husky/pre-commit", "sub/.claude/settings.json"),
    *("sub/.vscode/tasks.json", "sub/.idea/workspace.xml", "sub/.mcp.json", "sub/.envrc", "sub/AGENTS.md"),
    *("sub/deep/er/.callboard/settings.toml", "sub/agents/lead.md", "sub/CLAUDE.md", "sub/.cursor/rules"),
)


def write_file(folder: Path, path: str, text: str = "before\n") -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def create_repository(folder: Path, *settings: tuple[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for key, value in settings:
        subprocess.run(["git", "-C", str(folder), "config", key, value], check=True)
    return folder


@pytest.mark.parametrize("path", NESTED)
async def test_protected_paths_are_read_only_at_every_depth(agent: Agent, path: str):
    """X5"""
    file = write_file(agent.folder, path)

    outcome = await agent.call("Bash", command=f"echo harm > {path} || rm -rf {path}")

    assert outcome.code == "tool_failed"
    assert file.read_text() == "before\n"


@pytest.mark.parametrize("path", NESTED)
async def test_a_new_protected_path_is_renamed(agent: Agent, path: str):
    """X5: a missing path has no mount."""
    outcome = await agent.call("Bash", command=f"mkdir -p $(dirname {path}); echo harm > {path}; echo done")

    assert outcome.code == "path_denied"
    assert ".set-aside" in outcome.message
    assert outcome.output == "done\n"
    assert not (agent.folder / path).exists()


async def test_a_new_protected_path_is_renamed_without_a_thread(agent: Agent, monkeypatch: pytest.MonkeyPatch):
    """X5: also if the machine cannot start another thread."""
    start = asyncio.to_thread

    def fails(function: Any, *arguments: Any) -> Any:
        if function is command._rename_new:
            raise RuntimeError("can't start new thread")
        return start(function, *arguments)

    monkeypatch.setattr(asyncio, "to_thread", fails)

    outcome = await agent.call("Bash", command="echo harm > .envrc")

    assert outcome.code == "path_denied"
    assert not (agent.folder / ".envrc").exists()


async def test_a_renamed_and_recreated_folder_hides_no_new_program(agent: Agent):
    """X5: a folder above a mount can be renamed."""
    create_repository(agent.folder / "sub")

    outcome = await agent.call(
        "Bash", command="mv sub old; mkdir sub; git init -q sub; git -C sub config core.pager evil"
    )

    assert outcome.code == "path_denied"
    assert list_program_files(str(agent.folder / "sub" / ".git")) == ()
    assert (agent.folder / "sub" / ".git" / "config.set-aside").is_file()
    assert list_program_files(str(agent.folder / "old" / ".git")) == ()


@pytest.mark.parametrize(
    "attack",
    [
        "git -C made config core.fsmonitor 'touch /tmp/x'",
        "git -C made config include.path ../evil",
        "git -C made config filter.a.clean evil",
        "git -C made config remote.origin.url 'ext::sh -c evil'",
        "echo evil > made/.git/hooks/post-checkout",
        "mv made/.git store; echo 'gitdir: ../store' > made/.git; git -C made config core.editor evil",
        "mv made/.git store; ln -s ../store made/.git; git -C made config core.editor evil",
        "git init -q --bare bare.x; git -C bare.x config core.pager evil",
        "mkdir -p node_modules; mv made node_modules/; git -C node_modules/made config alias.st '!evil'",
    ],
)
async def test_a_new_repository_names_no_program(agent: Agent, attack: str):
    """X5: by settings, hooks, links, bare repositories or moved folders."""
    outcome = await agent.call("Bash", command=f"mkdir made && git init -q made && {attack} && echo made-it")

    assert outcome.output == "made-it\n"
    assert outcome.code == "path_denied"
    stores = [head.parent for head in agent.folder.rglob("HEAD")]
    assert stores
    assert [list_program_files(str(head)) for head in stores] == [()] * len(stores)


async def test_a_command_may_create_and_clone_repositories(agent: Agent):
    """X5: files that git writes are harmless, and later commands read them."""
    commit = "git -C one -c user.name=a -c user.email=b commit -q --allow-empty -m first"

    created = await agent.call(
        "Bash", command=f"git init -q one && {commit} && git clone -q one two && git -C two log --format=%s"
    )
    read = await agent.call("Bash", command="git -C two log --format=%s; git -C one config core.pager evil")

    assert created == ToolOutcome(output="first\n", exit_code=0)
    assert read.output.splitlines()[0] == "first"
    assert read.code == "tool_failed"
    assert list_program_files(str(agent.folder / "one" / ".git")) == ()


async def test_programs_of_git_settings_are_read_only_and_ask(agent: Agent):
    """X5: core.hooksPath and programs of filters, in a repository's own settings."""
    create_repository(agent.folder, ("core.hooksPath", "tools/hooks"), ("filter.x.clean", "sh ./bin/clean.sh %f"))
    hook, program = write_file(agent.folder, "tools/hooks/pre-commit"), write_file(agent.folder, "bin/clean.sh")

    outcome = await agent.call("Bash", command="echo harm > tools/hooks/pre-commit; echo harm > bin/clean.sh")
    verdicts = [
        (await agent.evaluate("Write", file_path=path, content="harm\n")).verdict
        for path in ("tools/hooks/new", "bin/clean.sh")
    ]

    assert outcome.code == "tool_failed"
    assert (hook.read_text(), program.read_text(), verdicts) == ("before\n", "before\n", ["ask", "ask"])
    assert find_guarded(str(agent.folder), "bin/other.sh") == ""


async def test_new_git_hooks_are_renamed(agent: Agent):
    """X5"""
    create_repository(agent.folder, ("core.hooksPath", "tools/hooks"))

    outcome = await agent.call("Bash", command="mkdir -p tools/hooks; echo harm > tools/hooks/pre-commit")

    assert outcome.code == "path_denied"
    assert not (agent.folder / "tools" / "hooks").exists()


@pytest.mark.parametrize(
    "path", [*NESTED, "SUB/.GIT/config", "sub/.Vscode./x", "sub/．git/config", "sub/Agents/x.MD", "agents.md"]
)
async def test_writing_a_protected_path_asks_in_every_spelling(agent: Agent, path: str):
    """X5: neither full mode nor a rule replaces a person's approval."""
    evaluation = await agent.evaluate("Write", file_path=path, content="harm\n")

    assert (evaluation.verdict, evaluation.scopes) == ("ask", ("once",))


@pytest.mark.parametrize(
    "path", ["sub/agents/run.py", "src/agents/deep/x.py", "gitignore", "x.git.md", ".github/a.yml"]
)
def test_other_names_are_not_protected(path: str):
    assert find_protected(path) == ""


async def test_an_approved_write_during_a_command_stays(agent: Agent):
    """X5: only a command's new paths are renamed."""
    watch = Watch(str(agent.folder))

    await agent.call("Write", file_path="sub/.vscode/settings.json", content="{}\n")

    assert watch.rename_new() == ()
    assert (agent.folder / "sub" / ".vscode" / "settings.json").read_text() == "{}\n"


def test_the_users_changes_during_a_command_stay(tmp_path: Path):
    """X5: an editor replaces a file that is mounted read-only in the sandbox."""
    file = write_file(tmp_path, "sub/AGENTS.md")
    watch = Watch(str(tmp_path))

    write_file(tmp_path, "sub/new").write_text("after\n")
    (tmp_path / "sub" / "new").replace(file)

    assert watch.rename_new() == ()
    assert file.read_text() == "after\n"


def test_a_command_beyond_the_bounds_asks(tmp_path: Path):
    """X5"""
    deep = tmp_path.joinpath(*["d"] * 66)
    deep.mkdir(parents=True)

    assert [path.startswith("paths deeper than 64 folders") for path in Watch(str(tmp_path)).unprotected] == [True]


def test_a_second_walk_sees_changes(tmp_path: Path):
    write_file(tmp_path, "a/b/file")
    tree = Tree(str(tmp_path))
    first = tree.survey().paths

    write_file(tmp_path, "a/b/.envrc")

    assert (first, [entry.path for entry in tree.survey().paths]) == ((), ["a/b/.envrc"])


async def test_git_runs_no_program_of_a_nested_repository(tmp_path: Path):
    """X5: in the folder above the nested repository, and in the nested repository."""
    mark = tmp_path / "ran"
    top = create_repository(tmp_path / "top")
    evil = create_repository(
        top / "sub",
        ("core.fsmonitor", f"touch {mark}"),
        ("core.sshCommand", f"touch {mark}"),
        ("filter.e.clean", f"touch {mark}"),
        ("core.hooksPath", str(write_file(tmp_path, "hooks/post-index-change", f"#!/bin/sh\ntouch {mark}\n").parent)),
    )
    (tmp_path / "hooks" / "post-index-change").chmod(0o755)
    write_file(evil, ".gitattributes", "* filter=e\n")
    write_file(evil, "file")

    for folder in (top, evil):
        for words in (("status", "--porcelain"), ("add", "-A"), ("diff",), ("stash", "list")):
            await git.git(str(folder), *words)

    assert not mark.exists()


def test_git_settings_are_parsed_as_in_git(tmp_path: Path):
    """X5: settings on one line or several, the older spelling of sections, and included files."""
    store = tmp_path / ".git"
    write_file(
        store, "config", '[core] hooksPath = a\n[include]\n\tpath = \\\n../more\n[diff.x]\n  textconv = "./t" # c\n'
    )

    assert list_targets(str(tmp_path), str(store)) == (f"{tmp_path}/a", f"{tmp_path}/more", f"{tmp_path}/t")
