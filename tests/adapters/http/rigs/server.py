"""A Callboard on a real socket, and clients."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from callboard import __version__
from callboard.adapters.http import HttpApp, HttpDependencies, HttpServer, Meta, ModelOffer, WorkspaceOffer
from callboard.agents.folder import FolderDefinitions
from callboard.app.models.model_catalog import ModelCatalog
from callboard.contracts.commands.session import ListWorkspaces
from callboard.contracts.content import make_blob
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.ports.agents import Definitions
from callboard.contracts.ports.model import Models
from callboard.contracts.ports.past import PastSessions
from callboard.contracts.ports.store import Append, Store
from callboard.contracts.record import NewFact, Origin
from callboard.contracts.scope import PERSON
from callboard.log.live import InProcessLiveFeed
from callboard.log.sqlite import open_store
from callboard.models.registry import ConfiguredModels, ModelSettings, ProviderSettings
from callboard.runtime.clock import Clock, UuidIds
from callboard.runtime.dependencies import Dependencies, Limits
from callboard.runtime.runtime import Runtime
from callboard.runtime.workspaces.uploads import UploadFolder
from callboard.secrets.redaction import Redaction
from callboard.tools.toolbox import FolderToolbox

TOKEN = "a-token-of-thirty-two-bytes-in-urlsafe-base64"
PROOF_KEY = b"k" * 32
API = "/api/v1"
#: A session with blobs that is unknown to the runtime.
KEEPER = "ses_keeper"
#: Seconds to wait for any expected event on a busy machine.
SOON = 30.0

#: Turns on `long` stream a text; all others get one answer at once.
SCENARIO = """
name: short-answers
images: true
match:
  - text: long
    calls: [[{repeat: {text: "word ", times: 40}, delay_ms: 1}]]
  - text: wait
    calls: [[{text: "so far"}, {wait_for: go-on}]]
  - text: ""
    calls: [[{text: "The answer."}]]
"""


@dataclass
class Page:
    """A signed-in page."""

    http: httpx2.AsyncClient
    credential: str

    async def confirmation(self, command: str, body: bytes) -> str:
        """Return the header that confirms one command with one body."""
        digest = hashlib.sha256(body).hexdigest()
        request = {"command": command, "bodySha256": digest}
        challenge = (await self.http.post(f"{API}/page/confirmations", json=request)).json()["challenge"]
        proof = hmac.new(PROOF_KEY, f"{challenge}\n{command}\n{digest}".encode(), "sha256").hexdigest()
        return f"{challenge}.{proof}"


@dataclass
class Board:
    """A serving Callboard. `http` has the token; `anyone` has no credential."""

    runtime: Runtime
    store: Store
    app: HttpApp
    server: HttpServer
    http: httpx2.AsyncClient
    anyone: httpx2.AsyncClient
    folder: Path

    async def command(self, name: str, key: str = "", **fields: Any) -> Any:
        """Submit a command; return the answer."""
        headers = {"Idempotency-Key": key} if key else {}
        answer = await self.http.post(f"{API}/commands/{name}", json=fields, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def query(self, name: str, **fields: Any) -> Any:
        """Submit a query; return the answer."""
        answer = await self.http.get(f"{API}/queries/{name}", params=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def sign_in(self) -> Page:
        """Sign `anyone` in as the page."""
        code = self.server.create_page_link().link.partition("#open=")[2]
        self.anyone.headers.update({"Origin": self.server.url, "Sec-Fetch-Site": "same-origin"})
        key = base64.b64encode(PROOF_KEY).decode()
        answer = await self.anyone.post(f"{API}/page/credentials", json={"code": code, "proofKey": key})
        assert answer.status_code == 200, answer.text
        credential = answer.json()["credential"]
        self.anyone.headers["Authorization"] = f"Bearer {credential}"
        return Page(self.anyone, credential)

    async def workspace(self) -> str:
        """Open the folder; return the workspace id."""
        return (await self.command("open_workspace", path=str(self.folder)))["workspaceId"]

    async def session(self, text: str = "hello") -> str:
        """Create a session and complete its first turn; return its id."""
        started = await self.command("submit_turn", text=text, workspaceId=await self.workspace())
        await self.idle(started["sessionId"])
        return started["sessionId"]

    async def idle(self, session: str) -> None:
        """Wait for the end of the session's turn."""
        async with asyncio.timeout(SOON):
            async for records in self.store.facts.subscribe(session):
                if any(record.fact.type in ("turn.completed", "turn.failed") for record in records):
                    return

    async def blob(self, data: bytes) -> str:
        """Store a blob that a fact of `KEEPER` refers to; return its hash."""
        facts, blob = self.store.facts, make_blob(data)
        warning = NewFact(WarningRaised(code="internal", message=blob.ref.hash))
        batch = Append(
            stream=KEEPER,
            expected=(await facts.read_head(KEEPER)).sequence,
            epoch=await facts.acquire_lease(KEEPER),
            facts=(warning,),
            origin=Origin(at=0),
            blobs=(blob,),
        )
        await facts.append(batch)
        return blob.ref.hash

    async def heads(self) -> dict[str, int]:
        """Return the number of facts of each stream, to prove that nothing was written."""
        facts = self.store.facts
        return {stream: (await facts.read_head(stream)).sequence for stream in await facts.list_streams("")}


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    limits: Limits | None = None,
    scenario: str = SCENARIO,
    definitions: Definitions | None = None,
    past: PastSessions | None = None,
    **dependencies: Any,
) -> AsyncGenerator[Board]:
    """Run a Callboard with one scripted model. Keyword arguments replace dependencies of the app."""
    beside = folder.with_name(f"{folder.name}-beside")
    store = open_store(beside)
    (beside / "short-answers.yaml").write_text(scenario)
    models = ConfiguredModels(ModelSettings(providers=(scripted(beside / "short-answers.yaml"),)))
    parts = Dependencies(
        store=store,
        feed=InProcessLiveFeed(store.facts.read_head),
        models=models,
        toolbox=FolderToolbox(hidden=(str(beside),)),
        definitions=definitions or FolderDefinitions(),
        model_catalog=ModelCatalog(models, {}, servers=()),
        past_sessions=past,
        uploads=UploadFolder(beside / "uploads", UuidIds(), Clock().now, Redaction().redact_stream),
        limits=limits or Limits(write_behind=0.01),
    )
    async with Runtime(parts) as runtime:
        defaults: dict[str, Any] = {
            "commands": runtime.commands,
            "feeds": runtime.feeds,
            "runs": runtime.runs,
            "store": store,
            "uploads": parts.uploads,
            "read_meta": build_meta_reader(runtime, models),
            "token": TOKEN,
        }
        app = HttpApp(HttpDependencies(**{**defaults, **dependencies}))
        server = await HttpServer.start(app)
        try:
            async with (
                httpx2.AsyncClient(
                    base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=SOON
                ) as http,
                httpx2.AsyncClient(base_url=server.url, timeout=SOON) as anyone,
            ):
                yield Board(runtime, store, app, server, http, anyone, folder)
        finally:
            await server.stop()


def scripted(scenario: Path) -> ProviderSettings:
    """Return a model that plays the scenario."""
    return ProviderSettings(name="scripted", kind="scripted", scenario=str(scenario))


def build_meta_reader(runtime: Runtime, models: Models) -> Callable[[], Awaitable[Meta]]:
    """Return the server's description of itself."""

    ((provider, name),) = models.choose_route("").candidates
    label = models.get_model(provider, name).label

    async def read_meta() -> Meta:
        opened = await runtime.commands.submit(ListWorkspaces(), actor=PERSON)
        store = runtime.dependencies.store
        return Meta(
            version=__version__,
            runtime_id=runtime.dependencies.runtime_id,
            epoch=store.epoch,
            store_id=store.id,
            models=(ModelOffer(provider=provider, name=name, label=label),),
            workspaces=tuple(
                WorkspaceOffer(workspace_id=row.workspace_id, path=row.path, name=row.name) for row in opened.workspaces
            ),
        )

    return read_meta
