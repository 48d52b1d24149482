"""Redaction of a text in pieces comes to the same as redaction of the whole, and shows no part of a secret on the way."""

import base64
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.secrets.known import Known
from callboard.secrets.redaction import Redaction

PLAIN = "q8w7e6r5t4y3u2i1o0"
HARD = "Ab3$x/+\"quote'é_Zz9\\-end"


def _fresh() -> Redaction:
    return Redaction([Known("plain", PLAIN, "keyring"), Known("hard", HARD, "keyring")])


TOKENS = ["ghp_" + "a1B2c3D4e5" * 4, "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90", "eyJ" + "hbGciOi.eyJzdWIiOi.c2lnbmF0"]
WORDS = [
    *(PLAIN, HARD, json.dumps(HARD), base64.b64encode(PLAIN.encode()).decode(), base64.encodebytes(b"z" * 50).decode()),
    *(
        base64.encodebytes(b"z" * 50 + PLAIN.encode()).decode(),
        PLAIN[:9],
        PLAIN[9:],
        HARD[:4],
        *TOKENS,
        "secret://plain",
    ),
    *("sk-", "eyJ", "https://", "bob:pass1234@", "?token=", "Authorization: Bearer ", "-----BEGIN PRIVATE KEY-----\n"),
    *("M" * 64 + "\n", " ", "\n", "\\n", "~", "#", ".", "hello ", "é", "Ab"),
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_pieces_come_to_what_the_whole_comes_to(text: str, sizes: list[int]):
    """SAFE-03"""
    secrets = _fresh()
    whole = secrets.redact(text)
    veil = secrets.veil()

    shown = _shown(veil.add, text, sizes)

    assert shown + veil.rest() == whole
    for value in (PLAIN, HARD):
        assert value[:12] not in shown


def test_no_piece_shows_a_part_of_a_secret_whose_rest_is_still_to_come():
    """SAFE-03: a client sees every piece."""
    for token, public in ((PLAIN, ""), (TOKENS[0], "ghp_"), (TOKENS[1], "sk-")):
        veil = _fresh().veil()

        pieces = [veil.add(character) for character in f"x {token}"]

        assert "".join(pieces) in (f"x {public}", "x secret://plain")


def test_text_that_is_no_secret_is_shown_as_it_comes():
    """SAFE-03: what is held back is bounded, and nothing is where nothing secret may begin."""
    veil = Redaction().veil()

    assert [veil.add(word) for word in ("Some ", "tas", "ks ", "are ", "easy: ", "https://host/")] == [
        *("Some ", "tas", "ks ", "are ", "easy: "),
        "https://host/",
    ]


def test_a_token_that_never_ends_is_let_go_at_its_bound():
    """SAFE-03"""
    veil = Redaction().veil()

    shown = veil.add("sk-" + "a1" * 2000)

    assert shown.startswith("sk-secret://seen-")
    assert len(shown) > 3000


def _shown(add, text: str, sizes: list[int]) -> str:
    pieces: list[str] = []
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        pieces.append(add(text[at : at + size]))
        at, turn = at + size, turn + 1
    return "".join(pieces)
