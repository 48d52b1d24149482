"""The fact of an exported evidence pack, with the ids of its subject."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.evidence import EvidencePacked, ExportEvidence
from callboard.contracts.content import make_blob
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.scope import Scope
from callboard.control.decide.evidence import EvidencePackReported
from tests.control.rigs.decisions import session_after
from tests.control.rigs.examples import SESSION, submit

PACK = make_blob(b"a pack", "application/zip")
REPORT = EvidencePackReported(request=ExportEvidence(session_id=SESSION), pack=PACK, through=3, facts=3, link="ab")


def test_a_pack_of_a_session_is_recorded_by_one_fact_with_its_blob() -> None:
    """A running turn is not affected."""
    session = session_after(submit())
    before = session.state

    result = session.when(REPORT)

    result.then((EvidenceExported(through=3, facts=3, link="ab", pack=PACK.ref), Scope(evidence="evd_1")))
    result.with_answer(
        EvidencePacked(
            session_id=SESSION,
            evidence_id="evd_1",
            pack=PACK.ref,
            through=3,
            facts=3,
            link="ab",
            sequence=before.sequence + 1,
        )
    )
    assert result.decision.blobs == (PACK,)
    assert session.state == msgspec.structs.replace(before, sequence=before.sequence + 1, at=session.state.at)


def test_the_fact_of_a_childs_evidence_has_the_childs_ids() -> None:
    """SUB-04"""
    child = Scope(
        agent="worker-1",
        thread="thr_9",
        turn="trn_9",
        run="run_9",
        task="tsk_1",
        parent_thread="thr_1",
        parent_run="run_1",
    )
    report = msgspec.structs.replace(
        REPORT, request=ExportEvidence(session_id=SESSION, task_id="tsk_1"), facts=2, scope=child
    )

    session_after(submit()).when(report).then(
        (
            EvidenceExported(through=3, facts=2, link="ab", pack=PACK.ref, task="tsk_1"),
            msgspec.structs.replace(child, turn="", run="", evidence="evd_1"),
        )
    )
