"""Artifacts that a person creates and exports together, and a draft that outlives its artifact."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import open_page
from .test_artifacts import WIDE, WRITES, open_workspace, written_session

pytestmark = pytest.mark.browser


def test_a_draft_continues_in_the_new_artifact_after_its_file_is_replaced(product: Product, browser: Browser) -> None:
    """CTX-04, UI-13: the old artifact is deleted. The draft is kept and saved in the new one."""
    removes = [uses("Bash", command="rm notes.md"), uses("Write", file_path="notes.md", content="# Theirs\n")]
    replacement: dict[str, Any] = {"calls": [*WRITES["calls"][:2], *removes, says("Written again.")]}
    with written_session(product, browser, replacement, "Full access") as tab:
        panel = open_workspace(tab)
        panel.get_by_role("button", name="Edit").click()
        panel.get_by_role("textbox", name="Text of notes.md").fill("# Mine\n")
        tab.send("Write it again")
        notice = panel.get_by_role("alert", name="Deleted")
        expect(notice).to_contain_text("Unsaved draft of the deleted notes.md")
        expect(notice).to_contain_text("# Mine")
        notice.get_by_role("button", name="Continue in the new notes.md").click()
        expect(panel.get_by_role("textbox", name="Text of notes.md")).to_have_value("# Mine\n")
        expect(panel.get_by_role("alert", name="Conflict")).to_contain_text("Copy the changes you need")
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("Written again.")
        assert (product.folder / "notes.md").read_text() == "# Theirs\n"
        panel.get_by_role("button", name="Save mine as v2").click()
        expect(panel.get_by_role("heading", name="Mine", exact=True)).to_be_visible()
        assert (product.folder / "notes.md").read_text() == "# Mine\n"


def test_a_person_creates_artifacts_and_exports_them_as_an_archive(
    product: Product, browser: Browser, tmp_path: Path
) -> None:
    """CTX-05: an empty list is named as such and offers to create an artifact. An archive is created in the
    background.
    """
    with (
        product.plays({"calls": [says("Hello.")]}).up() as (_, ready),
        open_page(browser, ready["link"], viewport=WIDE) as tab,
    ):
        tab.send("Hello")
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Hello.")
        tab.page.keyboard.press("Control+k")
        tab.page.get_by_role("option", name="Show artifacts").click()
        panel = tab.page.get_by_role("complementary", name="Details")
        expect(panel.get_by_role("tab", name="Artifacts")).to_have_attribute("aria-selected", "true")
        expect(panel).to_contain_text("No artifacts yet.")
        dialog = open_dialog(panel, "New artifact")
        expect(dialog.get_by_role("textbox", name="Path in the folder")).to_be_focused()
        dialog.get_by_role("textbox", name="Path in the folder").fill("README.md")
        dialog.get_by_role("textbox", name="Text").fill("# Plan\n")
        dialog.get_by_role("button", name="Create").click()
        expect(dialog.get_by_role("alert")).to_contain_text("README.md already exists.")
        assert tab.list_violations() == []
        tab.page.reload()
        tab.page.get_by_role("tab", name="Artifacts").click()
        dialog = open_dialog(panel, "New artifact")
        expect(dialog.get_by_role("textbox", name="Text")).to_have_value("# Plan\n")
        dialog.get_by_role("textbox", name="Path in the folder").fill("plans/plan.md")
        dialog.get_by_role("textbox", name="Text").press("Control+s")
        panel = tab.page.get_by_role("complementary", name="Artifacts")
        expect(panel.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
        assert (product.folder / "plans" / "plan.md").read_text() == "# Plan\n"
        panel.get_by_role("button", name="Back to details").click()
        panel = tab.page.get_by_role("complementary", name="Details")
        dialog = open_dialog(panel, "Export as ZIP")
        assert tab.list_violations() == []
        dialog.get_by_role("radio", name="Selected").check()
        dialog.get_by_role("checkbox", name="plans/plan.md").check()
        dialog.get_by_role("button", name="Export").click()
        expect(dialog).to_have_count(0)
        with tab.page.expect_download() as downloading:
            panel.get_by_role("list", name="ZIP exports").get_by_role("button", name="Download").click()
        path = tmp_path / "kept.zip"
        downloading.value.save_as(path)
        with zipfile.ZipFile(path) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == {"plans/plan.md": b"# Plan\n"}
        # The browser logs the refused request itself.
        assert [trouble for trouble in tab.troubles if "409" not in trouble] == []


def open_dialog(panel: Locator, name: str) -> Locator:
    """Open the dialog of a button of the list by keyboard."""
    panel.get_by_role("button", name=name).press("Enter")
    return panel.page.get_by_role("dialog")
