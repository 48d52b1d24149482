"""Previews: the gate's result on a hypothetical call, and rules tried on past calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from callboard.contracts.commands.permission import (
    DryRunCall,
    DryRunResult,
    DryRunRule,
    DryRunRules,
    EvaluatePermission,
    PermissionEvaluation,
    VerdictChange,
)
from callboard.contracts.content import Text
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.permission import PermissionEvaluated, Rule, Verdict, list_checks
from callboard.contracts.facts.tool import ToolRequested
from callboard.contracts.ports.tools import ToolCall, ToolContext
from callboard.contracts.scope import Scope
from callboard.contracts.settings import RuleEntry
from callboard.contracts.tool_names import to_stored_matcher, to_stored_name
from callboard.control.state.agent_definitions import build_session_roster
from callboard.control.workspace import require_listed
from callboard.tools.gate import rule_trial
from callboard.tools.gate.rules import InvalidMatcherError, check_matcher

from ..prompts.run_config import build_tool_context
from ..prompts.tool_catalog import add_settings
from ..secrets.secret_values import evaluate_call
from ..service import Service, answers
from ..session_registry import build_unknown_thread
from ..workspaces.context import WorkspaceContext
from ..workspaces.effective_rules import collect_rules

#: Number of facts that are searched for past calls, and of examples per outcome.
MAX_FACTS = 100_000
EXAMPLES = 5
_PAGE = 1000
_OUTCOMES: dict[Verdict, VerdictChange] = {"allow": "allowed", "ask": "asked", "deny": "denied"}


class _PastCall(NamedTuple):
    """A past call and its evaluation."""

    session: str
    scope: Scope
    requested: ToolRequested
    evaluated: PermissionEvaluated


class PermissionPreview(Service):
    """Answers previews. It changes nothing."""

    @answers(EvaluatePermission)
    async def evaluate(self, query: EvaluatePermission) -> PermissionEvaluation:
        """Evaluate a hypothetical call."""
        context = await (
            self._build_session_context(query, query.session_id)
            if query.session_id
            else self._build_workspace_context(query)
        )
        call = ToolCall(call_id="", tool=to_stored_name(query.tool), arguments=query.arguments)
        call = msgspec.structs.replace(call, hook_result=self._dependencies.toolbox.preview_hooks(call, context))
        evaluation = await evaluate_call(self._dependencies.toolbox, call, context, self._dependencies.secrets)
        return PermissionEvaluation(
            agent=context.agent,
            permission_mode=context.permission_mode,
            verdict=evaluation.verdict,
            risk=evaluation.risk,
            read_only=evaluation.read_only,
            summary=evaluation.summary,
            arguments=evaluation.arguments,
            checks=list_checks(evaluation.checks),
            code=evaluation.code,
            message=evaluation.message,
            preview=evaluation.preview,
            matchers=evaluation.matchers,
        )

    @answers(DryRunRules)
    async def dry_run(self, query: DryRunRules) -> DryRunResult:
        """Try rules on past calls, newest sessions first."""
        rules = _parse_rules(query.rules)
        host = self._workspaces.get(query.workspace_id)
        if query.session_id is not None:
            sessions = [require_listed(host.state, query.session_id).session]
        else:
            listed = sorted(host.state.sessions.values(), key=lambda past_call: -past_call.listed)
            sessions = [past_call.session for past_call in listed]
        past_calls, searched, is_complete = await self._find_past_calls(sessions)
        outcomes: dict[VerdictChange, int] = {"allowed": 0, "asked": 0, "denied": 0}
        matches = dict.fromkeys((rule.rule_id for rule in rules), 0)
        examples: list[DryRunCall] = []
        unmatched = 0
        for past_call in past_calls:
            trial = await self._try_rules(past_call, rules, host.state.path)
            if trial is None:
                unmatched += 1
                continue
            rule, example = trial
            matches[rule.rule_id] += 1
            if example is None:
                continue
            kind = _OUTCOMES[example.would]
            if outcomes[kind] < EXAMPLES:
                examples.append(example)
            outcomes[kind] += 1
        return DryRunResult(
            sessions=searched,
            calls=len(past_calls),
            whole=is_complete,
            unspoken=unmatched,
            turned=outcomes,
            rules=tuple(
                DryRunRule(matcher=rule.matcher, verdict=rule.verdict, calls=matches[rule.rule_id]) for rule in rules
            ),
            examples=tuple(examples),
        )

    async def _build_session_context(self, query: EvaluatePermission, session: str) -> ToolContext:
        """Return the context of a thread's run. An idle thread is evaluated as its next turn in these modes."""
        opened = await self._sessions.get(session)
        state, workspace = opened.host.state, opened.host.workspace
        name = query.thread_id or state.lead
        thread = state.threads.get(name)
        if thread is None:
            raise build_unknown_thread(name)
        if thread.run is not None and not query.agent:
            return await opened.host.run_contexts.resolve_tool_context(name)
        roster = build_session_roster(self._dependencies.definitions.read_roster(workspace.folder), state)
        definition = query.agent or thread.definition
        agent = roster.find(definition) or self._dependencies.definitions.get(workspace.folder, definition)
        mode = workspace.limit_mode(query.permission_mode, agent)
        rules = collect_rules(workspace, state, self._dependencies.clock.now())
        return _add_workspace(build_tool_context(workspace.folder, agent, query.mode, mode, rules), workspace)

    async def _build_workspace_context(self, query: EvaluatePermission) -> ToolContext:
        if query.workspace_id is None:
            raise Refusal(
                "invalid_input",
                "evaluate_permission needs a session or a workspace.",
                field="workspaceId",
                hint="Set sessionId or workspaceId.",
            )
        host = self._workspaces.get(query.workspace_id)
        host.require_folder()
        workspace = host.context
        definitions = self._dependencies.definitions
        agent = (
            definitions.get(workspace.folder, query.agent) if query.agent else definitions.find_lead(workspace.folder)
        )
        mode = workspace.limit_mode(query.permission_mode, agent)
        rules = collect_rules(workspace, None, self._dependencies.clock.now())
        return _add_workspace(build_tool_context(workspace.folder, agent, query.mode, mode, rules), workspace)

    async def _find_past_calls(self, sessions: Sequence[str]) -> tuple[list[_PastCall], int, bool]:
        """Return the evaluated calls of the sessions, the number of searched sessions, and whether the search is complete."""
        past_calls: list[_PastCall] = []
        left = MAX_FACTS
        for looked, session in enumerate(sessions):
            if left <= 0:
                return past_calls, looked, False
            head = await self._dependencies.store.facts.read_head(session)
            position = max(0, head.sequence - left)
            left -= head.sequence - position
            requested: dict[str, ToolRequested] = {}
            calls: list[_PastCall] = []
            while records := await self._dependencies.store.facts.read(session, after=position, limit=_PAGE):
                position = records[-1].sequence
                for record in records:
                    if isinstance(record.fact, ToolRequested):
                        requested[record.scope.tool_call] = record.fact
                    elif isinstance(record.fact, PermissionEvaluated) and record.scope.tool_call in requested:
                        calls.append(
                            _PastCall(session, record.scope, requested.pop(record.scope.tool_call), record.fact)
                        )
            past_calls += reversed(calls)
            if head.sequence > MAX_FACTS:
                return past_calls, looked + 1, False
        return past_calls, len(sessions), True

    async def _try_rules(
        self, past: _PastCall, rules: Sequence[Rule], folder: str
    ) -> tuple[Rule, DryRunCall | None] | None:
        """Return the matching rule, and the call if its verdict would change; None if no rule
        matches.

        A denial by another check stays.
        """
        requested = past.requested
        arguments = await self._read_text(requested.final)
        target = rule_trial.read_target(requested.tool, arguments, folder)
        decision = rule_trial.try_rules(rules, target, spends=bool(self._dependencies.secrets.find_stored(arguments)))
        if decision is None:
            return None
        if decision.verdict == "allow" and requested.hooked is not None and requested.hooked.verdict == "ask":
            decision = decision._replace(verdict="ask")
        was = past.evaluated.verdict
        denied_by = next((check.name for check in past.evaluated.checks if check.verdict == "deny"), "")
        if decision.verdict == was or (was == "deny" and denied_by != "rules"):
            return decision.rule, None
        return decision.rule, DryRunCall(
            session_id=past.session,
            turn_id=past.scope.turn,
            tool_call_id=past.scope.tool_call,
            tool=requested.tool,
            subject=rule_trial.describe_target(target) or requested.summary,
            was=was,
            would=decision.verdict,
            matcher=decision.rule.matcher,
        )

    async def _read_text(self, text: Text) -> str:
        if text.ref is None:
            return text.text
        data = await self._dependencies.store.blobs.get(text.ref.hash)
        return text.text if data is None else data.decode()


def _parse_rules(entries: Sequence[RuleEntry]) -> tuple[Rule, ...]:
    for number, entry in enumerate(entries):
        try:
            check_matcher(entry.matcher)
        except InvalidMatcherError as error:
            field = f"rules.{number}.matcher"
            raise Refusal(
                "invalid_input",
                f"Invalid matcher: {error}.",
                field=field,
                reason=error.code,
                parameters=error.parameters,
                hint="Example: Bash(git status *).",
            ) from error
    return tuple(
        Rule(
            rule_id=str(number),
            matcher=to_stored_matcher(entry_of_rule.matcher),
            verdict=entry_of_rule.verdict,
            scope="workspace",
        )
        for number, entry_of_rule in enumerate(entries)
    )


def _add_workspace(context: ToolContext, workspace: WorkspaceContext) -> ToolContext:
    return add_settings(context, workspace.settings)
