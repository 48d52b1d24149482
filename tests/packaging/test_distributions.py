"""Distributions contain the built page; an editable install does not wait for it."""

import re
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from scripts import page

PAGE_IN_PACKAGE = "callboard/adapters/http/page"


def _build(target: str, into: Path, root: Path = page.ROOT) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = into.iterdir()
    return built


def _unpack(sdist: Path, into: Path) -> Path:
    into.mkdir(exist_ok=True)
    # Python's own unpacking asks for a filter since 3.12, and 3.11.2 has none.
    subprocess.run(["tar", "-xf", str(sdist), "-C", str(into)], check=True)
    (root,) = into.iterdir()
    return root


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("sdist", tmp_path_factory.mktemp("sdist"))


def test_a_wheel_carries_the_page_and_every_asset_that_it_names(tmp_path: Path):
    with zipfile.ZipFile(_build("wheel", tmp_path)) as wheel:
        names = wheel.namelist()
        index = wheel.read(f"{PAGE_IN_PACKAGE}/index.html").decode()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        described = HeaderParser().parsestr(wheel.read(metadata).decode())
        code = {name: wheel.read(name).decode().casefold() for name in names if name.endswith(".py")}

    assets = re.findall(r'(?:src|href)="/(assets/[^"]+)"', index)
    assert assets
    assert {f"{PAGE_IN_PACKAGE}/{asset}" for asset in assets} <= set(names)
    assert len(names) == len(set(names))
    assert not [name for name in names if "node_modules" in name]
    assert not [name for name in names if "contracts" in name and name.endswith(".json")]
    # Tests add faults from outside: the package has no switch that loses data.
    assert not [name for name, text in code.items() if "sabotage" in name.casefold() + text]
    assert described["Name"] == "callboard"
    assert described["License-Expression"] == "Apache-2.0"
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_a_source_distribution_is_installed_without_node(sdist: Path, tmp_path: Path):
    root = _unpack(sdist, tmp_path)

    assert page.is_current(root / "web", root / page.PAGE.relative_to(page.ROOT))


def test_a_source_distribution_builds_the_same_page_into_a_wheel(sdist: Path, tmp_path: Path):
    root = _unpack(sdist, tmp_path / "unpacked")

    with zipfile.ZipFile(_build("wheel", tmp_path / "wheel", root)) as wheel:
        index = wheel.read(f"{PAGE_IN_PACKAGE}/index.html")

    assert index == (page.PAGE / "index.html").read_bytes()
    assert not (root / "web" / "node_modules").exists()


def test_an_editable_install_does_not_wait_for_the_page(sdist: Path, tmp_path: Path):
    root = _unpack(sdist, tmp_path / "unpacked")
    (root / "web" / "index.html").write_text("<p>changed</p>\n")
    program = "import sys, hatchling.build as build; build.build_editable(sys.argv[1])"

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=root, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert not (root / "web" / "node_modules").exists()
