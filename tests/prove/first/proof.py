"""Proof of the first five minutes: from a fresh copy of the sources to a useful answer of a local
model.

`make up` runs in a clone, with an empty home and without Node on the path. A model server of other
authors answers on the port of Ollama. A browser does what a person would: it reads the first page,
connects the detected model, asks, approves, and reads the answer. Every step is timed. `--keep DIR`
keeps the pictures and the table.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect, sync_playwright

from tests.prove.driver.report import Report, arguments
from tests.prove.provider.server import started

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = Path(__file__).with_name("model.json")
CHROMIUM = "/usr/bin/chromium"
#: Address of Ollama, where Callboard looks for models.
PORT = 11434
#: Time limit of a step, in seconds. The first one sets everything up.
SET_UP, STEP = 240.0, 60.0
#: The design's limits for a start, in seconds.
FIRST_SIGN, SECOND_START = 2.0, 2.0
#: Access to packages depends on the machine, not on the person.
_OF_THE_MACHINE = re.compile(
    r"(?i)(LANG|LC_ALL|PIP_.*|UV_.*|NPM_.*|NODE_EXTRA_CA_CERTS|.*_PROXY|SSL_CERT_.*|PYENV_ROOT)$"
)
_NODE = frozenset({"node", "npm", "npx", "corepack"})
QUESTION = "Which test fails, and what do the notes say about it?"


class Steps:
    """The steps with their times, and a picture if the page shows one."""

    def __init__(self, report: Report, keep: Path | None) -> None:
        self._report = report
        self._keep = keep
        self._began = time.monotonic()
        self._last = self._began
        self.rows: list[tuple[str, float, float, str]] = []

    def done(self, step: str, page: Page | None = None) -> float:
        """Record a step that just ended. Return its seconds."""
        now = time.monotonic()
        took, self._last = now - self._last, now
        picture = ""
        if page is not None and self._keep is not None:
            picture = f"{len(self.rows) + 1:02}.png"
            page.screenshot(path=str(self._keep / picture))
            # A person does not wait for the picture.
            self._last = time.monotonic()
        self.rows.append((step, took, now - self._began, picture))
        self._report.figure(f"{now - self._began:6.1f} s", f"{step} ({took:.1f} s)")
        return took

    def write(self) -> None:
        """Write the table beside the pictures."""
        if self._keep is None:
            return
        lines = ["| after | took | step | |", "| ---: | ---: | --- | --- |"]
        for step, took, after, picture in self.rows:
            link = f"[picture]({picture})" if picture else ""
            lines.append(f"| {after:.1f} s | {took:.1f} s | {step} | {link} |")
        (self._keep / "steps.md").write_text("\n".join(lines) + "\n")


def main(argv: Sequence[str]) -> int:
    """Run the steps. Return the exit code."""
    options = arguments(__doc__, n=1, help_n="is not used: there is one first time")
    options.add_argument("--keep", default="", help="a folder for the pictures and the table")
    parsed = options.parse_args(argv)
    report = Report("prove-first")
    keep = Path(parsed.keep).absolute() if parsed.keep else None
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    steps = Steps(report, keep)
    with tempfile.TemporaryDirectory(prefix="callboard-first-") as place, _model(there=parsed.sabotage != "no-model"):
        try:
            _first(report, steps, Path(place))
        except (AssertionError, PlaywrightError) as error:
            report.check("a person could do every step", holds=False, value=str(error))
    steps.write()
    return report.end()


def _first(report: Report, steps: Steps, place: Path) -> None:
    clone, home = place / "callboard", place / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    environment = _clean(place, home)
    steps.done("git clone")
    up = _up(clone, environment)
    try:
        link, lines = "", deque[str](maxlen=12)
        for index, line in enumerate(_lines(up)):
            lines.append(line)
            if index == 0:
                report.check("a first sign of life within two seconds", steps.done("make up: first line") <= FIRST_SIGN)
            report.progress(line)
            link = next((word for word in line.split() if word.startswith("http://127.0.0.1:")), "")
            if link:
                break
        if not report.check("make up ends in an address", bool(link), "\n".join(lines)):
            return
        steps.done("make up: everything set up, the address is printed")
        with _browser() as page:
            _ask(report, steps, page, link)
        again = time.monotonic()
        second = subprocess.run(
            ["make", "up", "ARGS=--no-browser"],
            check=False,
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
            timeout=STEP,
        )
        took = time.monotonic() - again
        steps.done("make up again: the running one is named")
        report.check("a second start finds the first", second.returncode == 0, second.stderr[-300:])
        report.figure("second start", f"{took:.1f} s through make")
    finally:
        # A terminal's Ctrl-C reaches the whole group.
        os.killpg(up.pid, signal.SIGINT)
        rest, _ = up.communicate(timeout=STEP)
    report.check("Ctrl-C says what was kept and where", str(home) in rest, rest[-300:])
    steps.done("Ctrl-C: it says what is kept where")


def _ask(report: Report, steps: Steps, page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    steps.done("the first page is there", page)
    page.get_by_role("button", name="Connect qwen3 from Ollama").click()
    expect(page.get_by_role("button", name="Connect qwen3 from Ollama")).to_have_count(0)
    steps.done("the model that was found is connected, with one click", page)
    composer = page.get_by_role("textbox", name="Message", exact=True)
    composer.fill(QUESTION)
    composer.press("Enter")
    card = page.get_by_role("region", name="Pending request")
    expect(card).to_contain_text("python3 -m unittest")
    steps.done("asked; the agent asks whether it may run the tests", page)
    page.get_by_role("button", name="Approve").click()
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("test_a_short_gap_becomes_a_straight_line")
    expect(page.get_by_role("feed")).to_contain_text("2 tool calls")
    steps.done("approved; the answer is there, and what ran is folded above it", page)
    report.check("a person could do every step", holds=True)


def _up(clone: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["make", "up", "ARGS=--no-browser --port 0"],
        cwd=clone,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _lines(process: subprocess.Popen[str]) -> Generator[str]:
    assert process.stdout is not None
    until = time.monotonic() + SET_UP
    for line in process.stdout:
        yield line.rstrip()
        if time.monotonic() > until:
            return


def _clean(place: Path, home: Path) -> dict[str, str]:
    """Return the environment of a new person: nothing set, and no Node."""
    programs = place / "bin"
    programs.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for program in sorted(Path(folder).glob("*")) if Path(folder).is_dir() else ():
            mine = programs / program.name
            if program.is_file() and program.name not in _NODE and not mine.is_symlink():
                mine.symlink_to(program)
    variables = {name: value for name, value in os.environ.items() if _OF_THE_MACHINE.match(name)}
    for name in (".config/pip", ".npmrc"):
        mine = Path.home() / name
        if mine.exists():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).symlink_to(mine)
    return {**variables, "PATH": str(programs), "HOME": str(home), "CALLBOARD_HOME": str(home / "callboard")}


@contextmanager
def _model(*, there: bool) -> Generator[None]:
    """Serve models in the place of Ollama. The fault `no-model` leaves the server out."""
    if not there:
        yield
        return
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            sys.exit(f"Something answers on port {PORT}: stop it, and try again.")
    with started("--port", str(PORT), "--fixtures", FIXTURES, "--latency", "15"):
        yield


@contextmanager
def _browser() -> Generator[Page]:
    expect.set_options(timeout=STEP * 1000)
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium") or CHROMIUM, args=options)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-US")
        page.set_default_timeout(STEP * 1000)
        yield page
        browser.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
