"""A pack that was made is one fact of its session, with the ids of whom it is about."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.evidence import EvidencePacked, ExportEvidence
from callboard.contracts.content import make_blob
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.scope import Scope
from callboard.control.decide.evidence import EvidencePackReported
from tests.control.rigs.decisions import given
from tests.control.rigs.examples import SESSION, submit

PACK = make_blob(b"a pack", "application/zip")
MADE = EvidencePackReported(request=ExportEvidence(session_id=SESSION), pack=PACK, through=3, facts=3, link="ab")


def test_a_pack_of_a_session_is_told_by_one_fact_that_keeps_it() -> None:
    """Also while a turn runs, which it does not touch."""
    session = given(submit())
    before = session.state

    came = session.when(MADE)

    came.then((EvidenceExported(through=3, facts=3, link="ab", pack=PACK.ref), Scope(evidence="evd_1")))
    came.answered(
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
    assert came.decision.blobs == (PACK,)
    assert session.state == msgspec.structs.replace(before, sequence=before.sequence + 1, at=session.state.at)


def test_the_fact_of_a_child_s_evidence_has_the_child_s_ids() -> None:
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
    made = msgspec.structs.replace(
        MADE, request=ExportEvidence(session_id=SESSION, task_id="tsk_1"), facts=2, scope=child
    )

    given(submit()).when(made).then(
        (
            EvidenceExported(through=3, facts=2, link="ab", pack=PACK.ref, task="tsk_1"),
            msgspec.structs.replace(child, turn="", run="", evidence="evd_1"),
        )
    )
