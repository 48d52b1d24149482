"""Stations of the gate and their verdicts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callboard.contracts.facts.action import Binding
from callboard.contracts.facts.permission import CHECK_NAMES, Check, Reason, list_checks
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.ports.tools import Evaluation
from callboard.contracts.team_tools import TEAM_TOOLS
from callboard.tools.arguments import compute_digest
from callboard.tools.gate import stations
from callboard.tools.gate.call_context import GateEnvironment
from callboard.tools.protection.atomic_write import compute_fingerprint
from callboard.tools.sandbox import limits
from callboard.tools.sandbox.ability import SandboxAbility, detect_ability
from tests.tools.rigs.calls import DEFINITION, Agent, call, read_tree, rule, to_english_checks

CALLS: dict[str, dict[str, Any]] = {
    "Bash": {"command": "pytest -q"},
    "Edit": {"file_path": "src/app.py", "old_string": "one", "new_string": "1"},
    "Finalize": {"summary": "done"},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "Read": {"file_path": "README.md"},
    "ReadOutput": {"call_id": "cal_1"},
    "ReadProcess": {"process_id": "prc_1"},
    "StopProcess": {"process_id": "prc_1"},
    "Write": {"file_path": "new.txt", "content": "x\n"},
}
#: A machine without bubblewrap.
BARE = GateEnvironment(SandboxAbility("", problem="bubblewrap (bwrap) is not installed"))


def evaluate_bare(agent: Agent, tool: str, **arguments: Any) -> Evaluation:
    return stations.evaluate(call(tool, **arguments), agent.context, BARE)


def last_check(evaluation: Evaluation) -> Check:
    return evaluation.checks[-1]


async def test_an_allowed_call_records_its_checks(agent: Agent):
    evaluation = await agent.evaluate("Read", file_path="README.md")

    assert evaluation == Evaluation(
        verdict="allow",
        risk="none",
        read_only=True,
        arguments='{"file_path":"README.md"}',
        arguments_hash=compute_digest('{"file_path":"README.md"}'),
        summary="Read README.md",
        checks=(
            Check(
                name="approval",
                verdict="allow",
                reasons=(Reason(code="changes_nothing"),),
            ),
        ),
        sandbox=SandboxApplied(level="paths"),
    )
    assert [check.name for check in list_checks(evaluation.checks)] == list(CHECK_NAMES)


async def test_a_check_reports_a_path_that_differs_from_the_text(agent: Agent):
    evaluation = await agent.evaluate("Read", file_path=f"{agent.folder}/README.md")

    assert to_english_checks(evaluation.checks)[0] == Check(name="paths", verdict="allow", detail="README.md")


async def test_a_question_shows_the_change_and_the_offered_rules(agent: Agent):
    """SAFE-07"""
    evaluation = await agent.with_context(permission_mode="ask").evaluate("Edit", **CALLS["Edit"])

    assert [check.name for check in list_checks(evaluation.checks)] == list(CHECK_NAMES)
    assert to_english_checks(list_checks(evaluation.checks))[6] == Check(
        name="approval", verdict="ask", detail="The mode is ask."
    )
    assert (evaluation.verdict, evaluation.risk, evaluation.read_only) == ("ask", "medium", False)
    assert evaluation.prompt == "Change src/app.py (+1 −1)?"
    assert evaluation.preview == (
        "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,2 +1,2 @@\n-print('one')\n+print('1')\n print('two')\n"
    )
    assert evaluation.scopes == ("once", "session", "workspace")
    assert evaluation.matchers == {"session": "Edit(src/app.py)", "workspace": "Edit(src/app.py)"}
    assert evaluation.binding == Binding(
        tool="Edit",
        arguments_hash=evaluation.arguments_hash,
        folder=str(agent.folder),
        definition_hash=DEFINITION,
        file="src/app.py",
        file_hash=compute_fingerprint(b"print('one')\nprint('two')\n"),
    )


async def test_a_new_file_is_bound_as_absent(agent: Agent):
    evaluation = await agent.evaluate("Write", file_path=f"{agent.folder}/new.txt", content="x\n")

    assert evaluation.binding is not None
    assert (evaluation.binding.file, evaluation.binding.file_hash) == ("new.txt", "absent")
    assert (evaluation.verdict, evaluation.risk) == ("allow", "low")


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("ask", {"Finalize", "Glob", "Grep", "Read", "ReadOutput", "ReadProcess", "StopProcess"}),
        ("edits", {"Edit", "Finalize", "Glob", "Grep", "Read", "ReadOutput", "ReadProcess", "StopProcess", "Write"}),
        ("full", set(CALLS)),
    ],
)
async def test_each_permission_mode_allows_its_calls(agent: Agent, mode: str, allowed: set[str]):
    in_mode = agent.with_context(permission_mode=mode)

    verdicts = {tool: (await in_mode.evaluate(tool, **arguments)).verdict for tool, arguments in CALLS.items()}

    assert verdicts == {tool: "allow" if tool in allowed else "ask" for tool in CALLS}


@pytest.mark.parametrize("mode", ["ask", "edits", "full", "planning"])
@pytest.mark.parametrize("tool", CALLS)
async def test_an_unlisted_tool_is_denied_in_every_mode(agent: Agent, mode: str, tool: str):
    """MAR-03"""
    others = tuple(name for name in CALLS if name not in (tool, "Bash"))
    before = read_tree(agent.folder)

    evaluation = await agent.with_context(tools=others, permission_mode=mode).evaluate(tool, **CALLS[tool])

    assert (evaluation.verdict, evaluation.code) == ("deny", "tool_not_listed")
    assert [check.name for check in list_checks(evaluation.checks)] == ["hooks", "tools"]
    assert read_tree(agent.folder) == before


async def test_a_star_lists_every_tool_and_an_empty_list_none(agent: Agent):
    """MAR-04"""
    everything, nothing = agent.with_context(tools=("*",)), agent.with_context(tools=())

    for tool, arguments in CALLS.items():
        assert (await everything.evaluate(tool, **arguments)).verdict == "allow"
        assert (await nothing.evaluate(tool, **arguments)).code == "tool_not_listed"
    assert sorted(spec.name for spec in everything.toolbox.list_specs(everything.context)) == sorted(CALLS)
    assert nothing.toolbox.list_specs(nothing.context) == ()


async def test_an_unknown_tool_is_denied_with_the_available_tools(agent: Agent):
    evaluation = await agent.evaluate("Teleport", to="x")

    assert (evaluation.verdict, evaluation.code) == ("deny", "tool_unknown")
    tools = (
        "bash",
        "edit",
        "finalize",
        "find_tools",
        "glob",
        "grep",
        "read",
        "read_output",
        "write",
        "read_process",
        "stop_process",
        *TEAM_TOOLS,
    )
    assert evaluation.message == f"There is no tool Teleport. Known tools: {', '.join(tools)}."


@pytest.mark.parametrize("mode", ["ask", "edits", "full", "planning"])
async def test_an_agent_without_patch_cannot_write(agent: Agent, mode: str):
    """MAR-05"""
    reader = agent.with_context(policy=("Finalize",), permission_mode=mode)
    before = read_tree(agent.folder)

    for tool in ("Write", "Edit"):
        evaluation = await reader.evaluate(tool, **{**CALLS[tool], "file_path": "README.md"})
        assert (evaluation.verdict, evaluation.code, last_check(evaluation).name) == ("deny", "policy_denied", "policy")
    shell = await reader.evaluate(
        "Bash", command="touch made; echo x >> README.md; mkdir -p .git && touch .git/x; touch /tmp/ok"
    )
    assert shell.sandbox is not None
    assert (shell.sandbox.level, shell.sandbox.writable) == ("bubblewrap", ())
    assert shell.read_only
    outcome = await reader.run(call("Bash", **json.loads(shell.arguments)), shell)
    assert outcome.output.count("Read-only file system") == 3
    assert read_tree(agent.folder) == before
    refused = evaluate_bare(reader, "Bash", command="ls")
    assert (refused.verdict, refused.code) == ("deny", "policy_denied")


async def test_finalize_requires_its_policy(agent: Agent):
    """MAR-05"""
    refused = await agent.with_context(policy=("Patch",)).evaluate("Finalize", summary="done")
    in_chat = await agent.with_context(mode="chat").evaluate("Finalize", summary="done")

    assert (refused.verdict, refused.code) == ("deny", "policy_denied")
    assert (in_chat.verdict, in_chat.code) == ("deny", "mode_denied")
    assert await agent.output("Finalize", summary="all done") == "all done"


def test_an_agent_sees_the_tools_that_it_may_use(agent: Agent):
    def list_names(**context: Any) -> list[str]:
        other = agent.with_context(**context)
        return [spec.name for spec in other.toolbox.list_specs(other.context)]

    assert list_names(mode="chat") == [
        "Bash",
        "Edit",
        "Glob",
        "Grep",
        "Read",
        "ReadOutput",
        "Write",
        "ReadProcess",
        "StopProcess",
    ]
    assert list_names(policy=()) == ["Bash", "Glob", "Grep", "Read", "ReadOutput", "ReadProcess", "StopProcess"]
    assert list_names(tools=("Write", "Nothing")) == ["Write"]
    assert list_names(tools=("Read", "Write")) == ["Read", "Write"]
    write = next(spec for spec in agent.toolbox.list_specs(agent.context) if spec.name == "Write")
    assert write.schema == {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "minLength": 1, "description": "File, relative to the folder."},
            "content": {"type": "string", "description": "Whole content of the file."},
        },
        "required": ["file_path", "content"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("PLAN.md", "ask"),
        ("./PLAN.md", "ask"),
        ("docs/deep/plan.md", "ask"),
        ("src/plan.md", "deny"),
        ("docs/plan.py", "deny"),
        ("agents/new.md", "deny"),
        ("plan.txt", "deny"),
    ],
)
async def test_only_documents_are_written_while_planning(agent: Agent, path: str, verdict: str):
    planning = agent.with_context(permission_mode="planning")

    evaluation = await planning.evaluate("Write", file_path=path, content="x")

    assert evaluation.verdict == verdict
    assert evaluation.code == ("mode_denied" if verdict == "deny" else None)


async def test_a_command_cannot_write_while_planning(agent: Agent):
    planning = agent.with_context(permission_mode="planning")
    before = read_tree(agent.folder)

    evaluation = await planning.evaluate("Bash", command="touch made")
    outcome = await planning.run(call("Bash", command="touch made"), evaluation)

    assert evaluation.verdict == "ask"
    assert "Read-only file system" in outcome.output
    assert read_tree(agent.folder) == before
    assert evaluate_bare(planning, "Bash", command="ls").code == "mode_denied"


@pytest.mark.parametrize("mode", ["ask", "edits", "full", "planning"])
@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "/etc/passwd",
        "way/secret.txt",
        "link",
        "pipe",
        "a\0b",
        "x" * 300,
        "src/../../outside/secret.txt",
    ],
)
@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Glob", "Grep"])
async def test_no_tool_leaves_the_folder(agent: Agent, mode: str, path: str, tool: str):
    """SAFE-01"""
    (agent.folder / "way").symlink_to("../outside")
    (agent.folder / "link").symlink_to("../outside/secret.txt")
    os.mkfifo(agent.folder / "pipe")
    before = read_tree(agent.folder.parent)
    field = "path" if tool in {"Glob", "Grep"} else "file_path"

    evaluation = await agent.with_context(permission_mode=mode, rules=(rule("allow", tool),)).evaluate(
        tool, **{**CALLS[tool], field: path}
    )

    assert evaluation.verdict == "deny"
    assert evaluation.code in {"path_denied", "mode_denied"}
    assert evaluation.code == "path_denied" or mode == "planning"
    assert read_tree(agent.folder.parent) == before


@pytest.mark.parametrize(("tool", "field"), [("Glob", "pattern"), ("Grep", "glob")])
async def test_a_glob_cannot_leave_the_folder(agent: Agent, tool: str, field: str):
    """SAFE-01"""
    for pattern in ("../**", "/etc/*", "src/../../*"):
        assert (await agent.evaluate(tool, **{**CALLS[tool], field: pattern})).code == "path_denied"


@pytest.mark.parametrize("mode", ["ask", "edits", "full"])
@pytest.mark.parametrize(
    "path", ["agents/solo.md", ".callboard/settings.json", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/x"]
)
async def test_protected_paths_require_approval(agent: Agent, mode: str, path: str):
    """Agents cannot change files that control their permissions."""
    permissive = agent.with_context(
        permission_mode=mode, rules=(rule("allow", "Write"), rule("allow", "Edit(**)", "workspace"))
    )

    evaluation = await permissive.evaluate("Write", file_path=path, content="x")

    assert (evaluation.verdict, evaluation.risk) == ("ask", "high")
    assert (evaluation.scopes, evaluation.matchers) == (("once",), {})
    assert (await permissive.evaluate("Read", file_path=path)).verdict == "allow"


async def test_a_denying_rule_wins_over_asking_and_allowing(agent: Agent):
    asking = agent.with_context(permission_mode="ask")

    allowed = await asking.with_context(rules=(rule("allow", "Edit(src/**)"),)).evaluate("Edit", **CALLS["Edit"])
    needs_approval = await agent.with_context(rules=(rule("allow", "Edit"), rule("ask", "Edit(src/**)"))).evaluate(
        "Edit", **CALLS["Edit"]
    )
    denied = await agent.with_context(rules=(rule("allow", "Edit"), rule("deny", "Write(src/*)"))).evaluate(
        "Edit", **CALLS["Edit"]
    )

    assert allowed.verdict == "allow"
    assert to_english_checks(list_checks(allowed.checks))[5] == Check(
        name="rules", verdict="allow", detail="Edit(src/**) (session)."
    )
    assert (needs_approval.verdict, needs_approval.scopes, needs_approval.prompt) == (
        "ask",
        ("once",),
        "Change src/app.py (+1 −1)? A rule of this session asks: Edit(src/**).",
    )
    assert (denied.verdict, denied.code, last_check(denied).name) == ("deny", "rule_denied", "rules")


async def test_a_prefix_rule_allows_only_plain_commands(agent: Agent):
    """SAFE-07"""
    asking = agent.with_context(
        permission_mode="ask", rules=(rule("allow", "Bash(pytest *)"), rule("deny", "Bash(curl *)"))
    )

    verdicts = [
        (await asking.evaluate("Bash", command=command)).verdict
        for command in ("pytest -q", "pytest; id", "pytest | tee x", "id", "pytest && curl x")
    ]

    assert verdicts == ["allow", "ask", "ask", "ask", "deny"]


@pytest.mark.parametrize("mode", ["ask", "edits", "full"])
def test_a_command_without_a_sandbox_always_asks_with_the_reason(agent: Agent, mode: str):
    """SAFE-02"""
    evaluation = evaluate_bare(
        agent.with_context(permission_mode=mode, rules=(rule("allow", "Bash"),)), "Bash", command="pytest -q"
    )

    assert (evaluation.verdict, evaluation.risk, evaluation.read_only) == ("ask", "high", False)
    assert (evaluation.scopes, evaluation.matchers) == (("once",), {})
    assert evaluation.prompt == (
        "Run pytest -q? No sandbox here (bubblewrap (bwrap) is not installed): the command can do what you can."
    )
    assert evaluation.sandbox == SandboxApplied(
        level="none",
        network=True,
        writable=("/",),
        detail="bubblewrap (bwrap) is not installed",
        limits=limits.to_limits(agent.context.shell, scratch=False),
    )


def test_the_root_folder_has_no_sandbox(agent: Agent):
    evaluation = stations.evaluate(
        call("Bash", command="ls"), agent.with_context(folder="/").context, GateEnvironment(detect_ability("bwrap"))
    )

    assert evaluation.sandbox is not None
    assert (evaluation.verdict, evaluation.sandbox.level) == ("ask", "none")


async def test_a_command_asks_if_a_name_cannot_be_protected(agent: Agent):
    """Agents cannot change files that control their permissions."""
    (agent.folder / ".git").symlink_to("src")

    evaluation = await agent.evaluate("Bash", command="ls")

    assert evaluation.verdict == "ask"
    assert evaluation.prompt.endswith("The sandbox cannot protect .git from writes.")
    assert evaluation.sandbox is not None
    assert evaluation.sandbox.detail.startswith("read-only: agents, .callboard, src;")


@pytest.mark.parametrize(
    ("command", "risk", "runs"),
    [
        ("pytest", "medium", "pytest"),
        ("rm -rf build", "high", "rm -rf build"),
        ("cd a && sudo make", "high", "2 commands: cd a && sudo make"),
    ],
)
async def test_the_risk_of_a_command_depends_on_its_effects(agent: Agent, command: str, risk: str, runs: str):
    evaluation = await agent.with_context(permission_mode="ask").evaluate("Bash", command=command)

    assert (evaluation.risk, evaluation.preview) == (risk, command)
    assert evaluation.prompt == f"Run {runs}? In the sandbox: it can change files of the folder, without network."


async def test_a_missing_folder_denies_the_call(agent: Agent, tmp_path: Path):
    gone = agent.with_context(folder=str(tmp_path / "gone"))

    evaluation = await gone.evaluate("Read", file_path="a")

    assert (evaluation.verdict, evaluation.code) == ("deny", "tool_failed")
    assert evaluation.message == "a: No such file or directory."
