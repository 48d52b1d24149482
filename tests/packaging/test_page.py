"""The page is rebuilt exactly when its sources change. A failed build gives the reason."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import page


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.tsx").write_text("export {}\n")
    return folder


def test_a_changed_source_changes_the_hash(web: Path):
    before = page.source_hash(web)

    (web / "src" / "main.tsx").write_text("export const changed = true\n")

    assert page.source_hash(web) != before


def test_a_renamed_source_changes_the_hash(web: Path):
    before = page.source_hash(web)

    (web / "src" / "main.tsx").rename(web / "src" / "other.tsx")

    assert page.source_hash(web) != before


@pytest.mark.parametrize("folder", ["node_modules", "dist", "coverage"])
def test_generated_files_do_not_change_the_hash(web: Path, folder: str):
    before = page.source_hash(web)

    (web / folder).mkdir()
    (web / folder / "made.js").write_text("1\n")

    assert page.source_hash(web) == before


def test_a_page_is_current_until_its_sources_change(web: Path, tmp_path: Path):
    built = tmp_path / "page"
    assert not page.is_current(web, built)

    built.mkdir()
    (built / page.BUILT_FROM).write_text(json.dumps({"sources": page.source_hash(web)}))
    assert page.is_current(web, built)

    (web / "src" / "main.tsx").write_text("export const changed = true\n")
    assert not page.is_current(web, built)


def test_a_failed_build_shows_the_output_of_npm_and_leaves_no_page(web: Path, tmp_path: Path):
    (web / "package.json").write_text('{"name": "broken", "dependencies": {"react": "19.0.0"}}\n')
    (web / "package-lock.json").write_text('{"name": "broken", "lockfileVersion": 3, "packages": {"": {}}}\n')

    with pytest.raises(page.PageError) as refused:
        page.build(web, tmp_path / "page")

    assert str(refused.value).startswith(f"`npm ci` in {web} ended with 1:\n")
    assert "package.json and package-lock.json" in str(refused.value)
    assert not (tmp_path / "page").exists()


def test_the_page_needs_no_node_on_path():
    bare = {name: value for name, value in os.environ.items() if name != "PATH"}

    done = subprocess.run(
        [sys.executable, page.ROOT / "scripts" / "page.py", "build"],
        env={**bare, "PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert page.is_current()


def test_the_first_page_loads_less_than_160_kilobytes_compressed():
    page.build()
    index = (page.PAGE / "index.html").read_text()

    waited_for = set(re.findall(r'"/(assets/[^"]+\.(?:js|css))"', index))

    assert waited_for
    assert sum((page.PAGE / f"{name}.gz").stat().st_size for name in waited_for) < 160_000
