"""Redaction of a text in pieces comes to the same as redaction of the whole, and shows no part of a secret on the way."""

import base64
import json
import re
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction

PLAIN = "q8w7e6r5t4y3u2i1o0"
HARD = "Ab3$x/+\"quote'é_Zz9\\-end"
MARKED = "$a9B8c7d6e5"


def _fresh() -> Redaction:
    known = {"plain": PLAIN, "hard": HARD, "marked": MARKED}
    return Redaction([NamedSecret(name, value, "keyring") for name, value in known.items()])


TOKENS = ["ghp_" + "a1B2c3D4e5" * 4, "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90", "eyJ" + "hbGciOi.eyJzdWIiOi.c2lnbmF0"]
WORDS = [
    *(
        PLAIN,
        HARD,
        MARKED,
        json.dumps(HARD),
        base64.b64encode(PLAIN.encode()).decode(),
        base64.encodebytes(b"z" * 50).decode(),
    ),
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
def test_redacted_pieces_equal_the_redacted_whole(text: str, sizes: list[int]):
    """SAFE-03"""
    secrets = _fresh()
    whole = secrets.redact(text)
    veil = secrets.redact_stream()

    shown = "".join(veil.add(piece) for piece in _cut(text, sizes))

    assert shown + veil.pending() == whole
    for value in (PLAIN, HARD):
        assert value[:12] not in shown


def test_no_piece_has_a_part_of_an_incomplete_secret():
    """SAFE-03: a client sees every piece."""
    for token, public in ((PLAIN, ""), (TOKENS[0], "ghp_"), (TOKENS[1], "sk-")):
        veil = _fresh().redact_stream()

        pieces = [veil.add(character) for character in f"x {token}"]

        assert "".join(pieces) in (f"x {public}", "x secret://plain")


def test_text_without_a_secret_is_returned_at_once():
    """SAFE-03: what is held back is bounded, and nothing is where nothing secret may begin."""
    veil = Redaction().redact_stream()

    assert [veil.add(word) for word in ("Some ", "tas", "ks ", "are ", "easy: ", "https://host/")] == [
        *("Some ", "tas", "ks ", "are ", "easy: "),
        "https://host/",
    ]


def test_an_endless_token_is_released_at_its_maximum_length():
    """SAFE-03"""
    veil = Redaction().redact_stream()

    shown = veil.add("sk-" + "a1" * 2000)

    assert shown.startswith("sk-secret://seen-")
    assert len(shown) > 3000


def test_a_reader_receives_the_last_letters_even_if_a_secret_may_begin_there():
    """SAFE-03: a prompt is read to its end while the command waits for an answer."""
    for text, held in (
        ("heard q8w\n", "q8w\n"),
        ("q", "q"),
        ("Which? Ab3\r\n  ", "Ab3\r\n  "),
        ("secret://plain q8", "q8"),
    ):
        veil = _fresh().redact_stream()

        assert (veil.add(text), veil.release_harmless(), veil.release_harmless(), veil.pending()) == (
            text.removesuffix(held),
            held,
            "",
            "",
        )
        assert veil.add(". ") == ". "


def test_a_handle_follows_the_released_letters_of_a_secret():
    """SAFE-03: the handle stands for all of it, also of one that goes on in another line, and of one that begins later."""
    for rest, shown, value in (
        (PLAIN[3:], "secret://plain", PLAIN),
        (f"\n  {PLAIN[3:]}", "secret://seen-", f"q8w\n  {PLAIN[3:]}"),
        (PLAIN, "secret://plain", PLAIN),
    ):
        secrets = _fresh()
        veil = secrets.redact_stream()

        assert (veil.add("x q8w"), veil.release_harmless()) == ("x ", "q8w")
        behind = veil.add(rest) + veil.add(" !")
        assert behind.startswith(shown)
        assert secrets.reveal(behind) == f"{value} !"


def test_released_text_after_a_handle_is_separated_once():
    """SAFE-03"""
    veil = _fresh().redact_stream()

    shown = [veil.add(f"{PLAIN}q8"), veil.release_harmless(), veil.add("z"), veil.add(PLAIN), veil.pending()]

    assert shown == ["secret://plain", "~q8", "z", "secret://plain", ""]


def test_reading_after_each_character_reveals_three_letters_of_a_secret():
    """SAFE-03: what was shown of it before is counted."""
    for value, known in ((PLAIN, "plain"), (HARD, "hard")):
        secrets = _fresh()
        veil = secrets.redact_stream()

        shown = "".join(veil.add(character) + veil.release_harmless() for character in f"x {value} y")

        assert shown == f"x {value[:3]}secret://{known} y"


def test_nothing_is_released_after_a_mark():
    """SAFE-03: a password in an address may be three letters."""
    for text, secret in (("https://bob:", "abc"), ("sk-", "a1"), ("?token=", "a1"), ("secret://", "pla")):
        veil = _fresh().redact_stream()

        assert (veil.add(text + secret), veil.release_harmless(), veil.pending()) == (text, "", secret)


def test_no_whole_secret_of_quotes_is_released():
    """SAFE-03: one may be the beginning of another."""
    secrets = Redaction(
        [NamedSecret("one", "\"'\\\"'ab", "keyring"), NamedSecret("more", "\"'\\\"'abcd1234", "keyring")]
    )
    veil = secrets.redact_stream()

    assert (veil.add("\"'\\\"'ab"), veil.release_harmless(), veil.pending()) == ("", "", "secret://one")


LOOKS = st.lists(st.booleans(), min_size=1, max_size=20)
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=20)


@settings(max_examples=200, deadline=None)
@given(TEXTS, SIZES, LOOKS)
def test_a_reader_at_any_time_receives_the_redacted_text_with_at_most_three_letters_before_a_handle(
    text: str, sizes: list[int], looks: list[bool]
):
    """SAFE-03"""
    secrets = _fresh()
    whole = secrets.redact(text)

    assert re.fullmatch(_early(whole, secrets), _looked_at(secrets, text, sizes, looks)), whole


VALUES = st.text("ab1Z+/=\"'\\é%$", min_size=8, max_size=40).filter(lambda value: len(set(value)) > 3)
FORMS = {
    "itself": lambda value: value,
    "json": json.dumps,
    "twice": lambda value: json.dumps(json.dumps(value)),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "lines": lambda value: f"{value[:5]}\n  {value[5:]}",
}


@settings(max_examples=200, deadline=None)
@given(VALUES, st.sampled_from(list(FORMS)), st.lists(st.integers(1, 9), min_size=1, max_size=9), LOOKS)
def test_at_most_three_letters_of_a_secret_are_released(value: str, form: str, sizes: list[int], looks: list[bool]):
    """SAFE-03: and no part of it behind them, in whatever form it comes."""
    secrets = Redaction([NamedSecret("any", value, "keyring")])
    text = f"see: {FORMS[form](value)} . \n"
    whole = secrets.redact(text)

    shown = _looked_at(secrets, text, sizes, looks)

    assert "secret://" in whole
    assert re.fullmatch(_early(whole, secrets), shown), whole


_HANDLE = re.compile(r"secret://(?:seen-[0-9a-f]{12}|plain|hard|marked|any)(?:#[a-z0-9-]+)?")


def _early(whole: str, secrets: Redaction) -> str:
    """The pattern of a redacted text in which up to three letters of a secret may stand before its handle."""
    pattern, at = "", 0
    for handle in _HANDLE.finditer(whole):
        value = secrets.reveal(handle[0])
        begins = [value[:n] for n in range(len(value)) if len(re.sub(r"[\s\\\"']", "", value[:n])) <= 3]
        # What sets two handles apart is not needed where the mark of one stands between them.
        between = "~?" if whole[at : handle.start()] == "~" else re.escape(whole[at : handle.start()])
        pattern += f"{between}(?:{'|'.join(map(re.escape, begins))}){re.escape(handle[0])}"
        at = handle.end()
    return pattern + re.escape(whole[at:])


def _looked_at(secrets: Redaction, text: str, sizes: list[int], looks: list[bool]) -> str:
    """All that is shown of a text in pieces to somebody who looks between some of them."""
    veil = secrets.redact_stream()
    shown = ""
    for turn, piece in enumerate(_cut(text, sizes)):
        shown += veil.add(piece)
        if looks[turn % len(looks)]:
            shown += veil.release_harmless()
    return shown + veil.pending()


def _cut(text: str, sizes: list[int]) -> Iterator[str]:
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        yield text[at : at + size]
        at, turn = at + size, turn + 1
