"""Takes the screenshots of the documents from real runs: `screenshots.py [NAME ...]`, all without a name.

Each demo runs in a scratch folder until the fact of its picture. Then Chromium renders the page, light and dark for
the README. Needs `make setup-test` and `make page`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx2
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: Seconds that a demo may take to reach its picture.
PATIENCE = 120.0
SIZE = {"width": 1440, "height": 860}


class Picture(NamedTuple):
    """A screenshot: the view of a demo after `count` facts of the type `until`."""

    demo: str
    until: str
    count: int = 1
    view: str = "Conversation"
    approves: int = 0
    pace: str = "0.2"
    file: str = ""
    theme: Literal["light", "dark"] = "light"


PICTURES = (
    Picture("coordinator_team", "action.required", file="images/workbench-light.png"),
    Picture("coordinator_team", "action.required", file="images/workbench-dark.png", theme="dark"),
    Picture("solo_run", "action.required"),
    Picture("coordinator_team", "action.required"),
    Picture("parallel_workers", "subagent.completed", view="Graph", pace="1"),
    Picture("specialist_handoff", "handoff.completed", view="Activity"),
    Picture("review_team", "review.verdict", count=2, view="Activity"),
    Picture("human_agent_board", "turn.completed", count=2, view="Board"),
    Picture("background_teammate", "agent.slept", count=3),
    Picture("remote_teammate", "action.required", count=2, approves=1),
)


class Server:
    """A running Callboard, accessed over HTTP with its token."""

    def __init__(self, state: Path) -> None:
        endpoint = json.loads((state / "endpoint.json").read_text())
        token = {"Authorization": f"Bearer {endpoint['token']}"}
        self._http = httpx2.Client(base_url=f"{endpoint['url']}/api/v1/", headers=token, trust_env=False)

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        response = self._http.get(path) if body is None else self._http.post(path, json=body)
        response.raise_for_status()
        return response.json()

    def facts(self, session: str) -> list[dict[str, Any]]:
        return self.ask(f"sessions/{session}/facts?after=0&limit=1000")["events"]

    def page_link(self, session: str) -> str:
        return self.ask("page/links", {"route": f"/s/{session}"})["link"]


@contextmanager
def server(folder: Path, pace: str) -> Iterator[Server]:
    """Run Callboard on an empty folder with a temporary state folder."""
    state, work = folder / "state", folder / "work"
    work.mkdir()
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CALLBOARD_HOME": str(state),
        "CALLBOARD_PORT": "0",
        "CALLBOARD_DEMO_PACE": pace,
    }
    command = [sys.executable, "-m", "callboard", "up", "--json", "--no-browser"]
    with subprocess.Popen(command, cwd=work, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            milestones = (json.loads(line) for line in process.stdout or ())
            next(milestone for milestone in milestones if milestone["event"] == "ready")
            yield Server(state)
        finally:
            process.terminate()


def reach(running: Server, picture: Picture) -> str:
    """Start the demo; return its session after the fact."""
    session = running.ask("commands/start_demo", {"name": picture.demo})["sessionId"]
    end, approved = time.monotonic() + PATIENCE, 0
    while time.monotonic() < end:
        facts = running.facts(session)
        counted = Counter(fact["type"] for fact in facts)
        actions = [fact["actionId"] for fact in facts if fact["type"] == "action.required"]
        for action in actions[approved : picture.approves]:
            running.ask("commands/respond_action", {"sessionId": session, "actionId": action, "decision": "approve"})
            approved += 1
        if counted[picture.until] >= picture.count:
            return session
        time.sleep(0.1)
    raise TimeoutError(f"{picture.demo}: {picture.until} did not happen {picture.count} times in {PATIENCE} s")


def draw(browser: Browser, link: str, picture: Picture) -> Path:
    """Write the screenshot of the page at an address."""
    path = DOCS / (picture.file or f"demos/{picture.demo}.png")
    path.parent.mkdir(exist_ok=True)
    context = browser.new_context(viewport=SIZE, locale="en-US", color_scheme=picture.theme)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("feed").wait_for()
    if picture.view != "Conversation":
        views = page.get_by_role("navigation", name="Team views")
        views.get_by_role("button", name=picture.view).click()
    page.wait_for_timeout(1500)
    page.screenshot(path=path)
    context.close()
    return path


def main(names: list[str]) -> int:
    """Take the screenshots whose file or demo contains one of the names."""
    wanted = [each for each in PICTURES if not names or any(name in (each.file or each.demo) for name in names)]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for picture in wanted:
            with tempfile.TemporaryDirectory() as folder, server(Path(folder), picture.pace) as running:
                path = draw(browser, running.page_link(reach(running, picture)), picture)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
