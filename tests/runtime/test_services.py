"""Which part of the runtime carries out which command."""

from __future__ import annotations

import inspect
import typing
from pathlib import Path

import pytest

from callboard.contracts.commands import TABLE
from callboard.contracts.commands.base import Command
from callboard.contracts.commands.evidence import ExportList, ListExports
from callboard.contracts.commands.model import ListModels
from callboard.contracts.commands.secret import ListSecrets
from callboard.contracts.errors import Refusal
from callboard.contracts.scope import Actor
from callboard.runtime.commands import CommandRunner
from callboard.runtime.service import Service, answers
from callboard.runtime.services.assembly import build_services
from tests.runtime.rigs.runtime_rig import RuntimeRig, calls, open_runtime


def _runner(board: RuntimeRig, services: tuple[Service, ...]) -> CommandRunner:
    runtime = board.runtime
    return CommandRunner(runtime.dependencies, runtime.sessions, runtime.workspaces, services)


def _services(board: RuntimeRig) -> tuple[Service, ...]:
    return build_services(board.runtime.dependencies, board.runtime.sessions, board.runtime.workspaces)


async def test_a_runtime_does_not_start_without_a_handler_for_each_declared_command(tmp_path: Path) -> None:
    """CTL-01: export_evidence would be accepted and never run."""
    async with open_runtime(tmp_path, calls()) as board:
        without = tuple(service for service in _services(board) if type(service).__name__ != "EvidenceExporter")
        with pytest.raises(TypeError, match="ExportEvidence, ListExports"):
            _runner(board, without)


async def test_a_runtime_does_not_start_with_two_handlers_of_one_command(tmp_path: Path) -> None:
    """CTL-01: which of them ran would depend on their order."""

    class SecondLister(Service):
        @answers(ListExports)
        async def list(self, _: ListExports) -> ExportList:
            return ExportList(exports=())

    async with open_runtime(tmp_path, calls()) as board:
        second = SecondLister(board.runtime.dependencies, board.runtime.sessions, board.runtime.workspaces)
        with pytest.raises(TypeError, match="two methods carry out ListExports"):
            _runner(board, (*_services(board), second))


async def test_each_service_answers_with_the_struct_that_the_command_declares(tmp_path: Path) -> None:
    """CTL-01: a repeated key decodes the stored answer as that Struct."""
    async with open_runtime(tmp_path, calls()) as board:
        for service in _services(board):
            for _, method in inspect.getmembers(type(service), inspect.isfunction):
                kinds: tuple[type[Command], ...] = getattr(method, "_carried_commands", ())
                kinds += getattr(method, "_answered_queries", ())
                if not kinds:
                    continue
                hint = typing.get_type_hints(method)["return"]
                returned = typing.get_args(hint) or (hint,)
                for row in (row for row in TABLE if row.command in kinds):
                    assert any(issubclass(row.answer, kind) for kind in returned), f"{method.__qualname__} {row.name}"


async def test_an_agent_runs_no_query_that_only_a_person_may_run(tmp_path: Path) -> None:
    """CTL-05: the declared authority applies to queries as well."""
    agent = Actor(kind="agent", id="agt_1")
    async with open_runtime(tmp_path, calls()) as board:
        for query in (ListModels(), ListSecrets()):
            with pytest.raises(Refusal, match="Only a person") as refused:
                await board.runtime.commands.submit(query, actor=agent)
            assert refused.value.code == "not_authorised"
