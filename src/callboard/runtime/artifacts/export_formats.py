"""What exports make of artifacts. All of it is pure: bytes in, bytes out."""

from __future__ import annotations

import html
import io
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from callboard.contracts.content import Blob, BlobRef, blob_of
from callboard.contracts.entities.artifact import content_of, title_of
from callboard.contracts.errors import Refusal
from callboard.contracts.rows import ArtifactRow
from callboard.tools.builtin.folder_files import compare, to_text

#: The time that every file in an archive bears, so that the same contents give the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MARKDOWN = frozenset({".md", ".mdx", ".markdown"})
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: https:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>body{{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif}}
pre{{overflow:auto;padding:.75rem;background:#f4f4f5}}table{{border-collapse:collapse}}
td,th{{border:1px solid #ccc;padding:.25rem .5rem}}</style>
</head>
<body>
{body}
</body>
</html>
"""


class ExportPart(msgspec.Struct, frozen=True, kw_only=True):
    """One version that goes into an export."""

    artifact: ArtifactRow
    version: int
    content: BlobRef
    data: bytes = b""

    @property
    def name(self) -> str:
        """What its file is called, without folders."""
        return _safe(PurePosixPath(self.artifact.path).name or title_of(self.artifact.title, ""))


def render_file(part: ExportPart) -> tuple[str, Blob]:
    """The version as it is."""
    return part.name, Blob(ref=content_of(part.name, part.content), data=part.data)


def render_diff(parts: Sequence[ExportPart], source: int) -> tuple[str, Blob]:
    """What differs between two versions; from nothing where `source` is 0. Raises Refusal `unsupported_media`."""
    before, after = (parts[0].data if source else None), parts[-1]
    found = compare(after.artifact.path or after.name, before, after.data)
    if found.binary:
        raise Refusal("unsupported_media", "One of the versions is no text: there are no lines to compare.")
    name = f"{after.name}.{source}-{after.version}.diff"
    return name, blob_of(found.diff.encode("utf-8", "surrogatepass"), "text/x-diff; charset=utf-8")


def render_page(part: ExportPart) -> tuple[str, Blob]:
    """A Markdown text as a page, with nothing in it that runs; any other text as it stands. Raises Refusal
    `unsupported_media`."""
    # Few sessions ever export a page, and every start would wait for them.
    import nh3
    from markdown_it import MarkdownIt

    text = to_text(part.data)
    if text is None:
        raise Refusal("unsupported_media", "This version is no text, so there is no page of it.")
    if PurePosixPath(part.name).suffix.lower() in _MARKDOWN:
        rendered = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
        body = nh3.clean(rendered)
    else:
        body = f"<pre>{html.escape(text)}</pre>"
    page = _PAGE.format(title=html.escape(title_of(part.artifact.title, part.artifact.path)), body=body)
    data = page.encode("utf-8", "replace")
    return f"{PurePosixPath(part.name).stem}.html", blob_of(data, "text/html; charset=utf-8")


def render_archive(parts: Sequence[ExportPart]) -> tuple[str, Blob]:
    """The versions as files of an archive, by their paths; those of a child's worktree in a folder of its own."""
    file = io.BytesIO()
    taken: set[str] = set()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for part in parts:
            entry = zipfile.ZipInfo(_free(_path(part), taken), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            made.writestr(entry, part.data)
    return "artifacts.zip", blob_of(file.getvalue(), "application/zip")


def _path(part: ExportPart) -> str:
    row = part.artifact
    inside = "/".join(_safe(one) for one in row.path.split("/") if one not in ("", ".", "..")) or part.name
    return f"{_safe(row.worktree)}/{inside}" if row.worktree else inside


def _free(path: str, taken: set[str]) -> str:
    """The path, or one beside it where another artifact has it already, without regard to case."""
    found, number = path, 1
    while found.lower() in taken:
        number += 1
        place = PurePosixPath(path)
        found = str(place.with_name(f"{place.stem} ({number}){place.suffix}"))
    taken.add(found.lower())
    return found


def _safe(name: str) -> str:
    """The name without what a file system or a header could take for something else."""
    kept = "".join("_" if char in '<>:"/\\|?*' or ord(char) < 32 or ord(char) == 127 else char for char in name)
    return kept.strip(". ")[:120] or "artifact"
