"""Names of worktrees, and paths of a folder inside its worktree."""

from __future__ import annotations

import pytest

from callboard.contracts.entities import worktree

SESSION = "ses_1a2b3c4d5e6FGH"
MAKER = worktree.build_worktree_name("tide", SESSION, "maker-1")


def test_a_worktree_is_named_after_its_repository_its_session_and_its_agent() -> None:
    assert MAKER == ".tide-5e6fgh-maker-1"


@pytest.mark.parametrize(
    ("path", "folder", "below"),
    [
        (f"/src/{MAKER}/bin/check", "/src/tide", "bin/check"),
        (f"/src/{MAKER}/bin/check", "/src/tide/", "bin/check"),
        (f"/src/{MAKER}/web/check", "/src/tide/web", "check"),
        # A path outside of the folder.
        (f"/src/{MAKER}/bin/check", "/src/tide/web", ""),
        (f"/src/{MAKER}", "/src/tide", ""),
        ("/src/tide/bin/check", "/src/tide", ""),
        ("/src/other/bin/check", "/src/tide", ""),
        (f"/other/{MAKER}/check", "/src/tide", ""),
        ("/src/.tide-hooks/check", "/src/tide", ""),
        ("/src/.tide-5e6fgh-/check", "/src/tide", ""),
        (f"/src/{MAKER}/check", "/", ""),
    ],
)
def test_a_path_inside_a_folders_worktree_is_derived_from_the_path_alone(path: str, folder: str, below: str) -> None:
    assert worktree.locate_in_worktree(path, folder) == below
