"""Artifacts of agents in a browser: read, edit, export and delete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import PageDriver, open_page

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
NOTES = "# Notes\n\n- one\n"
WRITES: dict[str, Any] = {
    "calls": [
        uses("Write", file_path="notes.md", content=NOTES),
        says("The notes are there."),
        uses("Write", file_path="notes.md", content=f"{NOTES}- two\n"),
        says("And more of them."),
    ]
}


@contextmanager
def written_session(
    product: Product, browser: Browser, plays: dict[str, Any] = WRITES, mode: str = "Allow edits"
) -> Iterator[PageDriver]:
    """Open a session in which an agent wrote notes.md without approval."""
    with product.plays(plays).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.page.get_by_role("combobox", name="Permission mode").select_option(label=mode)
        tab.send("Take notes")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("The notes are there.")
        yield tab
        assert tab.troubles == []


def open_workspace(tab: PageDriver) -> Locator:
    """Open the workspace of notes.md by its card."""
    tab.page.get_by_role("list", name="Artifacts of this turn").get_by_role("button", name="notes.md").last.click()
    panel = tab.page.get_by_role("complementary", name="Artifacts")
    expect(panel.get_by_role("heading", name="notes.md")).to_be_visible()
    return panel


def test_an_artifact_of_an_agent_is_read_edited_saved_and_compared(product: Product, browser: Browser) -> None:
    """UI-13, UI-14, CTX-04: the body is in the workspace. A save names its base version and writes
    the file.
    """
    with written_session(product, browser) as tab:
        panel = open_workspace(tab)
        expect(panel.get_by_role("heading", name="Notes", exact=True)).to_be_visible()
        panel.get_by_role("button", name="Edit").click()
        field = panel.get_by_role("textbox", name="Text of notes.md")
        field.fill(f"{NOTES}- mine\n")
        panel.get_by_role("button", name="Save as v2").click()
        expect(panel.get_by_role("listitem").filter(has_text="mine")).to_be_visible()
        assert (product.folder / "notes.md").read_text() == f"{NOTES}- mine\n"
        panel.get_by_role("radio", name="Compare").check()
        expect(panel.get_by_role("group", name="Diff of notes.md")).to_contain_text("- mine")
        panel.get_by_role("radio", name="Versions").check()
        versions = panel.get_by_role("list", name="Versions").get_by_role("listitem")
        expect(versions.first).to_contain_text("by you")
        versions.last.get_by_role("button", name="Restore").click()
        expect(versions.first).to_contain_text("v1 restored")
        assert (product.folder / "notes.md").read_text() == NOTES


def test_a_save_against_an_older_version_keeps_both_texts(product: Product, browser: Browser) -> None:
    """CTX-04, UI-13: both texts are shown until the person decides."""
    with written_session(product, browser) as tab:
        panel = open_workspace(tab)
        panel.get_by_role("button", name="Edit").click()
        field = panel.get_by_role("textbox", name="Text of notes.md")
        field.fill("# Mine\n")
        tab.send("More of them")
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("And more of them.")
        conflict = panel.get_by_role("alert", name="Conflict")
        expect(conflict).to_contain_text("v2 is newer")
        expect(field).to_have_value("# Mine\n")
        conflict.get_by_role("button", name="Show changes in v2").click()
        expect(panel.get_by_role("group", name="Diff of notes.md")).to_contain_text("- two")
        panel.get_by_role("button", name="Continue editing").click()
        panel.get_by_role("button", name="Save mine as v3").click()
        expect(panel.get_by_role("heading", name="Mine", exact=True)).to_be_visible()
        assert (product.folder / "notes.md").read_text() == "# Mine\n"


def test_an_artifact_is_exported_and_deleted_after_a_confirmation(
    product: Product, browser: Browser, tmp_path: Path
) -> None:
    """CTX-05: an export runs in the background and is downloaded. The dialog of a deletion shows
    that the versions stay.
    """
    with written_session(product, browser) as tab:
        panel = open_workspace(tab)
        panel.get_by_role("button", name="Actions for notes.md").click()
        tab.page.get_by_role("menuitem", name="Export this version").click()
        with tab.page.expect_download() as downloading:
            panel.get_by_role("button", name="Download").click()
        path = tmp_path / "kept"
        downloading.value.save_as(path)
        assert path.read_text() == NOTES
        panel.get_by_role("button", name="Actions for notes.md").click()
        tab.page.get_by_role("menuitem", name="Delete").click()
        dialog = tab.page.get_by_role("dialog", name="Delete this artifact?")
        expect(dialog).to_contain_text("Its versions stay in the log.")
        dialog.get_by_role("button", name="Delete").click()
        expect(tab.page.get_by_role("list", name="Artifacts of this turn")).to_contain_text("Deleted")
        assert (product.folder / "notes.md").exists()


def test_the_workspace_of_artifacts_is_accessible(product: Product, browser: Browser) -> None:
    """Axe reports no violation in the preview, the versions and the editor."""
    with written_session(product, browser) as tab:
        panel = open_workspace(tab)
        violations = tab.list_violations()
        panel.get_by_role("radio", name="Versions").check()
        violations += tab.list_violations()
        panel.get_by_role("button", name="Edit").click()
        expect(panel.get_by_role("textbox", name="Text of notes.md")).to_be_focused()
        violations += tab.list_violations()
        assert violations == []
