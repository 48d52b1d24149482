"""Context of a run, and when its thread is compacted."""

from __future__ import annotations

from callboard.contracts.facts.context import CompactionCause, CompactionStarted, ContextResolved
from callboard.contracts.facts.model import ModelRequested
from callboard.contracts.refs import ContextRef, Omission
from callboard.contracts.scope import Scope

from ...batch import Batch, build_run_scope
from ...decision_inputs import EXTERNAL_PROVIDERS, RunConfig
from ...resolved_context import ResolvedContext, merge_contexts
from ...state.context import BYTES_PER_TOKEN, TOOL_TOKENS, ModelCapabilities, allocate_bytes
from ...state.session import Thread
from ...state.turn import MAX_MARKS, OpenRun

#: Share of the window for the newest part, which stays verbatim.
KEPT_SHARE = 0.25
#: Minimum share of the window for a part to be compacted.
MIN_COMPACTED_SHARE = 0.1


def record_context(batch: Batch, thread: Thread, config: RunConfig, scope: Scope) -> None:
    """Record the context of a run that just began, if it has any or its model's window is known."""
    run = batch.get_thread(thread.thread).run
    submitted = next(
        (queued for queued in (thread.submitted, *thread.queue) if queued is not None and queued.turn == scope.turn),
        None,
    )
    submitted_context = (
        ResolvedContext() if submitted is None else ResolvedContext(refs=submitted.refs, missing=submitted.missing)
    )
    context = merge_contexts(
        config.instructions, submitted_context, *(batch.inputs.resolve_pin(name) for name in thread.pinned)
    )
    batch.add_blobs(*context.blobs)
    refs, missing = context.refs, context.missing
    # The run's model can be a fallback of the chosen one.
    candidate = config.candidates[config.chosen]
    model = (candidate.provider, candidate.model) if run is None else (run.provider, run.model)
    capabilities = batch.inputs.find_capabilities(*model)
    older = compute_cut(batch.get_thread(thread.thread), batch.inputs.context_steps)
    omitted = (*context.omitted, *_list_omitted_refs(refs, capabilities), *_list_omitted_turns(thread, older))
    window = capabilities.window
    if run is None or not (refs or missing or omitted or window):
        return
    batch.add(
        ContextResolved(
            refs=refs,
            missing=missing,
            omitted=omitted,
            window=window,
            budget=None if window is None else int(window * batch.inputs.compact_at),
            used=count_used_tokens(batch.get_thread(thread.thread), run),
        ),
        scope,
    )


def record_context_change(batch: Batch, thread_id: str) -> None:
    """Record the context after a model call if other turns are left out than before: older turns
    fell out or were compacted."""
    thread = batch.get_thread(thread_id)
    run = thread.run
    if run is None:
        return
    others = tuple(omission for omission in run.omitted if omission.reason not in ("older_turns", "compacted"))
    omitted = (*others, *_list_omitted_turns(thread, thread.context_after))
    if omitted == run.omitted:
        return
    window = batch.inputs.find_capabilities(run.provider, run.model).window
    batch.add(
        ContextResolved(
            refs=run.refs,
            missing=run.missing,
            omitted=omitted,
            window=window,
            budget=None if window is None else int(window * batch.inputs.compact_at),
            used=count_used_tokens(thread, run),
        ),
        build_run_scope(thread, run),
    )


def compute_cut(thread: Thread, limit: int) -> int:
    """Return the sequence up to which facts are left out of the model's context. The newest turns
    within `limit` steps stay, and the present turn always does. Earlier cuts stay."""
    steps = 0
    for later, mark in zip(reversed(thread.marks), reversed(thread.marks[:-1]), strict=False):
        steps += mark.steps
        if steps > limit:
            return max(thread.context_after, later.sequence - 1)
    unmarked = thread.marks[0].sequence - 1 if len(thread.marks) == MAX_MARKS else 0
    return max(thread.context_after, unmarked)


def count_used_tokens(thread: Thread, run: OpenRun | None) -> int:
    """Return the tokens of the thread's context: the provider's newest count with what came after
    it, else an estimate."""
    usage = thread.context_usage
    if usage.reported:
        return usage.reported + usage.since
    older_marks = thread.marks[:-1] if run is not None else thread.marks
    turns = sum(mark.tokens for mark in older_marks if mark.started > max(thread.context_after, usage.compacted))
    rounds = sum(model_round.tokens for model_round in run.rounds) if run is not None else 0
    prompts = (
        sum(prompt.size for prompt in run.prompts) // BYTES_PER_TOKEN + TOOL_TOKENS * len(run.tools)
        if run is not None
        else 0
    )
    return usage.summary + turns + rounds + prompts


def begin_compaction(batch: Batch, thread_id: str, cause: CompactionCause) -> bool:
    """Compact the older part of the thread if it is due. Return True if a summary was requested;
    its result continues the run."""
    thread = batch.get_thread(thread_id)
    run = thread.run
    if run is None or run.compaction_failed or run.provider in EXTERNAL_PROVIDERS:
        return False
    window = batch.inputs.find_capabilities(run.provider, run.model).window
    if cause == "window" and (window is None or count_used_tokens(thread, run) < window * batch.inputs.compact_at):
        return False
    through, tokens = find_older_part(
        thread, run, 0 if window is None or cause == "person" else int(window * KEPT_SHARE)
    )
    if cause == "refused" and not through:
        # The older part is the former summary alone, which is too long.
        through, tokens = find_older_part(thread, run, 0)
    if not through or (cause == "window" and tokens < MIN_COMPACTED_SHARE * (window or 0)):
        return False
    started = CompactionStarted(cause=cause, through=through, tokens=count_used_tokens(thread, run))
    batch.add(started, build_run_scope(thread, run, run.next_step))
    ask_for_summary(batch, thread_id, through)
    return True


def ask_for_summary(batch: Batch, thread_id: str, through: int) -> None:
    """Ask the run's model for a summary of the thread's facts through `through`."""
    thread = batch.get_thread(thread_id)
    run = thread.run
    if run is None:
        raise LookupError(f"thread {thread_id} has no open run")
    batch.add(
        ModelRequested(
            provider=run.provider,
            model=run.model,
            iteration=run.iteration,
            context_after=thread.context_after,
            context_through=through,
            purpose="compaction",
        ),
        build_run_scope(thread, run, run.next_step),
    )


def find_older_part(thread: Thread, run: OpenRun | None, keep: int) -> tuple[int, int]:
    """Return the sequence through which the thread can be compacted, 0 for none, and its tokens.
    The newest part stays: up to `keep` tokens, and at least the newest round or turn."""
    left_out = max(thread.context_after, thread.context_usage.compacted)
    ended_marks = thread.marks[:-1] if run is not None else thread.marks
    parts = [(mark.started, mark.tokens) for mark in ended_marks if mark.started > left_out]
    turns = len(parts)
    parts += _list_rounds(run) if run is not None else []
    # A turn that only compacts has no content: the newest turn is the one before.
    minimum = 2 if run is not None and run.only_compacts and turns else 1
    kept_tokens, first = 0, len(parts)
    while first > 0:
        tokens = parts[first - 1][1]
        if len(parts) - first >= minimum and kept_tokens + tokens > keep:
            break
        first -= 1
        kept_tokens += tokens
    if first == 0 or first == len(parts):
        return 0, 0
    return parts[first][0] - 1, sum(tokens for _, tokens in parts[:first]) + thread.context_usage.summary


def count_older_tokens(thread: Thread, run: OpenRun, through: int) -> int:
    """Return the tokens that a summary through `through` replaces."""
    marks = (mark.tokens for mark in thread.marks[:-1] if thread.context_usage.compacted < mark.started <= through)
    rounds = (model_round.tokens for model_round in run.rounds if model_round.sequence <= through)
    return sum(marks) + sum(rounds) + thread.context_usage.summary


def _list_rounds(run: OpenRun) -> list[tuple[int, int]]:
    """Return the rounds of a run that added tokens. The input is always in the context, so it is no
    separate round."""
    rounds = [(model_round.sequence, model_round.tokens) for model_round in run.rounds if model_round.tokens] or [
        (model_round.sequence, 0) for model_round in run.rounds[:1]
    ]
    if len(rounds) > 1 and rounds[0][1] <= run.input_tokens:
        (first, input_tokens), (_, tokens), *rest = rounds
        return [(first, input_tokens + tokens), *rest]
    return rounds


def _list_omitted_refs(refs: tuple[ContextRef, ...], capabilities: ModelCapabilities) -> list[Omission]:
    """Return which refs the model does not receive, or receives in part."""
    omissions: list[Omission] = []
    for ref, share in zip(refs, allocate_bytes(refs), strict=True):
        size = ref.content.size if ref.content is not None else 0
        if ref.kind == "instructions":
            continue
        if ref.kind == "binary":
            omissions.append(Omission(reason="binary", ref=ref.ref))
        elif ref.kind == "image" and not capabilities.images:
            omissions.append(Omission(reason="unsupported", ref=ref.ref))
        elif share < size:
            omissions.append(Omission(reason="budget", ref=ref.ref, tokens=(size - share) // BYTES_PER_TOKEN))
    return omissions


def _list_omitted_turns(thread: Thread, context_after: int) -> list[Omission]:
    """Return the turns that are left out of the context."""
    compacted = thread.context_usage.compacted
    omissions = [Omission(reason="compacted", tokens=None)] if compacted else []
    turns = sum(compacted < mark.started <= context_after for mark in thread.marks)
    return [*omissions, Omission(reason="older_turns", count=turns)] if turns else omissions
