"""`make check` rejects texts that name code which does not exist."""

from pathlib import Path

import pytest

from scripts import check_references

CODE = '''"""The queue of a thread."""

class Queue:
    """A queue."""

    size: int

    def read_next(self): ...

def close_queue(): ...
'''


def list_breaches(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, name: str
) -> list[str]:
    """Write the text, and return the printed lines, which must agree with the exit code."""
    (tree / "src/callboard").mkdir(parents=True)
    (tree / "src/callboard/queue.py").write_text(CODE)
    (tree / "docs").mkdir()
    (tree / name).write_text(text)
    monkeypatch.setattr("sys.argv", ["check_references.py", str(tree)])
    code = check_references.main()
    printed = capsys.readouterr().out.splitlines()
    assert code == (1 if printed else 0)
    return printed


@pytest.mark.parametrize(
    "text",
    [
        "`Queue.read_next` and `size` are read, then `close_queue()` runs.",
        "The module is `callboard/queue.py`, and `close_queue` in `queue.py` ends it.",
        "A field is `readNext` on the wire.",
        "```python\nclass Mine: ...\n```\n\n`Mine` is an example.",
    ],
)
def test_a_reference_to_code_passes(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: names, members, files, wire names and examples of the document exist."""
    assert list_breaches(tmp_path, capsys, monkeypatch, text, "docs/queue.md") == []


@pytest.mark.parametrize(
    ("text", "breach"),
    [
        ("Call `open_queue`.", "`open_queue` does not exist."),
        ("Call `Queue.close_queue`.", "`Queue.close_queue` does not exist."),
        ("See `callboard/queues.py`.", "there is no file `callboard/queues.py`."),
        ("`Path` in `queue.py` is a path.", "`Path` is not in `queue.py`."),
    ],
)
def test_a_stale_reference_is_reported_with_its_place(
    text: str, breach: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a document cannot name code that was renamed, moved or deleted."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/paths.py").write_text("from pathlib import Path\n")
    text = f"# Queue\n\n{text}\n"

    assert list_breaches(tmp_path, capsys, monkeypatch, text, "docs/queue.md") == [f"docs/queue.md:3: {breach}"]


def test_docstrings_and_comments_of_the_package_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a docstring or a comment is no definition of the name that it mentions."""
    text = '"""Calls `open_queue`.\n\nThen `read_last`.\n"""\n\nx = 1  # See `read_first`.\n'

    assert list_breaches(tmp_path, capsys, monkeypatch, text, "src/callboard/reader.py") == [
        "src/callboard/reader.py:1: `open_queue` does not exist.",
        "src/callboard/reader.py:3: `read_last` does not exist.",
        "src/callboard/reader.py:6: `read_first` does not exist.",
    ]
