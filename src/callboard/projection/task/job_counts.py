"""The number of a job's items in each state."""

from __future__ import annotations

from typing import Literal

import msgspec

from callboard.contracts.rows.task import JobItems, TaskRow

_ItemState = Literal["waiting", "running", "failed", "completed", "cancelled"]


def count_item(items: JobItems, before: TaskRow | None, after: TaskRow) -> JobItems:
    """Return the counts after a change of one item's row. Without `before`, the item is new."""
    counts: dict[_ItemState, int] = {}
    if before is not None:
        counts[_derive_item_state(before)] = -1
    counts[_derive_item_state(after)] = counts.get(_derive_item_state(after), 0) + 1
    changed = {name: getattr(items, name) + change for name, change in counts.items() if change}
    return msgspec.structs.replace(items, **changed) if changed else items


def _derive_item_state(row: TaskRow) -> _ItemState:
    if row.status == "done":
        return "completed"
    last = row.attempts[-1] if row.attempts else None
    if row.status == "cancelled":
        return "failed" if last is not None and last.status == "failed" else "cancelled"
    if row.ended:
        return "failed"
    return "waiting" if last is None or row.paused or row.status in ("open", "claimed") else "running"
