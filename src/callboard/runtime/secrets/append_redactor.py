"""Where texts enter: secrets are replaced by their handles before anything is decided, so that state, answers and facts agree;
and once more, as a last look, before anything is appended. Text that no encoding has becomes valid text here as well."""

from __future__ import annotations

import codecs
import hashlib
import logging
import re
from collections.abc import AsyncIterator
from typing import Any, TypeVar, cast

import msgspec

from callboard.contracts.commands.base import Command
from callboard.contracts.content import Blob, BlobRef, blob_of, valid_text
from callboard.contracts.facts.turn import PromptRef
from callboard.contracts.ports.agents import Definition, Definitions, Roster
from callboard.contracts.ports.secrets import Secrets, StreamRedaction
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.ports.tools import Evaluation, HookResult, ToolOutcome
from callboard.contracts.record import NewFact
from callboard.control.outcomes import RunStopped, ToolEnded
from callboard.tools.arguments import digest

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_SEEN = re.compile(rb"secret://seen-[0-9a-f]{12}")


def redact_value(value: _T, secrets: Secrets) -> _T:
    """The same value with handles in place of secrets in all its texts; the very value where there are none."""
    try:
        if not secrets.may_have_secret(msgspec.json.encode(value)):
            return value
    except (msgspec.MsgspecError, UnicodeEncodeError, TypeError):
        # Half of a surrogate pair has no encoding: what is stored and shown has U+FFFD in its place.
        pass
    return cast("_T", _walked(value, secrets, {}))


def redact_json(text: str, secrets: Secrets) -> str:
    """A JSON text with handles in place of secrets in its values, as they read there: what it says can be put back. What is no
    JSON is redacted as it stands."""
    text = valid_text(text)
    try:
        value: Any = msgspec.json.decode(text)
        safe = _walked(value, secrets, {})
        if safe == value:
            # A key that is found in the text alone runs over the marks of JSON, and nothing of it is kept.
            return secrets.redact(text)
        return secrets.redact(msgspec.json.encode(safe, order="sorted").decode())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return secrets.redact(text)


def reveal_json(text: str, secrets: Secrets) -> str:
    """A JSON text with values in place of handles, with sorted keys. Raises Refusal `secret_missing`."""
    return msgspec.json.encode(_revealed(msgspec.json.decode(text), secrets), order="sorted").decode()


def redact_evaluation(evaluation: Evaluation, secrets: Secrets) -> Evaluation:
    """The gate's verdict as it is recorded: bound to the arguments as they are recorded, so that an approval of them holds."""
    arguments = redact_json(evaluation.arguments, secrets)
    safe = redact_value(evaluation, secrets)
    if safe is evaluation and arguments == evaluation.arguments:
        return evaluation
    bound = digest(arguments)
    binding = safe.binding
    if binding is not None and binding.arguments_hash:
        binding = msgspec.structs.replace(binding, arguments_hash=bound)
    return msgspec.structs.replace(
        safe, arguments=arguments, arguments_hash=bound if safe.arguments_hash else "", binding=binding
    )


def redact_hook_result(hooked: HookResult | None, secrets: Secrets) -> HookResult | None:
    """What hooks said, as it is recorded: what they rewrote can be put back."""
    if hooked is None:
        return None
    arguments = None if hooked.arguments is None else redact_json(hooked.arguments, secrets)
    return msgspec.structs.replace(redact_value(hooked, secrets), arguments=arguments)


def redact_outcome(outcome: ToolOutcome, secrets: Secrets) -> ToolOutcome:
    """What a call came to, with the contents that it refers to."""
    blobs, refs = _redacted_blobs(outcome.blobs, secrets)
    bare = redact_value(msgspec.structs.replace(outcome, blobs=()), secrets)
    if refs:
        bare = cast("ToolOutcome", _walked(bare, secrets, refs))
    return msgspec.structs.replace(bare, blobs=blobs) if outcome.blobs else bare


def redact_report(report: _T, secrets: Secrets) -> _T:
    """What an effect came to, with the contents that it refers to."""
    match report:
        case ToolEnded():
            return cast("_T", msgspec.structs.replace(report, outcome=redact_outcome(report.outcome, secrets)))
        case RunStopped():
            outcomes = {call: redact_outcome(one, secrets) for call, one in report.outcomes.items()}
            bare = redact_value(msgspec.structs.replace(report, outcomes={}), secrets)
            return cast("_T", msgspec.structs.replace(bare, outcomes=outcomes))
        case _:
            return redact_value(report, secrets)


def body_hash(name: str, command: Command, secrets: Secrets) -> str:
    """The SHA-256 of a command as it was redacted, in hex. Handles that another process does not know are all the same, so that
    a request that is repeated after a restart is still the same one."""
    body = msgspec.json.encode(redact_value(command, secrets))
    return hashlib.sha256(name.encode() + b"\0" + _SEEN.sub(b"secret://seen", body)).hexdigest()


async def redact_stream(pieces: AsyncIterator[bytes], veil: StreamRedaction) -> AsyncIterator[bytes]:
    """Bytes that come in pieces, whatever they are, with handles in place of secrets."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    async for piece in pieces:
        shown = veil.add(decoder.decode(piece))
        if shown:
            yield shown.encode("utf-8", "surrogateescape")
    rest = veil.add(decoder.decode(b"", True)) + veil.pending()
    if rest:
        yield rest.encode("utf-8", "surrogateescape")


class AppendRedactor:
    """Looks through all that is about to be appended. It is the net below the places where texts enter, and finds nothing where
    they are what they should be: `found` counts what it had to redact."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self.found = 0

    def redact(
        self, facts: tuple[NewFact, ...], blobs: tuple[Blob, ...] = ()
    ) -> tuple[tuple[NewFact, ...], tuple[Blob, ...]]:
        """The same facts and blobs, without what had to be redacted."""
        safe, refs = _redacted_blobs(blobs, self._secrets)
        told = tuple(self._fact(new, refs) for new in facts)
        if refs or any(one is not new for one, new in zip(told, facts, strict=True)):
            self.found += 1
            kinds = ", ".join(dict.fromkeys(new.fact.type for new in facts))
            log.warning("a secret had come as far as the log and was redacted there: %s", kinds)
        return told, safe

    def redact_answer(self, answer: StoredAnswer | None) -> StoredAnswer | None:
        """What is kept of an answer, in the same way."""
        if answer is None:
            return None
        return msgspec.structs.replace(answer, answer=self._secrets.redact_bytes(answer.answer))

    def _fact(self, new: NewFact, refs: dict[str, BlobRef]) -> NewFact:
        fact: Any = _walked(new.fact, self._secrets, refs) if refs else redact_value(new.fact, self._secrets)
        return new if fact is new.fact else NewFact(fact, new.scope)


def _redacted_blobs(blobs: tuple[Blob, ...], secrets: Secrets) -> tuple[tuple[Blob, ...], dict[str, BlobRef]]:
    """The blobs, and the refs of those that changed by their former hash."""
    refs: dict[str, BlobRef] = {}
    safe: list[Blob] = []
    for blob in blobs:
        data = secrets.redact_bytes(blob.data)
        if data is blob.data:
            safe.append(blob)
            continue
        safe.append(blob_of(data, blob.ref.media))
        refs[blob.ref.hash] = safe[-1].ref
    return (tuple(safe) if refs else blobs), refs


def _walked(value: Any, secrets: Secrets, refs: dict[str, BlobRef]) -> Any:
    """The value with its texts redacted and its refs led to the redacted contents. What does not change is the same object."""
    match value:
        case str():
            return secrets.redact(valid_text(value))
        case BlobRef():
            return refs.get(value.hash, value)
        case PromptRef(hash=hash) if hash in refs:
            return msgspec.structs.replace(value, hash=refs[hash].hash, size=refs[hash].size)
        case msgspec.Struct():
            changed: dict[str, Any] = {}
            for name in value.__struct_fields__:
                before: Any = getattr(value, name)
                after = _walked(before, secrets, refs)
                if after is not before and after != before:
                    changed[name] = after
            return msgspec.structs.replace(value, **changed) if changed else value
        case tuple() | list():
            held = cast("tuple[Any, ...] | list[Any]", value)
            safe = [_walked(one, secrets, refs) for one in held]
            if all(after is before for after, before in zip(safe, held, strict=True)):
                return held
            return tuple(safe) if isinstance(held, tuple) else safe
        case dict():
            pairs = cast("dict[Any, Any]", value)
            return {_walked(key, secrets, refs): _walked(one, secrets, refs) for key, one in pairs.items()}
        case _:
            return value


def _revealed(value: Any, secrets: Secrets) -> Any:
    match value:
        case str():
            return secrets.reveal(value)
        case list():
            return [_revealed(one, secrets) for one in cast("list[Any]", value)]
        case dict():
            return {secrets.reveal(key): _revealed(one, secrets) for key, one in cast("dict[str, Any]", value).items()}
        case _:
            return value


class RedactedDefinitions:
    """Implements the port `Definitions`: those of files, without the secrets that somebody wrote into one."""

    def __init__(self, definitions: Definitions, secrets: Secrets) -> None:
        self._definitions = definitions
        self._secrets = secrets
        self._rosters: dict[str, tuple[Roster, Roster]] = {}

    def roster(self, folder: str) -> Roster:
        """All agents of this folder and what is wrong with their files."""
        found = self._definitions.roster(folder)
        known = self._rosters.get(folder)
        if known is None or known[0].hash != found.hash:
            known = self._rosters[folder] = found, redact_value(found, self._secrets)
        return known[1]

    def lead(self, folder: str) -> Definition:
        """The agent that a new session in this folder starts with. Raises Refusal `bad_definition`."""
        return redact_value(self._definitions.lead(folder), self._secrets)

    def get(self, folder: str, name: str) -> Definition:
        """The agent of that name or alias. Raises Refusal `unknown_agent`."""
        return redact_value(self._definitions.get(folder, name), self._secrets)
