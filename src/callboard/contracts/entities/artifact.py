"""Kinds and states of artifacts."""

from __future__ import annotations

from typing import Literal

from ..content import BlobRef

#: Kind of an artifact, from its path and content. `text` is neither code nor a document.
ArtifactKind = Literal["code", "document", "data", "image", "binary", "text"]
#: Origin of a version: an agent's step, a person, a restored version, the folder (found), or a
#: merged worktree.
VersionOrigin = Literal["agent", "person", "rollback", "found", "merge"]
#: `saving` from the request to its result. `failed` and `conflict` until the next version, with the
#: draft kept.
ArtifactStatus = Literal["saved", "saving", "conflict", "failed", "deleted", "unknown"]
#: An operation that failed.
ArtifactOperation = Literal["save", "rollback", "export", "delete"]
#: Form of an export: a version, a diff, a Markdown text as a page, or an archive.
ExportForm = Literal["file", "diff", "html", "zip"]

_CODE = frozenset(
    "py pyi js jsx ts tsx mjs cjs rs go java kt c h cc cpp hpp cs rb php swift scala sh bash zsh fish ps1 lua pl r jl ex exs"
    " erl hs ml clj dart vue svelte css scss less sql proto graphql tf gradle cmake make mk nix zig asm s ipynb".split()
)
_DOCUMENTS = frozenset("md mdx markdown rst adoc txt tex org html htm pdf doc docx odt rtf epub ppt pptx odp".split())
_DATA = frozenset(
    "json jsonl ndjson yaml yml toml xml csv tsv ini cfg conf env lock parquet xls xlsx ods sqlite db".split()
)
_CODE_NAMES = frozenset({"makefile", "dockerfile", "justfile", "rakefile", "gemfile"})
#: Images that a page may show, by file extension.
IMAGES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_BYTES = "application/octet-stream"


def classify_artifact(name: str, media: str) -> ArtifactKind:
    """Return the kind of an artifact from its name or path and the media type of its newest content."""
    end = _get_extension(name)
    if media.startswith("image/") or (end in IMAGES and not media.startswith("text/")):
        return "image"
    if end in _DOCUMENTS:
        return "document"
    if end in _DATA:
        return "data"
    if not media.startswith("text/"):
        return "binary"
    if end in _CODE or _get_file_name(name).lower() in _CODE_NAMES:
        return "code"
    return "text"


def add_media_type(name: str, content: BlobRef) -> BlobRef:
    """Return the content with the media type of its name, if its bytes determined none."""
    media = IMAGES.get(_get_extension(name), "")
    if content.media != _BYTES or not media:
        return content
    return BlobRef(hash=content.hash, size=content.size, media=media)


def choose_title(title: str, path: str) -> str:
    """Return the title of an artifact; its file's name if it has none."""
    return title or _get_file_name(path)


def _get_extension(name: str) -> str:
    before, dot, end = _get_file_name(name).rpartition(".")
    return end.lower() if before and dot else ""


def _get_file_name(path: str) -> str:
    return path.rpartition("/")[2]
