"""Failures of the disk as refusals."""

from __future__ import annotations

import errno

from .errors import Refusal

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FAILED = frozenset({errno.EIO, errno.EROFS})
FAILED_HINT = "Look at the disk (`dmesg`), then start Callboard again: what was acknowledged is kept."


def is_full(error: BaseException) -> bool:
    """Return True if there was no room for what was written."""
    return isinstance(error, OSError) and error.errno in _FULL


def is_failed(error: BaseException) -> bool:
    """Return True if the disk did not read or write, or became read-only."""
    return isinstance(error, OSError) and error.errno in _FAILED


def disk_refusal(error: BaseException) -> Refusal | None:
    """Return the refusal for a disk that is full or that failed; None for any other error.

    Returns:
        A refusal with the code `store_full` or `store_unusable`, whose hint is the next step.
    """
    place = (getattr(error, "filename", None) or "") if isinstance(error, OSError) else ""
    if is_full(error):
        return Refusal(
            "store_full",
            f"There is no room to write {place or 'a file'}.",
            hint="Free some disk space and repeat it. What was stored before is kept.",
        )
    if is_failed(error):
        why = str(getattr(error, "strerror", None) or error)
        return Refusal(
            "store_unusable", f"{place or 'A file'} cannot be used: {why[:1].lower()}{why[1:]}.", hint=FAILED_HINT
        )
    return None
