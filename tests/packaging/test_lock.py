"""The page's lock file names packages and hashes, no registry, and every platform."""

import json
from typing import Any

from scripts.page import WEB


def _packages() -> dict[str, dict[str, Any]]:
    return json.loads((WEB / "package-lock.json").read_text())["packages"]


def test_the_lock_names_no_registry():
    assert [name for name, package in _packages().items() if "resolved" in package] == []


def test_every_locked_package_has_its_hash():
    missing = [
        n for n, package in _packages().items() if n and "integrity" not in package and "inBundle" not in package
    ]

    assert missing == []


def test_the_lock_has_the_binaries_of_every_platform():
    packages = _packages()
    locked = {name.rpartition("node_modules/")[2] for name in packages}

    missing = {
        optional
        for package in packages.values()
        for optional in package.get("optionalDependencies", {})
        if optional not in locked
    }

    assert missing == set()
