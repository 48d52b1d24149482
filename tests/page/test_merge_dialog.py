"""The dialog in which a person merges the worktree of a child."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import PageDriver, open_page
from .test_team import LEAD, WORKER

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
NOTE = "note.txt"
APART: dict[str, Any] = {
    "agents": {
        "lead": [
            uses("spawn_subagent", agent="worker", objective="Write the note", isolation="worktree"),
            uses("wait_subagents"),
            says("It is on its branch."),
        ]
    },
    "match": [
        {
            "text": "Write the note",
            "agent": "worker",
            "calls": [uses("Write", file_path=NOTE, content="noted\n"), says("The note is written.")],
        }
    ],
}


def run_git(folder: Path, *arguments: str) -> str:
    options = ("-c", "user.name=A Person", "-c", "user.email=person@localhost")
    done = subprocess.run(["git", "-C", str(folder), *options, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(product: Product) -> Product:
    """Provide a folder under git with a lead and a worker."""
    agents = product.folder / "agents"
    agents.mkdir()
    (agents / "lead.md").write_text(LEAD)
    (agents / "worker.md").write_text(WORKER)
    run_git(product.folder, "init", "--quiet", "--initial-branch=main")
    run_git(product.folder, "add", "--all")
    run_git(product.folder, "commit", "--quiet", "-m", "first")
    return product.plays(APART)


def open_merge_dialog(tab: PageDriver) -> Locator:
    """Open the dialog from the worker's menu by keyboard."""
    card = tab.page.get_by_role("list", name="Agents").get_by_role("listitem").filter(has_text="worker-1")
    menu = card.get_by_role("button", name="Actions for worker-1")
    menu.press("Enter")
    tab.page.get_by_role("menuitem", name="Merge work").press("Enter")
    return tab.page.get_by_role("dialog", name="Merge the work of worker-1?")


def test_a_person_merges_the_work_of_a_child_completely_or_not_at_all(repository: Product, browser: Browser) -> None:
    """SUB-06: a conflict names its files and changes nothing. A merge lists its files, which are in
    the folder.
    """
    folder = repository.folder
    with repository.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.page.get_by_role("combobox", name="Permission mode").select_option(label="Allow edits")
        tab.send("Get the note written")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("It is on its branch.")
        assert not (folder / NOTE).exists()
        (folder / NOTE).write_text("mine\n")
        run_git(folder, "add", NOTE)
        run_git(folder, "commit", "--quiet", "-m", "mine")
        dialog = open_merge_dialog(tab)
        expect(dialog).to_contain_text("If files conflict, nothing is merged.")
        dialog.get_by_role("button", name="Merge work").press("Enter")
        expect(dialog.get_by_role("status")).to_contain_text("Not merged: files conflict.")
        expect(dialog.get_by_role("list", name="Files in conflict")).to_have_text(NOTE)
        close = dialog.get_by_role("button", name="Close")
        expect(close).to_be_focused()
        close.press("Enter")
        expect(dialog).to_have_count(0)
        assert (folder / NOTE).read_text() == "mine\n"
        run_git(folder, "reset", "--quiet", "--hard", "HEAD^")
        dialog = open_merge_dialog(tab)
        dialog.get_by_role("button", name="Merge work").press("Enter")
        expect(dialog.get_by_role("status")).to_contain_text("Merged.")
        expect(dialog.get_by_role("listitem")).to_have_text(NOTE)
        dialog.press("Escape")
        expect(dialog).to_have_count(0)
        assert (folder / NOTE).read_text() == "noted\n"
        assert run_git(folder, "log", "-1", "--format=%s") == "Merge the work of worker-1"
        assert tab.troubles == []
