"""JSON Schema and TypeScript of facts, commands, rows and problems.

`python -m callboard.contracts.schema.generate` prints the files as one JSON object: texts by path from the project's
root. `scripts/gen` writes them, or compares them with `--check`.
"""

from __future__ import annotations

import json
import sys
from inspect import cleandoc
from typing import Any, get_args

import msgspec

from ..commands import TABLE
from ..commands.base import Authority, Serial
from ..commands.turn import WhenBusy
from ..errors import Code, Problem
from ..facts import FACTS
from ..facts.action import ActionType, ApprovalScope, Decision
from ..facts.model import StopReason
from ..facts.permission import CheckName, ReasonCode, Risk, RuleScope, Verdict
from ..facts.queue import SteerRejection
from ..facts.session import AgentKind, PauseCause
from ..facts.tool import SandboxLevel
from ..facts.turn import InterruptCause, Mode, PermissionMode
from ..live import Cursor
from ..record import WireEvent
from ..rows import SESSION_PANELS, WORKSPACE_PANELS, AnyPart, AnyRow
from ..rows.action import ActionOutcome
from ..rows.base import AppendText, Remove, Upsert
from ..rows.part import PartState
from ..rows.session import Attention, SessionState
from ..rows.status import RuntimeStatus, StatusDetail
from ..rows.tool import ToolState
from ..rows.turn import TurnState
from ..scope import ActorKind, ScopeKey
from ..settings import RequestedPermissionCode, SettingsProblemCode
from ..text.reasons import ENGLISH
from .typescript import Writer, render_closed_list, render_literal, to_constant_name

Files = dict[str, str]
SCHEMAS = "schemas"
TYPESCRIPT = "web/src/system/generated/contracts.ts"
REASONS = "web/src/system/generated/reasons.ts"

#: The closed lists that a page needs by name.
CLOSED_LISTS: dict[str, tuple[str, ...]] = {
    "ActionOutcome": get_args(ActionOutcome),
    "ActionType": get_args(ActionType),
    "ActorKind": get_args(ActorKind),
    "AgentKind": get_args(AgentKind),
    "ApprovalScope": get_args(ApprovalScope),
    "Attention": get_args(Attention),
    "Authority": get_args(Authority),
    "CheckName": get_args(CheckName),
    "Code": get_args(Code),
    "Decision": get_args(Decision),
    "InterruptCause": get_args(InterruptCause),
    "Mode": get_args(Mode),
    "PartState": get_args(PartState),
    "PauseCause": get_args(PauseCause),
    "PermissionMode": get_args(PermissionMode),
    "ReasonCode": get_args(ReasonCode),
    "Risk": get_args(Risk),
    "RuleScope": get_args(RuleScope),
    "RuntimeStatus": get_args(RuntimeStatus),
    "SandboxLevel": get_args(SandboxLevel),
    "Serial": get_args(Serial),
    "SessionState": get_args(SessionState),
    "SettingsProblemCode": get_args(SettingsProblemCode),
    "SteerRejection": get_args(SteerRejection),
    "StatusDetail": get_args(StatusDetail),
    "StopReason": get_args(StopReason),
    "ToolState": get_args(ToolState),
    "TurnState": get_args(TurnState),
    "Verdict": get_args(Verdict),
    "WhenBusy": get_args(WhenBusy),
    "RequestedPermissionCode": get_args(RequestedPermissionCode),
}

#: The name in the envelope of each id that a fact may need.
WIRE_IDS: dict[ScopeKey, str] = {
    "agent": "agentId",
    "thread": "threadId",
    "turn": "turnId",
    "run": "runId",
    "step": "stepId",
    "attempt": "attemptId",
    "tool_call": "toolCallId",
    "action": "actionId",
    "task": "taskId",
    "artifact": "artifactId",
    "evidence": "evidenceId",
    "handoff": "handoffId",
    "channel": "channelId",
    "review": "reviewId",
    "process": "processId",
    "job": "jobId",
    "parent_thread": "parentThreadId",
    "parent_run": "parentRunId",
}

_REF = "#/$defs/{name}"


def _build_components(types: list[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    schemas, definitions = msgspec.json.schema_components(types, ref_template=_REF)
    for schema in definitions.values():
        if "description" in schema:
            # Python 3.13 removes the indentation of docstrings when it compiles them; older ones keep it.
            schema["description"] = cleandoc(schema["description"])
    return list(schemas), dict(sorted(definitions.items()))


def _define_envelope() -> type[msgspec.Struct]:
    """Return the envelope without the fields that depend on the type of the fact."""
    fields = [
        (field.name, field.type) if field.required else (field.name, field.type, field.default)
        for field in msgspec.structs.fields(WireEvent)
        if field.name not in {"type", "payload", "erased"}
    ]
    return msgspec.defstruct("Envelope", fields, rename="camel", kw_only=True, namespace={"__doc__": WireEvent.__doc__})


def build_facts_schema() -> dict[str, Any]:
    """Return the schema of events. Each requires its payload and the ids that its fact needs."""
    _, definitions = _build_components([_define_envelope(), *FACTS.values()])
    events = [
        {
            "allOf": [
                {"$ref": "#/$defs/Envelope"},
                {
                    "type": "object",
                    "properties": {"type": {"const": tag}, "payload": {"$ref": f"#/$defs/{fact.__name__}"}},
                    "required": ["type", "payload", *(WIRE_IDS[name] for name in fact.needs)],
                },
            ]
        }
        for tag, fact in FACTS.items()
    ]
    erased = {
        "allOf": [
            {"$ref": "#/$defs/Envelope"},
            {
                "type": "object",
                "properties": {"type": {"type": "string"}, "payload": {"type": "object"}, "erased": {"const": True}},
                "required": ["type", "payload", "erased"],
            },
        ]
    }
    return {"title": "Facts as they leave the system", "anyOf": [*events, erased], "$defs": definitions}


def build_commands_schema() -> dict[str, Any]:
    """Return the schema of commands by name, each with its answer and its declaration."""
    _, definitions = _build_components([*(row.command for row in TABLE), *(row.answer for row in TABLE)])
    rows = {
        row.name: {
            "summary": row.summary,
            "serial": row.serial,
            "authority": row.authority,
            "query": row.query,
            "command": {"$ref": f"#/$defs/{row.command.__name__}"},
            "answer": {"$ref": f"#/$defs/{row.answer.__name__}"},
        }
        for row in TABLE
    }
    return {"title": "Commands and their answers", "commands": rows, "$defs": definitions}


def build_rows_schema() -> dict[str, Any]:
    """Return the schema of row operations, and of the rows by kind."""
    upsert: Any = msgspec.defstruct(
        "Upsert", [("panel", str), ("row", AnyRow)], tag_field="op", tag="upsert", namespace={"__doc__": Upsert.__doc__}
    )
    (operation, row, part, _), definitions = _build_components([upsert | Remove | AppendText, AnyRow, AnyPart, Cursor])
    definitions["AnyRow"] = row
    definitions["Upsert"]["properties"]["row"] = {"$ref": _REF.format(name="AnyRow")}
    definitions["AnyPart"] = part
    return {"title": "Row operations", **operation, "$defs": definitions}


def build_problem_schema() -> dict[str, Any]:
    """Return the schema of a refusal."""
    _, definitions = _build_components([Problem])
    return {"title": "A refusal", "$ref": "#/$defs/Problem", "$defs": definitions}


_KNOWN_EVENT = "/** An event of a type that these contracts know. */\nexport type WireEvent ="
_ERASED_EVENT = "/** An event whose payload was erased: its envelope remains. */\nexport type ErasedEvent ="
_BATCH = """/** Operations with the cursor that is reached once they are applied; a snapshot replaces what was there. */
export interface OpBatch {
  readonly kind: 'ops' | 'snapshot'
  readonly cursor: Cursor
  readonly ops: readonly Op[]
}"""


def _render_events() -> list[str]:
    payloads = "".join(f"  readonly {render_literal(tag)}: {fact.__name__}\n" for tag, fact in FACTS.items())
    members = "readonly type: T; readonly payload: FactPayloads[T]; readonly erased?: false"
    return [
        f"export interface FactPayloads {{\n{payloads}}}",
        "export type FactType = keyof FactPayloads",
        f"{_KNOWN_EVENT} {{\n  [T in FactType]: Envelope & {{ {members} }}\n}}[FactType]",
        f"{_ERASED_EVENT} Envelope & {{ readonly type: string; readonly erased: true }}",
    ]


def _render_commands() -> list[str]:
    shapes = "".join(
        f"  readonly {row.name}: {{ readonly command: {row.command.__name__}; readonly answer: {row.answer.__name__} }}\n"
        for row in TABLE
    )
    table = "".join(
        f"  {row.name}: {{ serial: {render_literal(row.serial)}, authority: {render_literal(row.authority)}, "
        f"query: {render_literal(row.query)}, summary: {render_literal(row.summary)} }},\n"
        for row in TABLE
    )
    return [
        f"export interface Commands {{\n{shapes}}}",
        "export type CommandName = keyof Commands",
        f"export const COMMANDS = {{\n{table}}} as const",
    ]


def _render_panels() -> list[str]:
    kinds: dict[str, list[str]] = {panel: [] for panel in (*SESSION_PANELS, *WORKSPACE_PANELS)}
    for row in get_args(AnyRow):
        # Rows that are read by key alone belong to no panel that clients follow.
        if row.panel in kinds:
            kinds[row.panel].append(row.__name__)
    panels = "".join(f"  readonly {panel}: {' | '.join(names)}\n" for panel, names in kinds.items())
    return [
        f"/** The rows of each panel. */\nexport interface PanelRows {{\n{panels}}}",
        "export type Panel = keyof PanelRows",
        render_closed_list("SESSION_PANELS", "SessionPanel", SESSION_PANELS),
        render_closed_list("WORKSPACE_PANELS", "WorkspacePanel", WORKSPACE_PANELS),
        "export type Op = Upsert | Remove | AppendText",
        _BATCH,
    ]


def render_typescript() -> str:
    """Return a TypeScript module with the types of all schemas, and the closed lists as constants."""
    writer = Writer(CLOSED_LISTS)
    definitions: dict[str, Any] = {}
    for schema in (build_facts_schema(), build_commands_schema(), build_rows_schema(), build_problem_schema()):
        definitions |= schema["$defs"]
    parts = [
        "// Generated from src/callboard/contracts by `make gen`. Do not edit.",
        *(render_closed_list(to_constant_name(name), name, values) for name, values in CLOSED_LISTS.items()),
        *(writer.declare(name, schema) for name, schema in sorted(definitions.items())),
        *_render_events(),
        *_render_commands(),
        *_render_panels(),
    ]
    return "\n\n".join(parts) + "\n"


def render_reasons() -> str:
    """Return a TypeScript module with the English texts of reasons, by their keys on the page."""
    texts = "".join(f"  'action.reason.{code}': {render_literal(text)},\n" for code, text in ENGLISH.items())
    return (
        "// Generated from src/callboard/contracts/text/reasons.py by `make gen`. Do not edit.\n\n"
        f"/** Reasons of the gate and of hooks, in English. */\nexport const enReasons = {{\n{texts}}} as const\n"
    )


def generate_files() -> Files:
    """Return the text of each generated file by its path from the project's root."""
    schemas = {
        "facts": build_facts_schema(),
        "commands": build_commands_schema(),
        "rows": build_rows_schema(),
        "problem": build_problem_schema(),
    }
    draft = "https://json-schema.org/draft/2020-12/schema"
    files = {
        f"{SCHEMAS}/{name}.json": json.dumps({"$schema": draft, **schema}, indent=1, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }
    return {**files, TYPESCRIPT: render_typescript(), REASONS: render_reasons()}


if __name__ == "__main__":
    json.dump(generate_files(), sys.stdout)
