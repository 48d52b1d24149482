"""Sessions with artifacts: created by calls, saved by a person, exported, deleted."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

from callboard.contracts.content import BlobRef, make_blob
from callboard.contracts.entities.artifact import VersionOrigin
from callboard.contracts.facts.artifact import (
    ArtifactCreated,
    ArtifactDeleted,
    ArtifactExportCompleted,
    ArtifactExportProgressed,
    ArtifactExportStarted,
    ArtifactFailed,
    ArtifactSaveRequested,
    ArtifactUpdated,
    ArtifactVersionCreated,
)
from callboard.contracts.facts.base import Fact
from callboard.contracts.record import Record
from callboard.contracts.scope import Scope
from tests.projection.runs import Log
from tests.projection.session_builder import SessionBuilder, model_session, step

PATH = "src/stage.py"


def content(text: str) -> BlobRef:
    """Return the reference of a file's content."""
    return make_blob(text.encode(), "text/plain; charset=utf-8").ref


def artifact_scope(artifact: str = "art_1", scope: Scope | None = None) -> Scope:
    """Return the scope of an artifact, of the step that made it if one is given."""
    return msgspec.structs.replace(scope or Scope(), artifact=artifact)


def version(number: int, origin: VersionOrigin = "agent", **more: object) -> ArtifactVersionCreated:
    """Return a version whose content is its number."""
    fields = {"path": PATH, "base": number - 1, "added": 1, "removed": min(number - 1, 1), **more}
    return ArtifactVersionCreated(version=number, content=content(f"{number}\n"), version_origin=origin, **fields)


def artifact_session() -> SessionBuilder:
    """Return a turn whose second step made an artifact with one version."""
    call = artifact_scope(scope=step(2, tool_call="cal_1"))
    return model_session().add(ArtifactCreated(artifact_kind="code", path=PATH), call).add(version(1), call)


def full_artifact_session() -> SessionBuilder:
    """Return an artifact with every type of fact."""
    draft = content("mine\n")
    session = artifact_session()
    for fact in (
        ArtifactSaveRequested(base=1, draft=draft),
        version(2, "person"),
        version(3, "found", added=0, removed=0),
        ArtifactFailed(
            operation="save",
            code="artifact_conflict",
            message="The newest version is 3.",
            base=2,
            current=3,
            draft=draft,
        ),
        ArtifactExportStarted(export="exp_1", version=3, form="diff", source=2),
        ArtifactExportProgressed(export="exp_1", done=1, total=2),
        ArtifactExportCompleted(export="exp_1", content=content("+3\n"), name="stage.py.diff"),
        ArtifactExportStarted(export="exp_2", version=3, form="zip", everything=True),
        ArtifactFailed(operation="export", code="too_large", message="Too large.", export="exp_2"),
        version(4, "rollback", restores=2),
        ArtifactUpdated(title="The stage", path=PATH),
    ):
        session.add(fact, artifact_scope())
    return session.add(ArtifactDeleted(file=True, reason="not needed"), artifact_scope())


#: Moves of a history, as pairs of an artifact (one of three) and a kind of move.
MOVES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=60)


def artifact_history(moves: list[tuple[int, int]]) -> tuple[Record, ...]:
    """Return a session in which artifacts are created, changed, saved, exported and deleted in any
    order.

    An artifact that is created again after its deletion has another id: `art_0`, then `art_0_1`.
    """
    session = model_session()
    log, versions, names = session.log, dict[int, int](), dict[int, list[str]]()
    for index, move in moves:
        made_before = names.setdefault(index, [])
        if index not in versions:
            made_before.append(f"art_{index}_{len(made_before)}" if made_before else f"art_{index}")
        scope = artifact_scope(made_before[-1], step(2, tool_call="cal_1") if move in (0, 1) else None)
        if index not in versions:
            log.add(ArtifactCreated(artifact_kind="code", path=f"{index}.py"), scope)
        versions.setdefault(index, 0)
        for fact in _apply_move(log, versions, index, move):
            log.add(fact, scope)
    return tuple(item for item in log.items if isinstance(item, Record))


def _apply_move(log: Log, versions: dict[int, int], index: int, move: int) -> list[Fact]:
    draft, now = content(f"draft {log.sequence}"), versions[index]
    match move:
        case 0 | 1 | 2 | 3:
            versions[index] = now + 1
            origin: tuple[VersionOrigin, ...] = ("agent", "merge", "found", "person")
            return [version(now + 1, origin[move], path=f"{index}.py")]
        case 4:
            return [ArtifactSaveRequested(base=now, draft=draft)]
        case 5:
            return [ArtifactFailed(operation="save", code="artifact_conflict", message="No.", base=now, draft=draft)]
        case 6:
            return [ArtifactExportStarted(export=f"exp_{log.sequence}", version=now, form="file")]
        case 7:
            export = f"exp_{log.sequence - 1}"
            return [ArtifactExportCompleted(export=export, content=draft, name=f"{index}.py")]
        case 8:
            return [ArtifactUpdated(title=f"Title {log.sequence}", dropped=True)]
        case _:
            del versions[index]
            return [ArtifactDeleted()]
