"""How many items of a job stand how: counted from its cards as they change."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.rows import TaskRow
from callboard.contracts.rows.team import JobItems

_Stand = Literal["waiting", "running", "failed", "completed", "cancelled"]


def counted(items: JobItems, before: TaskRow | None, after: TaskRow) -> JobItems:
    """The counts once a card is what it is, which there was not before or was another."""
    counts: dict[_Stand, int] = {}
    if before is not None:
        counts[_stand(before)] = -1
    counts[_stand(after)] = counts.get(_stand(after), 0) + 1
    changed = {name: getattr(items, name) + by for name, by in counts.items() if by}
    return msgspec.structs.replace(items, **changed) if changed else items


def _stand(row: TaskRow) -> _Stand:
    if row.status == "done":
        return "completed"
    last = row.attempts[-1] if row.attempts else None
    if row.status == "cancelled":
        return "failed" if last is not None and last.status == "failed" else "cancelled"
    if row.ended:
        return "failed"
    return "waiting" if last is None or row.paused or row.status in ("open", "claimed") else "running"
