"""Paths as text."""

from __future__ import annotations

import posixpath
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.tools.files.handles import Folder
from callboard.tools.files.paths import (
    MAX_NAME_BYTES,
    MAX_PATH_BYTES,
    PathDenied,
    display,
    find_protected,
    to_relative_path,
)

ROOT = "/srv/space"


@pytest.mark.parametrize(
    ("given_path", "ours"),
    [
        ("README.md", "README.md"),
        ("./src//app.py", "src/app.py"),
        ("src/", "src"),
        ("", ""),
        (".", ""),
        (ROOT, ""),
        (f"{ROOT}/", ""),
        (f"{ROOT}/src/app.py", "src/app.py"),
        ("~/notes", "~/notes"),
        ("...", "..."),
        ("潮位/观测.md", "潮位/观测.md"),
        ("a\\..\\b", "a\\..\\b"),
    ],
)
def test_a_path_in_the_folder_becomes_relative(given_path: str, ours: str):
    assert to_relative_path(ROOT, given_path) == ours


@pytest.mark.parametrize(
    ("given_path", "message"),
    [
        ("..", ".. goes through a parent folder (..). Use a path inside the folder."),
        ("a/../b", "a/../b goes through a parent folder (..). Use a path inside the folder."),
        (f"{ROOT}/../x", f"{ROOT}/../x goes through a parent folder (..). Use a path inside the folder."),
        ("/etc/passwd", "/etc/passwd is outside the folder. Use a path relative to the folder."),
        ("//etc/passwd", "//etc/passwd is outside the folder. Use a path relative to the folder."),
        (f"{ROOT}-evil/x", f"{ROOT}-evil/x is outside the folder. Use a path relative to the folder."),
        ("a\0b", "a⟨U+0000⟩b contains a NUL byte."),
        ("a\nb", "a b contains control characters."),
        ("a\x1b[2Jb", "a⟨U+001B⟩[2Jb contains control characters."),
        ("gpj.\u202etxt", "gpj.⟨U+202E⟩txt contains control characters."),
        ("\udc80", "⟨U+DC80⟩ is not valid Unicode text."),
        ("x" * (MAX_NAME_BYTES + 1), f"{'x' * 119}… has a name of more than 255 bytes."),
        ("x/" * MAX_PATH_BYTES, f"The path is too long: {2 * MAX_PATH_BYTES} bytes, at most {MAX_PATH_BYTES}."),
    ],
)
def test_an_outside_path_is_refused_with_the_reason(given_path: str, message: str):
    """SAFE-01"""
    with pytest.raises(PathDenied) as denied:
        to_relative_path(ROOT, given_path)

    assert denied.value.message == message


FRAGMENTS = "..|.||/|//|a|link|up|etc|secret.txt|%2e%2e|..\u200b|\u2024\u2024|．．|~|\\|\0".split("|")
ATTACKS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=8).map("/".join) | st.text(max_size=60)


@given(ATTACKS)
def test_any_text_is_a_path_inside_or_refused(given_path: str):
    """SAFE-01"""
    for written in (given_path, "/" + given_path, f"{ROOT}/{given_path}"):
        try:
            ours = to_relative_path(ROOT, written)
        except PathDenied:
            continue
        assert ours == "" or all(name not in {"", ".", ".."} for name in ours.split("/"))
        assert posixpath.normpath(posixpath.join(ROOT, ours)) in {ROOT, f"{ROOT}/{ours}"}
        assert to_relative_path(ROOT, ours) == ours


@given(ATTACKS)
def test_no_path_reads_a_file_outside(given_path: str):
    """SAFE-01: on a real folder with links that lead out of it."""
    with tempfile.TemporaryDirectory() as root:
        outside, inside = Path(root, "out"), Path(root, "in")
        outside.mkdir()
        (outside / "secret.txt").write_text("the secret")
        (inside / "a").mkdir(parents=True)
        (inside / "link").symlink_to(outside)
        (inside / "a" / "secret.txt").symlink_to(outside / "secret.txt")
        (inside / "up").symlink_to("..")
        with Folder(str(inside)) as folder, suppress(PathDenied, IsADirectoryError):
            assert folder.read(to_relative_path(str(inside), given_path), 100) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (".git", ".git"),
        (".git/hooks/pre-commit", ".git"),
        ("vendor/tool/.git/config", ".git"),
        (".GIT/config", ".git"),
        (".g\u200cit/config", ".git"),
        (".ｇｉｔ/config", ".git"),
        (".git./config", ".git"),
        ("agents/solo.md", "agents"),
        ("Agents/solo.md", "agents"),
        (".callboard/settings.json", ".callboard"),
        ("src/.callboard", ".callboard"),
        ("src/agents/solo.md", "agents/solo.md"),
        ("src/agents/solo.py", ""),
        (".gitignore", ""),
        ("agents.md", "agents.md"),
        ("", ""),
    ],
)
def test_protected_names_are_recognised_in_every_spelling(path: str, name: str):
    """Agents cannot change files that control their permissions."""
    assert find_protected(path) == name


def test_a_displayed_path_has_no_control_characters():
    """SAFE-06"""
    assert display("a\x1b[31m\u202eb\r\nc" + "x" * 200) == "a⟨U+001B⟩[31m⟨U+202E⟩b  c" + "x" * 94 + "…"


def test_the_length_of_a_name_is_counted_in_bytes(tmp_path: Path):
    name = "潮" * 85

    (tmp_path / name).write_text("")

    assert to_relative_path(str(tmp_path), name) == name
    assert [path.name for path in tmp_path.iterdir()] == [name]
