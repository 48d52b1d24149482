"""Proof that no other page, listener, command line or user obtains a credential that the API
accepts.

The product starts in a terminal and opens a real browser, while every command line of the machine
is read. An agent writes a link to a listener on another port, and a person clicks it. The listener
records all that it receives. Its page tries what pages can: cookies, requests of every kind,
windows, frames, streams and messages to other tabs. Everything that they got is sent to the API in
every way that an attacker has. Finally old, used and foreign credentials must be refused.

    make prove-origin N=     seconds for which a code stays unused before it is tried
    make prove-origin ARGS="--sabotage cookie"     or argv, any-origin
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import httpx2
from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.prove.driver import store
from tests.prove.driver.product import Place, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.origin.listener import Listener
from tests.prove.origin.start import CommandLines, Started, profile_of

#: Texts that may be a credential, a code or a key of Callboard.
_CANDIDATE = re.compile(r"[A-Za-z0-9_-]{20,}")
_PATIENCE_MS = 60_000
#: Attempts to connect to a browser, and milliseconds for all except the last.
_TRIES, _TRY_MS = 5, 15_000
_OTHER_USER = 65534

NO_COMMAND_LINE = "no command line has a code, the token or a credential"
NO_LISTENER = "a click on an agent's link brings the listener no cookie, no referrer and no credential"
NO_PAGE = "a page of another port reads nothing"
NOTHING_WRITTEN = "a page of another port changes nothing"
NO_HISTORY = "the browser's history has no code, no token and no credential that the API accepts"
NO_COOKIE = "the browser keeps no cookie"
NOT_ACCEPTED = "nothing that any of them came by is accepted by the API"
NO_USER = "another user of the machine reads neither the endpoint nor what opens the page"
REFUSED = "old, used, stolen and foreign credentials are refused"
WORKS = "the page works: it opens, reloads, and a second tab opens without a code"


@dataclass
class Caught:
    """Everything that an attacker got, by its source."""

    texts: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, source: str, *texts: str) -> None:
        self.texts.setdefault(source, set()).update(texts)

    def candidates(self, source: str = "") -> set[str]:
        """Return every piece that may be a credential."""
        chosen = [texts for name, texts in self.texts.items() if source in ("", name)]
        return {piece for texts in chosen for text in texts for piece in _CANDIDATE.findall(text)}


@dataclass(frozen=True)
class Secrets:
    """The real secrets."""

    url: str
    token: str
    credential: str
    proof_key: str
    code: str

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(secret for secret in (self.token, self.credential, self.proof_key, self.code) if secret)


async def prove(n: int, sabotage: str) -> int:
    """Run the proof. Return the exit code."""
    report, caught, listener = Report("origin"), Caught(), Listener()
    await listener.start()
    try:
        with place() as at:
            at.play(_scenario(listener.port))
            with CommandLines() as lines:
                started = Started.start(at, sabotage=sabotage, port=_free_port(), browser=True)
                try:
                    await _attack(report, at, started, listener, caught, lines)
                    await _refusals(report, at, started, n, sabotage)
                finally:
                    await started.stop()
    finally:
        await listener.stop()
    return report.end()


async def _attack(
    report: Report, at: Place, started: Started, listener: Listener, caught: Caught, lines: CommandLines
) -> None:
    endpoint = await started.endpoint()
    listener.target = endpoint["url"]
    async with async_playwright() as playwright:
        browser = await _connected(playwright, await started.debugger())
        context = browser.contexts[0]
        page = await _signed_in(context, endpoint["url"])
        secrets = await _secrets(page, endpoint, started.output)
        _another_user(report, at)
        await _works(report, context, page)
        await _click_the_link(page, context)
        before = _facts(at)
        for host in ("127.0.0.1", "localhost"):
            await _visit(context, listener, f"http://{host}:{listener.port}/")
        _changed_nothing(report, at, before)
        cookies = await context.cookies()
        report.none(NO_COOKIE, [f"{cookie.get('name')} of {cookie.get('domain')}" for cookie in cookies])
        caught.add("listener", *listener.received)
        caught.add("pages", *(value for sent in listener.reports for value in sent.values()))
        caught.add("command lines", *lines.texts)
        # A browser that a person closes writes its history.
        await (await browser.new_browser_cdp_session()).send("Browser.close")
        await _ended(at)
    caught.add("history", *_history(at))
    _judge(report, caught, secrets, listener)
    await _try_all(report, caught, endpoint["url"], listener)
    report.figure("command lines", f"{len(lines.texts)} different ones in {lines.looks} looks at all processes")
    report.figure("the listener", f"{len(listener.received)} requests, {len(listener.reports)} visits of its page")
    report.figure("history", f"{len(caught.texts['history'])} addresses")
    report.check(NO_HISTORY, bool(caught.texts["history"]), "the history is empty")


async def _connected(playwright: Playwright, debugger: str) -> Browser:
    """Connect to the browser that the product opened.

    Playwright may wait forever if a page navigates in the meantime, so it tries several times.
    """
    for _ in range(_TRIES - 1):
        with contextlib.suppress(PlaywrightTimeout):
            return await playwright.chromium.connect_over_cdp(debugger, timeout=_TRY_MS)
    return await playwright.chromium.connect_over_cdp(debugger, timeout=_PATIENCE_MS)


async def _ended(at: Place) -> None:
    """Wait until no browser uses its folder."""
    lock = profile_of(at) / "SingletonLock"
    async with asyncio.timeout(_PATIENCE_MS / 1000):
        while lock.is_symlink():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)


async def _signed_in(context: BrowserContext, url: str) -> Page:
    """Return the page that the product opened, once it shows its first page."""
    until = time.monotonic() + _PATIENCE_MS / 1000
    while time.monotonic() < until:
        for page in context.pages:
            if page.url.startswith(url):
                await expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_visible(
                    timeout=_PATIENCE_MS
                )
                return page
        await asyncio.sleep(0.05)
    raise AssertionError(f"the browser shows {[page.url for page in context.pages]}")


async def _secrets(page: Page, endpoint: dict[str, Any], link: str) -> Secrets:
    held = json.loads(await page.evaluate("sessionStorage.getItem('callboard.credential')"))
    (code, *_) = re.findall(r"#open=([A-Za-z0-9_-]+)", link)
    return Secrets(endpoint["url"], endpoint["token"], held["credential"], held["proofKey"], code)


async def _works(report: Report, context: BrowserContext, page: Page) -> None:
    report.check(WORKS, "open=" not in page.url, page.url)
    await page.reload()
    composer = page.get_by_role("textbox", name="Message", exact=True)
    await expect(composer).to_be_visible(timeout=_PATIENCE_MS)
    second = await context.new_page()
    await second.goto(page.url.partition("#")[0])
    await expect(second.get_by_role("textbox", name="Message", exact=True)).to_be_visible(timeout=_PATIENCE_MS)
    await second.close()
    report.check(WORKS, True)


async def _click_the_link(page: Page, context: BrowserContext) -> None:
    composer = page.get_by_role("textbox", name="Message", exact=True)
    await composer.fill("Start the server")
    await composer.press("Enter")
    link = page.get_by_role("link", name="your page")
    await expect(link).to_be_visible(timeout=_PATIENCE_MS)
    async with context.expect_page(timeout=_PATIENCE_MS) as opening:
        await link.click()
    opened = await opening.value
    await opened.wait_for_load_state()
    await opened.close()


async def _visit(context: BrowserContext, listener: Listener, url: str) -> None:
    """Open the listener's page beside Callboard's tabs, and wait until it tried everything."""
    listener.reported.clear()
    page = await context.new_page()
    await page.goto(url)
    async with asyncio.timeout(_PATIENCE_MS / 1000):
        await listener.reported.wait()
    await page.close()


def _changed_nothing(report: Report, at: Place, before: int) -> None:
    after = _facts(at)
    report.check(NOTHING_WRITTEN, before == after, f"{before} facts of workspaces became {after}")


def _facts(at: Place) -> int:
    """Return the number of facts of workspaces. A turn that ends in the meantime writes none."""
    with closing(sqlite3.connect(f"{(at.store / store.DATABASE).as_uri()}?mode=ro", uri=True)) as reader:
        counted = "SELECT count(*) FROM facts JOIN streams ON number = stream WHERE name LIKE 'wks_%'"
        return reader.execute(counted).fetchone()[0]


def _another_user(report: Report, at: Place) -> None:
    """Read the state folder as another user; if that is not possible here, check its modes."""
    files = [at.home / "endpoint.json", at.home / "opening", *at.home.glob("opening/*")]
    modes = [
        f"{path.name}: {path.stat().st_mode & 0o777:o}"
        for path in files
        if path.exists() and path.stat().st_mode & 0o077
    ]
    report.none(NO_USER, modes)
    if os.geteuid() != 0:
        return
    for path in files:
        read = ["sh", "-c", 'cat "$0" 2>/dev/null || ls "$0" 2>/dev/null', str(path)]
        done = subprocess.run(
            read, user=_OTHER_USER, group=_OTHER_USER, extra_groups=[], capture_output=True, check=False
        )
        report.check(NO_USER, not done.stdout, f"{path.name}: {done.stdout[:80]!r}")


def _history(at: Place) -> list[str]:
    """Return all addresses and titles in the browser's history."""
    file = profile_of(at) / "Default" / "History"
    if not file.exists():
        return []
    with closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as reader:
        return [" ".join(map(str, row)) for row in reader.execute("SELECT url, title FROM urls")]


def _judge(report: Report, caught: Caught, secrets: Secrets, listener: Listener) -> None:
    lines = caught.texts["command lines"]
    bad = [line for line in lines if f"{secrets.url}/#open=" in line or any(secret in line for secret in secrets.all)]
    report.none(NO_COMMAND_LINE, bad)
    heads = [
        head
        for head in listener.received
        if re.search(r"(?im)^(cookie|referer|authorization):.*callboard|^referer:", head)
    ]
    own = f"{listener.port}"
    foreign = [head for head in heads if not re.search(rf"(?im)^referer: http://[a-z0-9.]+:{own}/", head)]
    report.none(NO_LISTENER, [head[:300] for head in foreign])
    leaked = [secret for secret in secrets.all if secret in caught.candidates("listener")]
    report.none(NO_LISTENER, leaked)
    report.check(NO_LISTENER, any("agent-link" in head for head in listener.received), "the link was not followed")
    report.check(NO_PAGE, len(listener.reports) >= 2, "its page did not run")
    for attempts in listener.reports:
        got = {attempt: value for attempt, value in attempts.items() if value not in ("", "{}", "null", "opaque", "0")}
        report.none(NO_PAGE, [f"{attempt}: {value[:200]}" for attempt, value in got.items() if attempt != "referrer"])
    live = [
        secret
        for secret in (secrets.token, secrets.credential, secrets.proof_key)
        if secret in caught.candidates("history")
    ]
    report.none(NO_HISTORY, live)


async def _try_all(report: Report, caught: Caught, url: str, listener: Listener) -> None:
    """Send the API everything that was caught, as a client that can forge every header."""
    candidates = sorted(caught.candidates())
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30.0) as client:
        accepted = [candidate for candidate in candidates if await _accepts(client, url, candidate)]
        cookies = {line for head in listener.received for line in re.findall(r"(?im)^cookie: (.*?)\r?$", head)}
        for cookie in cookies:
            answer = await client.get("/api/v1/meta", headers={"Cookie": cookie})
            report.check(NOT_ACCEPTED, answer.status_code == 401, cookie[:60])
    report.none(NOT_ACCEPTED, accepted)
    report.figure("tried", f"{len(candidates)} pieces of what was caught, as token, credential and code")


async def _accepts(client: httpx2.AsyncClient, url: str, candidate: str) -> bool:
    origin = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
    read = await client.get("/api/v1/meta", headers={"Authorization": f"Bearer {candidate}", **origin})
    return read.status_code != 401 or await _redeem(client, origin, candidate) not in (400, 401)


async def _redeem(client: httpx2.AsyncClient, origin: dict[str, str], code: str) -> int:
    body = {"code": code[:100], "proofKey": base64.b64encode(bytes(32)).decode()}
    return (await client.post("/api/v1/page/credentials", json=body, headers=origin)).status_code


async def _refusals(report: Report, at: Place, started: Started, n: int, sabotage: str) -> None:
    """Send old, used, stolen and foreign credentials to this start and the next one."""
    endpoint = await started.endpoint()
    url, token = endpoint["url"], endpoint["token"]
    port = url.rpartition(":")[2]
    own = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
    async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30.0) as client:

        async def code() -> str:
            issued = await client.post("/api/v1/page/links", json={}, headers={"Authorization": f"Bearer {token}"})
            return issued.json()["link"].partition("#open=")[2]

        unused, began = await code(), time.monotonic()
        once = await code()
        body = {"code": await code(), "proofKey": base64.b64encode(bytes(32)).decode()}
        foreign = await client.post(
            "/api/v1/page/credentials", json=body, headers={"Origin": f"http://localhost:{port}"}
        )
        report.check(REFUSED, foreign.status_code == 403, f"a code from another origin: {foreign.status_code}")
        body["code"] = once
        credential = (await client.post("/api/v1/page/credentials", json=body, headers=own)).json()["credential"]
        report.check(REFUSED, await _redeem(client, own, once) == 401, "a code that is used twice")
        held = {"Authorization": f"Bearer {credential}"}
        tries: dict[str, dict[str, str]] = {
            "a cookie of an earlier version": {"Cookie": f"callboard_{port}={token}"},
            "a credential from another port's page": {
                **held,
                "Origin": "http://127.0.0.1:1",
                "Sec-Fetch-Site": "same-site",
            },
            "a credential from another site": {**held, "Sec-Fetch-Site": "cross-site"},
            "a credential by another name of the machine": {**held, "Host": f"localhost:{port}"},
        }
        for way, headers in tries.items():
            answer = await client.get("/api/v1/meta", headers=headers)
            report.check(REFUSED, answer.status_code in (401, 403), f"{way}: {answer.status_code}")
        rule = {"matcher": "Bash(*)", "verdict": "allow"}
        granted = await client.post("/api/v1/commands/add_rule", json=rule, headers={**held, **own})
        code_of = granted.json().get("code")
        report.check(REFUSED, code_of == "confirmation_required", f"a rule by a stolen credential: {code_of}")
        bare = await client.post("/api/v1/commands/add_rule", json=rule, headers=held)
        report.check(REFUSED, bare.status_code == 403, f"a command without an origin: {bare.status_code}")
        if n:
            await asyncio.sleep(max(0.0, n - (time.monotonic() - began)))
            report.check(REFUSED, await _redeem(client, own, unused) == 401, f"a code after {n} s")
    await started.stop()
    again = Started.start(at, sabotage=sabotage, port=int(port), browser=False)
    try:
        renewed = await again.endpoint()
        report.check(REFUSED, renewed["url"] == url, f"{url} became {renewed['url']}")
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=30.0) as client:
            for way, value in (("the token", token), ("a credential", credential), ("a code", unused)):
                answer = await client.get("/api/v1/meta", headers={"Authorization": f"Bearer {value}", **own})
                report.check(REFUSED, answer.status_code == 401, f"{way} of a former start: {answer.status_code}")
    finally:
        await again.stop()


def _scenario(port: int) -> dict[str, Any]:
    text = f"It runs: [your page](http://127.0.0.1:{port}/agent-link)."
    return {"name": "origin", "match": [{"text": "", "calls": [[{"text": text}]]}]}


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


if __name__ == "__main__":
    parser = arguments(__doc__, n=61, help_n="seconds that an unused code waits before it is tried; 0 leaves it out")
    chosen = parser.parse_args()
    sys.exit(run(prove(chosen.n, chosen.sabotage), 300))
