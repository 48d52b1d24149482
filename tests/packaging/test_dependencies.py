"""The package declares exactly what it imports, and its lock files satisfy the declaration."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "callboard"
PLAYS = SOURCE / "app" / "demos" / "plays"
#: Declared because another library needs them. None of our modules imports them.
WITHOUT_IMPORT = frozenset({"httptools"})
LOCKED = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>[^ \\]+)(?: ; (?P<marker>[^\\]+))?", re.MULTILINE)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared_requirements() -> list[Requirement]:
    read = project()["project"]
    extras = [line for lines in read["optional-dependencies"].values() for line in lines]
    return [Requirement(line) for line in (*read["dependencies"], *extras)]


def group_requirements(group: str) -> list[Requirement]:
    groups = project()["dependency-groups"]
    return [
        requirement
        for entry in groups[group]
        for requirement in (
            group_requirements(entry["include-group"]) if isinstance(entry, dict) else [Requirement(entry)]
        )
    ]


def imported_modules() -> Iterator[str]:
    for path in SOURCE.rglob("*.py"):
        if PLAYS in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_distributions() -> set[str]:
    """Return the imported distributions; for a namespace package, the one that has the module."""
    owners = packages_distributions()
    shared = {"google.genai": "google-genai", "google.protobuf": "protobuf"}
    distributions: set[str] = set()
    for module in imported_modules():
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or top == "callboard":
            continue
        named = next((name for prefix, name in shared.items() if module.startswith(prefix)), None)
        if named is not None:
            distributions.add(named)
        elif top != "google":
            distributions |= {canonicalize_name(name) for name in owners[top]}
    return distributions


def locked_versions(lock: str) -> dict[str, tuple[Version, Marker | None]]:
    text = (ROOT / "requirements" / lock).read_text()
    return {
        canonicalize_name(entry["name"]): (
            Version(entry["version"]),
            Marker(entry["marker"]) if entry["marker"] else None,
        )
        for entry in LOCKED.finditer(text)
    }


def test_the_package_declares_exactly_what_it_imports():
    names = {canonicalize_name(requirement.name) for requirement in declared_requirements()}

    assert names - WITHOUT_IMPORT == imported_distributions()


def test_the_docs_say_why_each_library_is_needed():
    """A library without a reason is removed, as `watchfiles` was."""
    page = json.loads((ROOT / "web" / "package.json").read_text())["dependencies"]
    names = {requirement.name for requirement in declared_requirements()} | set(page)

    named = re.findall(r"`([^`]+)`", (ROOT / "docs" / "dependencies.md").read_text())

    assert sorted(names - set(named)) == []


def test_no_requirement_is_declared_twice():
    names = [requirement.name for requirement in (*declared_requirements(), *group_requirements("dev"))]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("lock", "group", "extras"), [("run.txt", "page", False), ("dev.txt", "dev", True)], ids=["run", "dev"]
)
def test_the_lock_satisfies_every_requirement(lock: str, group: str, extras: bool):
    """X11: a set-up installs the versions that passed the tests."""
    versions = locked_versions(lock)
    required = (
        declared_requirements() if extras else [Requirement(line) for line in project()["project"]["dependencies"]]
    )

    unmet = [
        str(requirement)
        for requirement in (*required, *group_requirements(group))
        if (name := canonicalize_name(requirement.name)) not in versions
        or not requirement.specifier.contains(versions[name][0], prereleases=True)
    ]

    assert unmet == []


@pytest.mark.parametrize("lock", ["run.txt", "dev.txt"])
def test_every_locked_package_has_its_hashes_and_no_address(lock: str):
    """X11: pip refuses other content, and the lock names no registry."""
    text = (ROOT / "requirements" / lock).read_text()
    entries = text.replace("\\\n", " ").splitlines()
    packages = [line for line in entries if LOCKED.match(line)]

    assert [line.split()[0] for line in packages if "--hash=sha256:" not in line] == []
    assert "://" not in text
    assert len(packages) == len(locked_versions(lock)) > 50


def test_one_package_has_one_version_in_all_locks():
    run, dev = locked_versions("run.txt"), locked_versions("dev.txt")

    assert {name: version for name, (version, _) in run.items()} == {name: dev[name][0] for name in run}
