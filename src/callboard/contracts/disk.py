"""Refusals for a full or failed disk."""

from __future__ import annotations

import errno

from .errors import Refusal

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FAILED = frozenset({errno.EIO, errno.EROFS})
FAILED_HINT = "Check the disk (`dmesg`), then restart Callboard. Acknowledged commands are stored."


def is_full(error: BaseException) -> bool:
    """Return True if there was no space to write."""
    return isinstance(error, OSError) and error.errno in _FULL


def is_failed(error: BaseException) -> bool:
    """Return True if a read or write of the disk failed, or it became read-only."""
    return isinstance(error, OSError) and error.errno in _FAILED


def build_disk_refusal(error: BaseException) -> Refusal | None:
    """Return the refusal `store_full` or `store_unusable` for a full or failed disk; None for any other error."""
    file = (getattr(error, "filename", None) or "") if isinstance(error, OSError) else ""
    if is_full(error):
        return Refusal(
            "store_full",
            f"There is no space left to write {file or 'a file'}.",
            hint="Free some disk space, then repeat the command. Stored facts are intact.",
        )
    if is_failed(error):
        why = str(getattr(error, "strerror", None) or error)
        return Refusal(
            "store_unusable", f"{file or 'A file'} cannot be used: {why[:1].lower()}{why[1:]}.", hint=FAILED_HINT
        )
    return None
