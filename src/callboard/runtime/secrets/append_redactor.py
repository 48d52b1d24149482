"""Redaction where texts enter, before decisions, and once more before every append.

Invalid Unicode becomes valid text here as well.
"""

from __future__ import annotations

import codecs
import hashlib
import logging
import re
from collections.abc import AsyncIterator
from typing import Any, TypeVar, cast

import msgspec

from callboard.contracts.commands.base import Command
from callboard.contracts.content import Blob, BlobRef, make_blob, repair_text
from callboard.contracts.facts.turn import PromptRef
from callboard.contracts.ports.agents import Definition, Definitions, Roster
from callboard.contracts.ports.secrets import Secrets, StreamRedaction
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.ports.tools import Evaluation, HookResult, ToolOutcome
from callboard.contracts.record import NewFact
from callboard.control.outcomes import RunStopped, ToolEnded
from callboard.tools.arguments import compute_digest

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_UNNAMED_HANDLE = re.compile(rb"secret://seen-[0-9a-f]{12}")


def redact_value(value: _T, secrets: Secrets) -> _T:
    """Return the value with handles in place of secrets; the same object if it has none."""
    return cast("_T", _redact_tree(value, secrets, {})) if _may_have_secret(value, secrets) else value


def _may_have_secret(value: Any, secrets: Secrets) -> bool:
    """Return False if the value certainly has no secret and is valid Unicode."""
    try:
        return secrets.can_contain_secret(msgspec.json.encode(value))
    except (msgspec.MsgspecError, UnicodeEncodeError, TypeError):
        # Half of a surrogate pair cannot be encoded. U+FFFD replaces it in what is stored and
        # shown.
        return True


def redact_json(text: str, secrets: Secrets) -> str:
    """Return JSON text with handles in place of secrets in its values.

    The result stays valid JSON, so that handles can be replaced again. Other text is redacted as it
    is.
    """
    text = repair_text(text)
    try:
        value: Any = msgspec.json.decode(text)
        safe = _redact_tree(value, secrets, {})
        if safe == value:
            # A secret that matches only the raw text spans JSON syntax, so the text need not stay
            # valid JSON.
            return secrets.redact(text)
        return secrets.redact(msgspec.json.encode(safe, order="sorted").decode())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return secrets.redact(text)


def reveal_json(text: str, secrets: Secrets) -> str:
    """Return JSON text with values in place of handles and sorted keys."""
    return msgspec.json.encode(_reveal_tree(msgspec.json.decode(text), secrets), order="sorted").decode()


def redact_evaluation(evaluation: Evaluation, secrets: Secrets) -> Evaluation:
    """Return the gate's evaluation as it is recorded, bound to the redacted arguments. An approval applies to those."""
    arguments = redact_json(evaluation.arguments, secrets)
    safe = redact_value(evaluation, secrets)
    if safe is evaluation and arguments == evaluation.arguments:
        return evaluation
    bound = compute_digest(arguments)
    binding = safe.binding
    if binding is not None and binding.arguments_hash:
        binding = msgspec.structs.replace(binding, arguments_hash=bound)
    return msgspec.structs.replace(
        safe, arguments=arguments, arguments_hash=bound if safe.arguments_hash else "", binding=binding
    )


def redact_hook_result(hooked: HookResult | None, secrets: Secrets) -> HookResult | None:
    """Return a hook result as it is recorded. Handles in rewritten arguments can be replaced again."""
    if hooked is None:
        return None
    arguments = None if hooked.arguments is None else redact_json(hooked.arguments, secrets)
    return msgspec.structs.replace(redact_value(hooked, secrets), arguments=arguments)


def redact_tool_outcome(outcome: ToolOutcome, secrets: Secrets) -> ToolOutcome:
    """Return a call's outcome with its contents, redacted."""
    blobs, refs = _redact_blobs(outcome.blobs, secrets)
    bare = redact_value(msgspec.structs.replace(outcome, blobs=()), secrets)
    if refs:
        bare = cast("ToolOutcome", _redact_tree(bare, secrets, refs))
    return msgspec.structs.replace(bare, blobs=blobs) if outcome.blobs else bare


def redact_outcome(outcome: _T, secrets: Secrets) -> _T:
    """Return an effect's outcome with its contents, redacted."""
    match outcome:
        case ToolEnded():
            return cast("_T", msgspec.structs.replace(outcome, outcome=redact_tool_outcome(outcome.outcome, secrets)))
        case RunStopped():
            outcomes = {
                call: redact_tool_outcome(call_outcome, secrets) for call, call_outcome in outcome.outcomes.items()
            }
            bare = redact_value(msgspec.structs.replace(outcome, outcomes={}), secrets)
            return cast("_T", msgspec.structs.replace(bare, outcomes=outcomes))
        case _:
            return redact_value(outcome, secrets)


def compute_body_hash(name: str, command: Command, secrets: Secrets) -> str:
    """Return the SHA-256 of a redacted command in hex.

    Handles of unnamed secrets hash alike, because another process cannot know them. So a request
    that is repeated after a restart matches.
    """
    body = msgspec.json.encode(redact_value(command, secrets))
    return hashlib.sha256(name.encode() + b"\0" + _UNNAMED_HANDLE.sub(b"secret://seen", body)).hexdigest()


async def redact_stream(pieces: AsyncIterator[bytes], redactor: StreamRedaction) -> AsyncIterator[bytes]:
    """Yield the bytes of a stream with handles in place of secrets."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    async for piece in pieces:
        safe = redactor.add(decoder.decode(piece))
        if safe:
            yield safe.encode("utf-8", "surrogateescape")
    rest = redactor.add(decoder.decode(b"", True)) + redactor.read_withheld()
    if rest:
        yield rest.encode("utf-8", "surrogateescape")


class AppendRedactor:
    """Redacts everything that is appended to the log, after the redaction where texts enter.

    `redacted_count` counts appends that still had a secret; it should stay 0.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self.redacted_count = 0

    def redact(
        self, facts: tuple[NewFact, ...], blobs: tuple[Blob, ...] = ()
    ) -> tuple[tuple[NewFact, ...], tuple[Blob, ...]]:
        """Return the facts and blobs, redacted; the same objects if they have no secret."""
        safe, refs = _redact_blobs(blobs, self._secrets)
        # One search for all facts: each search has a fixed cost.
        if not refs and not _may_have_secret([new.fact for new in facts], self._secrets):
            return facts, safe
        redacted_facts = tuple(self._redact_fact(new, refs) for new in facts)
        if refs or any(fact is not new for fact, new in zip(redacted_facts, facts, strict=True)):
            self.redacted_count += 1
            kinds = ", ".join(dict.fromkeys(new.fact.type for new in facts))
            log.warning("a secret reached the append and was redacted: %s", kinds)
        return redacted_facts, safe

    def redact_answer(self, answer: StoredAnswer | None) -> StoredAnswer | None:
        """Return a stored answer, redacted."""
        if answer is None:
            return None
        return msgspec.structs.replace(answer, answer=self._secrets.redact_bytes(answer.answer))

    def _redact_fact(self, new: NewFact, refs: dict[str, BlobRef]) -> NewFact:
        fact: Any = _redact_tree(new.fact, self._secrets, refs) if refs else redact_value(new.fact, self._secrets)
        return new if fact is new.fact else NewFact(fact, new.scope)


def _redact_blobs(blobs: tuple[Blob, ...], secrets: Secrets) -> tuple[tuple[Blob, ...], dict[str, BlobRef]]:
    """Return the blobs, and the new references of changed ones by their former hash."""
    refs: dict[str, BlobRef] = {}
    safe: list[Blob] = []
    for blob in blobs:
        data = secrets.redact_bytes(blob.data)
        if data is blob.data:
            safe.append(blob)
            continue
        safe.append(make_blob(data, blob.ref.media))
        refs[blob.ref.hash] = safe[-1].ref
    return (tuple(safe) if refs else blobs), refs


def _redact_tree(value: Any, secrets: Secrets, refs: dict[str, BlobRef]) -> Any:
    """Return the value with redacted texts and updated references. Unchanged parts stay the same objects."""
    match value:
        case str():
            return secrets.redact(repair_text(value))
        case BlobRef():
            return refs.get(value.hash, value)
        case PromptRef(hash=hash) if hash in refs:
            return msgspec.structs.replace(value, hash=refs[hash].hash, size=refs[hash].size)
        case msgspec.Struct():
            changed: dict[str, Any] = {}
            for name in value.__struct_fields__:
                before: Any = getattr(value, name)
                after = _redact_tree(before, secrets, refs)
                if after is not before and after != before:
                    changed[name] = after
            return msgspec.structs.replace(value, **changed) if changed else value
        case tuple() | list():
            items = cast("tuple[Any, ...] | list[Any]", value)
            safe = [_redact_tree(item, secrets, refs) for item in items]
            if all(after is before for after, before in zip(safe, items, strict=True)):
                return items
            return tuple(safe) if isinstance(items, tuple) else safe
        case dict():
            pairs = cast("dict[Any, Any]", value)
            return {_redact_tree(key, secrets, refs): _redact_tree(item, secrets, refs) for key, item in pairs.items()}
        case _:
            return value


def _reveal_tree(value: Any, secrets: Secrets) -> Any:
    match value:
        case str():
            return secrets.reveal(value)
        case list():
            return [_reveal_tree(item, secrets) for item in cast("list[Any]", value)]
        case dict():
            return {
                secrets.reveal(key): _reveal_tree(item, secrets) for key, item in cast("dict[str, Any]", value).items()
            }
        case _:
            return value


class RedactedDefinitions:
    """Implements the port `Definitions`, without secrets that a file contains."""

    def __init__(self, definitions: Definitions, secrets: Secrets) -> None:
        self._definitions = definitions
        self._secrets = secrets
        self._rosters: dict[str, tuple[Roster, Roster]] = {}

    def read_roster(self, folder: str) -> Roster:
        """Return all agents of a folder and the problems of their files."""
        roster = self._definitions.read_roster(folder)
        cached = self._rosters.get(folder)
        if cached is None or cached[0].hash != roster.hash:
            cached = self._rosters[folder] = roster, redact_value(roster, self._secrets)
        return cached[1]

    def find_lead(self, folder: str) -> Definition:
        """Return the agent that a new session in the folder starts with."""
        return redact_value(self._definitions.find_lead(folder), self._secrets)

    def get(self, folder: str, name: str) -> Definition:
        """Return the agent with a name or alias."""
        return redact_value(self._definitions.get(folder, name), self._secrets)
