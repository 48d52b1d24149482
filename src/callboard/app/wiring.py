"""Composition of store, feed, models, tools and agents into a runtime."""

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
from callboard.contracts.commands.session import ListWorkspaces, WorkspaceList
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

from .demos.demo_catalog import DemoCatalog, list_demos, list_scenario_files
from .models.keys import Reveal, learn_keys, reveal_on_demand
from .models.model_catalog import ModelCatalog
from .models.providers import build_providers
from .settings.settings_files import SettingsFiles
from .state_folder import StateFolder
from .transcript_index import TranscriptIndex

_TREE = Path(__file__).resolve().parents[3]
#: The sample folder of the source tree, and its copy for `make up`.
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
    """A runtime that is composed but not started, and its models and settings."""

    runtime: Runtime
    models: ConfiguredModels
    settings: SettingsFiles


def build_models(settings: Settings, environment: Mapping[str, str], reveal: Reveal | None = None) -> ConfiguredModels:
    """Build the configured models.

    Args:
        reveal: Replaces handles with keys. Without it, each call looks its key up.
    Raises:
        Refusal: `bad_settings`, `bad_scenario`.
    """
    return ConfiguredModels(build_model_settings(settings, environment), reveal or reveal_on_demand(environment))


def build_model_settings(settings: Settings, environment: Mapping[str, str]) -> ModelSettings:
    """Build the settings of the models. Raises Refusal `bad_settings`."""
    return ModelSettings(
        providers=build_providers(settings.models, environment),
        fallback=settings.fallback,
        scenarios=list_scenario_files(),
        pace=settings.demo_pace,
    )


def wire(
    store: SqliteStore,
    models: ConfiguredModels,
    state_folder: StateFolder,
    environment: Mapping[str, str],
    secrets: Redaction,
    on_settings: Callable[[Settings], None] = lambda _: None,
    on_folder: Callable[[str], None] = lambda _: None,
) -> Wiring:
    """Compose the runtime on an open store, without starting it. Tools cannot enter the state folder.

    Args:
        on_settings: Receives the user's settings once their models are in use.
        on_folder: Receives each folder that the process serves.
    """
    definitions = FolderDefinitions()

    def configure(new: Settings) -> None:
        learn_keys(secrets, new, environment)
        models.configure(build_model_settings(new, environment))
        on_settings(new)

    settings = SettingsFiles(state_folder, environment, definitions, configure)

    def reveal(entry: Server | Hook, text: str) -> str:
        # Only the user's own settings can send a key to a program: a folder's file must not redirect it.
        return secrets.reveal_key(text) if settings.is_users(entry) else secrets.reveal(text)

    def find_start_folder(entry: Server | Hook, folder: str) -> str:
        # Many programs load code from their working folder (modules, node_modules, package manager settings). An
        # untrusted folder must not change what the user's own server or hook runs.
        return str(Path.home()) if settings.is_users(entry) else folder

    def build_reach(entry: Server | Hook, folder: str) -> Reach:
        hosts = runtime.workspaces.all()
        folders = tuple(host.state.path for host in hosts)
        if not settings.is_users(entry) and folder in folders:
            trusted = next(host.state.trusted for host in hosts if host.state.path == folder)
            if not settings.read_effective(folder, trusted).trusted:
                raise Refusal(
                    "server_unavailable",
                    f"The program of {entry.name} changed since you trusted the folder.",
                    hint="`callboard trust` shows the change and asks.",
                )
        return Reach(folders, trusted="" if settings.is_users(entry) else folder)

    # A home folder, or a parent of it, contains keys and start-up files.
    hidden = (str(state_folder.folder), *list_private(str(Path.home())))
    parts = Dependencies(
        store=store,
        feed=InProcessLiveFeed(store.facts.read_head),
        models=models,
        toolbox=FolderToolbox(
            hidden=hidden,
            programs=list_toolchains(Path.home()),
            reveal=reveal,
            start_folder=find_start_folder,
            reach=build_reach,
            new_redactor=secrets.redact_stream,
        ),
        shells=FolderShells(hidden=hidden, programs=list_toolchains(Path.home())),
        definitions=definitions,
        closed_folders=(str(state_folder.folder),),
        demos=DemoCatalog(state_folder.demos),
        uploads=UploadFolder(state_folder.uploads, UuidIds(), Clock().now, secrets.redact_stream),
        external_agents=AcpAgents(),
        remote_agents=A2aAgents(),
        settings=settings,
        model_catalog=ModelCatalog(models, environment),
        past_sessions=TranscriptIndex(environment),
        on_folder_served=on_folder,
        secrets=secrets,
    )
    runtime = Runtime(parts)
    return Wiring(runtime=runtime, models=models, settings=settings)


def build_http_app(wired: Wiring, state_folder: StateFolder, token: str) -> HttpApp:
    """Build the HTTP application of the runtime."""
    parts = wired.runtime.dependencies

    async def read_meta() -> Meta:
        with suppress(Refusal):
            # Apply edited settings before the caller reads the models.
            wired.settings.read_user()
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
            models=_list_offers(wired.models),
            workspaces=offers,
            demos=tuple(DemoOffer(name=demo.name, title=demo.title) for demo in list_demos()),
        )

    runtime = wired.runtime
    return HttpApp(
        HttpDependencies(
            commands=runtime.commands,
            feeds=runtime.feeds,
            runs=runtime.runs,
            store=parts.store,
            uploads=parts.uploads,
            read_meta=read_meta,
            token=token,
            access=PageAccess(state_folder.opening),
        )
    )


def get_default_model_label(models: Models) -> str:
    """Return the label of the default model."""
    return _list_offers(models)[0].label


def _list_offers(models: Models) -> tuple[ModelOffer, ...]:
    """Return all models, the default first."""
    route = models.choose_route("")
    first = route.candidates[route.chosen]
    models_in_order = (first, *(pair for pair in route.candidates if pair != first))
    return tuple(
        ModelOffer(provider=provider, name=name, label=models.get_model(provider, name).label)
        for provider, name in models_in_order
    )


def list_toolchains(user_home: Path) -> tuple[str, ...]:
    """Return all toolchain folders as absolute paths, existing or not: a command must not create a missing one."""
    return tuple(str(user_home / part) for part in TOOLCHAINS)
