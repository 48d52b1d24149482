"""The hash chain over the stored bytes, which stays valid after an erasure."""

from __future__ import annotations

import hashlib

import pytest

from callboard.contracts.errors import Refusal
from callboard.log import chain
from callboard.log.chain import StoredBytes

STREAM = "ses_one"
SALT = b"s" * 16


def build_chain(*payloads: bytes) -> list[StoredBytes]:
    facts: list[StoredBytes] = []
    previous = chain.begin_chain(STREAM)
    for sequence, payload in enumerate(payloads, 1):
        header = f"header {sequence}".encode()
        previous = chain.link(previous, header, chain.digest(SALT, payload))
        facts.append(StoredBytes(sequence, header, previous, SALT, payload))
    return facts


def check(facts: list[StoredBytes]) -> tuple[int, bytes]:
    return chain.check(STREAM, 0, chain.begin_chain(STREAM), facts)


def test_a_link_can_be_computed_from_the_stored_bytes() -> None:
    fact = build_chain(b"payload")[0]

    genesis = hashlib.sha256(b"callboard.chain.v1" + b"ses_one").digest()
    digest = hashlib.sha256(SALT + b"payload").digest()
    assert fact.link == hashlib.sha256(genesis + b"header 1" + digest).digest()


def test_an_untouched_chain_ends_with_its_last_link() -> None:
    facts = build_chain(b"one", b"two", b"three")
    assert check(facts) == (3, facts[-1].link)
    assert check([]) == (0, chain.begin_chain(STREAM))


def test_a_chain_can_be_verified_from_any_fact() -> None:
    facts = build_chain(b"one", b"two", b"three")
    assert chain.check(STREAM, 1, facts[0].link, facts[1:]) == (3, facts[2].link)


def test_a_chain_with_erased_payloads_is_valid() -> None:
    facts = build_chain(b"one", b"two", b"three")
    facts[1] = chain.erase(facts[1])

    assert (facts[1].payload, facts[1].seal) == (None, chain.digest(SALT, b"two"))
    assert chain.erase(facts[1]) == facts[1]
    assert check(facts) == (3, facts[2].link)


@pytest.mark.parametrize(
    "changed",
    [
        {"payload": b"TWO"},
        {"header": b"header X"},
        {"seal": b"t" * 16},
        {"seal": b"s" * 32},
        {"payload": None},
        {"payload": None, "seal": b"s" * 32},
        {"link": b"l" * 32},
    ],
    ids="+".join,
)
def test_a_changed_fact_is_reported(changed: dict[str, bytes | None]) -> None:
    facts = build_chain(b"one", b"two", b"three")
    facts[1] = facts[1]._replace(**changed)

    with pytest.raises(Refusal, match="ses_one/2") as refused:
        check(facts)
    assert refused.value.code == "chain_broken"


def test_a_missing_or_moved_fact_is_reported() -> None:
    facts = build_chain(b"one", b"two", b"three")

    for broken in ([facts[0], facts[2]], [facts[0], facts[2]._replace(sequence=2)]):
        with pytest.raises(Refusal, match="ses_one/2"):
            check(broken)


def test_a_truncated_stream_contradicts_its_head() -> None:
    facts = build_chain(b"one", b"two", b"three")
    head = (3, facts[2].link)

    chain.check_end(STREAM, head, check(facts))
    with pytest.raises(Refusal, match="ses_one/3 is missing"):
        chain.check_end(STREAM, head, check(facts[:2]))
    with pytest.raises(Refusal, match="ses_one/3 is not the last fact"):
        chain.check_end(STREAM, head, check(build_chain(b"one", b"two", b"other")))


def test_streams_with_the_same_facts_have_different_links() -> None:
    assert chain.begin_chain("ses_one") != chain.begin_chain("ses_two")
