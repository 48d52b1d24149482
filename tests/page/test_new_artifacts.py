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
    anew: dict[str, Any] = {"calls": [*WRITES["calls"][:2], *removes, says("Anew.")]}
    with written_session(product, browser, anew, "Full access") as tab:
        side = open_workspace(tab)
        side.get_by_role("button", name="Edit").click()
        side.get_by_role("textbox", name="Text of notes.md").fill("# Mine\n")
        tab.send("Make it anew")
        left = side.get_by_role("alert", name="Deleted")
        expect(left).to_contain_text("Unsaved draft of the deleted notes.md")
        expect(left).to_contain_text("# Mine")
        left.get_by_role("button", name="Continue in the new notes.md").click()
        expect(side.get_by_role("textbox", name="Text of notes.md")).to_have_value("# Mine\n")
        expect(side.get_by_role("alert", name="Conflict")).to_contain_text("Copy the changes you need")
        expect(tab.page.get_by_role("article", name="Answer").last).to_have_text("Anew.")
        assert (product.folder / "notes.md").read_text() == "# Theirs\n"
        side.get_by_role("button", name="Save mine as v2").click()
        expect(side.get_by_role("heading", name="Mine", exact=True)).to_be_visible()
        assert (product.folder / "notes.md").read_text() == "# Mine\n"


def test_a_person_creates_artifacts_and_exports_them_as_an_archive(
    product: Product, browser: Browser, tmp_path: Path
) -> None:
    """CTX-05: an empty list says so and offers to create an artifact. An archive is created in the
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
        side = tab.page.get_by_role("complementary", name="Details")
        expect(side.get_by_role("tab", name="Artifacts")).to_have_attribute("aria-selected", "true")
        expect(side).to_contain_text("No artifacts yet.")
        dialog = open_dialog(side, "New artifact")
        expect(dialog.get_by_role("textbox", name="Path in the folder")).to_be_focused()
        dialog.get_by_role("textbox", name="Path in the folder").fill("README.md")
        dialog.get_by_role("textbox", name="Text").fill("# Plan\n")
        dialog.get_by_role("button", name="Create").click()
        expect(dialog.get_by_role("alert")).to_contain_text("README.md already exists.")
        assert tab.list_violations() == []
        tab.page.reload()
        tab.page.get_by_role("tab", name="Artifacts").click()
        dialog = open_dialog(side, "New artifact")
        expect(dialog.get_by_role("textbox", name="Text")).to_have_value("# Plan\n")
        dialog.get_by_role("textbox", name="Path in the folder").fill("plans/plan.md")
        dialog.get_by_role("textbox", name="Text").press("Control+s")
        side = tab.page.get_by_role("complementary", name="Artifacts")
        expect(side.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
        assert (product.folder / "plans" / "plan.md").read_text() == "# Plan\n"
        side.get_by_role("button", name="Back to details").click()
        side = tab.page.get_by_role("complementary", name="Details")
        dialog = open_dialog(side, "Export as ZIP")
        assert tab.list_violations() == []
        dialog.get_by_role("radio", name="Selected").check()
        dialog.get_by_role("checkbox", name="plans/plan.md").check()
        dialog.get_by_role("button", name="Export").click()
        expect(dialog).to_have_count(0)
        with tab.page.expect_download() as downloading:
            side.get_by_role("list", name="ZIP exports").get_by_role("button", name="Download").click()
        path = tmp_path / "kept.zip"
        downloading.value.save_as(path)
        with zipfile.ZipFile(path) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == {"plans/plan.md": b"# Plan\n"}
        # The browser logs the refused request itself.
        assert [trouble for trouble in tab.troubles if "409" not in trouble] == []


def open_dialog(side: Locator, name: str) -> Locator:
    """Open the dialog of a button of the list by keyboard."""
    side.get_by_role("button", name=name).press("Enter")
    return side.page.get_by_role("dialog")
