"""`callboard artifacts`: lists, versions, comparison and export."""

from __future__ import annotations

import zipfile

from tests.app.rigs.product import Product, says, uses

WROTE = {
    "calls": [
        uses("Write", file_path="notes.md", content="# One\n"),
        uses("Edit", file_path="notes.md", old_string="One", new_string="Two"),
        says("Written."),
    ]
}


def test_artifacts_are_listed_compared_and_exported(product: Product):
    """UI-14, UI-15"""
    product.plays(WROTE).run("run", "Write", "--approve", "all")
    listed = product.run("artifacts", "last")
    assert (listed.code, listed.out.split()[1:]) == (0, ["v2", "notes.md"])
    lines = product.run("artifacts", "last", "notes.md").out.splitlines()
    assert [line.split()[2] for line in lines[1:]] == ["v1", "v2"]
    diff = product.run("artifacts", "last", "notes.md", "--diff", "1..2")
    assert diff.out == "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-# One\n+# Two\n"
    old = product.run("artifacts", "last", "notes.md", "--version", "1", "-o", "old.md")
    assert (old.code, (product.folder / "old.md").read_text()) == (0, "# One\n")
    page = product.run("artifacts", "last", "notes.md", "--export", "html", "-o", "page.html", "--json")
    assert page.json[0]["file"] == "page.html"
    assert "<h1>Two</h1>" in (product.folder / "page.html").read_text()
    product.run("artifacts", "last", "-o", "all.zip")
    with zipfile.ZipFile(product.folder / "all.zip") as archive:
        assert archive.namelist() == ["notes.md"]


def test_a_refused_export_says_what_to_do(product: Product):
    product.plays(WROTE).run("run", "Write", "--approve", "all")
    (product.folder / "there").write_text("mine")
    for line, hint in (
        (("artifacts", "last", "none.md"), "callboard artifacts"),
        (("artifacts", "last", "notes.md", "--diff", "1"), "--diff 1..3"),
        (("artifacts", "last", "-o", "there"), "--force"),
        (("artifacts", "last", "--export", "zip"), "-o FILE"),
    ):
        done = product.run(*line)
        assert (done.code != 0, hint in done.err) == (True, True), (line, done.err)
    assert (product.folder / "there").read_text() == "mine"
