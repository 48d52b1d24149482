"""Definition of an agent: a Markdown file with permissions in the frontmatter and the prompt as body."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple, get_args

from callboard.contracts.entities.team import Edge
from callboard.contracts.facts import AnySessionFact
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Provider, Schedule
from callboard.contracts.tool_names import to_stored_name
from callboard.contracts.tools import EVERY_TOOL, TOOL_NAMES, is_server_tool_name

from .cron import has_next_time, is_cron
from .fields import DefinitionFields, PolicyTable, ScheduleFields, to_seconds
from .frontmatter import Frontmatter, FrontmatterSplit, split_frontmatter, suggest

#: The largest file, in bytes.
MAX_FILE_BYTES = 256 * 1024
_MAX_FRONTMATTER_CHARS = 32 * 1024

_FORMAT = "Start the file with a line ---, then fields such as `name: lead`, then a line ---, then the prompt."
#: Facts that can wake an agent: those of its session.
_WAKING = frozenset(fact.type for fact in get_args(AnySessionFact))
#: The default provider of each kind of agent, and the accepted ones.
_PROVIDERS: Mapping[str, tuple[Provider, tuple[Provider, ...]]] = {
    "main": ("", ("", "acp")),
    "subagent": ("", ("", "acp")),
    "background": ("", ("", "acp")),
    "remote": ("a2a", ("a2a",)),
    "human": ("human", ("human",)),
}


class LoadedDefinition(NamedTuple):
    """A loaded file.

    Attributes:
        definition: The definition; None if there are problems.
        lines: The line of each field by its path, counted from 1.
    """

    file: str
    definition: Definition | None
    problems: tuple[DefinitionProblem, ...]
    lines: Mapping[str, int]


def load_definition(source: bytes, file: str) -> LoadedDefinition:
    """Load a definition.

    Args:
        source: Content of the file.
        file: Path of the file, for problems.
    """
    if len(source) > MAX_FILE_BYTES:
        return build_unreadable(
            file,
            f"The file is larger than {MAX_FILE_BYTES // 1024} KB.",
            "Move long content to files that the agent reads.",
        )
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        return build_unreadable(file, f"The file is not UTF-8: {error.reason}.", "Save it as UTF-8.", line)
    halves = split_frontmatter(text)
    if halves is None:
        return build_unreadable(file, "The file has no frontmatter.", _FORMAT, 1)
    if len(halves.front) > _MAX_FRONTMATTER_CHARS:
        return build_unreadable(
            file, f"The frontmatter is larger than {_MAX_FRONTMATTER_CHARS // 1024} KB.", _FORMAT, halves.line
        )
    front = Frontmatter(file, halves)
    fields = front.decode(DefinitionFields)
    if fields is not None:
        _check(fields, front, halves)
    if fields is None or front.problems:
        return LoadedDefinition(file, None, tuple(front.problems), front.lines)
    return LoadedDefinition(file, _build(fields, halves, source, file), (), front.lines)


def build_unreadable(file: str, message: str, hint: str, line: int = 0) -> LoadedDefinition:
    """Return a file whose fields could not be read."""
    problem = DefinitionProblem(file=file, line=line, field="", message=message, hint=hint)
    return LoadedDefinition(file, None, (problem,), {})


def _build(front: DefinitionFields, halves: FrontmatterSplit, source: bytes, file: str) -> Definition:
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
        tools=tuple(dict.fromkeys(map(to_stored_name, front.tools))),
        policy=table.allow,
        delegate_targets=table.delegate_targets,
        capabilities=front.capabilities,
        edges=tuple(
            Edge(to=edge.to, direction=edge.direction, kind=edge.kind, confirm=edge.confirm, ownership=edge.ownership)
            for edge in front.edges
        ),
        permission_mode=front.permission_mode,
        work_globs=front.work_globs,
        isolation=front.isolation,
        max_iters=front.max_iters,
        provider=front.provider or _PROVIDERS[front.kind][0],
        command=front.command,
        agent_mode=front.agent_mode,
        url=front.url,
        schedule=_build_schedule(front.schedule),
        color=front.color,
    )


def _build_schedule(fields: ScheduleFields | None) -> Schedule | None:
    if fields is None:
        return None
    return Schedule(every=to_seconds(fields.every), cron=" ".join(fields.cron.split()), wake_on=fields.wake_on)


def _check(front: DefinitionFields, frontmatter: Frontmatter, halves: FrontmatterSplit) -> None:
    """Report fields that contradict each other."""
    _check_tools(front, frontmatter)
    _check_kind(front, frontmatter)
    _check_provider(front, frontmatter)
    _check_schedule(front, frontmatter)
    if not halves.body.strip() and not (front.provider or _PROVIDERS[front.kind][0]):
        frontmatter.lines["prompt"] = halves.body_line
        frontmatter.add_problem("prompt", "The agent has no prompt.", "Write the prompt below the frontmatter.")


def _check_tools(front: DefinitionFields, frontmatter: Frontmatter) -> None:
    for number, name in enumerate(front.tools):
        if name != EVERY_TOOL and to_stored_name(name) not in TOOL_NAMES and not is_server_tool_name(name):
            hint = suggest(name, sorted(TOOL_NAMES)) or f"Tools: {', '.join(sorted(TOOL_NAMES))}."
            frontmatter.add_problem(f"tools[{number}]", f"There is no tool `{name}`.", hint)


def _check_kind(front: DefinitionFields, frontmatter: Frontmatter) -> None:
    allow, targets = front.policy, None
    if isinstance(allow, PolicyTable):
        allow, targets = allow.allow, allow.delegate_targets
    if front.lead and front.kind != "main":
        message = f"An agent of kind {front.kind} cannot lead."
        frontmatter.add_problem("lead", message, "Set `kind: main`, or remove `lead`.")
    if front.kind == "subagent" and "Delegate" in allow:
        frontmatter.add_problem("policy", "A subagent cannot delegate.", "Remove Delegate from `policy`.")
    if front.kind == "subagent" and front.capabilities:
        message = "A subagent cannot create agents or edges."
        frontmatter.add_problem("capabilities", message, "Remove `capabilities`.")
    if targets is not None and "Delegate" not in allow:
        message = "There are targets, but no Delegate in `policy.allow`."
        frontmatter.add_problem("policy.delegate_targets", message, "Add Delegate.")


def _check_provider(front: DefinitionFields, frontmatter: Frontmatter) -> None:
    default, accepted = _PROVIDERS[front.kind]
    provider = front.provider or default
    if provider not in accepted:
        names = " or ".join(f"`{name}`" if name else "none" for name in accepted)
        message = f"The provider of an agent of kind {front.kind} must be {names}, not `{provider}`."
        frontmatter.add_problem("provider", message)
    if provider == "acp" and not front.command:
        message = "The provider `acp` needs a `command`."
        frontmatter.add_problem("provider", message, "Example: command: [goose, acp].")
    if provider != "acp" and front.command:
        frontmatter.add_problem("command", "Only the provider `acp` has a command.", "Add `provider: acp`.")
    if provider != "acp" and front.agent_mode:
        frontmatter.add_problem("agent_mode", "Only the provider `acp` has agent modes.", "Add `provider: acp`.")
    if provider == "a2a" and not front.url:
        message = "A remote agent needs the `url` of its card."
        frontmatter.add_problem("kind", message, "Example: url: https://example.org/agent.")
    if provider != "a2a" and front.url:
        frontmatter.add_problem("url", "Only an agent of kind remote has a `url`.", "Set `kind: remote`.")


def _check_schedule(front: DefinitionFields, frontmatter: Frontmatter) -> None:
    schedule = front.schedule
    if schedule is None:
        return
    if front.kind != "background":
        message = "Only an agent of kind background has a schedule."
        frontmatter.add_problem("schedule", message, "Set `kind: background`.")
    if schedule.every and schedule.cron:
        frontmatter.add_problem("schedule.cron", "A schedule has either `every` or `cron`.", "Remove one of them.")
    if schedule.cron and not is_cron(schedule.cron):
        message = (
            f"Invalid cron expression `{schedule.cron}`: expected numbers for minute, hour, day, month and weekday."
        )
        frontmatter.add_problem("schedule.cron", message, 'Example: "0 9 * * 1-5", at 9:00 UTC from Monday to Friday.')
    elif schedule.cron and not has_next_time(schedule.cron):
        message = f"`{schedule.cron}` never occurs: the month has no such day."
        frontmatter.add_problem("schedule.cron", message, "Choose a day that the month has.")
    if not (schedule.every or schedule.cron or schedule.wake_on):
        frontmatter.add_problem("schedule", "The schedule never wakes the agent.", "Add `every`, `cron` or `wake_on`.")
    for number, tag in enumerate(schedule.wake_on):
        if tag not in _WAKING:
            message = f"There is no session fact `{tag}`."
            frontmatter.add_problem(f"schedule.wake_on[{number}]", message, suggest(tag, sorted(_WAKING)))
