"""Trust, rules and settings of a workspace: what a person says of them, and what can be read."""

from __future__ import annotations

import asyncio
from typing import Any

from callboard.contracts.commands import RespondAction
from callboard.contracts.commands.settings import GetSettings, SettingsRead, SettingsUpdated, UpdateSettings
from callboard.contracts.commands.trust import (
    AddRule,
    DryRunRules,
    EvaluatePermission,
    GetTrust,
    ListRules,
    ResolvePermission,
    RevokeRule,
    RevokeTrust,
    RuleList,
    TrustRead,
    TrustState,
    TrustWorkspace,
)
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import Rule, holding
from callboard.contracts.ports.settings import SettingsBook
from callboard.contracts.ports.store import StoredAnswer
from callboard.contracts.scope import Actor
from callboard.contracts.settings import Asked, StandingRule
from callboard.control.decide import permission
from callboard.control.workspace import require_listed
from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

from ..dependencies import Dependencies
from ..session_registry import SessionRegistry
from ..workspaces.host import WorkspaceHost
from ..workspaces.registry import WorkspaceRegistry
from .permission_preview import PermissionPreview

#: What a person says of trust and of rules.
PermissionCommand = TrustWorkspace | RevokeTrust | AddRule | RevokeRule
PermissionQuery = GetTrust | ListRules | GetSettings | DryRunRules | EvaluatePermission
_OVER = "its time is over"


class TrustService:
    """Carries out what is said of trust, rules and settings, and tells what holds."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces
        self._writing = asyncio.Lock()
        self._rulings = PermissionPreview(dependencies, sessions, workspaces)

    async def submit(self, command: PermissionCommand, actor: Actor, stored_answer: StoredAnswer | None) -> Any:
        """Raises Refusal."""
        match command:
            case TrustWorkspace():
                host = self._workspaces.get(command.workspace_id)
                asked = self._asked(host)
                return await host.change(
                    lambda state: permission.trust_workspace(state, command, asked), actor, stored_answer=stored_answer
                )
            case RevokeTrust():
                host = self._workspaces.get(command.workspace_id)
                return await host.change(
                    lambda state: permission.revoke_trust(state, command), actor, stored_answer=stored_answer
                )
            case AddRule():
                return await self._add(command, actor, stored_answer)
            case RevokeRule(session_id=str(session)):
                return await (await self._sessions.get(session)).host.run_command(command, actor, stored_answer)
            case RevokeRule():
                host = self._one(command.workspace_id)
                return await host.change(
                    lambda state: permission.revoke_workspace_rule(state, command), actor, stored_answer=stored_answer
                )

    async def answer(self, query: PermissionQuery) -> Any:
        """Raises Refusal."""
        match query:
            case GetTrust():
                return self.trust(query)
            case ListRules():
                return await self.rules(query)
            case GetSettings():
                return self.settings(query)
            case DryRunRules():
                return await self._rulings.dry_run(query)
            case EvaluatePermission():
                return await self._rulings.evaluate(query)

    def trust(self, query: GetTrust) -> TrustRead:
        """What the folder's own files ask for, and whether its person lets them. Raises `unknown_workspace`."""
        host = self._workspaces.get(query.workspace_id)
        asked, trusted = self._asked(host), host.state.trusted
        book = self._dependencies.settings
        return TrustRead(
            workspace_id=query.workspace_id,
            folder=host.state.path,
            state=_state(asked, trusted),
            digest=asked.digest,
            trusted=trusted,
            widenings=asked.widenings,
            problems=() if book is None else book.problems(host.state.path),
        )

    async def rules(self, query: ListRules) -> RuleList:
        """The rules that there are, those of files first. Raises `unknown_workspace`, `unknown_session`, `invalid_input`."""
        own: tuple[Rule, ...] = ()
        if query.session_id is not None:
            found = await self._sessions.get(query.session_id)
            host = self._workspaces.get(query.workspace_id or found.host.state.workspace)
            require_listed(host.state, query.session_id)
            on_its_way = (one.rule for one in found.host.state.forwarded_rules)
            own = (*found.host.state.rules, *(rule for rule in on_its_way if rule.rule_id not in host.state.rule_ids))
        else:
            host = self._one(query.workspace_id)
        return RuleList(rules=(*self._of_files(host), *(self._standing(rule) for rule in (*host.state.rules, *own))))

    def settings(self, query: GetSettings) -> SettingsRead:
        """A file of settings. Raises `unknown_workspace`, `invalid_input`."""
        folder, trusted = "", ""
        if query.place == "folder":
            host = self._one(query.workspace_id)
            folder, trusted = host.state.path, host.state.trusted
        shown = self._book().read(query.place, folder, trusted)
        return SettingsRead(
            place=query.place,
            path=shown.path,
            digest=shown.digest,
            values=shown.values,
            holding=shown.holding,
            json_schema=shown.json_schema,
            problems=shown.problems,
        )

    async def update(
        self, command: UpdateSettings, actor: Actor, stored_answer: StoredAnswer | None
    ) -> SettingsUpdated:
        """Writes settings; what was written is told to the workspaces in which it holds. Raises as `SettingsBook.write`."""
        book = self._book()
        if command.place == "folder":
            hosts = [self._one(command.workspace_id)]
            hosts[0].require_folder()
        else:
            hosts = self._workspaces.all()
        folder = hosts[0].state.path if command.place == "folder" else ""
        async with self._writing:
            written = book.write(command.place, folder, command.changes, command.digest)
            answer = SettingsUpdated(place=command.place, path=written.path, digest=written.digest, keys=written.keys)
            try:
                for number, host in enumerate(hosts):
                    await host.change(
                        lambda _: permission.record_settings_change(answer),
                        actor,
                        stored_answer=stored_answer if number == 0 else None,
                    )
            except Refusal:
                book.put_back(written)
                raise
        return answer

    async def _add(self, command: AddRule, actor: Actor, stored_answer: StoredAnswer | None) -> Any:
        try:
            check_matcher(command.matcher)
        except InvalidMatcherError as error:
            message = f"This is no matcher: {error}."
            raise Refusal("invalid_input", message, field="matcher", hint="Such as Bash(git status *).") from error
        if command.session_id is not None:
            return await (await self._sessions.get(command.session_id)).host.run_command(command, actor, stored_answer)
        host = self._one(command.workspace_id)
        rule, now = self._dependencies.ids.new("rule"), self._dependencies.clock.now()
        return await host.change(
            lambda state: permission.add_workspace_rule(state, command, rule, now), actor, stored_answer=stored_answer
        )

    def _of_files(self, host: WorkspaceHost) -> list[StandingRule]:
        """The rules of files, those included that do not hold."""
        book = self._dependencies.settings
        return [] if book is None else list(book.rules(host.state.path, host.state.trusted))

    def _standing(self, rule: Rule) -> StandingRule:
        return StandingRule(
            rule_id=rule.rule_id,
            matcher=rule.matcher,
            verdict=rule.verdict,
            scope=rule.scope,
            expires_at=rule.expires_at,
            held_back="" if holding((rule,), self._dependencies.clock.now()) else _OVER,
        )

    def _one(self, workspace: str | None) -> WorkspaceHost:
        if workspace is None:
            raise Refusal(
                "invalid_input",
                "It has to be said which workspace is meant.",
                field="workspaceId",
                hint="list_workspaces names them.",
            )
        return self._workspaces.get(workspace)

    def _asked(self, host: WorkspaceHost) -> Asked:
        book = self._dependencies.settings
        return Asked() if book is None else book.asked(host.state.path)

    def _book(self) -> SettingsBook:
        if self._dependencies.settings is None:
            raise Refusal("invalid_input", "No settings are kept here.", field="place")
        return self._dependencies.settings


def to_respond_action(command: ResolvePermission) -> RespondAction:
    """A policy's answer is one like a person's: it is bound to what the action offers in the same way."""
    return RespondAction(
        session_id=command.session_id,
        action_id=command.action_id,
        decision=command.decision,
        scope=command.scope,
        reason=command.reason,
        expires_at=command.expires_at,
    )


def _state(asked: Asked, trusted: str) -> TrustState:
    if not asked.digest:
        return "nothing"
    if not trusted:
        return "untrusted"
    return "trusted" if trusted == asked.digest else "changed"
