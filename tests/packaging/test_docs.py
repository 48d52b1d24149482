"""Documents name only existing files, headings, pages, modules and API objects."""

import pkgutil
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.packaging.test_dependencies import LOCKED, group_requirements, locked_versions

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"!?\[[^\]]*\]\((?P<address>[^)\s]+)\)|<(?:img|source)[^>]+src(?:set)?=\"(?P<source>[^\"]+)\"")
#: A page that a message or a comment of the product names.
PAGE = re.compile(r"\bdocs/[a-z-]+\.md\b")
#: A path in backticks that can only be one of this repository.
NAMED = re.compile(r"`(?P<path>(?:src/callboard|tests|scripts|web/src|bench|schemas|requirements)/[\w./-]+)`")
#: A module or a package in backticks, as the documents write it: from the layer on.
MODULE = re.compile(
    r"`(?P<path>(?:adapters|agents|app|client|contracts|control|evidence|log|models|projection|runtime|secrets|tools)"
    r"/[\w./]+)`"
)
#: Modules that a reader of a recipe creates.
CREATED = {"contracts/rows/model_calls.py", "projection/model_calls.py", "tools/builtin/count_lines.py"}
#: A method of JSON-RPC that looks like a module.
METHODS = {"evidence/export"}
FENCE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(?P<text>.+?)\s*$", re.MULTILINE)
REFERENCE = re.compile(r"^::: (?P<name>\S+)$", re.MULTILINE)
NAV_ENTRY = re.compile(r"^ +- (?:[^:\n]+: )?(?P<page>\S+\.md)$", re.MULTILINE)


def documents() -> list[Path]:
    """Return every document of the repository, except documents that the product ships to users."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in listed if not name.startswith(("src/", "examples/")) and (ROOT / name).exists()]


def prose(document: Path) -> str:
    return FENCE.sub("", document.read_text())


def slugs(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["text"]) for heading in HEADING.finditer(prose(document)))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in plain}


def links(document: Path) -> Iterator[str]:
    for link in LINK.finditer(prose(document)):
        address = link["address"] or link["source"]
        if not re.match(r"[a-z]+:", address):
            yield address


def broken_links(document: Path) -> Iterator[str]:
    for address in links(document):
        path, _, anchor = address.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in slugs(target)):
            yield f"{document.relative_to(ROOT)}: {address}"


def test_every_link_of_a_document_has_a_target():
    """X11: a reader who follows a link arrives, also at a heading."""
    assert [broken for document in documents() for broken in broken_links(document)] == []


@pytest.mark.parametrize("address", ["none.md", "#none", "settings.md#none", "../none"])
def test_a_broken_link_is_reported(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X11: the check sees a missing file and a missing heading."""
    monkeypatch.setattr("tests.packaging.test_docs.ROOT", tmp_path)
    (tmp_path / "settings.md").write_text("# Settings\n")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n[top](#page) [settings](settings.md#settings) [broken]({address})\n")

    assert list(broken_links(page)) == [f"page.md: {address}"]


def test_every_file_that_a_document_names_exists():
    """X11: documents follow a moved file."""
    missing = [
        f"{document.relative_to(ROOT)}: {named['path']}"
        for document in documents()
        for named in NAMED.finditer(prose(document))
        if not (ROOT / named["path"]).exists()
    ]

    assert missing == []


def is_module(path: str) -> bool:
    module = ROOT / "src" / "callboard" / path
    return module.exists() or module.with_suffix(".py").exists()


def test_every_module_that_a_document_names_exists_or_is_the_example_of_a_recipe():
    """X11: a reader finds the code, and can follow a recipe to the letter, after a module moved."""
    named = {document.name: set(MODULE.findall(prose(document))) for document in documents()}

    assert {path for paths in named.values() for path in paths if not is_module(path)} == CREATED | METHODS
    assert {document for document, paths in named.items() if len(paths) > 5} >= {"CONTRIBUTING.md", "architecture.md"}


def test_every_page_that_the_product_names_exists():
    """X11: the hint of an error leads to a page."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if "plays" not in path.parts]
    named = {page for path in sources for page in PAGE.findall(path.read_text())}

    assert {page for page in named if not (ROOT / page).exists()} == set()
    assert {"docs/settings.md", "docs/models.md"} <= named


def test_every_page_is_in_the_navigation_of_the_site_once():
    """X11: each page is in the menu."""
    entries = [entry["page"] for entry in NAV_ENTRY.finditer((ROOT / "mkdocs.yml").read_text())]

    assert sorted(entries) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_the_api_reference_names_existing_objects():
    """X11: the reference follows a moved module."""
    names = [name["name"] for page in DOCS.rglob("*.md") for name in REFERENCE.finditer(page.read_text())]

    assert names
    for name in names:
        assert pkgutil.resolve_name(name) is not None


def test_the_locks_of_the_docs_site_and_of_the_tests_agree():
    """X11: a build of the site changes no package of the tests."""
    text = (ROOT / "requirements" / "docs.txt").read_text()
    entries = [line for line in text.replace("\\\n", " ").splitlines() if LOCKED.match(line)]
    site, tests = locked_versions("docs.txt"), locked_versions("dev.txt")

    assert {canonicalize_name(requirement.name) for requirement in group_requirements("docs")} <= site.keys()
    assert [line.split()[0] for line in entries if "--hash=sha256:" not in line] == []
    assert "://" not in text
    assert {name: site[name][0] for name in site.keys() & tests} == {
        name: tests[name][0] for name in site.keys() & tests
    }
