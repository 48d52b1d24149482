"""What the gate would say of a call that nobody makes, and what rules would have decided of calls that are over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from callboard.contracts.commands.trust import (
    DryRunRules,
    EvaluatePermission,
    PermissionSeen,
    RulesTried,
    TriedCall,
    TriedRule,
    Turned,
)
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts import PermissionEvaluated, ToolRequested
from callboard.contracts.facts.permission import Rule, Verdict, passed
from callboard.contracts.ports.tools import ToolCall, ToolContext
from callboard.contracts.scope import Scope
from callboard.contracts.settings import RuleEntry
from callboard.contracts.tool_names import stored_matcher, stored_name
from callboard.control.state.agent_definitions import session_roster
from callboard.control.workspace import require_listed
from callboard.tools.gate import rule_trial
from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

from ..dependencies import Dependencies
from ..prompts.run_config import build_tool_context
from ..prompts.tool_catalog import with_settings
from ..secrets.secret_values import evaluate_call
from ..session_registry import SessionRegistry
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import effective_rules
from ..workspaces.registry import WorkspaceRegistry

#: How many facts are looked through for past calls, and how many examples are told of each kind.
MOST_FACTS = 100_000
EXAMPLES = 5
_PAGE = 1000
_TURNED: dict[Verdict, Turned] = {"allow": "allowed", "ask": "asked", "deny": "denied"}


class _PastCall(NamedTuple):
    """A past call and what the gate said of it."""

    session: str
    scope: Scope
    requested: ToolRequested
    evaluated: PermissionEvaluated


class PermissionPreview:
    """Looks, and changes nothing."""

    def __init__(self, dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._workspaces = workspaces

    async def evaluate(self, query: EvaluatePermission) -> PermissionSeen:
        """The gate's word on a call. Raises `unknown_workspace`, `unknown_session`, `unknown_thread`, `unknown_agent`,
        `invalid_input`."""
        context = await (self._of_session(query, query.session_id) if query.session_id else self._of_workspace(query))
        call = ToolCall(call_id="", tool=stored_name(query.tool), arguments=query.arguments)
        call = msgspec.structs.replace(call, hook_result=self._dependencies.toolbox.preview_hooks(call, context))
        seen = await evaluate_call(self._dependencies.toolbox, call, context, self._dependencies.secrets)
        return PermissionSeen(
            agent=context.agent,
            permission_mode=context.permission_mode,
            verdict=seen.verdict,
            risk=seen.risk,
            read_only=seen.read_only,
            summary=seen.summary,
            arguments=seen.arguments,
            checks=passed(seen.checks),
            code=seen.code,
            message=seen.message,
            preview=seen.preview,
            matchers=seen.matchers,
        )

    async def dry_run(self, query: DryRunRules) -> RulesTried:
        """What the rules would have decided of past calls, the newest sessions first. Raises `unknown_workspace`,
        `unknown_session`, `invalid_input` of a matcher that could never fit."""
        rules = _tried(query.rules)
        host = self._workspaces.get(query.workspace_id)
        if query.session_id is not None:
            sessions = [require_listed(host.state, query.session_id).session]
        else:
            listed = sorted(host.state.sessions.values(), key=lambda one: -one.listed)
            sessions = [one.session for one in listed]
        past, looked, whole = await self._past(sessions)
        turned: dict[Turned, int] = {"allowed": 0, "asked": 0, "denied": 0}
        had_the_word = dict.fromkeys((rule.rule_id for rule in rules), 0)
        examples: list[TriedCall] = []
        unspoken = 0
        for one in past:
            told = await self._told(one, rules, host.state.path)
            if told is None:
                unspoken += 1
                continue
            rule, example = told
            had_the_word[rule.rule_id] += 1
            if example is None:
                continue
            kind = _TURNED[example.would]
            if turned[kind] < EXAMPLES:
                examples.append(example)
            turned[kind] += 1
        return RulesTried(
            sessions=looked,
            calls=len(past),
            whole=whole,
            unspoken=unspoken,
            turned=turned,
            rules=tuple(
                TriedRule(matcher=rule.matcher, verdict=rule.verdict, calls=had_the_word[rule.rule_id])
                for rule in rules
            ),
            examples=tuple(examples),
        )

    async def _of_session(self, query: EvaluatePermission, session: str) -> ToolContext:
        """On whose behalf a thread's run calls tools; one that does nothing now, as its next turn would in these modes."""
        found = await self._sessions.get(session)
        state, workspace = found.host.state, found.host.workspace
        name = query.thread_id or state.lead
        thread = state.threads.get(name)
        if thread is None:
            raise Refusal("unknown_thread", f"There is no thread {name} in this session.", field="threadId")
        if thread.run is not None and not query.agent:
            return await found.host.run_contexts.tool_context(name)
        roster = session_roster(self._dependencies.definitions.roster(workspace.folder), state)
        wanted = query.agent or thread.definition
        agent = roster.find(wanted) or self._dependencies.definitions.get(workspace.folder, wanted)
        mode = workspace.limit_mode(query.permission_mode, agent)
        rules = effective_rules(workspace, state, self._dependencies.clock.now())
        return _with_home(build_tool_context(workspace.folder, agent, query.mode, mode, rules), workspace)

    async def _of_workspace(self, query: EvaluatePermission) -> ToolContext:
        if query.workspace_id is None:
            raise Refusal(
                "invalid_input",
                "It takes a session, or a workspace in which the call would be made.",
                field="workspaceId",
                hint="Give sessionId or workspaceId.",
            )
        host = self._workspaces.get(query.workspace_id)
        host.require_folder()
        workspace = host.context
        definitions = self._dependencies.definitions
        agent = definitions.get(workspace.folder, query.agent) if query.agent else definitions.lead(workspace.folder)
        mode = workspace.limit_mode(query.permission_mode, agent)
        rules = effective_rules(workspace, None, self._dependencies.clock.now())
        return _with_home(build_tool_context(workspace.folder, agent, query.mode, mode, rules), workspace)

    async def _past(self, sessions: Sequence[str]) -> tuple[list[_PastCall], int, bool]:
        """The calls of the sessions with what the gate said of each, how many sessions were looked at, and whether that is
        all there is."""
        found: list[_PastCall] = []
        left = MOST_FACTS
        for looked, session in enumerate(sessions):
            if left <= 0:
                return found, looked, False
            head = await self._dependencies.store.facts.head(session)
            place = max(0, head.sequence - left)
            left -= head.sequence - place
            asked: dict[str, ToolRequested] = {}
            calls: list[_PastCall] = []
            while records := await self._dependencies.store.facts.read(session, after=place, limit=_PAGE):
                place = records[-1].sequence
                for record in records:
                    if isinstance(record.fact, ToolRequested):
                        asked[record.scope.tool_call] = record.fact
                    elif isinstance(record.fact, PermissionEvaluated) and record.scope.tool_call in asked:
                        calls.append(_PastCall(session, record.scope, asked.pop(record.scope.tool_call), record.fact))
            found += reversed(calls)
            if head.sequence > MOST_FACTS:
                return found, looked + 1, False
        return found, len(sessions), True

    async def _told(self, past: _PastCall, rules: Sequence[Rule], folder: str) -> tuple[Rule, TriedCall | None] | None:
        """The rule that would have had the word, and the call where that would have changed anything; None where none speaks
        of it. What another station denied stays denied."""
        requested = past.requested
        arguments = await self._text(requested.final)
        target = rule_trial.read_target(requested.tool, arguments, folder)
        said = rule_trial.try_rules(rules, target, spends=bool(self._dependencies.secrets.find_stored(arguments)))
        if said is None:
            return None
        if said.verdict == "allow" and requested.hooked is not None and requested.hooked.verdict == "ask":
            said = said._replace(verdict="ask")
        was = past.evaluated.verdict
        denied_by = next((check.name for check in past.evaluated.checks if check.verdict == "deny"), "")
        if said.verdict == was or (was == "deny" and denied_by != "rules"):
            return said.rule, None
        return said.rule, TriedCall(
            session_id=past.session,
            turn_id=past.scope.turn,
            tool_call_id=past.scope.tool_call,
            tool=requested.tool,
            subject=rule_trial.describe_target(target) or requested.summary,
            was=was,
            would=said.verdict,
            matcher=said.rule.matcher,
        )

    async def _text(self, held: Text) -> str:
        if held.ref is None:
            return held.text
        data = await self._dependencies.store.blobs.get(held.ref.hash)
        return held.text if data is None else data.decode()


def _tried(entries: Sequence[RuleEntry]) -> tuple[Rule, ...]:
    for number, entry in enumerate(entries):
        try:
            check_matcher(entry.matcher)
        except InvalidMatcherError as error:
            field = f"rules.{number}.matcher"
            raise Refusal("invalid_input", f"This is no matcher: {error}.", field=field) from error
    return tuple(
        Rule(rule_id=str(number), matcher=stored_matcher(one.matcher), verdict=one.verdict, scope="workspace")
        for number, one in enumerate(entries)
    )


def _with_home(context: ToolContext, workspace: WorkspaceContext) -> ToolContext:
    return with_settings(context, workspace.settings)
