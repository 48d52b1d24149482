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
        told, key = fact.payload, fact.id("f")
        row = self.rows.setdefault(key, {"kind": "artifact", "key": key, "artifactId": key})
        row["updatedAt"] = fact.at
        match fact.type.removeprefix("artifact."):
            case "created":
                row |= {name: told.get(name) for name in ("artifactKind", "path", "worktree")} | _SAVED
                row |= {"title": _title(told), "agentId": fact.id("g"), "threadId": fact.id("t"), "createdAt": fact.at}
                row |= {"_order": fact.sequence, "versions": [], "exports": []}
            case "version.created":
                return self._version(fact, row)
            case "save.requested":
                row |= {"status": "saving", "code": "", "message": ""}
            case "updated":
                row |= {"title": _title(told)} | (_SAVED if told.get("dropped") else {})
            case "failed" if told["operation"] == "export":
                self._export(row, told, "code", "message")
            case "failed":
                row["status"] = "conflict" if told["code"] == "artifact_conflict" else "failed"
                row |= {"code": told["code"], "message": told["message"]}
                row |= {"draft": told["draft"], "draftBase": told.get("base", 0)} if told.get("draft") else {}
            case "deleted":
                # A deletion keeps a person's unsaved text.
                row |= {"status": "deleted", "code": "", "message": ""}
            case "export.started":
                entry = {
                    name: told[name] for name in ("export", "version", "form", "source", "everything") if name in told
                }
                count = len(told.get("artifacts", [])) + 1
                entry |= {"artifacts": count} if count > 1 else {}
                others = [one for one in row["exports"] if one["export"] != told["export"]]
                row["exports"] = [*others, entry][-_EXPORTS:]
            case "export.progressed":
                self._export(row, told, "done", "total")
            case "export.completed":
                self._export(row, told, "content", "name", "leftOut")
            case _:
                raise AssertionError(f"the fold of artifacts does not know {fact.type}")
        return None

    def shown(self) -> list[Row]:
        """Return the rows in the order of their newest versions."""
        return sorted(self.rows.values(), key=lambda row: (row["_order"], row["key"]))

    def _version(self, fact: Fact, row: Row) -> Row | None:
        told = fact.payload
        names = ("version", "content", "versionOrigin", "base", "restores", "added", "removed")
        entry = {name: told[name] for name in names if name in told} | {"at": fact.at}
        made = {"agentId": fact.id("g"), "turnId": fact.id("u"), "toolCallId": fact.id("k")}
        entry |= {name: value for name, value in made.items() if value}
        row |= {"version": told["version"], "versions": [*row["versions"], entry][-_VERSIONS:], "_order": fact.sequence}
        if told["versionOrigin"] in ("person", "rollback"):
            row |= _SAVED
        if not fact.id("k"):
            return None
        card = {name: told.get(name) for name in ("version", "path", "added", "removed")}
        return {"kind": "artifact_ref", "artifactId": row["artifactId"], "title": _title(told), **card}

    def _export(self, row: Row, told: Row, *names: str) -> None:
        row["exports"] = [
            one | {name: told[name] for name in names if told.get(name)} if one["export"] == told["export"] else one
            for one in row["exports"]
        ]


def _title(told: Row) -> str:
    return told.get("title") or told.get("path", "").rpartition("/")[2]
