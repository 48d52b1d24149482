"""Text encodings of files, and changes as diffs that git applies."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from callboard.contracts.content import Text, make_blob
from callboard.contracts.facts.tool import FileChange
from callboard.tools.files.changes import PlannedChange, diff, to_fact
from callboard.tools.files.text_encoding import decode, describe_kind


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"plain\n", "plain\n", "utf-8"),
        ("潮位\n".encode(), "潮位\n", "utf-8"),
        (b"\xef\xbb\xbfmarked", "marked", "utf-8"),
        (b"\xff\xfea\x00b\x00", "ab", "utf-16-le"),
        (b"\xfe\xff\x00a", "a", "utf-16-be"),
        (b"caf\xe9\r\n", "café\r\n", "latin-1"),
        (b"", "", "utf-8"),
        (b"\x1b[31mred", "\x1b[31mred", "utf-8"),
    ],
)
def test_text_keeps_its_encoding(data: bytes, text: str, encoding: str):
    decoded = decode(data)

    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, encoding)
    assert decoded.encode(decoded.text) == data


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"\x7fELF\x02\x01\x01\x00", "an ELF program or library"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"a\x00b", "binary data"),
        (bytes(range(1, 256)), "binary data"),
        (b"\xff\xfe\x00", "binary data"),
    ],
)
def test_binary_data_has_a_descriptive_name(data: bytes, kind: str):
    assert decode(data) is None
    assert describe_kind(data) == kind


@given(st.binary())
def test_decoded_text_encodes_to_the_same_bytes(data: bytes):
    decoded = decode(data)

    assert decoded is None or decoded.encode(decoded.text) == data


lines = st.lists(st.sampled_from(["a", "b", "", "d\r"]), max_size=30)
texts = st.tuples(lines, st.booleans()).map(lambda drawn: "\n".join(drawn[0]) + ("\n" if drawn[1] and drawn[0] else ""))


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_git_applies_every_diff(tmp_path_factory: pytest.TempPathFactory, old: str, new: str):
    assume(old not in {"", new} and new)
    result = diff(PlannedChange("f.txt", old.encode(), new.encode()))
    folder = tmp_path_factory.mktemp("apply")
    (folder / "f.txt").write_bytes(old.encode())

    done = _git_apply(folder, result.text)

    assert done.returncode == 0, (old, new, result.text, done.stderr)
    assert (folder / "f.txt").read_bytes() == new.encode()
    body = result.text.split("\n")[2:]
    assert result.added == sum(line.startswith("+") for line in body)
    assert result.removed == sum(line.startswith("-") for line in body)


def test_the_diff_of_a_long_file_is_fast(tmp_path: Path):
    old = [f"line {number}\n" for number in range(200_000)]
    new = [*old[:1000], "one\n", *old[1001:150_000], "two\n", *old[150_000:]]
    all_new = [f"other {number}\n" for number in range(200_000)]

    near = diff(PlannedChange("f.txt", "".join(old).encode(), "".join(new).encode()))
    far = diff(PlannedChange("f.txt", "".join(old).encode(), "".join(all_new).encode()))

    assert (far.added, far.removed) == (200_000, 200_000)
    (tmp_path / "f.txt").write_text("".join(old))
    assert _git_apply(tmp_path, near.text).returncode == 0
    assert (tmp_path / "f.txt").read_text() == "".join(new)


def test_the_fact_of_a_small_change_has_the_whole_diff():
    change, blobs = to_fact(PlannedChange("a.txt", b"one\ntwo", b"one\n2"))

    assert change == FileChange(
        path="a.txt",
        kind="modified",
        added=1,
        removed=1,
        diff=Text(
            text="--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n"
            "\\ No newline at end of file\n"
        ),
        before=make_blob(b"one\ntwo", "text/plain; charset=utf-8").ref,
        after=make_blob(b"one\n2", "text/plain; charset=utf-8").ref,
    )
    assert [blob.data for blob in blobs] == [b"one\ntwo", b"one\n2"]


def test_a_large_diff_becomes_a_preview_and_a_blob():
    """UI-08"""
    change, blobs = to_fact(PlannedChange("a.txt", None, b"0123456789\n" * 2000))

    assert change.kind == "created"
    assert change.diff is not None
    assert change.diff.ref is not None
    assert [blob.ref for blob in blobs] == [change.diff.ref, change.after]


def test_a_change_of_binary_data_is_described():
    result = diff(PlannedChange("a.bin", b"\x00\x01", b"text\n"))

    assert result.text == "--- a/a.bin\n+++ b/a.bin\nThe file was binary data, 2 bytes; it becomes text, 5 bytes.\n"


def _git_apply(folder: Path, text: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=folder,
        input=text.encode(),
        capture_output=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(folder.parent), "HOME": str(folder)},
    )
