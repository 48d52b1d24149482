"""The build hook: every wheel and source distribution carries the page, built from `web/`.

An editable install takes what is there, so that it never waits for the page; `make up` builds it, and so does an
editable install with `CALLBOARD_BUILD_PAGE=1`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    def dependencies(self) -> list[str]:
        page = _page_builder(self.root)
        return [] if page.is_current() else [page.NODE_REQUIREMENT]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        page = _page_builder(self.root)
        if version == "editable" and os.environ.get("CALLBOARD_BUILD_PAGE") != "1":
            return
        try:
            page.build()
        except page.PageError as error:
            sys.exit(f"callboard: {error}")
        build_data["artifacts"].append("/" + page.PAGE.relative_to(page.ROOT).as_posix())


def _page_builder(root: str) -> ModuleType:
    """`scripts/page.py`; while a package is built the project's root is not importable."""
    spec = importlib.util.spec_from_file_location("callboard_page_builder", Path(root, "scripts", "page.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"{root} has no scripts/page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
