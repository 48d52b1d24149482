"""Loading of one definition."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.agents.cron import is_cron
from callboard.agents.definition import MAX_FILE_BYTES, load_definition
from callboard.agents.fields import DefinitionFields, EdgeEntry, PolicyTable, ScheduleFields
from callboard.contracts.entities.team import Edge
from callboard.contracts.ports.agents import Definition, DefinitionProblem, Schedule
from tests.agents.files import definition_file, problem_rows

DOCS = Path(__file__).resolve().parents[2] / "docs" / "agents.md"


def list_problems(text: str) -> list[tuple[int, str, str, str]]:
    """Return the problems of a file: line, field, message and hint."""
    loaded = load_definition(text.encode(), "agents/a.md")
    assert (loaded.definition is None) == bool(loaded.problems)
    return [(problem.line, problem.field, problem.message, problem.hint) for problem in loaded.problems]


def load(front: str, body: str = "You work.") -> Definition:
    loaded = load_definition(definition_file(front, body).encode(), "agents/a.md")
    assert loaded.problems == ()
    assert loaded.definition is not None
    return loaded.definition


def test_a_definition_has_every_field_of_its_file():
    """MAR-02; Multi-agent runtime spec, Agent types."""
    text = """---
name: night-watch
description: "Looks at night: quietly."
kind: background
role: reviewer
aliases: [Watch, 夜班]
model: qwen3
tools: [Read, Bash]
policy:
  allow: [Patch, Delegate]
  delegate_targets: [helper]
capabilities: [spawn, edge]
edges:
  - to: lead
    direction: both
    kind: handoff
    confirm: true
    ownership: true
permission_mode: planning
work_globs: [docs/**, "*.md"]
isolation: worktree
max_iters: 7
provider: acp
command: [goose, acp]
schedule:
  cron: "0  9-17/2 * * 1-5"
  wake_on: [turn.failed]
color: amber
---

You watch.

---
And this stays.
"""
    loaded = load_definition(text.encode(), "agents/night-watch.md")
    assert loaded.problems == ()
    assert loaded.definition == Definition(
        name="night-watch",
        description="Looks at night: quietly.",
        kind="background",
        prompt="You watch.\n\n---\nAnd this stays.",
        hash=hashlib.sha256(text.encode()).hexdigest(),
        file="agents/night-watch.md",
        role="reviewer",
        aliases=("Watch", "夜班"),
        model="qwen3",
        tools=("Read", "Bash"),
        policy=("Patch", "Delegate"),
        delegate_targets=("helper",),
        capabilities=("spawn", "edge"),
        edges=(Edge(to="lead", direction="both", kind="handoff", confirm=True, ownership=True),),
        permission_mode="planning",
        work_globs=("docs/**", "*.md"),
        isolation="worktree",
        max_iters=7,
        provider="acp",
        command=("goose", "acp"),
        schedule=Schedule(cron="0 9-17/2 * * 1-5", wake_on=("turn.failed",)),
        color="amber",
    )


def test_missing_fields_grant_nothing():
    """MAR-04, MAR-05; without a list there are no tools and no policies."""
    definition = load("name: a")
    assert (definition.tools, definition.policy, definition.capabilities, definition.edges) == ((), (), (), ())
    assert (definition.permission_mode, definition.delegate_targets) == (None, None)
    assert (definition.kind, definition.role, definition.isolation) == ("main", "custom", "shared")
    assert definition.max_iters == 50


def test_a_star_means_all_tools_and_an_empty_list_none():
    """MAR-04"""
    assert load('name: a\ntools: ["*"]').tools == ("*",)
    assert load("name: a\ntools: []").tools == ()


def test_policy_is_a_list_or_a_table_with_targets():
    """MAR-05; Multi-agent runtime spec, Agent types."""
    short = load("name: a\npolicy: [Patch, Finalize, Delegate]")
    assert (short.policy, short.delegate_targets) == (("Patch", "Finalize", "Delegate"), None)
    table = load("name: a\npolicy: {allow: [Delegate], delegate_targets: []}")
    assert (table.policy, table.delegate_targets) == (("Delegate",), ())


def test_every_problem_of_a_file_has_its_line_and_field():
    """MAR-02"""
    text = definition_file(
        """
name: Bad Name
kind: subagnet
permissionMode: ask
prompt: here
tools: Read, Grep
policy:
  allow: [Patch,
          Finalise]
edges:
  - to: lead
    direction: from
  - kind: report
max_iters: many
name: twice
aliases: [ok, 7]
model:
"""
    )
    assert list_problems(text) == [
        (2, "name", "`name` must be a name of at most 40 lower-case letters, digits, - and _; it is `Bad Name`.", ""),
        (
            3,
            "kind",
            "`kind` must be one of main, subagent, remote, background, human; it is `subagnet`.",
            "Did you mean `subagent`?",
        ),
        (4, "permissionMode", "There is no field `permissionMode`.", "Did you mean `permission_mode`?"),
        (5, "prompt", "There is no field `prompt`.", "The prompt is the text below the frontmatter."),
        (6, "tools", "`tools` must be a list; it is `Read, Grep`.", "Write a list: [Read, Grep]."),
        (
            9,
            "policy.allow[1]",
            "`policy.allow[1]` must be one of Patch, Finalize, Delegate; it is `Finalise`.",
            "Did you mean `Finalize`?",
        ),
        (12, "edges[0].direction", "`edges[0].direction` must be one of to, both; it is `from`.", ""),
        (
            13,
            "edges[1].to",
            "`edges[1].to` is missing: add a name of at most 40 letters, digits, spaces, dots, - and _.",
            "",
        ),
        (14, "max_iters", "`max_iters` must be a whole number from 1 to 10000; it is `many`.", ""),
        (15, "name", "`name` occurs twice.", "Remove one of them."),
        (
            16,
            "aliases[1]",
            "`aliases[1]` must be a name of at most 40 letters, digits, spaces, dots, - and _; it is `7`.",
            "YAML does not read this as text. Put it in quotes.",
        ),
        (17, "model", "`model` is empty.", "Set a value, or remove the line."),
    ]


def test_a_missing_field_is_reported():
    """MAR-02"""
    assert [problem[:2] for problem in list_problems(definition_file("kind: main"))] == [(2, "name")]


@pytest.mark.parametrize(
    ("text", "line", "fragment"),
    [
        ("You work.", 1, "no frontmatter"),
        ("---\nname: a\nYou work.", 1, "no frontmatter"),
        ("---\n---\nYou work.", 2, "empty"),
        ("---\n- a\n---\nYou work.", 2, "must be a mapping"),
        ("---\nname: a\ndescription: a: b\n---\nYou work.", 3, "not valid YAML"),
        ("---\nname: a\ntools: [*]\n---\nYou work.", 3, "not valid YAML"),
        ("---\nname: &a b\naliases: [*a]\n---\nYou work.", 2, "anchors and aliases"),
        ("---\nname: a\nmodel: " + "[" * 40 + "]" * 40 + "\n---\nYou work.", 3, "nested too deeply"),
        ("---\nname: a\nmodel: \x07\n---\nYou work.", 3, "character"),
        ('---\nname: a\nmodel: "\\ud800"\n---\nYou work.', 3, "`model` must be"),
        ("---\nname: a\nmax_iters: 1" + "0" * 5000 + "\n---\nYou work.", 3, "`max_iters` must be"),
        ("---\nname: a\n---\n \n", 4, "no prompt"),
        ("---\n" + "# x\n" * 20_000 + "---\nYou work.", 2, "larger than 32 KB"),
        ("---\nname: a\n---\n" + "x" * MAX_FILE_BYTES, 0, "larger than 256 KB"),
    ],
)
def test_an_unreadable_file_has_a_problem_with_line_and_reason(text: str, line: int, fragment: str):
    """MAR-02"""
    ((problem_line, _, message, _),) = list_problems(text)
    assert (problem_line, fragment in message) == (line, True), message


def test_a_file_that_is_not_utf_8_has_a_problem_with_the_line():
    """MAR-02"""
    loaded = load_definition(b"---\nname: a\ndescription: \xff\n---\nYou work.", "agents/a.md")
    assert problem_rows(loaded.problems) == [("agents/a.md", 3, "", "The file is not UTF-8: invalid start byte.")]


def test_windows_line_ends_and_a_byte_order_mark_are_accepted():
    """MAR-02"""
    assert load_definition("\ufeff---\r\nname: a\r\n---\r\nYou\r\n".encode(), "agents/a.md").problems == ()


@pytest.mark.parametrize(
    ("front", "line", "field"),
    [
        ("name: a\nkind: subagent\nlead: true", 4, "lead"),
        ("name: a\nkind: subagent\npolicy: [Delegate]", 4, "policy"),
        ("name: a\nkind: subagent\ncapabilities: [spawn]", 4, "capabilities"),
        ("name: a\npolicy: {allow: [Patch], delegate_targets: [b]}", 3, "policy.delegate_targets"),
        ("name: a\nprovider: acp", 3, "provider"),
        ("name: a\ncommand: [goose]", 3, "command"),
        ("name: a\nkind: remote", 3, "kind"),
        ("name: a\nurl: https://example.org/", 3, "url"),
        ("name: a\nkind: remote\nurl: https://me:secret@example.org/", 4, "url"),
        ("name: a\nkind: remote\nurl: file:///etc/passwd", 4, "url"),
        ("name: a\nprovider: human", 3, "provider"),
        ("name: a\nschedule: {every: 5m}", 3, "schedule"),
        ("name: a\nkind: background\nschedule: {}", 4, "schedule"),
        ("name: a\nkind: background\nschedule:\n  every: soon", 5, "schedule.every"),
        ("name: a\nkind: background\nschedule:\n  cron: 0 25 * * *", 5, "schedule.cron"),
        ("name: a\nkind: background\nschedule:\n  every: 5m\n  cron: 0 2 * * *", 6, "schedule.cron"),
        ("name: a\nkind: background\nschedule:\n  wake_on: [turn.fialed]", 5, "schedule.wake_on[0]"),
        ("name: a\nkind: background\nschedule:\n  wake_on: [workspace.opened]", 5, "schedule.wake_on[0]"),
        ("name: a\nkind: background\nschedule:\n  cron: 0 9 30 2 *", 5, "schedule.cron"),
        ("name: a\nkind: background\nschedule:\n  cron: 0 9 31 4,6,9,11 *", 5, "schedule.cron"),
        ("name: a\nwork_globs: [/etc/*]", 3, "work_globs[0]"),
        ("name: a\nwork_globs: [src/../../x]", 3, "work_globs[0]"),
        ("name: a\nwork_globs: ['~/x']", 3, "work_globs[0]"),
    ],
)
def test_contradicting_fields_and_paths_outside_are_refused(front: str, line: int, field: str):
    """MAR-02; a definition that violates an invariant is not loaded."""
    reported = list_problems(definition_file(front))
    assert [problem[:2] for problem in reported] == [(line, field)], reported


def test_a_person_and_a_remote_agent_need_no_prompt():
    """MAR-02"""
    human = load("name: me\nkind: human", body="")
    assert (human.provider, human.prompt) == ("human", "")
    remote = load("name: peer\nkind: remote\nurl: https://example.org/agent?v=1", body="")
    assert (remote.provider, remote.url) == ("a2a", "https://example.org/agent?v=1")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Raed", "Did you mean `Read`?"),
        ("spawn_subagnet", "Did you mean `spawn_subagent`?"),
        ("raed", "Did you mean `Read`?"),
    ],
)
def test_an_unknown_tool_has_a_suggestion(name: str, hint: str):
    loaded = load_definition(definition_file(f"name: a\ntools:\n  - Glob\n  - {name}").encode(), "agents/a.md")
    assert loaded.problems == (
        DefinitionProblem(
            file="agents/a.md", line=5, field="tools[1]", message=f"There is no tool `{name}`.", hint=hint
        ),
    )


@pytest.mark.parametrize("every", ["5", "'5'"])
def test_a_duration_without_a_unit_has_a_hint_with_units(every: str):
    loaded = load_definition(
        definition_file(f"name: a\nkind: background\nschedule:\n  every: {every}").encode(), "agents/a.md"
    )
    assert [(problem.line, problem.field, problem.hint) for problem in loaded.problems] == [
        (5, "schedule.every", "Add a unit: `5s` are seconds, `5m` minutes.")
    ]


@pytest.mark.parametrize(("every", "seconds"), [("30s", 30), ("15m", 900), ("2h", 7_200), ("1d", 86_400)])
def test_an_interval_is_in_seconds(every: str, seconds: int):
    definition = load(f"name: a\nkind: background\nschedule: {{every: {every}}}")
    assert definition.schedule == Schedule(every=seconds)


@pytest.mark.parametrize(
    ("line", "is_valid"),
    [
        ("* * * * *", True),
        ("*/15 0-6,22 1,15 */3 7", True),
        ("0 9 * * 1-5", True),
        ("0 9 * *", False),
        ("60 * * * *", False),
        ("* * 0 * *", False),
        ("5-1 * * * *", False),
        ("*/0 * * * *", False),
        ("@daily", False),
        ("0 9 * * MON", False),
    ],
)
def test_a_cron_expression_has_five_valid_fields(line: str, is_valid: bool):
    assert is_cron(line) is is_valid


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(lambda text: f"---\n{text}\n---\nbody".encode(errors="replace")),
        st.lists(
            st.sampled_from(
                ["name: a", "tools: [", "*", "]", "{", "}", "- ", "? ", ": ", "<<: {a: 1}", "!!python/x y", "\t"]
            ),
            max_size=12,
        ).map(lambda parts: ("---\n" + "\n".join(parts) + "\n---\nbody").encode()),
    )
)
def test_any_bytes_result_in_a_definition_or_in_problems(source: bytes):
    """MAR-02"""
    loaded = load_definition(source, "agents/a.md")
    assert (loaded.definition is None) == (len(loaded.problems) > 0)
    assert all(isinstance(problem, DefinitionProblem) for problem in loaded.problems)
    assert all(problem.line >= 0 and problem.message for problem in loaded.problems)


def test_every_field_is_documented():
    """MAR-02; one page documents every field."""
    documented = set(re.findall(r"^\| `([a-z_.\[\]]+)` \|", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE))
    inner = {"edges[]": EdgeEntry, "policy": PolicyTable, "schedule": ScheduleFields}
    fields = set(DefinitionFields.__struct_fields__) | {
        f"{field}.{name}" for field, kind in inner.items() for name in kind.__struct_fields__
    }
    assert documented == fields


def test_a_tool_can_have_either_spelling():
    loaded = load_definition(
        definition_file("name: a\ntools: [read_output, Read, read, GREP, spawn_subagent]").encode(), "agents/a.md"
    )
    assert loaded.problems == ()
    assert loaded.definition is not None
    assert loaded.definition.tools == ("ReadOutput", "Read", "Grep", "spawn_subagent")
