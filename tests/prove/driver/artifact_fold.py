"""Expected artifact rows, folded from facts by the Agent UI specification, without code of the
product.
"""

from __future__ import annotations

from tests.prove.driver.store import Fact
from tests.prove.driver.view import Row

#: Maximum numbers of versions and of exports in a row.
_VERSIONS, _EXPORTS = 3, 5
_SAVED: Row = {"status": "saved", "draft": None, "draftBase": 0, "code": "", "message": ""}


class ArtifactFold:
    """The artifacts of one session after some facts, by id."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def take(self, fact: Fact) -> Row | None:
        """Apply the next fact. Return the turn's card for it, if a step of a turn made a version."""
        payload, key = fact.payload, fact.id("f")
        row = self.rows.setdefault(key, {"kind": "artifact", "key": key, "artifactId": key})
        row["updatedAt"] = fact.at
        match fact.type.removeprefix("artifact."):
            case "created":
                row |= {name: payload.get(name) for name in ("artifactKind", "path", "worktree")} | _SAVED
                row |= {
                    "title": _title(payload),
                    "agentId": fact.id("g"),
                    "threadId": fact.id("t"),
                    "createdAt": fact.at,
                }
                row |= {"_order": fact.sequence, "versions": [], "exports": []}
            case "version.created":
                return self._version(fact, row)
            case "save.requested":
                row |= {"status": "saving", "code": "", "message": ""}
            case "updated":
                row |= {"title": _title(payload)} | (_SAVED if payload.get("dropped") else {})
            case "failed" if payload["operation"] == "export":
                self._export(row, payload, "code", "message")
            case "failed":
                row["status"] = "conflict" if payload["code"] == "artifact_conflict" else "failed"
                row |= {"code": payload["code"], "message": payload["message"]}
                row |= {"draft": payload["draft"], "draftBase": payload.get("base", 0)} if payload.get("draft") else {}
            case "deleted":
                # A deletion keeps a person's unsaved text.
                row |= {"status": "deleted", "code": "", "message": ""}
            case "export.started":
                entry = {
                    name: payload[name]
                    for name in ("export", "version", "form", "source", "everything")
                    if name in payload
                }
                count = len(payload.get("artifacts", [])) + 1
                entry |= {"artifacts": count} if count > 1 else {}
                others = [export for export in row["exports"] if export["export"] != payload["export"]]
                row["exports"] = [*others, entry][-_EXPORTS:]
            case "export.progressed":
                self._export(row, payload, "done", "total")
            case "export.completed":
                self._export(row, payload, "content", "name", "leftOut")
            case _:
                raise AssertionError(f"the fold of artifacts does not know {fact.type}")
        return None

    def shown_rows(self) -> list[Row]:
        """Return the rows in the order of their newest versions."""
        return sorted(self.rows.values(), key=lambda row: (row["_order"], row["key"]))

    def _version(self, fact: Fact, row: Row) -> Row | None:
        payload = fact.payload
        names = ("version", "content", "versionOrigin", "base", "restores", "added", "removed")
        entry = {name: payload[name] for name in names if name in payload} | {"at": fact.at}
        origin = {"agentId": fact.id("g"), "turnId": fact.id("u"), "toolCallId": fact.id("k")}
        entry |= {name: value for name, value in origin.items() if value}
        row |= {
            "version": payload["version"],
            "versions": [*row["versions"], entry][-_VERSIONS:],
            "_order": fact.sequence,
        }
        if payload["versionOrigin"] in ("person", "rollback"):
            row |= _SAVED
        if not fact.id("k"):
            return None
        card = {name: payload.get(name) for name in ("version", "path", "added", "removed")}
        return {"kind": "artifact_ref", "artifactId": row["artifactId"], "title": _title(payload), **card}

    def _export(self, row: Row, payload: Row, *names: str) -> None:
        row["exports"] = [
            export | {name: payload[name] for name in names if payload.get(name)}
            if export["export"] == payload["export"]
            else export
            for export in row["exports"]
        ]


def _title(payload: Row) -> str:
    return payload.get("title") or payload.get("path", "").rpartition("/")[2]
