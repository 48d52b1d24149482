"""Export formats of artifacts. All functions are pure."""

from __future__ import annotations

import html
import io
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from callboard.contracts.content import Blob, BlobRef, make_blob
from callboard.contracts.entities.artifact import add_media_type, choose_title
from callboard.contracts.errors import Refusal
from callboard.contracts.rows.artifact import ArtifactRow
from callboard.tools.builtin.folder_files import compare, to_text

#: The time of every file in an archive, so that equal contents give equal bytes.
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
    """One version in an export."""

    artifact: ArtifactRow
    version: int
    content: BlobRef
    data: bytes = b""

    @property
    def name(self) -> str:
        """The name of its file, without folders."""
        return _build_safe_name(PurePosixPath(self.artifact.path).name or choose_title(self.artifact.title, ""))


def render_file(part: ExportPart) -> tuple[str, Blob]:
    """Return the version unchanged."""
    return part.name, Blob(ref=add_media_type(part.name, part.content), data=part.data)


def render_diff(parts: Sequence[ExportPart], source: int) -> tuple[str, Blob]:
    """Return the difference between two versions; the whole version if `source` is 0."""
    before, after = (parts[0].data if source else None), parts[-1]
    comparison = compare(after.artifact.path or after.name, before, after.data)
    if comparison.binary:
        raise Refusal(
            "unsupported_media",
            "The versions cannot be compared: one is binary.",
            hint="Compare text versions, or export the file instead.",
        )
    name = f"{after.name}.{source}-{after.version}.diff"
    return name, make_blob(comparison.diff.encode("utf-8", "surrogatepass"), "text/x-diff; charset=utf-8")


def render_page(part: ExportPart) -> tuple[str, Blob]:
    """Return the text as an HTML page without scripts. Markdown is rendered; other text stays as it is."""
    # Import them on use: they load slowly and few sessions export a page.
    import nh3
    from markdown_it import MarkdownIt

    text = to_text(part.data)
    if text is None:
        raise Refusal(
            "unsupported_media",
            "The version is binary and cannot be exported as a page.",
            hint="Export the file instead.",
        )
    if PurePosixPath(part.name).suffix.lower() in _MARKDOWN:
        rendered = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
        body = nh3.clean(rendered)
    else:
        body = f"<pre>{html.escape(text)}</pre>"
    page = _PAGE.format(title=html.escape(choose_title(part.artifact.title, part.artifact.path)), body=body)
    data = page.encode("utf-8", "replace")
    return f"{PurePosixPath(part.name).stem}.html", make_blob(data, "text/html; charset=utf-8")


def render_archive(parts: Sequence[ExportPart]) -> tuple[str, Blob]:
    """Return the versions as files of a ZIP archive. Files of a child's worktree are in their own folder."""
    file = io.BytesIO()
    used_paths: set[str] = set()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in parts:
            entry = zipfile.ZipInfo(_reserve_path(_build_archive_path(part), used_paths), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, part.data)
    return "artifacts.zip", make_blob(file.getvalue(), "application/zip")


def _build_archive_path(part: ExportPart) -> str:
    row = part.artifact
    inside = (
        "/".join(_build_safe_name(segment) for segment in row.path.split("/") if segment not in ("", ".", ".."))
        or part.name
    )
    return f"{_build_safe_name(row.worktree)}/{inside}" if row.worktree else inside


def _reserve_path(path: str, used_paths: set[str]) -> str:
    """Return the path, or a numbered one if another artifact has it. Case is ignored."""
    candidate, number = path, 1
    while candidate.lower() in used_paths:
        number += 1
        original = PurePosixPath(path)
        candidate = str(original.with_name(f"{original.stem} ({number}){original.suffix}"))
    used_paths.add(candidate.lower())
    return candidate


def _build_safe_name(name: str) -> str:
    """Return the name without characters that a file system or header could interpret."""
    replaced = "".join("_" if char in '<>:"/\\|?*' or ord(char) < 32 or ord(char) == 127 else char for char in name)
    return replaced.strip(". ")[:120] or "artifact"
