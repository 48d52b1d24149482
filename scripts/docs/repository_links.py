"""A Markdown extension: show a link to a file outside docs/ as text, since the docs site has only docs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

ROOT = Path(__file__).resolve().parents[2]


class RepositoryLinks(Extension):
    """Register the processor that removes the addresses."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (the name that Markdown calls)
        # After links are parsed (20), before the site builder resolves them (0 and below).
        md.treeprocessors.register(_Unlink(md), "repository_links", 15)


class _Unlink(Treeprocessor):
    def run(self, root: Element) -> None:
        for link in root.iter("a"):
            if _leaves_docs(link.get("href", "")):
                link.tag = "span"
                del link.attrib["href"]


def _leaves_docs(address: str) -> bool:
    path = address.partition("#")[0]
    if not path.startswith("../"):
        return False
    entry = path.replace("../", "").partition("/")[0]
    return (ROOT / entry).exists() and not (ROOT / "docs" / entry).exists()


def makeExtension(**settings: Any) -> RepositoryLinks:  # noqa: N802 (the name that Markdown calls)
    """Return the extension, as Markdown asks for it."""
    return RepositoryLinks(**settings)
