"""Extra context of an input, read at one moment."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Blob
from callboard.contracts.refs import ContextRef, MissingRef, Omission


class ResolvedContext(msgspec.Struct, frozen=True, kw_only=True):
    """The attachments of an input, the things that it names, and the folder's instructions. `blobs`
    are the bytes that `refs` refer to; the first fact that names them stores them."""

    refs: tuple[ContextRef, ...] = ()
    missing: tuple[MissingRef, ...] = ()
    omitted: tuple[Omission, ...] = ()
    blobs: tuple[Blob, ...] = ()


EMPTY_CONTEXT = ResolvedContext()


def merge_contexts(*parts: ResolvedContext) -> ResolvedContext:
    """Return one context with each ref once; the first one that names it wins."""
    refs: dict[str, ContextRef] = {}
    missing: dict[str, MissingRef] = {}
    for part in parts:
        for ref in part.refs:
            refs.setdefault(ref.ref, ref)
        for missing_ref in part.missing:
            missing.setdefault(missing_ref.ref, missing_ref)
    return ResolvedContext(
        refs=tuple(refs.values()),
        missing=tuple(missing.values()),
        omitted=tuple(omission for part in parts for omission in part.omitted),
        blobs=tuple(blob for part in parts for blob in part.blobs),
    )
