"""The context of a run, and the compaction of its thread, decided from the state alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.context import CompactThread, ContextChanged, SetContext
from callboard.contracts.commands.queue import EditQueuedTurn
from callboard.contracts.content import BlobRef, Text, make_blob
from callboard.contracts.facts.context import (
    CompactionCompleted,
    CompactionFailed,
    CompactionStarted,
    ContextPinned,
    ContextResolved,
)
from callboard.contracts.facts.model import Candidate, ModelRequested
from callboard.contracts.facts.queue import QueueEdited
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted, TurnSubmitted
from callboard.contracts.ports.model import Usage
from callboard.contracts.refs import ContextRef, MissingRef, Omission
from callboard.control.input_text import find_mentions
from callboard.control.outcomes import ModelAttemptFailed, ModelResponded, Piece
from callboard.control.resolved_context import ResolvedContext
from callboard.control.state.context import ModelCapabilities, allocate_bytes, count_ref_tokens
from tests.control.rigs.decisions import Scenario, StepResult, session_after
from tests.control.rigs.examples import (
    SESSION,
    THREAD,
    configure_run,
    model_response,
    requested_call,
    run_stop,
    submit,
    text_response,
    tool_end,
)

SMALL: dict[str, Any] = {"find_capabilities": lambda provider, model: ModelCapabilities(window=1000)}
#: About 700 tokens.
LONG = "word " * 560


def summary_response(text: str = "They said much.", *, run: int = 2, step: int = 1, **fields: Any) -> ModelResponded:
    """Return a model response with a summary."""
    pieces = (Piece(kind="text", step=step + 1, text=text),) if text else ()
    return ModelResponded(
        thread=THREAD,
        run=f"run_{run}",
        step=step,
        pieces=pieces,
        calls=(),
        stop_reason="stop",
        usage=Usage(input_tokens=700, output_tokens=5),
        first_ms=1,
        duration_ms=2,
        **fields,
    )


def summary_failure(*, run: int = 2, step: int = 1) -> ModelAttemptFailed:
    return ModelAttemptFailed(
        thread=THREAD,
        run=f"run_{run}",
        step=step,
        attempt=1,
        code="model_refused_request",
        message="No summaries.",
        retryable=False,
    )


def context_full(*, run: int = 2, step: int = 1) -> ModelAttemptFailed:
    """Return a refusal of the provider because the request was too long."""
    return msgspec.structs.replace(summary_failure(run=run, step=step), code="model_context_full", message="Too long.")


def facts_of(result: StepResult, *kinds: type[Any]) -> list[Any]:
    return [fact for fact in result.facts if isinstance(fact, kinds)]


def full_session() -> Scenario:
    """Return a session whose next turn would fill the window."""
    return session_after(submit(LONG), without_usage(text_response("done")))


def without_usage(report: ModelResponded) -> ModelResponded:
    """Return the response without token usage, as from a provider that reports none."""
    return msgspec.structs.replace(report, usage=Usage())


def test_a_thread_that_fills_the_window_is_compacted_before_the_model_is_called():
    """UI-25: up to the starting turn, which stays verbatim."""
    session = full_session()
    result = session.when(submit("go on " + "word " * 100), **SMALL)

    (started,) = facts_of(result, CompactionStarted)
    (request,) = facts_of(result, ModelRequested)
    begun = next(sequence for sequence, new in enumerate(result.facts, result.before + 1) if new.type == "turn.started")
    assert (started.cause, started.through) == ("window", begun - 1)
    assert (request.purpose, request.iteration, request.context_through) == ("compaction", 0, begun - 1)
    compacted = session.when(summary_response(), **SMALL)
    assert [type(fact).__name__ for fact in compacted.facts] == [
        "ModelCompleted",
        "CostRecorded",
        "CompactionCompleted",
        "ModelRequested",
        "ContextResolved",
    ]
    assert [omission.reason for omission in facts_of(compacted, ContextResolved)[0].omitted] == ["compacted"]
    assert facts_of(compacted, CompactionCompleted)[0].summary == Text(text="They said much.")
    assert (facts_of(compacted, ModelRequested)[0].purpose, facts_of(compacted, ModelRequested)[0].iteration) == (
        "answer",
        1,
    )
    assert session.thread.context_usage.compacted == begun - 1


def test_without_a_known_window_a_thread_is_compacted_only_after_a_refused_request():
    """UI-25: the refused request is repeated as the same model call of the run, also at its limit."""
    session = Scenario(configure_run=lambda *request: msgspec.structs.replace(configure_run(*request), max_iters=1))
    session.after(submit(LONG), text_response("done"), submit("again"))
    result = session.when(context_full())
    assert [compaction.cause for compaction in facts_of(result, CompactionStarted)] == ["refused"]
    compacted = session.when(summary_response(step=2))
    assert [(request.purpose, request.iteration) for request in facts_of(compacted, ModelRequested)] == [("answer", 1)]
    refused = session.when(context_full(step=3))
    assert [failure.code for failure in facts_of(refused, TurnFailed)] == ["model_context_full"]


def test_a_summary_longer_than_the_part_it_replaces_fails_the_compaction():
    """UI-25: the turn continues without it, and a refused request then fails the turn."""
    session = full_session()
    session.when(submit("go on " + "word " * 100), **SMALL)
    result = session.when(summary_response("words " * 1000), **SMALL)
    assert [failure.code for failure in facts_of(result, CompactionFailed)] == ["model_garbled"]
    assert [request.purpose for request in facts_of(result, ModelRequested)] == ["answer"]
    assert not result.decision.blobs
    failed = session.when(context_full(step=session.run.model_step), **SMALL)
    assert [failure.code for failure in facts_of(failed, TurnFailed)] == ["model_context_full"]


def test_a_request_refused_because_of_a_long_summary_compacts_the_summary_again():
    """UI-25: together with the newer part of the thread."""
    session = full_session()
    session.when(submit("go on " + "word " * 100), **SMALL)
    session.when(summary_response("words " * 400), **SMALL)
    session.when(without_usage(text_response("done", run=2, step=session.run.model_step)), **SMALL)
    session.when(submit("and on"), **SMALL)
    result = session.when(context_full(run=3), **SMALL)
    assert [compaction.cause for compaction in facts_of(result, CompactionStarted)] == ["refused"]


def test_a_long_run_is_compacted_up_to_its_newest_round():
    """UI-25: a call stays with its result."""
    session = session_after()
    session.when(submit("count"), **SMALL)
    session.when(without_usage(model_response(requested_call(1, 2))), **SMALL)
    session.when(tool_end(1, "x" * 2800), **SMALL)
    session.when(without_usage(model_response(requested_call(2, 4), step=3)), **SMALL)
    result = session.when(tool_end(2, "y" * 400), **SMALL)

    (started,) = facts_of(result, CompactionStarted)
    second = session.run.rounds[-1].sequence
    assert started.through == second - 1
    session.when(summary_response(run=1, step=session.run.model_step), **SMALL)
    assert session.run.rounds[0].sequence == second


def test_a_run_whose_compaction_failed_continues_and_does_not_try_again():
    """UI-25"""
    session = full_session()
    session.when(submit("go on " + "word " * 100), **SMALL)
    result = session.when(summary_failure(), **SMALL)
    assert [failure.code for failure in facts_of(result, CompactionFailed)] == ["model_refused_request"]
    assert [request.purpose for request in facts_of(result, ModelRequested)] == ["answer"]
    empty = full_session()
    empty.when(submit("go on " + "word " * 100), **SMALL)
    assert [failure.code for failure in facts_of(empty.when(summary_response(""), **SMALL), CompactionFailed)] == [
        "model_garbled"
    ]


def test_stopping_a_turn_fails_its_running_compaction():
    """UI-25, REC-01: a partial summary is not stored."""
    session = full_session()
    session.when(submit("go on " + "word " * 100), **SMALL)
    result = session.when(run_stop(Piece(kind="text", step=2, text="Half"), run=2), **SMALL)

    assert [type(fact).__name__ for fact in result.facts] == ["CompactionFailed", "ModelInterrupted", "TurnInterrupted"]
    assert facts_of(result, TurnInterrupted)
    assert session.thread.context_usage.compacted == 0


def test_compacting_an_idle_thread_on_demand_completes_its_turn_without_a_response():
    """UI-25: the turn only compacts. It reads nothing from the inbox or the queue."""
    session = session_after(submit("one"), text_response("done"), submit("two"), text_response("done", run=2))
    result = session.when(CompactThread(session_id=SESSION))

    (submitted,) = facts_of(result, TurnSubmitted)
    assert (submitted.source, submitted.input) == ("compaction", Text(text=""))
    assert [request.purpose for request in facts_of(result, ModelRequested)] == ["compaction"]
    compacted = session.when(summary_response(run=3))
    assert [type(fact).__name__ for fact in compacted.facts[-2:]] == ["CompactionCompleted", "TurnCompleted"]
    assert facts_of(compacted, TurnCompleted)[0].iterations == 0
    assert session.refuses(CompactThread(session_id=SESSION)).code == "nothing_to_compact"


def test_a_busy_or_short_thread_is_not_compacted_on_demand():
    """UI-25"""
    assert session_after(submit("one")).refuses(CompactThread(session_id=SESSION)).code == "thread_busy"
    assert (
        session_after(submit("one"), text_response("done")).refuses(CompactThread(session_id=SESSION)).code
        == "nothing_to_compact"
    )


NOTES = make_blob(b"Buy milk.")
REF = ContextRef(ref="notes.md", kind="text", source="mentioned", content=NOTES.ref)
MISSING = MissingRef(ref="gone.md", source="mentioned", reason="not_found")
CONTEXT = ResolvedContext(refs=(REF,), missing=(MISSING,), blobs=(NOTES,))


def test_refs_of_an_input_are_recorded_with_it_and_resolved_when_its_run_starts():
    """CTX-01, CTX-02: also for a queued turn."""
    session = session_after(submit("one"))
    result = session.when(submit("two"), resolved_context=CONTEXT)
    assert [(turn.given, turn.missing) for turn in facts_of(result, TurnSubmitted)] == [((REF,), (MISSING,))]
    assert result.decision.blobs == (NOTES,)
    begun = session.when(text_response("done"))
    assert [(context.refs, context.missing) for context in facts_of(begun, ContextResolved)] == [((REF,), (MISSING,))]
    assert session.thread.last is not None
    assert session.thread.last.refs == ()


def test_an_edited_text_replaces_its_mentions_and_keeps_its_attachments():
    """CTX-01"""
    attached = ContextRef(ref="upl_1", kind="text", source="attached", content=NOTES.ref)
    session = session_after(submit("one"))
    session.when(submit("two"), resolved_context=ResolvedContext(refs=(attached, REF)))
    other = ContextRef(ref="other.md", kind="text", source="mentioned", content=NOTES.ref)
    result = session.when(
        EditQueuedTurn(session_id=SESSION, turn_id="trn_2", text="three"),
        resolved_context=ResolvedContext(refs=(other,)),
    )

    assert [edit.given for edit in facts_of(result, QueueEdited)] == [(attached, other)]


def test_a_run_records_omitted_context_with_the_reason():
    """CTX-01: over budget, unsupported by the model, or binary."""
    huge = ContextRef(ref="huge.txt", kind="text", source="mentioned", content=BlobRef(hash="a" * 64, size=100_000))
    image = ContextRef(ref="a.png", kind="image", source="mentioned", content=BlobRef(hash="b" * 64, size=10))
    binary = ContextRef(ref="a.bin", kind="binary", source="mentioned")
    result = session_after().when(submit("see"), resolved_context=ResolvedContext(refs=(huge, image, binary)))

    (fact,) = facts_of(result, ContextResolved)
    assert fact.omitted == (
        Omission(reason="budget", ref="huge.txt", tokens=(100_000 - 64 * 1024) // 4),
        Omission(reason="unsupported", ref="a.png"),
        Omission(reason="binary", ref="a.bin"),
    )


def test_pins_belong_to_the_thread_and_are_resolved_when_a_turn_starts():
    """CTX-01"""
    pinned = {
        "notes.md": ResolvedContext(refs=(ContextRef(ref="notes.md", kind="text", source="pinned", content=NOTES.ref),))
    }
    inputs = {
        "resolve_pin": lambda name: pinned.get(
            name, ResolvedContext(missing=(MissingRef(ref=name, source="pinned", reason="not_found"),))
        )
    }
    session = session_after(submit("one"), text_response("done"))
    result = session.when(SetContext(session_id=SESSION, pinned=("notes.md", "gone.md", "notes.md")), **inputs)
    assert facts_of(result, ContextPinned) == [ContextPinned(pinned=("notes.md", "gone.md"))]
    assert isinstance(result.answer, ContextChanged)
    assert [ref.ref for ref in result.answer.missing] == ["gone.md"]
    begun = session.when(submit("two"), **inputs)
    (fact,) = facts_of(begun, ContextResolved)
    assert ([ref.ref for ref in fact.refs], [ref.ref for ref in fact.missing]) == (["notes.md"], ["gone.md"])
    session.when(SetContext(session_id=SESSION, pinned=()), **inputs)
    assert session.thread.pinned == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("look at @src/a.py, and @docs/.", ("src/a.py", "docs/")),
        ('see @"a file.txt"!', ("a file.txt",)),
        ("(@art_1) [@ses_2]: @lead?", ("art_1", "ses_2", "lead")),
        ("write to me@example.org or a@b", ()),
        ("`@one` and ``@two`` and @three", ("three",)),
        ("```python\n@four\ndef f(): ...\n```\n@five", ("five",)),
        ("@cached(maxsize=1)\ndef f(): ...", ()),
        ("@dataclass\n@final\nclass A:", ()),
        (" * @param name what it is", ()),
        ("* @src/a.py\n* @src/b.py", ("src/a.py", "src/b.py")),
        ("@same @same", ("same",)),
        ("@", ()),
    ],
)
def test_mentions_of_an_input_are_found(text: str, named: tuple[str, ...]):
    """CTX-02: addresses, annotations and code in backticks are not mentions."""
    assert find_mentions(text) == named


def test_large_refs_share_the_byte_budget_in_order():
    """CTX-01: each text in part, none after the budget is spent, and images separately."""
    texts = [
        ContextRef(ref=str(n), kind="text", source="attached", content=BlobRef(hash=str(n), size=100_000))
        for n in range(5)
    ]
    image = ContextRef(ref="i", kind="image", source="attached", content=BlobRef(hash="i", size=1000))
    large = ContextRef(ref="l", kind="image", source="attached", content=BlobRef(hash="l", size=6 * 1024 * 1024))

    assert allocate_bytes((*texts, image, large)) == (65536, 65536, 65536, 65536, 0, 1000, 0)
    assert count_ref_tokens((image,)) == 1510


def test_the_newest_inputs_of_persons_stay_verbatim_beside_a_summary():
    """UI-25: within a tenth of the window. Older input is truncated or only part of the summary."""
    session = session_after(
        submit("word " * 200),
        without_usage(text_response("done")),
        submit("and keep it short"),
        without_usage(text_response("yes", run=2)),
    )
    session.when(submit("again " + "x" * 2400), **SMALL)
    result = session.when(summary_response(run=3), **SMALL)

    (compaction,) = facts_of(result, CompactionCompleted)
    submitted = [record for record in session.records if isinstance(record.fact, TurnSubmitted)]
    assert [(piece.sequence, piece.size) for piece in compaction.said] == [(submitted[1].sequence, 17)]
    assert [spoken.turn for spoken in session.thread.spoken_turns] == ["trn_1", "trn_2", "trn_3"]


def test_a_long_input_stays_verbatim_up_to_the_limit_of_bytes():
    """UI-25: a tenth of 10,000 tokens is 4,000 bytes."""
    large: dict[str, Any] = {"find_capabilities": lambda provider, model: ModelCapabilities(window=10_000)}
    session = session_after(submit("word " * 6400), without_usage(text_response("done")))
    session.when(submit("go on"), **large)
    (compaction,) = facts_of(session.when(summary_response(), **large), CompactionCompleted)
    assert [piece.size for piece in compaction.said] == [4000]


def test_a_fallback_model_is_asked_for_the_summary_of_a_failed_one():
    """UI-25: also if the first model refuses the part as too long."""
    others = (Candidate(provider="cloud", model="big"), Candidate(provider="local", model="small"))
    chain = {"candidates": others, "chosen": 0, "fallbacks": (1,)}
    session = Scenario(configure_run=lambda *request: msgspec.structs.replace(configure_run(*request), **chain))
    session.after(submit(LONG), without_usage(text_response("done")))
    session.when(submit("go on " + "word " * 100), **SMALL)
    result = session.when(context_full(), **SMALL)

    assert [type(fact).__name__ for fact in result.facts] == [
        "ModelFailed",
        "RoutingResolved",
        "WarningRaised",
        "ModelRequested",
    ]
    (request,) = facts_of(result, ModelRequested)
    assert (request.provider, request.purpose, request.iteration) == ("local", "compaction", 0)
    compacted = session.when(summary_response(step=session.run.model_step), **SMALL)
    assert [request.purpose for request in facts_of(compacted, ModelRequested)] == ["answer"]
