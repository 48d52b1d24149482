"""Redaction of a text in pieces, without a part of a secret in any piece."""

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


def make_redaction() -> Redaction:
    values = {"plain": PLAIN, "hard": HARD, "marked": MARKED}
    return Redaction([NamedSecret(name, value, "keyring") for name, value in values.items()])


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
    secrets = make_redaction()
    whole = secrets.redact(text)
    redactor = secrets.redact_stream()

    released = "".join(redactor.add(piece) for piece in split_text(text, sizes))

    assert released + redactor.read_withheld() == whole
    for value in (PLAIN, HARD):
        assert value[:12] not in released


def test_no_piece_has_a_part_of_an_incomplete_secret():
    """SAFE-03: a client sees every piece."""
    for token, public in ((PLAIN, ""), (TOKENS[0], "ghp_"), (TOKENS[1], "sk-")):
        redactor = make_redaction().redact_stream()

        pieces = [redactor.add(character) for character in f"x {token}"]

        assert "".join(pieces) in (f"x {public}", "x secret://plain")


def test_text_without_a_secret_is_returned_at_once():
    """SAFE-03: only text that may begin a secret is withheld, up to a limit."""
    redactor = Redaction().redact_stream()

    assert [redactor.add(word) for word in ("Some ", "tas", "ks ", "are ", "easy: ", "https://host/")] == [
        *("Some ", "tas", "ks ", "are ", "easy: "),
        "https://host/",
    ]


def test_an_endless_token_is_released_at_its_maximum_length():
    """SAFE-03"""
    redactor = Redaction().redact_stream()

    released = redactor.add("sk-" + "a1" * 2000)

    assert released.startswith("sk-secret://seen-")
    assert len(released) > 3000


def test_a_reader_receives_the_last_letters_even_if_a_secret_may_begin_there():
    """SAFE-03: a prompt is read to its end while the command waits for an answer."""
    for text, held in (
        ("heard q8w\n", "q8w\n"),
        ("q", "q"),
        ("Which? Ab3\r\n  ", "Ab3\r\n  "),
        ("secret://plain q8", "q8"),
    ):
        redactor = make_redaction().redact_stream()

        assert (
            redactor.add(text),
            redactor.release_harmless(),
            redactor.release_harmless(),
            redactor.read_withheld(),
        ) == (
            text.removesuffix(held),
            held,
            "",
            "",
        )
        assert redactor.add(". ") == ". "


def test_a_handle_follows_the_released_letters_of_a_secret():
    """SAFE-03: the handle is for the whole secret, also over two lines, and for a later secret."""
    for rest, handle, value in (
        (PLAIN[3:], "secret://plain", PLAIN),
        (f"\n  {PLAIN[3:]}", "secret://seen-", f"q8w\n  {PLAIN[3:]}"),
        (PLAIN, "secret://plain", PLAIN),
    ):
        secrets = make_redaction()
        redactor = secrets.redact_stream()

        assert (redactor.add("x q8w"), redactor.release_harmless()) == ("x ", "q8w")
        behind = redactor.add(rest) + redactor.add(" !")
        assert behind.startswith(handle)
        assert secrets.reveal(behind) == f"{value} !"


def test_released_text_after_a_handle_is_separated_once():
    """SAFE-03"""
    redactor = make_redaction().redact_stream()

    released = [
        redactor.add(f"{PLAIN}q8"),
        redactor.release_harmless(),
        redactor.add("z"),
        redactor.add(PLAIN),
        redactor.read_withheld(),
    ]

    assert released == ["secret://plain", "~q8", "z", "secret://plain", ""]


def test_reading_after_each_character_reveals_three_letters_of_a_secret():
    """SAFE-03: letters that were released earlier count."""
    for value, name in ((PLAIN, "plain"), (HARD, "hard")):
        secrets = make_redaction()
        redactor = secrets.redact_stream()

        released = "".join(redactor.add(character) + redactor.release_harmless() for character in f"x {value} y")

        assert released == f"x {value[:3]}secret://{name} y"


def test_nothing_is_released_after_a_mark():
    """SAFE-03: a password in an address may be three letters."""
    for text, secret in (("https://bob:", "abc"), ("sk-", "a1"), ("?token=", "a1"), ("secret://", "pla")):
        redactor = make_redaction().redact_stream()

        assert (redactor.add(text + secret), redactor.release_harmless(), redactor.read_withheld()) == (
            text,
            "",
            secret,
        )


def test_no_whole_secret_of_quotes_is_released():
    """SAFE-03: a secret may be the beginning of another."""
    secrets = Redaction(
        [NamedSecret("one", "\"'\\\"'ab", "keyring"), NamedSecret("more", "\"'\\\"'abcd1234", "keyring")]
    )
    redactor = secrets.redact_stream()

    assert (redactor.add("\"'\\\"'ab"), redactor.release_harmless(), redactor.read_withheld()) == (
        "",
        "",
        "secret://one",
    )


READS = st.lists(st.booleans(), min_size=1, max_size=20)
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=20)


@settings(max_examples=200, deadline=None)
@given(TEXTS, SIZES, READS)
def test_a_reader_at_any_time_receives_the_redacted_text_with_at_most_three_letters_before_a_handle(
    text: str, sizes: list[int], reads: list[bool]
):
    """SAFE-03"""
    secrets = make_redaction()
    whole = secrets.redact(text)

    assert re.fullmatch(early_pattern(whole, secrets), read_between(secrets, text, sizes, reads)), whole


VALUES = st.text("ab1Z+/=\"'\\é%$", min_size=8, max_size=40).filter(lambda value: len(set(value)) > 3)
FORMS = {
    "itself": lambda value: value,
    "json": json.dumps,
    "twice": lambda value: json.dumps(json.dumps(value)),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "lines": lambda value: f"{value[:5]}\n  {value[5:]}",
}


@settings(max_examples=200, deadline=None)
@given(VALUES, st.sampled_from(list(FORMS)), st.lists(st.integers(1, 9), min_size=1, max_size=9), READS)
def test_at_most_three_letters_of_a_secret_are_released(value: str, form: str, sizes: list[int], reads: list[bool]):
    """SAFE-03: in every form, and no later part of the secret."""
    secrets = Redaction([NamedSecret("any", value, "keyring")])
    text = f"see: {FORMS[form](value)} . \n"
    whole = secrets.redact(text)

    released = read_between(secrets, text, sizes, reads)

    assert "secret://" in whole
    assert re.fullmatch(early_pattern(whole, secrets), released), whole


_HANDLE = re.compile(r"secret://(?:seen-[0-9a-f]{12}|plain|hard|marked|any)(?:#[a-z0-9-]+)?")


def early_pattern(whole: str, secrets: Redaction) -> str:
    """Return the pattern of a redacted text, with up to three letters before each handle."""
    pattern, at = "", 0
    for handle in _HANDLE.finditer(whole):
        value = secrets.reveal(handle[0])
        begins = [value[:n] for n in range(len(value)) if len(re.sub(r"[\s\\\"']", "", value[:n])) <= 3]
        # Two handles need no separator if released letters are between them.
        between = "~?" if whole[at : handle.start()] == "~" else re.escape(whole[at : handle.start()])
        pattern += f"{between}(?:{'|'.join(map(re.escape, begins))}){re.escape(handle[0])}"
        at = handle.end()
    return pattern + re.escape(whole[at:])


def read_between(secrets: Redaction, text: str, sizes: list[int], reads: list[bool]) -> str:
    """Return all released text for a reader that reads after some pieces."""
    redactor = secrets.redact_stream()
    released = ""
    for turn, piece in enumerate(split_text(text, sizes)):
        released += redactor.add(piece)
        if reads[turn % len(reads)]:
            released += redactor.release_harmless()
    return released + redactor.read_withheld()


def split_text(text: str, sizes: list[int]) -> Iterator[str]:
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        yield text[at : at + size]
        at, turn = at + size, turn + 1
