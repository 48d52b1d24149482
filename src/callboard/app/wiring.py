"""The one place where concrete things meet: the store, the feed, the models, the tools and the agents become a runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from callboard import __version__
from callboard.adapters.a2a import A2aAgents
from callboard.adapters.acp import AcpAgents
from callboard.adapters.http import DemoOffer, HttpApp, HttpDependencies, Meta, ModelOffer, PageAccess, WorkspaceOffer
from callboard.agents.folder import FolderDefinitions
from callboard.contracts.commands import ListWorkspaces, WorkspaceList
from callboard.contracts.errors import Refusal
from callboard.contracts.ports.model import Models
from callboard.contracts.scope import PERSON
from callboard.contracts.settings import Hook, Server, Settings
from callboard.log.live import InProcessLiveFeed
from callboard.log.sqlite.store import SqliteStore
from callboard.models.registry import ConfiguredModels, ModelSettings
from callboard.runtime.clock import Clock, UuidIds
from callboard.runtime.dependencies import Dependencies
from callboard.runtime.runtime import Runtime
from callboard.runtime.workspaces.uploads import UploadFolder
from callboard.secrets.redaction import Redaction
from callboard.tools.protection.credentials import list_private
from callboard.tools.shell.folder_shells import FolderShells
from callboard.tools.toolbox import FolderToolbox
from callboard.tools.unsandboxed.reach import Reach

from .demos.demo_catalog import DemoCatalog, list_demos, scenario_files
from .models.keys import Reveal, learn_keys, reveal_on_demand
from .models.model_catalog import ModelCatalog
from .models.providers import build_providers
from .settings.settings_files import SettingsFiles
from .state_folder import StateFolder
from .transcript_index import TranscriptIndex

_TREE = Path(__file__).resolve().parents[3]
#: The folder that comes with the source tree, to see the product at work, and the copy in which `make up` does.
SAMPLES = (str(_TREE / "examples" / "sample"), str(_TREE / "sample"))


#: Folders of programs in a home, relative to it. The sandbox hides the rest of the home. Of folders that also keep
#: credentials, only the programs are listed.
TOOLCHAINS = (
    ".pyenv",
    ".local/share/uv/python",
    ".local/share/mise/installs",
    ".asdf/installs",
    ".nvm/versions",
    ".volta/tools",
    ".bun/bin",
    ".rustup/toolchains",
    ".cargo/bin",
    ".sdkman/candidates",
    "go/bin",
)


@dataclass(frozen=True)
class Wiring:
    """A runtime that was put together and not started, and what must be closed after it."""

    runtime: Runtime
    models: ConfiguredModels
    settings: SettingsFiles


def build_models(settings: Settings, environment: Mapping[str, str], reveal: Reveal | None = None) -> ConfiguredModels:
    """The models that can be asked. `reveal` puts their keys in place of handles; without one that is looked up when a model
    is asked. Raises Refusal `bad_settings`, `bad_scenario`."""
    return ConfiguredModels(build_model_settings(settings, environment), reveal or reveal_on_demand(environment))


def build_model_settings(settings: Settings, environment: Mapping[str, str]) -> ModelSettings:
    """What is asked of models. Raises Refusal `bad_settings`."""
    return ModelSettings(
        providers=build_providers(settings.models, environment),
        fallback=settings.fallback,
        scenarios=scenario_files(),
        pace=settings.demo_pace,
    )


def wire(
    store: SqliteStore,
    models: ConfiguredModels,
    home: StateFolder,
    environment: Mapping[str, str],
    secrets: Redaction,
    configured: Callable[[Settings], None] = lambda _: None,
    served: Callable[[str], None] = lambda _: None,
) -> Wiring:
    """Puts the runtime together on an open store. Starts nothing. No tool enters the state folder. `configured` receives the
    user's settings once their models are in use, `served` each folder that the process serves."""
    definitions = FolderDefinitions()

    def configure(new: Settings) -> None:
        learn_keys(secrets, new, environment)
        models.configure(build_model_settings(new, environment))
        configured(new)

    settings = SettingsFiles(home, environment, definitions, configure)

    def given(one: Server | Hook, text: str) -> str:
        # A key goes to whom its person's own settings name it for: a folder's file cannot send it elsewhere.
        return secrets.reveal_key(text) if settings.is_users(one) else secrets.reveal(text)

    def starts(one: Server | Hook, folder: str) -> str:
        # Many programs load what lies where they are started (modules, node_modules, settings of a package manager), and a
        # folder that nobody trusts must not be able to say what runs of a person's own server or hook.
        return str(Path.home()) if settings.is_users(one) else folder

    def reach(one: Server | Hook, folder: str) -> Reach:
        hosts = runtime.workspaces.all()
        folders = tuple(host.state.path for host in hosts)
        if not settings.is_users(one) and folder in folders:
            trusted = next(host.state.trusted for host in hosts if host.state.path == folder)
            if not settings.effective(folder, trusted).trusted:
                raise Refusal(
                    "server_unavailable",
                    f"What {one.name} is started from changed since you trusted the folder. "
                    "`callboard trust` shows what changed and asks.",
                )
        return Reach(folders, trusted="" if settings.is_users(one) else folder)

    # A folder that is the home, or holds it, has keys and start files in it.
    hidden = (str(home.folder), *list_private(str(Path.home())))
    parts = Dependencies(
        store=store,
        feed=InProcessLiveFeed(store.facts.head),
        models=models,
        toolbox=FolderToolbox(
            hidden=hidden,
            programs=toolchains(Path.home()),
            reveal=given,
            start_folder=starts,
            reach=reach,
            new_redactor=secrets.redact_stream,
        ),
        shells=FolderShells(hidden=hidden, programs=toolchains(Path.home())),
        definitions=definitions,
        closed_folders=(str(home.folder),),
        demos=DemoCatalog(home.demos),
        uploads=UploadFolder(home.uploads, UuidIds(), Clock().now, secrets.redact_stream),
        external_agents=AcpAgents(),
        remote_agents=A2aAgents(),
        settings=settings,
        model_catalog=ModelCatalog(models, environment),
        past_sessions=TranscriptIndex(environment),
        on_folder_served=served,
        secrets=secrets,
    )
    runtime = Runtime(parts)
    return Wiring(runtime=runtime, models=models, settings=settings)


def build_http_app(wired: Wiring, home: StateFolder, token: str) -> HttpApp:
    """The runtime behind its routes."""
    parts = wired.runtime.dependencies

    async def about() -> Meta:
        with suppress(Refusal):
            # Settings that were edited are in use before a caller reads which models are.
            wired.settings.user()
        listed: WorkspaceList = await wired.runtime.commands.submit(ListWorkspaces(), actor=PERSON)
        offers = tuple(
            WorkspaceOffer(workspace_id=row.workspace_id, path=row.path, name=row.name, sample=row.path in SAMPLES)
            for row in listed.workspaces
        )
        return Meta(
            version=__version__,
            runtime_id=parts.runtime_id,
            epoch=parts.store.epoch,
            store_id=parts.store.id,
            models=_offers(wired.models),
            workspaces=offers,
            demos=tuple(DemoOffer(name=one.name, title=one.title) for one in list_demos()),
        )

    runtime = wired.runtime
    return HttpApp(
        HttpDependencies(
            commands=runtime.commands,
            feeds=runtime.feeds,
            runs=runtime.runs,
            store=parts.store,
            uploads=parts.uploads,
            about=about,
            token=token,
            access=PageAccess(home.opening),
        )
    )


def default_model_label(models: Models) -> str:
    """What a person reads of the model that is asked where an agent names none."""
    return _offers(models)[0].label


def _offers(models: Models) -> tuple[ModelOffer, ...]:
    """Every model, the one that is asked by default first."""
    route = models.route("")
    first = route.candidates[route.chosen]
    every = (first, *(one for one in route.candidates if one != first))
    return tuple(
        ModelOffer(provider=provider, name=name, label=models.model(provider, name).label) for provider, name in every
    )


def toolchains(home: Path) -> tuple[str, ...]:
    """Return all toolchain folders as absolute paths, existing or not: a command must not create a missing one."""
    return tuple(str(home / part) for part in TOOLCHAINS)
