"""Trust, rules and settings of a workspace."""

from __future__ import annotations

import asyncio

from callboard.contracts.commands.base import Answer
from callboard.contracts.commands.permission import (
    AddRule,
    GetTrust,
    ListRules,
    RevokeRule,
    RuleList,
    TrustRead,
    TrustState,
)
from callboard.contracts.commands.settings import GetSettings, SettingsRead, SettingsUpdated, UpdateSettings
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule, select_unexpired
from callboard.contracts.ports.settings import SettingsStore
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.contracts.settings import ListedRule, RequestedPermissions
from callboard.control.decide import permission
from callboard.control.workspace import require_listed
from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

from ..dependencies import Dependencies
from ..service import Service, answers, carries_out
from ..session_registry import SessionRegistry
from ..workspaces.host import WorkspaceHost
from ..workspaces.registry import WorkspaceRegistry

_EXPIRED = "expired"


class TrustService(Service):
    """Runs commands on trust, rules and settings, and answers queries about them."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        super().__init__(dependencies, sessions, workspaces)
        self._writing = asyncio.Lock()

    @answers(GetTrust)
    async def get_trust(self, query: GetTrust) -> TrustRead:
        """Return what the folder's files request, and whether a person trusted it."""
        host = self._workspaces.get(query.workspace_id)
        requested, trusted = host.requested_grants, host.state.trusted
        settings = self._dependencies.settings
        return TrustRead(
            workspace_id=query.workspace_id,
            folder=host.state.path,
            state=_derive_trust_state(requested, trusted),
            digest=requested.digest,
            trusted=trusted,
            widenings=requested.widenings,
            problems=() if settings is None else settings.list_problems(host.state.path),
        )

    @answers(ListRules)
    async def list_rules(self, query: ListRules) -> RuleList:
        """Return all rules, those of files first."""
        session_rules: tuple[Rule, ...] = ()
        if query.session_id is not None:
            opened = await self._sessions.get(query.session_id)
            host = self._workspaces.get(query.workspace_id or opened.host.state.workspace)
            require_listed(host.state, query.session_id)
            forwarded = (forwarding.rule for forwarding in opened.host.state.forwarded_rules)
            session_rules = (
                *opened.host.state.rules,
                *(rule for rule in forwarded if rule.rule_id not in host.state.rule_ids),
            )
        else:
            host = self._require_workspace(query.workspace_id)
        return RuleList(
            rules=(
                *self._read_file_rules(host),
                *(self._to_standing_rule(rule) for rule in (*host.state.rules, *session_rules)),
            )
        )

    @answers(GetSettings)
    async def get_settings(self, query: GetSettings) -> SettingsRead:
        """Return a settings file."""
        folder, trusted = "", ""
        if query.place == "folder":
            host = self._require_workspace(query.workspace_id)
            folder, trusted = host.state.path, host.state.trusted
        file = self._require_settings().read(query.place, folder, trusted)
        return SettingsRead(
            place=query.place,
            path=file.path,
            digest=file.digest,
            values=file.values,
            holding=file.holding,
            json_schema=file.json_schema,
            problems=file.problems,
        )

    @carries_out(UpdateSettings)
    async def update_settings(
        self, command: UpdateSettings, actor: Actor, stored_answer: StoredAnswer | None
    ) -> SettingsUpdated:
        """Write settings, and record the change in the affected workspaces."""
        settings = self._require_settings()
        if command.place == "folder":
            hosts = [self._require_workspace(command.workspace_id)]
            hosts[0].require_folder()
        else:
            hosts = self._workspaces.all()
        folder = hosts[0].state.path if command.place == "folder" else ""
        async with self._writing:
            written = settings.write(command.place, folder, command.changes, command.digest)
            answer = SettingsUpdated(place=command.place, path=written.path, digest=written.digest, keys=written.keys)
            try:
                for number, host in enumerate(hosts):
                    await host.change(
                        lambda _: permission.record_settings_change(answer),
                        actor,
                        stored_answer=stored_answer if number == 0 else None,
                    )
            except Refusal:
                settings.restore(written)
                raise
        return answer

    @carries_out(AddRule)
    async def add_rule(self, command: AddRule, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Add a rule to a session or a workspace."""
        try:
            check_matcher(command.matcher)
        except InvalidMatcherError as error:
            message = f"This is no matcher: {error}."
            raise Refusal(
                "invalid_input",
                message,
                field="matcher",
                hint="Example: Bash(git status *).",
                reason=error.code,
                parameters=error.parameters,
            ) from error
        if command.session_id is not None:
            return await (await self._sessions.get(command.session_id)).host.run_command(command, actor, stored_answer)
        host = self._require_workspace(command.workspace_id)
        rule, now = self._dependencies.ids.new("rule"), self._dependencies.clock.now()
        return await host.change(
            lambda state: permission.add_workspace_rule(state, command, rule, now), actor, stored_answer=stored_answer
        )

    @carries_out(RevokeRule)
    async def revoke_rule(self, command: RevokeRule, actor: Actor, stored_answer: StoredAnswer | None) -> Answer:
        """Revoke a rule of a session or a workspace."""
        if command.session_id is not None:
            return await (await self._sessions.get(command.session_id)).host.run_command(command, actor, stored_answer)
        return await self._require_workspace(command.workspace_id).change(
            lambda state: permission.revoke_workspace_rule(state, command), actor, stored_answer=stored_answer
        )

    def _read_file_rules(self, host: WorkspaceHost) -> list[ListedRule]:
        """Return the rules of files, including the ones that are not in force."""
        settings = self._dependencies.settings
        return [] if settings is None else list(settings.list_rules(host.state.path, host.state.trusted))

    def _to_standing_rule(self, rule: Rule) -> ListedRule:
        return ListedRule(
            rule_id=rule.rule_id,
            matcher=rule.matcher,
            verdict=rule.verdict,
            scope=rule.scope,
            expires_at=rule.expires_at,
            held_back="" if select_unexpired((rule,), self._dependencies.clock.now()) else _EXPIRED,
        )

    def _require_workspace(self, workspace: str | None) -> WorkspaceHost:
        if workspace is None:
            raise Refusal(
                "invalid_input",
                "workspaceId is missing.",
                field="workspaceId",
                hint="Find workspaces with list_workspaces.",
            )
        return self._workspaces.get(workspace)

    def _require_settings(self) -> SettingsStore:
        if self._dependencies.settings is None:
            raise Refusal(
                "invalid_input",
                "Settings are not available in this process.",
                field="place",
                hint="Send it to a server that was started with `callboard`.",
            )
        return self._dependencies.settings


def _derive_trust_state(requested: RequestedPermissions, trusted: str) -> TrustState:
    if not requested.digest:
        return "nothing"
    if not trusted:
        return "untrusted"
    return "trusted" if trusted == requested.digest else "changed"
