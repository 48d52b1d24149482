"""A client's view: rows from received operations, and a problem for every operation that does not
fit.
"""

from __future__ import annotations

import time
from typing import Any

from tests.prove.driver.wire import Event

Row = dict[str, Any]
Rows = dict[str, dict[str, Row]]
#: Fields with the time or the fact of a row. They are not shown.
_BESIDE = frozenset({"order", "sequence", "since", "epoch"})
#: Rows without an entity. The product may choose their keys.
_UNNAMED = frozenset({"runtime_status", "error", "user_text"})


class View:
    """The view of one client.

    `problems` are gaps and repeats; `place` is the id of the last applied event.
    """

    def __init__(self) -> None:
        self.rows: Rows = {}
        self.place = ""
        self.problems: list[str] = []
        self.snapshots = 0
        self.appends = 0
        self.grown: dict[str, list[tuple[float, int]]] = {}

    @property
    def sequence(self) -> int:
        """Return the newest fact that the view claims to show."""
        return int(self.place.partition(".")[0] or 0)

    def apply(self, event: Event) -> None:
        """Apply one event of the stream of operations."""
        if event.name not in ("ops", "snapshot"):
            self.problems.append(f"unexpected event {event.name}: {event.data}")
            return
        if event.data["cursor"] != event.identity:
            self.problems.append(f"the event {event.identity} calls itself {event.data['cursor']}")
        if event.name == "snapshot":
            self.rows = {}
            self.snapshots += 1
        elif _cursor(event.identity) <= _cursor(self.place):
            self.problems.append(f"{event.identity} came after {self.place}")
        for op in event.data["ops"]:
            self._op(op)
        self.place = event.identity

    def part(self, key: str) -> Row:
        """Return a row of the conversation."""
        return self.rows["parts"][key]

    def _op(self, op: dict[str, Any]) -> None:
        rows = self.rows.setdefault(op["panel"], {})
        match op["op"]:
            case "upsert":
                rows[op["row"]["key"]] = op["row"]
                self._grew(op["row"]["key"], op["row"])
            case "remove":
                rows.pop(op["key"], None)
            case "append":
                self._append(rows, op)
            case other:
                self.problems.append(f"unknown operation {other}")

    def _append(self, rows: dict[str, Row], op: dict[str, Any]) -> None:
        row = rows.get(op["key"])
        if row is None:
            self.problems.append(f"text for {op['key']}, which is not here")
            return
        field = dict(row.get(op["field"], {}))
        text = field.get("text", "")
        if op["offset"] != len(text):
            how = "is missing before" if op["offset"] > len(text) else "came twice at"
            self.problems.append(f"text of {op['key']} {how} {op['offset']}; it had {len(text)} at {self.place}")
        field["text"] = text + op["text"]
        rows[op["key"]] = {**row, op["field"]: field}
        self.appends += 1
        self._grew(op["key"], rows[op["key"]])

    def _grew(self, key: str, row: Row) -> None:
        if row["kind"] == "assistant_text" and row["state"] == "streaming":
            self.grown.setdefault(key, []).append((time.monotonic(), len(row["content"].get("text", ""))))


def shown_fields(rows: Rows) -> dict[str, list[Row]]:
    """Return the shown fields of the rows, in the order of each panel."""
    return {
        panel: [plain(row) for row in sorted(rows.get(panel, {}).values(), key=lambda row: (row["order"], row["key"]))]
        for panel in ("session", "status", "turns", "parts", "queue", "actions", "artifacts")
    }


def plain(row: Row) -> Row:
    """Return the row without empty and hidden fields."""
    hidden = _BESIDE | {"key"} if row["kind"] in _UNNAMED else _BESIDE
    return {
        name: value for name, value in row.items() if name not in hidden and value not in (None, "", 0, False, [], {})
    }


def differences(has: dict[str, list[Row]], should: dict[str, list[Row]]) -> list[str]:
    """Return the differences between the shown and the expected rows, as text."""
    problems: list[str] = []
    for panel, rows in should.items():
        mine = has[panel]
        if [row.get("key") for row in mine] != [row.get("key") for row in rows]:
            problems.append(f"{panel} has {_named(mine)} and should have {_named(rows)}")
            continue
        for theirs, other in zip(mine, rows, strict=True):
            fields = [name for name in {**theirs, **other} if theirs.get(name) != other.get(name)]
            who = f"{panel} {theirs.get('key', theirs['kind'])}"
            problems += [
                f"{who}.{name} is {_brief(theirs.get(name))} and should be {_brief(other.get(name))}" for name in fields
            ]
    return problems


def _cursor(text: str) -> tuple[int, int]:
    sequence, _, n = text.partition(".")
    return int(sequence or 0), int(n or 0)


def _named(rows: list[Row]) -> str:
    return ", ".join(f"{row['kind']}:{row.get('key', '')[-8:]}" for row in rows) or "nothing"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:80]}…{text[-60:]} ({len(text)})"
