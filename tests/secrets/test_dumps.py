"""Dumps of a stored value by xxd, od and hexdump, whole and in pieces (X10)."""

from __future__ import annotations

import time

import pytest

from callboard.contracts.errors import Refusal
from callboard.secrets.named_secret import NamedSecret
from callboard.secrets.redaction import Redaction

VALUE = "q8w7E6r5/t4y3u2é+i1o0Z-xyz"
#: Output of the programs for a file with `key=`, the value and a line of text.
DUMPS = {
    "xxd": r"""
00000000: 6b65 793d 7138 7737 4536 7235 2f74 3479  key=q8w7E6r5/t4y
00000010: 3375 32c3 a92b 6931 6f30 5a2d 7879 7a20  3u2..+i1o0Z-xyz
00000020: 7461 696c 206f 6620 7468 6520 6669 6c65  tail of the file
00000030: 2074 6861 7420 676f 6573 206f 6e0a        that goes on.
""",
    "xxd -c 8": r"""
00000000: 6b65 793d 7138 7737  key=q8w7
00000008: 4536 7235 2f74 3479  E6r5/t4y
00000010: 3375 32c3 a92b 6931  3u2..+i1
00000018: 6f30 5a2d 7879 7a20  o0Z-xyz
00000020: 7461 696c 206f 6620  tail of
00000028: 7468 6520 6669 6c65  the file
00000030: 2074 6861 7420 676f   that go
00000038: 6573 206f 6e0a       es on.
""",
    "xxd -g 1": r"""
00000000: 6b 65 79 3d 71 38 77 37 45 36 72 35 2f 74 34 79  key=q8w7E6r5/t4y
00000010: 33 75 32 c3 a9 2b 69 31 6f 30 5a 2d 78 79 7a 20  3u2..+i1o0Z-xyz
00000020: 74 61 69 6c 20 6f 66 20 74 68 65 20 66 69 6c 65  tail of the file
00000030: 20 74 68 61 74 20 67 6f 65 73 20 6f 6e 0a         that goes on.
""",
    "xxd -g 4": r"""
00000000: 6b65793d 71387737 45367235 2f743479  key=q8w7E6r5/t4y
00000010: 337532c3 a92b6931 6f305a2d 78797a20  3u2..+i1o0Z-xyz
00000020: 7461696c 206f6620 74686520 66696c65  tail of the file
00000030: 20746861 7420676f 6573206f 6e0a       that goes on.
""",
    "xxd -e": r"""
00000000: 3d79656b 37773871 35723645 7934742f  key=q8w7E6r5/t4y
00000010: c3327533 31692ba9 2d5a306f 207a7978  3u2..+i1o0Z-xyz
00000020: 6c696174 20666f20 20656874 656c6966  tail of the file
00000030: 61687420 6f672074 6f207365     0a6e   that goes on.
""",
    "xxd -u": r"""
00000000: 6B65 793D 7138 7737 4536 7235 2F74 3479  key=q8w7E6r5/t4y
00000010: 3375 32C3 A92B 6931 6F30 5A2D 7879 7A20  3u2..+i1o0Z-xyz
00000020: 7461 696C 206F 6620 7468 6520 6669 6C65  tail of the file
00000030: 2074 6861 7420 676F 6573 206F 6E0A        that goes on.
""",
    "xxd -i": r"""
  0x6b, 0x65, 0x79, 0x3d, 0x71, 0x38, 0x77, 0x37, 0x45, 0x36, 0x72, 0x35,
  0x2f, 0x74, 0x34, 0x79, 0x33, 0x75, 0x32, 0xc3, 0xa9, 0x2b, 0x69, 0x31,
  0x6f, 0x30, 0x5a, 0x2d, 0x78, 0x79, 0x7a, 0x20, 0x74, 0x61, 0x69, 0x6c,
  0x20, 0x6f, 0x66, 0x20, 0x74, 0x68, 0x65, 0x20, 0x66, 0x69, 0x6c, 0x65,
  0x20, 0x74, 0x68, 0x61, 0x74, 0x20, 0x67, 0x6f, 0x65, 0x73, 0x20, 0x6f,
  0x6e, 0x0a
""",
    "od": r"""
0000000 062553 036571 034161 033567 033105 032562 072057 074464
0000020 072463 141462 025651 030551 030157 026532 074570 020172
0000040 060564 066151 067440 020146 064164 020145 064546 062554
0000060 072040 060550 020164 067547 071545 067440 005156
0000076
""",
    "od -c": r"""
0000000   k   e   y   =   q   8   w   7   E   6   r   5   /   t   4   y
0000020   3   u   2 303 251   +   i   1   o   0   Z   -   x   y   z
0000040   t   a   i   l       o   f       t   h   e       f   i   l   e
0000060       t   h   a   t       g   o   e   s       o   n  \n
0000076
""",
    "od -An -c": r"""
   k   e   y   =   q   8   w   7   E   6   r   5   /   t   4   y
   3   u   2 303 251   +   i   1   o   0   Z   -   x   y   z
   t   a   i   l       o   f       t   h   e       f   i   l   e
       t   h   a   t       g   o   e   s       o   n  \n
""",
    "od -tx1": r"""
0000000 6b 65 79 3d 71 38 77 37 45 36 72 35 2f 74 34 79
0000020 33 75 32 c3 a9 2b 69 31 6f 30 5a 2d 78 79 7a 20
0000040 74 61 69 6c 20 6f 66 20 74 68 65 20 66 69 6c 65
0000060 20 74 68 61 74 20 67 6f 65 73 20 6f 6e 0a
0000076
""",
    "od -An -tx1": r"""
 6b 65 79 3d 71 38 77 37 45 36 72 35 2f 74 34 79
 33 75 32 c3 a9 2b 69 31 6f 30 5a 2d 78 79 7a 20
 74 61 69 6c 20 6f 66 20 74 68 65 20 66 69 6c 65
 20 74 68 61 74 20 67 6f 65 73 20 6f 6e 0a
""",
    "od -x": r"""
0000000 656b 3d79 3871 3777 3645 3572 742f 7934
0000020 7533 c332 2ba9 3169 306f 2d5a 7978 207a
0000040 6174 6c69 6f20 2066 6874 2065 6966 656c
0000060 7420 6168 2074 6f67 7365 6f20 0a6e
0000076
""",
    "od -tx4": r"""
0000000 3d79656b 37773871 35723645 7934742f
0000020 c3327533 31692ba9 2d5a306f 207a7978
0000040 6c696174 20666f20 20656874 656c6966
0000060 61687420 6f672074 6f207365 00000a6e
0000076
""",
    "od -tx8": r"""
0000000 377738713d79656b 7934742f35723645
0000020 31692ba9c3327533 207a79782d5a306f
0000040 20666f206c696174 656c696620656874
0000060 6f67207461687420 00000a6e6f207365
0000076
""",
    "od -tx1z": r"""
0000000 6b 65 79 3d 71 38 77 37 45 36 72 35 2f 74 34 79  >key=q8w7E6r5/t4y<
0000020 33 75 32 c3 a9 2b 69 31 6f 30 5a 2d 78 79 7a 20  >3u2..+i1o0Z-xyz <
0000040 74 61 69 6c 20 6f 66 20 74 68 65 20 66 69 6c 65  >tail of the file<
0000060 20 74 68 61 74 20 67 6f 65 73 20 6f 6e 0a        > that goes on.<
0000076
""",
    "od -b": r"""
0000000 153 145 171 075 161 070 167 067 105 066 162 065 057 164 064 171
0000020 063 165 062 303 251 053 151 061 157 060 132 055 170 171 172 040
0000040 164 141 151 154 040 157 146 040 164 150 145 040 146 151 154 145
0000060 040 164 150 141 164 040 147 157 145 163 040 157 156 012
0000076
""",
    "hexdump": r"""
0000000 656b 3d79 3871 3777 3645 3572 742f 7934
0000010 7533 c332 2ba9 3169 306f 2d5a 7978 207a
0000020 6174 6c69 6f20 2066 6874 2065 6966 656c
0000030 7420 6168 2074 6f67 7365 6f20 0a6e
000003e
""",
    "hexdump -C": r"""
00000000  6b 65 79 3d 71 38 77 37  45 36 72 35 2f 74 34 79  |key=q8w7E6r5/t4y|
00000010  33 75 32 c3 a9 2b 69 31  6f 30 5a 2d 78 79 7a 20  |3u2..+i1o0Z-xyz |
00000020  74 61 69 6c 20 6f 66 20  74 68 65 20 66 69 6c 65  |tail of the file|
00000030  20 74 68 61 74 20 67 6f  65 73 20 6f 6e 0a        | that goes on.|
0000003e
""",
    "hexdump -c": r"""
0000000   k   e   y   =   q   8   w   7   E   6   r   5   /   t   4   y
0000010   3   u   2 303 251   +   i   1   o   0   Z   -   x   y   z
0000020   t   a   i   l       o   f       t   h   e       f   i   l   e
0000030       t   h   a   t       g   o   e   s       o   n  \n
000003e
""",
    "hexdump -x": r"""
0000000    656b    3d79    3871    3777    3645    3572    742f    7934
0000010    7533    c332    2ba9    3169    306f    2d5a    7978    207a
0000020    6174    6c69    6f20    2066    6874    2065    6966    656c
0000030    7420    6168    2074    6f67    7365    6f20    0a6e
000003e
""",
}


def make_redaction() -> Redaction:
    return Redaction([NamedSecret("v", VALUE, "keyring")])


@pytest.mark.parametrize("program", list(DUMPS))
@pytest.mark.parametrize("listed", [False, True])
def test_x10_a_dump_of_a_stored_value_is_a_handle_that_can_be_revealed(program: str, listed: bool) -> None:
    dump = DUMPS[program].removeprefix("\n")
    lines = [f"{number:6}\t{line}" for number, line in enumerate(dump.splitlines(), 1)] if listed else dump.splitlines()
    secrets, text = make_redaction(), "\n".join(["$ show", *lines, "done", ""])

    redacted = secrets.redact(text)

    assert redacted.count("secret://") == 1
    # The rows with the value are gone, the others stay.
    assert redacted.splitlines()[-3:] == text.splitlines()[-3:]
    first = next(line for line in lines if len(line) > 20)
    assert first not in redacted
    assert secrets.reveal(redacted) == text
    assert secrets.redact(redacted) == redacted


@pytest.mark.parametrize("program", list(DUMPS))
@pytest.mark.parametrize("size", [1, 3, 7, 19, 64])
def test_x10_a_dump_in_pieces_has_no_part_of_a_value(program: str, size: int) -> None:
    secrets, text = make_redaction(), f"$ show\n{DUMPS[program].removeprefix(chr(10))}done\n"
    redactor = secrets.redact_stream()

    streamed = (
        "".join(redactor.add(text[at : at + size]) for at in range(0, len(text), size)) + redactor.read_withheld()
    )

    assert streamed == secrets.redact(text)


def test_x10_text_beside_a_dump_is_not_withheld() -> None:
    redactor = make_redaction().redact_stream()

    assert redactor.add("It took 12 s.\n    be careful") == "It took 12 s.\n    be careful"
    assert redactor.add("\n00000000: 6865 6c6c  he") == "\n"
    assert redactor.add("ll\nand on") == "00000000: 6865 6c6c  hell\nand on"


def test_x10_a_dump_of_a_key_is_refused_to_tools_and_listed_by_name() -> None:
    stored, key = make_redaction(), Redaction([NamedSecret("v", VALUE, "keyring")], ["v"])
    for program in ("xxd", "od -c", "hexdump -C"):
        text = DUMPS[program]

        assert stored.find_stored(stored.redact(text)) == ("v",)
        with pytest.raises(Refusal, match="sends it to that provider only"):
            key.reveal(key.redact(text))


def test_x10_a_dump_of_other_data_is_unchanged() -> None:
    text = DUMPS["xxd"].replace("q", "p").replace("3d71", "3d70") + DUMPS["od -c"].replace("   q", "   p")

    assert Redaction([NamedSecret("v", "another-value-11", "keyring")]).redact(text) == text


def test_x10_a_long_dump_takes_linear_time() -> None:
    times: list[float] = []
    for rows in (1_000, 8_000):
        text = "".join(f"{row * 16:08x}: {'7138 ' * 8} q8q8q8q8q8q8q8q8\n" for row in range(rows))
        start = time.process_time()
        make_redaction().redact(text)
        times.append(time.process_time() - start)
    assert times[1] < 40 * max(times[0], 0.02)
