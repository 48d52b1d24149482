"""A definition: a Markdown file whose frontmatter says what the agent may do and whose body is its prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple, get_args

from callboard.contracts.entities.team import Edge
from callboard.contracts.facts import AnySessionFact
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Provider, Schedule
from callboard.contracts.tool_names import stored_name
from callboard.contracts.tools import EVERY_TOOL, TOOL_NAMES, may_be_brought

from .cron import ever_occurs
from .fields import DefinitionFields, PolicyTable, ScheduleFields, is_cron, to_seconds
from .marks import Frontmatter, FrontmatterSplit, split_frontmatter, suggest

#: Larger than any prompt that helps, in bytes.
LARGEST = 256 * 1024
_LARGEST_FRONT = 32 * 1024

_BEGINNING = "It begins with a line ---, then fields such as `name: lead`, then a line ---, then the prompt."
#: The facts that can wake an agent: those of its session.
_WAKING = frozenset(fact.type for fact in get_args(AnySessionFact))
#: What runs an agent of each kind: the provider it has without naming one, and those it may name.
_PROVIDERS: Mapping[str, tuple[Provider, tuple[Provider, ...]]] = {
    "main": ("", ("", "acp")),
    "subagent": ("", ("", "acp")),
    "background": ("", ("", "acp")),
    "remote": ("a2a", ("a2a",)),
    "human": ("human", ("human",)),
}


class LoadedDefinition(NamedTuple):
    """What a file says. `definition` is None where `problems` say why; `lines` are those of its fields by path, from 1."""

    file: str
    definition: Definition | None
    problems: tuple[DefinitionProblem, ...]
    lines: Mapping[str, int]


def load_definition(source: bytes, file: str) -> LoadedDefinition:
    """The definition in these bytes; `file` names them in problems. A file with any problem of its own gives none."""
    if len(source) > LARGEST:
        return unreadable(
            file, f"The file is larger than {LARGEST // 1024} KB.", "Keep long material in files that it reads."
        )
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        return unreadable(file, f"The file is not UTF-8: {error.reason}.", "Save it as UTF-8.", line)
    halves = split_frontmatter(text)
    if halves is None:
        return unreadable(file, "The file has no frontmatter.", _BEGINNING, 1)
    if len(halves.front) > _LARGEST_FRONT:
        return unreadable(file, f"The frontmatter is larger than {_LARGEST_FRONT // 1024} KB.", _BEGINNING, halves.line)
    front = Frontmatter(file, halves)
    found = front.decode(DefinitionFields)
    if found is None:
        return LoadedDefinition(file, None, tuple(front.problems), front.lines)
    _check(found, front, halves)
    if front.problems:
        return LoadedDefinition(file, None, tuple(front.problems), front.lines)
    return LoadedDefinition(file, _made(found, halves, source, file), (), front.lines)


def unreadable(file: str, message: str, hint: str, line: int = 0) -> LoadedDefinition:
    """A file that could not be read as far as its fields."""
    return LoadedDefinition(
        file, None, (DefinitionProblem(file=file, line=line, field="", message=message, hint=hint),), {}
    )


def _made(front: DefinitionFields, halves: FrontmatterSplit, source: bytes, file: str) -> Definition:
    table = front.policy if isinstance(front.policy, PolicyTable) else PolicyTable(allow=front.policy)
    return Definition(
        name=front.name,
        description=front.description.strip(),
        kind=front.kind,
        prompt=halves.body.strip(),
        hash=hashlib.sha256(source).hexdigest(),
        file=file,
        role=front.role,
        aliases=front.aliases,
        lead=front.lead,
        model=front.model.strip(),
        tools=tuple(dict.fromkeys(map(stored_name, front.tools))),
        policy=table.allow,
        delegate_targets=table.delegate_targets,
        capabilities=front.capabilities,
        edges=tuple(
            Edge(to=one.to, direction=one.direction, kind=one.kind, confirm=one.confirm, ownership=one.ownership)
            for one in front.edges
        ),
        permission_mode=front.permission_mode,
        work_globs=front.work_globs,
        isolation=front.isolation,
        max_iters=front.max_iters,
        provider=front.provider or _PROVIDERS[front.kind][0],
        command=front.command,
        agent_mode=front.agent_mode,
        url=front.url,
        schedule=_schedule(front.schedule),
        color=front.color,
    )


def _schedule(waking: ScheduleFields | None) -> Schedule | None:
    if waking is None:
        return None
    return Schedule(every=to_seconds(waking.every), cron=" ".join(waking.cron.split()), wake_on=waking.wake_on)


def _check(front: DefinitionFields, places: Frontmatter, halves: FrontmatterSplit) -> None:
    """What one field says that another one contradicts."""
    _check_tools(front, places)
    _check_kind(front, places)
    _check_provider(front, places)
    _check_schedule(front, places)
    if not halves.body.strip() and not (front.provider or _PROVIDERS[front.kind][0]):
        places.lines["prompt"] = halves.body_line
        places.problem("prompt", "The agent has no prompt.", "Write it below the frontmatter.")


def _check_tools(front: DefinitionFields, places: Frontmatter) -> None:
    for number, name in enumerate(front.tools):
        if name != EVERY_TOOL and stored_name(name) not in TOOL_NAMES and not may_be_brought(name):
            hint = suggest(name, sorted(TOOL_NAMES)) or f"There are {', '.join(sorted(TOOL_NAMES))}."
            places.problem(f"tools[{number}]", f"There is no tool `{name}`.", hint)


def _check_kind(front: DefinitionFields, places: Frontmatter) -> None:
    allow, targets = front.policy, None
    if isinstance(allow, PolicyTable):
        allow, targets = allow.allow, allow.delegate_targets
    if front.lead and front.kind != "main":
        places.problem("lead", f"An agent of kind {front.kind} cannot lead.", "Give it `kind: main`, or drop `lead`.")
    if front.kind == "subagent" and "Delegate" in allow:
        places.problem("policy", "A subagent delegates to nobody.", "Take Delegate out of its policy.")
    if front.kind == "subagent" and front.capabilities:
        places.problem("capabilities", "A subagent makes neither agents nor edges.", "Take its capabilities out.")
    if targets is not None and "Delegate" not in allow:
        places.problem(
            "policy.delegate_targets", "There are targets, but no Delegate in `policy.allow`.", "Add Delegate."
        )


def _check_provider(front: DefinitionFields, places: Frontmatter) -> None:
    usual, possible = _PROVIDERS[front.kind]
    provider = front.provider or usual
    if provider not in possible:
        named = " or ".join(f"`{one}`" if one else "none" for one in possible)
        places.problem(
            "provider", f"An agent of kind {front.kind} is not run by `{provider}`; its provider is {named}."
        )
    if provider == "acp" and not front.command:
        places.problem("provider", "The provider `acp` takes a `command` to start.", "Such as: command: [goose, acp].")
    if provider != "acp" and front.command:
        places.problem("command", "Only the provider `acp` starts a command.", "Add `provider: acp`.")
    if provider != "acp" and front.agent_mode:
        places.problem("agent_mode", "Only the provider `acp` has modes of its own.", "Add `provider: acp`.")
    if provider == "a2a" and not front.url:
        places.problem(
            "kind", "A remote agent takes the `url` of its card.", "Such as: url: https://example.org/agent."
        )
    if provider != "a2a" and front.url:
        places.problem("url", "Only an agent of kind remote has an address.", "Give it `kind: remote`.")


def _check_schedule(front: DefinitionFields, places: Frontmatter) -> None:
    waking = front.schedule
    if waking is None:
        return
    if front.kind != "background":
        places.problem("schedule", "Only an agent of kind background has a schedule.", "Give it `kind: background`.")
    if waking.every and waking.cron:
        places.problem("schedule.cron", "A schedule has either `every` or `cron`.", "Keep one of them.")
    if waking.cron and not is_cron(waking.cron):
        message = (
            f"`{waking.cron}` is no cron line: five fields for minute, hour, day, month, day of the week, as numbers."
        )
        places.problem(
            "schedule.cron", message, 'Such as "0 9 * * 1-5": at nine in the morning (UTC) from Monday to Friday.'
        )
    elif waking.cron and not ever_occurs(waking.cron):
        message = f"No day is ever one of `{waking.cron}`: the month it names has no such day."
        places.problem("schedule.cron", message, "Name days that the month has.")
    if not (waking.every or waking.cron or waking.wake_on):
        places.problem("schedule", "The schedule never wakes the agent.", "Give it `every`, `cron` or `wake_on`.")
    for number, tag in enumerate(waking.wake_on):
        if tag not in _WAKING:
            message = f"There is no fact `{tag}` of a session."
            places.problem(f"schedule.wake_on[{number}]", message, suggest(tag, sorted(_WAKING)))
