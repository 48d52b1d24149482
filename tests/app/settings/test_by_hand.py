"""A folder's own settings file that is edited by hand while Callboard runs."""

from __future__ import annotations

from tests.app.rigs.product import Product, says

ANSWERS = {"calls": [says("Done.")] * 4}


def permission_mode(product: Product) -> str:
    """Return the effective permission mode of the newest session's turn."""
    facts = product.run("facts", "last", "--json").json
    (started,) = [fact for fact in facts if fact["type"] == "turn.started"]
    return started["payload"]["permissionMode"]


def test_an_edit_by_hand_applies_without_a_restart_and_an_invalid_one_keeps_the_last_valid(product: Product) -> None:
    """D6: in one running process. The terminal reports which settings apply."""
    file = product.folder / ".callboard" / "settings.toml"
    file.parent.mkdir(exist_ok=True)
    with product.plays(ANSWERS).up() as (_, ready):
        assert product.run("run", "one").code == 0
        assert permission_mode(product) == "ask"

        file.write_text('permission_mode = "planning"\n')
        assert product.run("run", "two").err.count("settings.toml") == 0
        assert permission_mode(product) == "planning"

        file.write_text('permission_mode = "planing"\n')
        done = product.run("run", "three", "--permission", "edits")
        (warning,) = [line for line in done.err.splitlines() if "settings.toml" in line]
        assert warning.endswith("Until it is fixed, the last valid settings apply.")
        assert "permission_mode" in warning
        assert permission_mode(product) == "planning"
        trust = product.run("trust", "--json")
        assert (trust.code, trust.out, "the last valid settings apply" in trust.err) == (2, "", True)

        file.write_text("")
        assert "settings.toml" not in product.run("run", "four", "--permission", "edits").err
        assert permission_mode(product) == "edits"
        epochs = {fact["runtimeId"].rpartition(".")[2] for fact in product.run("facts", "last", "--json").json}
        assert epochs == {str(ready["epoch"])}
