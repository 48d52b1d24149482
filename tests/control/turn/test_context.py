"""The context of a run, and the compaction of its thread, decided from the state alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callboard.contracts.commands.context import CompactThread, ContextChanged, SetContext
from callboard.contracts.commands.turn import EditQueuedTurn
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
from callboard.control.outcomes import ModelAnswered, ModelAttemptFailed, Piece
from callboard.control.resolved_context import ResolvedContext as Came
from callboard.control.state.context import ModelCapabilities, allocate_bytes, count_ref_tokens
from tests.control.rigs.decisions import Scenario, StepResult, session_after
from tests.control.rigs.examples import (
    SESSION,
    THREAD,
    configure_run,
    model_answer,
    requested_call,
    run_stop,
    submit,
    text_answer,
    tool_end,
)

SMALL: dict[str, Any] = {"find_capabilities": lambda provider, model: ModelCapabilities(window=1000)}
#: About 700 tokens.
LONG = "word " * 560


def summary(text: str = "They said much.", *, run: int = 2, step: int = 1, **rest: Any) -> ModelAnswered:
    """Return a model answer with a summary."""
    pieces = (Piece(kind="text", step=step + 1, text=text),) if text else ()
    return ModelAnswered(
        thread=THREAD,
        run=f"run_{run}",
        step=step,
        pieces=pieces,
        calls=(),
        stop_reason="stop",
        usage=Usage(input_tokens=700, output_tokens=5),
        first_ms=1,
        duration_ms=2,
        **rest,
    )


def no_summary(*, run: int = 2, step: int = 1) -> ModelAttemptFailed:
    return ModelAttemptFailed(
        thread=THREAD,
        run=f"run_{run}",
        step=step,
        attempt=1,
        code="model_refused_request",
        message="No summaries.",
        retryable=False,
    )


def refused(*, run: int = 2, step: int = 1) -> ModelAttemptFailed:
    """Return a refusal of the provider because the request was too long."""
    return msgspec.structs.replace(no_summary(run=run, step=step), code="model_context_full", message="Too long.")


def of(then: StepResult, *kinds: type[Any]) -> list[Any]:
    return [fact for fact in then.facts if isinstance(fact, kinds)]


def full() -> Scenario:
    """Return a session whose next turn would fill the window."""
    return session_after(submit(LONG), untold(text_answer("done")))


def untold(report: ModelAnswered) -> ModelAnswered:
    """Return the answer without token usage, as from a provider that reports none."""
    return msgspec.structs.replace(report, usage=Usage())


def test_a_thread_that_fills_the_window_is_compacted_before_the_model_is_called():
    """UI-25: up to the starting turn, which stays verbatim."""
    session = full()
    then = session.when(submit("go on " + "word " * 100), **SMALL)

    (started,) = of(then, CompactionStarted)
    (asked,) = of(then, ModelRequested)
    begun = next(sequence for sequence, new in enumerate(then.facts, then.before + 1) if new.type == "turn.started")
    assert (started.cause, started.through) == ("window", begun - 1)
    assert (asked.purpose, asked.iteration, asked.context_through) == ("compaction", 0, begun - 1)
    made = session.when(summary(), **SMALL)
    assert [type(fact).__name__ for fact in made.facts] == [
        "ModelCompleted",
        "CostRecorded",
        "CompactionCompleted",
        "ModelRequested",
        "ContextResolved",
    ]
    assert [one.reason for one in of(made, ContextResolved)[0].omitted] == ["compacted"]
    assert of(made, CompactionCompleted)[0].summary == Text(text="They said much.")
    assert (of(made, ModelRequested)[0].purpose, of(made, ModelRequested)[0].iteration) == ("answer", 1)
    assert session.thread.context_usage.compacted == begun - 1


def test_without_a_known_window_a_thread_is_compacted_only_after_a_refused_request():
    """UI-25: the refused request is repeated as the same model call of the run, also at its limit."""
    session = Scenario(configure_run=lambda *asked: msgspec.structs.replace(configure_run(*asked), max_iters=1))
    session.after(submit(LONG), text_answer("done"), submit("again"))
    then = session.when(refused())
    assert [one.cause for one in of(then, CompactionStarted)] == ["refused"]
    made = session.when(summary(step=2))
    assert [(one.purpose, one.iteration) for one in of(made, ModelRequested)] == [("answer", 1)]
    again = session.when(refused(step=3))
    assert [one.code for one in of(again, TurnFailed)] == ["model_context_full"]


def test_a_summary_longer_than_the_part_it_replaces_fails_the_compaction():
    """UI-25: the turn continues without it, and a refused request then fails the turn."""
    session = full()
    session.when(submit("go on " + "word " * 100), **SMALL)
    then = session.when(summary("words " * 1000), **SMALL)
    assert [one.code for one in of(then, CompactionFailed)] == ["model_garbled"]
    assert [one.purpose for one in of(then, ModelRequested)] == ["answer"]
    assert not then.decision.blobs
    failed = session.when(refused(step=session.run.model_step), **SMALL)
    assert [one.code for one in of(failed, TurnFailed)] == ["model_context_full"]


def test_a_request_refused_because_of_a_long_summary_compacts_the_summary_again():
    """UI-25: together with the newer part of the thread."""
    session = full()
    session.when(submit("go on " + "word " * 100), **SMALL)
    session.when(summary("words " * 400), **SMALL)
    session.when(untold(text_answer("done", run=2, step=session.run.model_step)), **SMALL)
    session.when(submit("and on"), **SMALL)
    then = session.when(refused(run=3), **SMALL)
    assert [one.cause for one in of(then, CompactionStarted)] == ["refused"]


def test_a_long_run_is_compacted_up_to_its_newest_round():
    """UI-25: a call stays with its result."""
    session = session_after()
    session.when(submit("count"), **SMALL)
    session.when(untold(model_answer(requested_call(1, 2))), **SMALL)
    session.when(tool_end(1, "x" * 2800), **SMALL)
    session.when(untold(model_answer(requested_call(2, 4), step=3)), **SMALL)
    then = session.when(tool_end(2, "y" * 400), **SMALL)

    (started,) = of(then, CompactionStarted)
    second = session.run.rounds[-1].sequence
    assert started.through == second - 1
    session.when(summary(run=1, step=session.run.model_step), **SMALL)
    assert session.run.rounds[0].sequence == second


def test_a_run_whose_compaction_failed_continues_and_does_not_try_again():
    """UI-25"""
    session = full()
    session.when(submit("go on " + "word " * 100), **SMALL)
    then = session.when(no_summary(), **SMALL)
    assert [one.code for one in of(then, CompactionFailed)] == ["model_refused_request"]
    assert [one.purpose for one in of(then, ModelRequested)] == ["answer"]
    empty = full()
    empty.when(submit("go on " + "word " * 100), **SMALL)
    assert [one.code for one in of(empty.when(summary(""), **SMALL), CompactionFailed)] == ["model_garbled"]


def test_stopping_a_turn_fails_its_running_compaction():
    """UI-25, REC-01: a partial summary is not stored."""
    session = full()
    session.when(submit("go on " + "word " * 100), **SMALL)
    then = session.when(run_stop(Piece(kind="text", step=2, text="Half"), run=2), **SMALL)

    assert [type(fact).__name__ for fact in then.facts] == ["CompactionFailed", "ModelInterrupted", "TurnInterrupted"]
    assert of(then, TurnInterrupted)
    assert session.thread.context_usage.compacted == 0


def test_compacting_an_idle_thread_on_demand_gives_no_answer():
    """UI-25: the turn only compacts. It reads nothing from the inbox or the queue."""
    session = session_after(submit("one"), text_answer("done"), submit("two"), text_answer("done", run=2))
    then = session.when(CompactThread(session_id=SESSION))

    (submitted,) = of(then, TurnSubmitted)
    assert (submitted.source, submitted.input) == ("compaction", Text(text=""))
    assert [one.purpose for one in of(then, ModelRequested)] == ["compaction"]
    made = session.when(summary(run=3))
    assert [type(fact).__name__ for fact in made.facts[-2:]] == ["CompactionCompleted", "TurnCompleted"]
    assert of(made, TurnCompleted)[0].iterations == 0
    assert session.refuses(CompactThread(session_id=SESSION)).code == "nothing_to_compact"


def test_a_busy_or_short_thread_is_not_compacted_on_demand():
    """UI-25"""
    assert session_after(submit("one")).refuses(CompactThread(session_id=SESSION)).code == "thread_busy"
    assert (
        session_after(submit("one"), text_answer("done")).refuses(CompactThread(session_id=SESSION)).code
        == "nothing_to_compact"
    )


NOTES = make_blob(b"Buy milk.")
REF = ContextRef(ref="notes.md", kind="text", source="mentioned", content=NOTES.ref)
GONE = MissingRef(ref="gone.md", source="mentioned", reason="not_found")
CAME = Came(refs=(REF,), missing=(GONE,), blobs=(NOTES,))


def test_refs_of_an_input_are_recorded_with_it_and_resolved_when_its_run_starts():
    """CTX-01, CTX-02: also for a queued turn."""
    session = session_after(submit("one"))
    then = session.when(submit("two"), resolved_context=CAME)
    assert [(one.given, one.missing) for one in of(then, TurnSubmitted)] == [((REF,), (GONE,))]
    assert then.decision.blobs == (NOTES,)
    begun = session.when(text_answer("done"))
    assert [(one.refs, one.missing) for one in of(begun, ContextResolved)] == [((REF,), (GONE,))]
    assert session.thread.last is not None
    assert session.thread.last.refs == ()


def test_an_edited_text_replaces_its_mentions_and_keeps_its_attachments():
    """CTX-01"""
    attached = ContextRef(ref="upl_1", kind="text", source="attached", content=NOTES.ref)
    session = session_after(submit("one"))
    session.when(submit("two"), resolved_context=Came(refs=(attached, REF)))
    other = ContextRef(ref="other.md", kind="text", source="mentioned", content=NOTES.ref)
    then = session.when(
        EditQueuedTurn(session_id=SESSION, turn_id="trn_2", text="three"), resolved_context=Came(refs=(other,))
    )

    assert [one.given for one in of(then, QueueEdited)] == [(attached, other)]


def test_a_run_records_omitted_context_with_the_reason():
    """CTX-01: over budget, unsupported by the model, or binary."""
    huge = ContextRef(ref="huge.txt", kind="text", source="mentioned", content=BlobRef(hash="a" * 64, size=100_000))
    image = ContextRef(ref="a.png", kind="image", source="mentioned", content=BlobRef(hash="b" * 64, size=10))
    binary = ContextRef(ref="a.bin", kind="binary", source="mentioned")
    then = session_after().when(submit("see"), resolved_context=Came(refs=(huge, image, binary)))

    (fact,) = of(then, ContextResolved)
    assert fact.omitted == (
        Omission(reason="budget", ref="huge.txt", tokens=(100_000 - 64 * 1024) // 4),
        Omission(reason="unsupported", ref="a.png"),
        Omission(reason="binary", ref="a.bin"),
    )


def test_pins_belong_to_the_thread_and_are_resolved_when_a_turn_starts():
    """CTX-01"""
    pinned = {"notes.md": Came(refs=(ContextRef(ref="notes.md", kind="text", source="pinned", content=NOTES.ref),))}
    known = {
        "resolve_pin": lambda name: pinned.get(
            name, Came(missing=(MissingRef(ref=name, source="pinned", reason="not_found"),))
        )
    }
    session = session_after(submit("one"), text_answer("done"))
    then = session.when(SetContext(session_id=SESSION, pinned=("notes.md", "gone.md", "notes.md")), **known)
    assert of(then, ContextPinned) == [ContextPinned(pinned=("notes.md", "gone.md"))]
    assert isinstance(then.answer, ContextChanged)
    assert [one.ref for one in then.answer.missing] == ["gone.md"]
    begun = session.when(submit("two"), **known)
    (fact,) = of(begun, ContextResolved)
    assert ([ref.ref for ref in fact.refs], [one.ref for one in fact.missing]) == (["notes.md"], ["gone.md"])
    session.when(SetContext(session_id=SESSION, pinned=()), **known)
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
        untold(text_answer("done")),
        submit("and keep it short"),
        untold(text_answer("yes", run=2)),
    )
    session.when(submit("again " + "x" * 2400), **SMALL)
    then = session.when(summary(run=3), **SMALL)

    (made,) = of(then, CompactionCompleted)
    asked = [record for record in session.records if isinstance(record.fact, TurnSubmitted)]
    assert [(one.sequence, one.size) for one in made.said] == [(asked[1].sequence, 17)]
    assert [spoken.turn for spoken in session.thread.spoken_turns] == ["trn_1", "trn_2", "trn_3"]


def test_a_long_input_stays_verbatim_up_to_the_limit_of_bytes():
    """UI-25: a tenth of 10,000 tokens is 4,000 bytes."""
    large: dict[str, Any] = {"find_capabilities": lambda provider, model: ModelCapabilities(window=10_000)}
    session = session_after(submit("word " * 6400), untold(text_answer("done")))
    session.when(submit("go on"), **large)
    (made,) = of(session.when(summary(), **large), CompactionCompleted)
    assert [one.size for one in made.said] == [4000]


def test_a_fallback_model_is_asked_for_the_summary_of_a_failed_one():
    """UI-25: also if the first model refuses the part as too long. The fallback gives no answer before the summary."""
    others = (Candidate(provider="cloud", model="big"), Candidate(provider="local", model="small"))
    chain = {"candidates": others, "chosen": 0, "fallbacks": (1,)}
    session = Scenario(configure_run=lambda *asked: msgspec.structs.replace(configure_run(*asked), **chain))
    session.after(submit(LONG), untold(text_answer("done")))
    session.when(submit("go on " + "word " * 100), **SMALL)
    then = session.when(refused(), **SMALL)

    assert [type(fact).__name__ for fact in then.facts] == [
        "ModelFailed",
        "RoutingResolved",
        "WarningRaised",
        "ModelRequested",
    ]
    (asked,) = of(then, ModelRequested)
    assert (asked.provider, asked.purpose, asked.iteration) == ("local", "compaction", 0)
    made = session.when(summary(step=session.run.model_step), **SMALL)
    assert [one.purpose for one in of(made, ModelRequested)] == ["answer"]
