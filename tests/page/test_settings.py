"""Trust, rules, models and settings in a browser, compared with their files, and decisions on a
plan.
"""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.app.rigs.product import Product, says, uses

from .page_driver import PageDriver, open_page

pytestmark = pytest.mark.browser

WIDE = {"width": 1440, "height": 900}
FOLDERS_OWN = '[[rules]]\nmatcher = "Bash(make *)"\nverdict = "allow"\n'


def open_settings(tab: PageDriver, section: str) -> Locator:
    """Open a section of the settings."""
    tab.button("Settings").click()
    dialog = tab.page.get_by_role("dialog", name="Settings")
    dialog.get_by_role("navigation").get_by_role("button", name=section, exact=True).click()
    return dialog


def test_a_folder_is_trusted_for_the_shown_permissions_until_the_trust_is_revoked(
    product: Product, browser: Browser
) -> None:
    """SAFE-08: a folder's files grant nothing before the person trusts it, and trust can be
    revoked.
    """
    (product.folder / ".callboard").mkdir(exist_ok=True)
    (product.folder / ".callboard" / "settings.toml").write_text(FOLDERS_OWN)
    with product.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        banner = tab.page.get_by_role("region", name="Trust request")
        expect(banner.get_by_role("group", name="Permissions requested")).to_contain_text("Bash(make *)")
        dialog = open_settings(tab, "Rules")
        rules = dialog.get_by_role("list", name="Rules")
        expect(rules.get_by_role("listitem").filter(has_text="Bash(make *)").locator(".text-warn")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        banner.get_by_role("button", name="Trust folder").click()
        expect(banner).to_have_count(0)
        dialog = open_settings(tab, "Permissions")
        dialog.get_by_role("button", name="Revoke trust").click()
        expect(dialog.get_by_text("This folder grants no permissions until you trust it.")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        expect(banner).to_be_visible()
        assert tab.troubles == []


def test_a_folder_without_requests_shows_no_trust_request(product: Product, browser: Browser) -> None:
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        dialog = open_settings(tab, "Permissions")
        expect(dialog.get_by_text("This folder requests no permissions.")).to_be_visible()
        expect(tab.page.get_by_role("region", name="Trust request")).to_have_count(0)
        assert tab.troubles == []


def test_settings_are_written_to_their_file_and_an_edit_of_it_is_not_overwritten(
    product: Product, browser: Browser
) -> None:
    """The page and the files have one schema. An edit of the file in the meantime is kept."""
    file = product.home / "settings.toml"
    with product.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        dialog = open_settings(tab, "Shell")
        seconds = dialog.get_by_label("Timeout (seconds)")
        seconds.fill("99999999")
        expect(dialog.get_by_text("Enter 86400 or less.")).to_be_visible()
        expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
        seconds.fill("300")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved", exact=True)).to_be_visible()
        assert tomllib.loads(file.read_text())["shell"]["timeout"] == 300
        file.write_text("# mine\n" + file.read_text())
        dialog.get_by_label("Network access").check()
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("The file changed on disk. Nothing was saved.")).to_be_visible()
        dialog.get_by_role("button", name="Reload").click()
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_text("Saved", exact=True)).to_be_visible()
        written = file.read_text()
        assert "# mine" in written
        assert tomllib.loads(written)["shell"] == {"timeout": 300, "network": True}


def test_a_model_is_connected_by_the_variable_of_its_key(product: Product, browser: Browser) -> None:
    """SAFE-09: the file names the variable, and the form reports a missing one."""
    product.variables["MY_ANTHROPIC_KEY"] = "not-a-real-key"
    with product.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        dialog = open_settings(tab, "Models")
        dialog.get_by_role("button", name="Connect model").click()
        form = dialog.get_by_role("form", name="Connect model")
        form.get_by_label("Model").fill("opus")
        form.get_by_role("radio", name="Environment variable").check()
        form.get_by_role("textbox", name="Variable name").fill("NOT_THERE")
        form.get_by_role("button", name="Connect").click()
        expect(form.get_by_role("alert")).to_contain_text("NOT_THERE")
        form.get_by_role("textbox", name="Variable name").fill("MY_ANTHROPIC_KEY")
        form.get_by_role("button", name="Connect").click()
        models = dialog.get_by_role("list", name="Connected models")
        expect(models.get_by_role("listitem").filter(has_text="anthropic/opus")).to_be_visible()
        expect(form).to_have_count(0)
        entry = tomllib.loads((product.home / "settings.toml").read_text())["models"][0]
        assert entry == {
            "kind": "anthropic",
            "name": "anthropic",
            "model": "opus",
            "api_key_env": "MY_ANTHROPIC_KEY",
        }
        dialog.get_by_role("button", name="Remove anthropic/opus").click()
        expect(models).not_to_contain_text("anthropic/opus")


@pytest.mark.parametrize("section", ["Models", "Rules", "Shell"])
def test_the_settings_are_accessible(product: Product, browser: Browser, section: str) -> None:
    """Axe reports no violation."""
    with product.up() as (_, ready), open_page(browser, ready["link"]) as tab:
        expect(open_settings(tab, section).get_by_role("heading", level=3).first).to_be_visible()
        assert tab.list_violations() == []


def test_an_accepted_plan_runs_in_the_mode_that_its_card_offers(product: Product, browser: Browser) -> None:
    """D4, CTX-03: the person chooses the mode on the card. The audit line shows it, and the
    composer keeps it.
    """
    calls = [uses("propose_plan", summary="Fix the test.", steps=["Read the test"]), says("Carried out.")]
    with product.plays({"calls": calls}).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        permission = tab.page.get_by_role("combobox", name="Permission mode")
        permission.select_option(label="Plan only")
        tab.send("Fix the test")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card.get_by_role("button", name="Accept, ask first")).to_be_visible()
        card.get_by_role("button", name="Accept, allow edits").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("Carried out.")
        expect(permission).to_have_value("edits")
        assert tab.troubles == []


def test_an_invalid_settings_file_of_the_folder_is_reported_until_it_is_fixed(
    product: Product, browser: Browser
) -> None:
    """D6: a person who returns to the page after an edit by hand sees the error and the effective
    settings.
    """
    file = product.folder / ".callboard" / "settings.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text('permission_mode = "planning"\n')
    with product.up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        expect(tab.page.get_by_role("combobox", name="Permission mode")).to_have_value("planning")
        file.write_text('permission_mode = "planing"\n')
        tab.page.evaluate("window.dispatchEvent(new Event('focus'))")
        problem = tab.page.get_by_role("region", name="Invalid settings file")
        expect(problem).to_contain_text("permission_mode")
        expect(problem).to_contain_text("The last valid settings apply until you fix it.")
        expect(tab.page.get_by_role("combobox", name="Permission mode")).to_have_value("planning")
        dialog = open_settings(tab, "Permissions")
        expect(dialog.get_by_text("The settings file of this folder is invalid. Fix it first.")).to_be_visible()
        expect(dialog.get_by_text("This folder requests no permissions.")).to_have_count(0)
        dialog.get_by_role("button", name="Close").click()
        file.write_text("")
        tab.page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(problem).to_have_count(0)
        assert tab.troubles == []


PLAN: dict[str, Any] = {
    "calls": [
        uses("propose_plan", summary="Fix the test in two steps.", steps=["Read the test", "Fix it"]),
        says("I do it as you said."),
    ]
}


def test_the_agent_continues_with_the_person_s_answer_to_its_plan(product: Product, browser: Browser) -> None:
    """CTX-03: the plan is shown with its steps, sent back with a comment, and kept as an audit
    line.
    """
    with product.plays(PLAN).up() as (_, ready), open_page(browser, ready["link"], viewport=WIDE) as tab:
        tab.send("Fix the test")
        card = tab.page.get_by_role("region", name="Pending request")
        expect(card.get_by_role("list", name="Plan")).to_contain_text("Read the test")
        card.get_by_role("textbox").fill("Run it first")
        card.get_by_role("button", name="Request changes").click()
        expect(tab.page.get_by_role("article", name="Answer")).to_have_text("I do it as you said.")
        expect(card).to_have_count(0)
        tab.conversation.get_by_role("button", name="1 tool call").click()
        expect(tab.conversation).to_contain_text("Run it first")
        assert tab.troubles == []
